package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoSecretIsRepeated puts a secret wherever a caller or an operator can put
// one, and looks for it in the log at its most talkative, the metrics and the
// refusals.
func TestNoSecretIsRepeated(t *testing.T) {
	const secret = "s3cr3t"
	p := startProcess(t, "PLANNER_LOG_LEVEL=debug", "PLANNER_LOG_TASK_ID=true",
		"PLANNER_API_KEYS=key-"+secret+",old-"+secret, "PLANNER_API_KEY_NAMES=main,old",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://user:"+secret+"@127.0.0.1:1/"+secret, "OTEL_EXPORTER_OTLP_HEADERS=authorization="+secret)
	state := `"attempts":1,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300`
	bodies := map[string]string{
		"a good item":               `{"statusCode":429,"headers":{"retry-after":"7","set-cookie":"` + secret + `"},"body":{"a":"` + secret + `"},"url":"https://u:` + secret + `@h/?k=` + secret + `",` + state + `}`,
		"a bad Retry-After":         `{"statusCode":429,"headers":{"retry-after":"` + secret + `"},` + state + `}`,
		"a failure":                 `{"error":{"message":"` + secret + `","code":"` + secret + `"},` + state + `}`,
		"bad fields":                `{"statusCode":"` + secret + `","headers":"` + secret + `","method":7,"policy":{"provider":"` + secret + `","jitter":"` + secret + `","deadline":"` + secret + `"}}`,
		"a header that is no value": `{"statusCode":429,"headers":{"x":{"a":"` + secret + `"}},` + state + `}`,
		"no JSON":                   `{"` + secret + `"`,
		"a key twice":               `{"a":"` + secret + `","a":"` + secret + `"}`,
		"an escape that is none":    `{"a":"\q` + secret + `"}`,
		"text after the value":      `{} ` + secret,
		"not an object":             `"` + secret + `"`,
	}
	var seen bytes.Buffer
	keep := func(r *http.Response, err error) {
		require.NoError(t, err)
		if r.StatusCode != http.StatusOK || r.Request.URL.Path == "/metrics" {
			_, err = io.Copy(&seen, r.Body)
			require.NoError(t, err)
		}
		require.NoError(t, r.Body.Close())
	}
	call := func(method, path, body string, change func(http.Header)) {
		r, err := http.NewRequest(method, "http://"+p.address+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-API-Key", "key-"+secret)
		r.Header.Set("Cookie", secret)
		r.Header.Set("User-Agent", secret)
		r.Header.Set("X-Request-ID", secret+" is no sane id")
		r.Header.Set("Traceparent", secret)
		if change != nil {
			change(r.Header)
		}
		keep(http.DefaultClient.Do(r))
	}
	for _, body := range bodies {
		call(http.MethodPost, "/v1/plan?key="+secret, body, nil)
		call(http.MethodPost, "/v1/plan/batch", "["+body+"]", nil)
	}
	call(http.MethodPost, "/v1/plan", "{}", func(h http.Header) { h.Set("X-API-Key", "wrong-"+secret) })
	call(http.MethodPost, "/v1/plan", "{}", func(h http.Header) { h.Del("X-API-Key"); h.Set("Authorization", "Bearer old-"+secret) })
	call(http.MethodPost, "/v1/plan", "{}", func(h http.Header) { h.Set("Content-Type", "text/"+secret) })
	call(http.MethodPost, "/v1/plan", "{}", func(h http.Header) { h.Set("Content-Encoding", secret) })
	call(http.MethodGet, "/"+secret+"?"+secret, "", nil)
	call(strings.ToUpper(secret), "/v1/plan", "", nil)
	call(http.MethodGet, "/workflows/"+secret, "", nil)
	p.dial(t, "GET / HTTP/9.9 "+secret+"\r\n"+secret+"\r\n\r\n")
	call(http.MethodGet, "/metrics", "", nil)

	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait())
	assert.Contains(t, p.log.String(), `"key":"main"`)
	assert.Contains(t, p.log.String(), `"key":"old"`)
	assert.Contains(t, p.log.String(), "spans are not exported")
	assert.Contains(t, seen.String(), "retry_planner_plans_total{")
	for line := range strings.Lines(p.log.String() + seen.String()) {
		assert.NotContains(t, strings.ToLower(line), secret)
	}
}
