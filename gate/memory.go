package gate

import (
	"context"
	"math"
	"sync"
	"time"
)

// Memory is the store of a single replica: everything is in this process and
// gone with it. It keeps to the same rules as the Redis store, step by step.
type Memory struct {
	clock func() time.Time

	mu        sync.Mutex
	resources *shelf[resource]
	tenants   *shelf[tenant]
	budgets   *shelf[budget]
	permits   *shelf[permit]
	tasks     *shelf[string] // the permit that has the task
}

// resource is what all tenants of a resource share. Times are microseconds.
type resource struct {
	hold                int64 // end of the hold
	open, openEnds      int64 // end of the reset time, 0 closed; when the opening is forgotten
	fails, failsEnd     int64 // failures in a row; when they are forgotten
	probe               string
	probeEnds           int64
	order               int64 // of the waiter that queued last
	length, lengthEnds  int64 // average length of a call; when it is forgotten
	out, queue, overdue zset  // by end of lease; by order; by the time from which it is overdue
}

// tenant is one tenant's rate: the starts of the last window, and the places
// that waiters have.
type tenant struct {
	starts  zset
	longest int64 // the longest window asked for
	named   int64 // makes the starts' names differ
	places  zset
}

// budget is one tenant's retry budget: retries by start, calls by step.
type budget struct {
	retries zset
	calls   map[int64]int64
}

// permit is a permit that is out or waits.
type permit struct {
	out   bool
	start int64 // out: when its call was admitted
	probe bool  // out
	order int64 // waiting in the in-flight queue: its order there
	due   int64 // waiting: when it was told to return
}

// NewMemory makes an empty store that takes the time from the given clock.
func NewMemory(clock func() time.Time) *Memory {
	return &Memory{
		clock:     clock,
		resources: newShelf[resource](),
		tenants:   newShelf[tenant](),
		budgets:   newShelf[budget](),
		permits:   newShelf[permit](),
		tasks:     newShelf[string](),
	}
}

// Admit implements [Store]. It never fails.
func (m *Memory) Admit(_ context.Context, r AdmitRequest) (Verdict, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.begin(r)
	v := a.decide()
	if v.Decision != Refused {
		v.Permit = a.id
	}
	return v, nil
}

// sweep drops what has expired, a little at every call.
func (m *Memory) sweep(now int64) {
	m.resources.sweep(now)
	m.tenants.sweep(now)
	m.budgets.sweep(now)
	m.permits.sweep(now)
	m.tasks.sweep(now)
}

// seconds is a wait in the form of the API; a negative one is endless.
func seconds(ms int64) float64 {
	if ms < 0 {
		return math.Inf(1)
	}
	return float64(ms) / 1000
}
