package handlers

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// discard is a response writer that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkPlan measures a call of POST /v1/plan from the routes on, with and
// without its log line.
func BenchmarkPlan(b *testing.B) {
	const body = `{"statusCode":429,"headers":{"retry-after":"7","content-type":"application/json"},"body":{"message":"slow down"},` +
		`"attempts":2,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300,"cursor":"page-7","method":"GET"}`
	logs := map[string]*slog.Logger{
		"quiet": nil,
		"json":  slog.New(slog.NewJSONHandler(io.Discard, nil)),
	}
	for name, log := range logs {
		b.Run(name, func(b *testing.B) {
			h := newTestService(func(o *Options) { o.Log = log })
			r := post("/v1/plan", body)
			text := strings.NewReader(body)
			r.Body = io.NopCloser(text)
			w := &discard{header: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				text.Reset(body)
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}
