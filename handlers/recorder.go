package handlers

import (
	"log/slog"
	"sync"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/planner"
)

// recorder is a call's response writer. It keeps what the request log and the
// metrics tell about the call, and nothing that the caller sent but its request
// id and, when it may be logged, its task id.
type recorder struct {
	gin.ResponseWriter

	requestID string
	span      trace.SpanContext // the call's span, or the caller's when spans are not exported
	key       string            // the name of the API key, "" when none was asked for
	errorCode string            // of a refusal

	decision planner.Decision // about the item at hand

	// One item that was planned.
	planned     bool
	lastStatus  int
	floorSource string
	taskID      string

	batch bool  // the call plans a batch
	tally tally // what was planned, one item or many

	attrs []slog.Attr // of the log line
}

var recorders = sync.Pool{New: func() any { return new(recorder) }}

func newRecorder(c *gin.Context) *recorder {
	r := recorders.Get().(*recorder)
	r.ResponseWriter = c.Writer
	c.Writer = r
	return r
}

func (r *recorder) release(c *gin.Context) {
	c.Writer = r.ResponseWriter
	r.tally.reset()
	clear(r.attrs)
	*r = recorder{tally: r.tally, attrs: r.attrs[:0]}
	recorders.Put(r)
}

// recorderOf gives the call's recorder.
func recorderOf(c *gin.Context) *recorder { return c.Writer.(*recorder) }

// plan counts the decision about one item and, when the call is about no other,
// keeps what the log line tells.
func (r *recorder) plan(it *envelope.Item) {
	r.tally.add(it, &r.decision)
	if r.batch {
		return
	}
	r.planned = true
	r.lastStatus, r.floorSource, r.taskID = it.Outcome.Status, it.FloorSource(), it.TaskID
}

// admit keeps what the gate said about one item.
func (r *recorder) admit(it *envelope.Item, a *envelope.Admission) {
	r.planned = true
	r.decision = planner.Decision{Verb: a.Verb, Code: a.Code, Attempts: it.State.Attempts, Wait: a.Wait}
	r.lastStatus, r.taskID = it.Outcome.Status, it.TaskID
}
