//go:build e2e

package e2e

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// call is one call as a server saw it.
type call struct {
	Arrived  time.Time
	Answered time.Time
	Method   string
	Path     string
	Header   http.Header
	Body     string
	Status   int    // of the answer; 0 when there was none
	Answer   string // the body of the answer
}

// transcript keeps the calls that a server got, in the order of their arrival.
type transcript struct {
	mu    sync.Mutex
	calls []*call
}

// all returns a copy of the calls so far.
func (tr *transcript) all() []call {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	out := make([]call, len(tr.calls))
	for i, c := range tr.calls {
		out[i] = *c
	}
	return out
}

// record writes the call down and lets next answer it; next also gets the number of the call, from 1.
func (tr *transcript) record(w http.ResponseWriter, r *http.Request, next func(http.ResponseWriter, *http.Request, int)) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	c := &call{Arrived: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body)}
	tr.mu.Lock()
	tr.calls = append(tr.calls, c)
	number := len(tr.calls)
	tr.mu.Unlock()

	rec := &recorder{ResponseWriter: w}
	defer func() {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		c.Answered, c.Status, c.Answer = time.Now(), rec.status, rec.body.String()
	}()
	next(rec, r, number)
}

type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// upstream is the API that a workflow calls: it answers the first call with the first reply of its script, and so
// on. A call after the end of the script is one too many: it is written down and gets a 418, which nothing retries.
type upstream struct {
	transcript
	address string
	script  []http.HandlerFunc
}

// newUpstream reserves an address; nothing listens there until open.
func newUpstream(t *testing.T, script ...http.HandlerFunc) *upstream {
	t.Helper()
	address, err := freeAddress()
	require.NoError(t, err)
	return &upstream{address: address, script: script}
}

// startUpstream returns an upstream that listens.
func startUpstream(t *testing.T, script ...http.HandlerFunc) *upstream {
	t.Helper()
	u := newUpstream(t, script...)
	u.open(t)
	return u
}

func (u *upstream) open(t *testing.T) {
	listener, err := net.Listen("tcp", u.address)
	if err != nil {
		t.Errorf("the upstream's port was taken meanwhile: %v", err)
		return
	}
	server := &http.Server{Handler: u, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

// at returns the URL of a path at the upstream.
func (u *upstream) at(path string) string { return "http://" + u.address + path }

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.record(w, r, func(w http.ResponseWriter, r *http.Request, number int) {
		if number > len(u.script) {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		u.script[number-1](w, r)
	})
}

// reply answers with the status, the headers (name, value, name, value …) and the body.
func reply(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// replyJSON answers with a JSON body, which n8n parses and puts under `body`.
func replyJSON(status int, body string, headers ...string) http.HandlerFunc {
	return reply(status, body, append(headers, "Content-Type", "application/json")...)
}

// replyText answers with a text body, which n8n puts under `data`.
func replyText(status int, body string, headers ...string) http.HandlerFunc {
	return reply(status, body, append(headers, "Content-Type", "text/plain; charset=utf-8")...)
}

// retryAfterDate answers with a Retry-After that is a date, this long after the moment of the answer, in whole
// seconds.
func retryAfterDate(status int, after time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(after).UTC().Format(http.TimeFormat))
		w.WriteHeader(status)
	}
}

// drop closes the connection without an answer.
func drop(w http.ResponseWriter, _ *http.Request) {
	if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = connection.Close()
	}
}

// hang never answers; it ends when the caller gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// plannerTap stands between n8n and the service and writes down what the planner was asked and answered.
type plannerTap struct {
	transcript
	url string
}

// tapPlanner starts a tap in front of the service. beforeAnswer, when not nil, is called with the number of each
// call (from 1) before the service sees it.
func tapPlanner(t *testing.T, beforeAnswer func(number int)) *plannerTap {
	t.Helper()
	target, err := url.Parse(theService.url)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	tap := &plannerTap{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tap.record(w, r, func(w http.ResponseWriter, r *http.Request, number int) {
			if beforeAnswer != nil {
				beforeAnswer(number)
			}
			proxy.ServeHTTP(w, r)
		})
	}))
	t.Cleanup(server.Close)
	tap.url = server.URL
	return tap
}
