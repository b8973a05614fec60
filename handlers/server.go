package handlers

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/gate"
	"n8n-retry-planner/planner"
)

// Options are what the routes need to know.
type Options struct {
	MaxBodyBytes  int64 // of one item
	MaxBatchBytes int64 // of a batch
	MaxBatchItems int
	MaxInFlight   int   // calls to /v1 at once
	MaxHeldBytes  int64 // of bodies and answers that are not small, all calls together, besides one call of any size

	APIKeys      []APIKey // empty: everybody may call
	APIKeyHeader string   // besides Authorization: Bearer
	Closed       bool     // /metrics, /openapi.yaml and /workflows ask for a key as well

	Gate gate.Store // what workers must know together; nil for a store in this process

	Now   func() time.Time     // the clock
	Draws func() planner.Draws // randomness for items without a task_id
	Ready func() bool          // false while the service is draining

	Log       *slog.Logger // one line a call; nil for none
	LogTaskID bool         // task ids may stand in the log

	Tracer   trace.Tracer         // spans of calls; nil for none
	Registry *prometheus.Registry // what GET /metrics tells besides the routes' own; nil for none
}

type server struct {
	Options
	metrics  *metrics
	breakers *breakers
	places   chan struct{} // one for each call in flight
	held     held
}

// New gives the service's routes.
func New(o Options) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Gate == nil {
		o.Gate = gate.NewMemory(o.Now)
	}
	s := &server{Options: o, places: make(chan struct{}, o.MaxInFlight)}
	s.held.limit = o.MaxHeldBytes
	s.breakers = newBreakers(&o)
	s.metrics = newMetrics(o.Registry, func() int { return len(s.places) }, o.MaxInFlight, s.breakers.count)
	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.UseRawPath = true // /v1%2Fplan is not /v1/plan
	r.Use(s.observe(), gin.CustomRecoveryWithWriter(nil, s.internalError))
	r.NoRoute(refuseWith(errNotFound))
	r.NoMethod(refuseWith(errMethod))

	get(r, "/", s.page())
	get(r, "/healthz", s.health)
	get(r, "/readyz", s.ready)
	open := r.Group("")
	if s.Closed {
		open.Use(s.authorize())
	}
	get(open, "/metrics", scrape(s.Registry))
	get(open, "/openapi.yaml", openAPI)
	docs := docs()
	get(open, docsPath, docs)
	get(open, docsPath+"/*file", docs)
	get(open, "/workflows", listWorkflows)
	get(open, "/workflows/:name", workflow)

	v1 := r.Group("/v1", s.authorize(), s.limitInFlight())
	get(v1, "/providers", providers())
	v1.POST("/plan", s.plan)
	v1.POST("/plan/batch", s.planBatch)
	v1.POST("/admit", s.admit)
	v1.POST("/preview", s.preview)
	v1.POST("/pace", s.pace)
	return r
}

// get registers a route for GET and HEAD.
func get(r gin.IRoutes, path string, h gin.HandlerFunc) {
	r.GET(path, h)
	r.HEAD(path, h)
}

// appendAnswer plans one item, tells record what was decided and appends the
// answer.
func (s *server) appendAnswer(dst []byte, it *envelope.Item, record func(*envelope.Item, *planner.Decision)) []byte {
	in := it.Input(s.Draws)
	d := planner.Plan(&in)
	record(it, &d)
	var explanation []byte
	if it.WantsExplanation {
		explanation = it.Explanation(&d)
	}
	return it.AppendAnswer(dst, &d, explanation)
}
