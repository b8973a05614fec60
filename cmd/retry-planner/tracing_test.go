package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const traceID, callerID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

// planTraced sends one item with a traceparent, then ends the service, and
// gives its log.
func planTraced(t *testing.T, p *process) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+p.address+"/v1/plan", strings.NewReader(limitedItem))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", "00-"+traceID+"-"+callerID+"-01")
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait())
	return p.log.String()
}

func TestTheCallersTraceIsInTheLog(t *testing.T) {
	log := planTraced(t, startProcess(t, "PLANNER_DRAIN_DELAY=0s"))
	assert.Contains(t, log, `"trace_id":"`+traceID+`","span_id":"`+callerID+`"`)
	assert.NotContains(t, log, "spans", "nothing is exported unless an endpoint is set")
}

func TestSpansAreExported(t *testing.T) {
	requests := make(chan *tracepb.TracesData, 8)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		data := new(tracepb.TracesData)
		if err != nil || proto.Unmarshal(body, data) != nil || r.URL.Path != "/v1/traces" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Team") != "a b" {
			t.Errorf("not an OTLP request: %s %v", r.URL, r.Header)
		}
		requests <- data
	}))
	defer collector.Close()
	log := planTraced(t, startProcess(t, "PLANNER_DRAIN_DELAY=0s", "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL,
		"OTEL_EXPORTER_OTLP_HEADERS=x-team=a%20b", "OTEL_SERVICE_NAME=planner-7"))
	close(requests)
	found := false
	for data := range requests {
		for _, resource := range data.ResourceSpans {
			assert.Contains(t, resource.Resource.String(), "planner-7")
			for _, span := range resource.ScopeSpans[0].Spans {
				if span.Name != "POST /v1/plan" {
					continue
				}
				found = true
				assert.Equal(t, traceID, hex.EncodeToString(span.TraceId))
				assert.Equal(t, callerID, hex.EncodeToString(span.ParentSpanId))
				assert.Contains(t, log, `"span_id":"`+hex.EncodeToString(span.SpanId)+`"`, "the log line names the call's own span")
			}
		}
	}
	assert.True(t, found, "%s", log)
}
