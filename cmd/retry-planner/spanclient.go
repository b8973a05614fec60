package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

var serviceName = attribute.String("service.name", "retry-planner")

func serviceVersion(version string) attribute.KeyValue {
	return attribute.String("service.version", version)
}

// spanClient sends spans by OTLP over HTTP in protobuf, the exporter's
// transport. The SDK's own client for it brings all of gRPC along, a tenth of
// the binary, for one POST.
type spanClient struct {
	endpoint string
	headers  http.Header
	client   http.Client
}

// newSpanClient reads the variables of the OTLP exporter specification. It
// gives nil when no endpoint is set.
func newSpanClient(getenv func(string) string) (*spanClient, error) {
	endpoint := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if endpoint == "" {
		if endpoint = getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); endpoint == "" {
			return nil, nil
		}
		endpoint = strings.TrimSuffix(endpoint, "/") + "/v1/traces"
	}
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// address")
	}
	c := &spanClient{endpoint: endpoint, headers: http.Header{"Content-Type": {"application/x-protobuf"}}, client: http.Client{Timeout: 10 * time.Second}}
	for pair := range strings.SplitSeq(getenv("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if err != nil {
				return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs, percent-encoded and separated by commas")
			}
			c.headers.Set(strings.TrimSpace(name), value)
		}
	}
	return c, nil
}

// Start does nothing: the first span opens the connection.
func (c *spanClient) Start(context.Context) error { return nil }

// Stop closes the connections.
func (c *spanClient) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends one request. On the wire TracesData is the message of the
// OTLP trace service.
func (c *spanClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode the spans: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return errors.New("the OTLP endpoint is not an address")
	}
	request.Header = c.headers.Clone()
	response, err := c.client.Do(request)
	if err != nil {
		// The error repeats the address, which may hold a password.
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return fmt.Errorf("the collector does not answer: %w", err)
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers with status %d", response.StatusCode)
	}
	return nil
}
