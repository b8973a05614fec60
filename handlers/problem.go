package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
)

// Problem is a refusal: problem details by RFC 9457. detail is one sentence
// that says what to change; n8n shows it under the failed node.
type Problem struct {
	Type      string           `json:"type"`
	Title     string           `json:"title"`
	Status    int              `json:"status"`
	Detail    string           `json:"detail"`
	ErrorCode string           `json:"error_code"`
	Errors    []envelope.Fault `json:"errors,omitempty"`
}

// kind is one row of the table that maps an error to its status.
type kind struct {
	status int
	code   string
	title  string
}

var (
	kindMalformed   = kind{http.StatusBadRequest, "malformed_json", "The body is not the JSON that is expected"}
	kindKey         = kind{http.StatusUnauthorized, "unauthorized", "An API key is needed"}
	kindNotFound    = kind{http.StatusNotFound, "not_found", "There is nothing at this path"}
	kindMethod      = kind{http.StatusMethodNotAllowed, "method_not_allowed", "The path does not take this method"}
	kindBodyLarge   = kind{http.StatusRequestEntityTooLarge, "body_too_large", "The body is too large"}
	kindBatchLarge  = kind{http.StatusRequestEntityTooLarge, "batch_too_large", "The batch has too many items"}
	kindMediaType   = kind{http.StatusUnsupportedMediaType, "unsupported_media_type", "The body is not sent as JSON"}
	kindInvalid     = kind{http.StatusUnprocessableEntity, "invalid_state", "The item is not valid"}
	kindOverloaded  = kind{http.StatusServiceUnavailable, "overloaded", "Too many calls at once"}
	kindUnexpected  = kind{http.StatusInternalServerError, "internal_error", "The planner failed"}
	problemTypeBase = "urn:n8n-retry-planner:problem:"
)

// kinds are all of them.
var kinds = [...]kind{kindMalformed, kindKey, kindNotFound, kindMethod, kindBodyLarge, kindBatchLarge, kindMediaType,
	kindInvalid, kindOverloaded, kindUnexpected}

// refusal is an error that needs no more than a sentence.
type refusal struct {
	kind   kind
	detail string
}

func (e *refusal) Error() string { return e.detail }

var (
	errNotFound = &refusal{kindNotFound, "correct the path; GET /openapi.yaml lists all of them"}
	errMethod   = &refusal{kindMethod, "use a method that the Allow header of this answer names"}
	errBusy     = &refusal{kindOverloaded, "wait for as long as Retry-After says and send the call again"}
	errInternal = &refusal{kindUnexpected, "this is a fault of the service; report it with the request id"}
	errUnread   = &refusal{kindMalformed, "the body ended before its announced length; send it whole"}
	errMedia    = &refusal{kindMediaType, "send the body as application/json, without a Content-Encoding"}
)

// bodyTooLargeError says that a body is over its limit, in bytes.
type bodyTooLargeError struct{ limit int64 }

func (e *bodyTooLargeError) Error() string {
	return fmt.Sprintf("the body is larger than %d bytes; send less, or raise the service's limit", e.limit)
}

// kindOf is the one table of error to status.
func kindOf(err error) kind {
	var (
		r         *refusal
		malformed *envelope.MalformedError
		invalid   *envelope.InvalidError
		body      *bodyTooLargeError
		batch     *envelope.BatchTooLargeError
	)
	switch {
	case errors.As(err, &r):
		return r.kind
	case errors.As(err, &malformed):
		return kindMalformed
	case errors.As(err, &invalid):
		return kindInvalid
	case errors.As(err, &body):
		return kindBodyLarge
	case errors.As(err, &batch):
		return kindBatchLarge
	}
	return kindUnexpected
}

// ProblemOf gives the refusal that the service answers for an error.
func ProblemOf(err error) Problem {
	k := kindOf(err)
	p := Problem{Type: problemTypeBase + k.code, Title: k.title, Status: k.status, Detail: err.Error(), ErrorCode: k.code}
	var invalid *envelope.InvalidError
	if errors.As(err, &invalid) {
		p.Errors = invalid.Faults
	}
	if k == kindUnexpected {
		p.Detail = errInternal.detail
	}
	return p
}

// refuse is the one place that writes problems.
func refuse(c *gin.Context, err error) {
	p := ProblemOf(err)
	h := c.Writer.Header()
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="retry planner"`)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	body, err := json.Marshal(p)
	if err != nil { // strings and numbers alone: cannot fail
		body = []byte("{}")
	}
	recorderOf(c).errorCode = p.ErrorCode
	c.Abort()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.Writer.WriteHeader(p.Status)
	_, _ = c.Writer.Write(body)
	linger(c)
}

// How much of a refused body is still taken in, and for how long.
const (
	lingerBytes = 64 << 20
	lingerTime  = time.Second
)

// takenByServer is up to which length net/http takes in the body of a refused
// call itself, unless its connection is to end.
const takenByServer = 256 << 10

// linger takes in the body of a refused call. A connection that is closed while
// the caller still sends is reset, and the caller sees the reset instead of the
// refusal.
func linger(c *gin.Context) {
	r := c.Request
	if body, ok := r.Body.(*heldBody); ok {
		body.refuse()
	}
	isShort := r.ContentLength >= 0 && r.ContentLength <= takenByServer
	if r.ContentLength == 0 || isShort && !r.Close || r.Header.Get("Expect") != "" {
		return
	}
	c.Writer.Flush()
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(lingerTime)) // only shortens the wait
	_, _ = io.CopyN(io.Discard, r.Body, lingerBytes)                                     // the answer is out
}

// refuseWith gives a handler that always refuses.
func refuseWith(err error) gin.HandlerFunc { return func(c *gin.Context) { refuse(c, err) } }

// internalError answers a panic. Its value may hold what the caller sent, so
// the log gets the place alone.
func (s *server) internalError(c *gin.Context, _ any) {
	s.Log.Error("a handler panicked", "request_id", recorderOf(c).requestID, "stack", string(debug.Stack()))
	refuse(c, errInternal)
}
