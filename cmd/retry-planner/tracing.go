package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracing exports spans when OTEL_EXPORTER_OTLP_ENDPOINT is set. The SDK reads
// the other variables of the OpenTelemetry specification itself
// (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER,
// OTEL_BSP_…).
type tracing struct {
	tracer   trace.Tracer // nil: no spans
	provider *sdktrace.TracerProvider
}

// exportTimeout is how long the last spans may take at the end.
const exportTimeout = 3 * time.Second

func newTracing(ctx context.Context, log *slog.Logger) (*tracing, error) {
	client, err := newSpanClient(os.Getenv)
	if err != nil {
		return nil, &usageError{err}
	}
	if client == nil {
		return &tracing{}, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("spans are not exported", "error", err.Error()) }))
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("start the span exporter: %w", err)
	}
	// A later resource wins: the environment over the service's own name.
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(serviceName, serviceVersion(readBuild().version)), resource.WithFromEnv())
	if err != nil {
		return nil, &usageError{fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES cannot be read: %w", err)}
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	log.Info("spans are exported")
	return &tracing{tracer: provider.Tracer("n8n-retry-planner"), provider: provider}, nil
}

// close exports the last spans.
func (t *tracing) close() {
	if t.provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), exportTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
}
