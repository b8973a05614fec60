package gatetest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// Call is one call as the API saw it.
type Call struct {
	Task, Permit  string
	Arrived, Left time.Time
	Active        int // calls that the API had at once, this one included
	Status        int
}

// Upstream is the API that everybody calls. It keeps a log of all calls.
type Upstream struct {
	// Takes is how long a call takes.
	Takes func() time.Duration
	// Answer gives the status of a call, from its number (from 1), and the
	// seconds for a Retry-After, 0 for none.
	Answer func(number int, now time.Time) (status, retryAfter int)

	server *httptest.Server
	mu     sync.Mutex
	active int
	number int
	calls  []Call
}

// Start makes the API listen; Close ends it.
func (u *Upstream) Start() { u.server = httptest.NewServer(u) }

// Close stops listening.
func (u *Upstream) Close() { u.server.Close() }

// URL is where it listens.
func (u *Upstream) URL() string { return u.server.URL }

// Calls are all calls that have ended, in the order of their ends.
func (u *Upstream) Calls() []Call {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]Call(nil), u.calls...)
}

func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := Call{Task: r.Header.Get("X-Task"), Permit: r.Header.Get("X-Permit")}
	u.mu.Lock()
	c.Arrived = time.Now()
	u.active++
	u.number++
	c.Active = u.active
	status, retryAfter := u.Answer(u.number, c.Arrived)
	u.mu.Unlock()

	time.Sleep(u.Takes())

	u.mu.Lock()
	c.Left, c.Status = time.Now(), status
	u.active--
	u.calls = append(u.calls, c)
	u.mu.Unlock()
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.WriteHeader(status)
}
