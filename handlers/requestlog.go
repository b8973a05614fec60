package handlers

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
)

const requestIDHeader = "X-Request-Id"

// Random bytes for request ids are drawn many at a time: the ids are no secret.
func init() { uuid.EnableRandPool() }

// observe writes one log line a call and counts it. It stands around everything
// else, so that a refusal and a panic are told as well.
//
// A line holds no body, no header value but the request id, no URL: a path
// that is no route may hold anything, so the route's pattern stands for it.
func (s *server) observe() gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		r := newRecorder(c)
		defer r.release(c)
		r.requestID = requestID(c.GetHeader(requestIDHeader))
		r.Header()[requestIDHeader] = []string{r.requestID}
		if !s.Ready() {
			r.Header().Set("Connection", "close") // the next call goes to another replica
		}
		r.span = caller(c)
		span := s.startSpan(c, r.span)
		c.Next()
		took := time.Since(start)
		s.metrics.durations.WithLabelValues(route(c), statusClass(r.Status())).Observe(took.Seconds())
		if r.errorCode != "" {
			s.metrics.refusals.WithLabelValues(r.errorCode).Inc()
		} else {
			s.metrics.add(&r.tally)
		}
		if span != nil {
			endSpan(span, c, r)
			r.span = span.SpanContext()
		}
		s.log(c, r, start, took)
	}
}

func (s *server) log(c *gin.Context, r *recorder, start time.Time, took time.Duration) {
	level := logLevel(c, r)
	if !s.Log.Enabled(context.Background(), level) {
		return
	}
	add := func(a slog.Attr) { r.attrs = append(r.attrs, a) }
	add(slog.String("request_id", r.requestID))
	add(slog.String("method", knownMethod(c.Request.Method)))
	add(slog.String("route", route(c)))
	add(slog.Int("status", r.Status()))
	add(slog.Int64("duration_us", took.Microseconds()))
	if r.span.IsValid() {
		add(slog.String("trace_id", r.span.TraceID().String()))
		add(slog.String("span_id", r.span.SpanID().String()))
	}
	if r.key != "" {
		add(slog.String("key", r.key))
	}
	if r.errorCode != "" {
		add(slog.String("error_code", r.errorCode))
	}
	if r.planned {
		s.describePlan(r, add)
	}
	if r.batch && r.errorCode == "" {
		add(slog.GroupAttrs("decisions", r.tally.byDecision()...))
	}
	// Straight to the handler: the logger would look for the line of code that
	// calls it, and for the time again. A group without a name stands in the line
	// as its members do, and need not be copied.
	record := slog.NewRecord(start.Add(took), level, "request", 0)
	record.AddAttrs(slog.Attr{Value: slog.GroupValue(r.attrs...)})
	_ = s.Log.Handler().Handle(context.Background(), record) // there is nowhere left to tell that the log is gone
}

// describePlan tells what was decided about one item.
func (s *server) describePlan(r *recorder, add func(slog.Attr)) {
	d := &r.decision
	add(slog.String("decision", string(d.Verb)))
	add(slog.Int64("attempts", d.Attempts))
	if d.Code != "" {
		add(slog.String("error_code", string(d.Code)))
	}
	if r.lastStatus != 0 {
		add(slog.Int("last_status", r.lastStatus))
	}
	if d.Exponential > 0 && !math.IsInf(d.Wait, 0) {
		add(seconds("wait_seconds", d.Wait))
	}
	if r.floorSource != "" {
		add(slog.String("floor_source", r.floorSource))
	}
	if s.LogTaskID && r.taskID != "" {
		add(slog.String("task_id", r.taskID))
	}
}

// seconds gives an attribute for a number of seconds. slog sends a float through
// the JSON encoder, which costs as much as three other attributes; most waits
// are whole.
func seconds(name string, n float64) slog.Attr {
	if whole := int64(n); float64(whole) == n {
		return slog.Int64(name, whole)
	}
	return slog.Float64(name, n)
}

// logLevel keeps the questions of probes and scrapers out of the usual log.
func logLevel(c *gin.Context, r *recorder) slog.Level {
	switch {
	case r.Status() == http.StatusInternalServerError:
		return slog.LevelError
	case c.FullPath() == "/healthz", c.FullPath() == "/readyz", c.FullPath() == "/metrics":
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// route is the pattern of the route, "none" for a path that is no route.
func route(c *gin.Context) string {
	if path := c.FullPath(); path != "" {
		return path
	}
	return "none"
}

// knownMethod keeps a method that nobody has heard of out of logs and labels.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return "other"
}

const maxRequestID = 128

// requestID takes the caller's id when it is sane, a new UUID otherwise: it
// goes into logs, where it must neither break a line nor fill it.
func requestID(sent string) string {
	if sent == "" || len(sent) > maxRequestID {
		return uuid.NewString()
	}
	for i := range len(sent) {
		c := sent[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return uuid.NewString()
		}
	}
	return sent
}
