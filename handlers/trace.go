package handlers

import (
	"context"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// caller reads the traceparent header (W3C Trace Context), so that the log line
// can be found from the caller's trace. It gives an invalid context when there
// is none.
func caller(c *gin.Context) trace.SpanContext {
	if c.Request.Header["Traceparent"] == nil {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(c.Request.Header))
	return trace.SpanContextFromContext(ctx)
}

// startSpan starts the call's span below the caller's. It gives nil when spans
// are not exported.
func (s *server) startSpan(c *gin.Context, parent trace.SpanContext) trace.Span {
	if s.Tracer == nil {
		return nil
	}
	ctx := trace.ContextWithRemoteSpanContext(c.Request.Context(), parent)
	ctx, span := s.Tracer.Start(ctx, knownMethod(c.Request.Method)+" "+route(c), trace.WithSpanKind(trace.SpanKindServer))
	c.Request = c.Request.WithContext(ctx)
	return span
}

// endSpan tells the span what the log line tells.
func endSpan(span trace.Span, c *gin.Context, r *recorder) {
	span.SetAttributes(
		attribute.String("http.request.method", knownMethod(c.Request.Method)),
		attribute.String("http.route", route(c)),
		attribute.Int("http.response.status_code", r.Status()),
		attribute.String("retry_planner.request_id", r.requestID),
	)
	if r.planned {
		span.SetAttributes(attribute.String("retry_planner.decision", string(r.decision.Verb)),
			attribute.String("retry_planner.error_code", string(r.decision.Code)),
			attribute.Int64("retry_planner.attempts", r.decision.Attempts))
	}
	if r.Status() >= 500 {
		span.SetStatus(codes.Error, r.errorCode)
	}
	span.End()
}
