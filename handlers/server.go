package handlers

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/planner"
)

// Options are what the routes need to know.
type Options struct {
	MaxBodyBytes  int64 // of one item
	MaxBatchBytes int64 // of a batch
	MaxBatchItems int
	MaxInFlight   int // calls to /v1 at once

	APIKeys      []string // empty: everybody may call
	APIKeyHeader string   // besides Authorization: Bearer

	Now   func() time.Time     // the clock
	Draws func() planner.Draws // randomness for items without a task_id
	Ready func() bool          // false while the service is draining

	Log       *slog.Logger // one line a call; nil for none
	LogTaskID bool         // task ids may stand in the log
}

type server struct {
	Options
}

// New gives the service's routes.
func New(o Options) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{Options: o}
	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.Use(s.observe(), gin.CustomRecoveryWithWriter(nil, s.internalError))
	r.NoRoute(refuseWith(errNotFound))
	r.NoMethod(refuseWith(errMethod))

	get(r, "/healthz", s.health)
	get(r, "/readyz", s.ready)
	get(r, "/openapi.yaml", openAPI)
	page := docs()
	get(r, docsPath, page)
	get(r, docsPath+"/*file", page)
	get(r, "/workflows", listWorkflows)
	get(r, "/workflows/:name", workflow)

	v1 := r.Group("/v1", s.authorize(), s.limitInFlight())
	get(v1, "/providers", providers())
	v1.POST("/plan", s.plan)
	v1.POST("/plan/batch", s.planBatch)
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
	in := planner.Input{Outcome: it.Outcome, State: it.State, Request: it.Request, Policy: it.Policy}
	if it.TaskID != "" {
		in.Draws = planner.DrawsFor(it.TaskID, it.State.Attempts)
	} else {
		in.Draws = s.Draws()
	}
	d := planner.Plan(&in)
	record(it, &d)
	var explanation []byte
	if it.WantsExplanation {
		explanation = it.Explanation(&d)
	}
	return it.AppendAnswer(dst, &d, explanation)
}
