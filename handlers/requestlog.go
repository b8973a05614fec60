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

// observe writes one log line a call. It stands around everything else, so
// that a refusal and a panic are told as well.
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
		c.Next()
		s.log(c, r, time.Since(start))
	}
}

func (s *server) log(c *gin.Context, r *recorder, took time.Duration) {
	level := logLevel(c, r)
	if !s.Log.Enabled(context.Background(), level) {
		return
	}
	attrs := make([]slog.Attr, 0, 16)
	attrs = append(attrs,
		slog.String("request_id", r.requestID),
		slog.String("method", knownMethod(c.Request.Method)),
		slog.String("route", route(c)),
		slog.Int("status", r.Status()),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	)
	if r.key != "" {
		attrs = append(attrs, slog.String("key", r.key))
	}
	if r.errorCode != "" {
		attrs = append(attrs, slog.String("error_code", r.errorCode))
	}
	if r.planned {
		attrs = append(attrs, s.planAttrs(r)...)
	}
	if r.batch != nil {
		attrs = append(attrs, slog.Any("decisions", r.batch))
	}
	s.Log.LogAttrs(context.Background(), level, "request", attrs...)
}

// planAttrs tells what was decided about one item.
func (s *server) planAttrs(r *recorder) []slog.Attr {
	d := &r.decision
	attrs := []slog.Attr{slog.String("decision", string(d.Verb)), slog.Int64("attempts", d.Attempts)}
	if d.Code != "" {
		attrs = append(attrs, slog.String("error_code", string(d.Code)))
	}
	if r.lastStatus != 0 {
		attrs = append(attrs, slog.Int("last_status", r.lastStatus))
	}
	if d.Exponential > 0 && !math.IsInf(d.Wait, 0) {
		attrs = append(attrs, slog.Float64("wait_seconds", d.Wait))
	}
	if r.floorSource != "" {
		attrs = append(attrs, slog.String("floor_source", r.floorSource))
	}
	if s.LogTaskID && r.taskID != "" {
		attrs = append(attrs, slog.String("task_id", r.taskID))
	}
	return attrs
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
