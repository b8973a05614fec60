package gate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Guarded is a store that never fails and never takes longer than a timeout:
// what workers get when the store is down is decided here, once.
type Guarded struct {
	store Store
	opts  GuardOptions

	asked  atomic.Int64
	asking atomic.Int64 // calls that wait for the store

	mu    sync.Mutex
	down  bool
	noted int64 // the newest call whose end was noted
}

// GuardOptions are the settings of a [Guarded] store.
type GuardOptions struct {
	// Open admits when the store does not answer (PLANNER_GATE_FAILURE=open);
	// otherwise admits are refused with [Unavailable] (=closed).
	Open bool
	// Timeout bounds every call of the store (PLANNER_REDIS_TIMEOUT).
	Timeout time.Duration
	// Logger gets one line at each change between up and down.
	Logger *slog.Logger
	// Failed, when set, is called for every operation that the store did not
	// answer; for counting. The operation is "admit" or "report".
	Failed func(operation string)
	// Changed, when set, is called at each change between up and down.
	Changed func(up bool)
}

// maxAskingDown is how many calls at a time try a store that is down. The
// others get their answer at once: they must not pile up behind its timeout
// and take the places of calls that do not need the store.
const maxAskingDown = 16

var errDown = errors.New("the store is down")

// NewGuarded wraps a store.
func NewGuarded(s Store, o GuardOptions) *Guarded { return &Guarded{store: s, opts: o} }

// Admit implements [Store]; the error is always nil. When the store does not
// answer in time, the verdict is go with Bypassed set, or refused with
// [Unavailable]. A permit is given either way to the call that goes: should
// the store have admitted it after all, its report will find it.
func (g *Guarded) Admit(ctx context.Context, r AdmitRequest) (Verdict, error) {
	r.Permit = permitFor(r.Permit)
	v, err := ask(ctx, g, "admit", r, g.store.Admit)
	switch {
	case err == nil:
		return v, nil
	case g.opts.Open:
		return Verdict{Decision: Go, Permit: r.Permit, Bypassed: true}, nil
	default:
		return Verdict{Decision: Refused, Reason: Unavailable}, nil
	}
}

// Report implements [Store]; the error is always nil. When the store does not
// answer in time, the receipt is that of an unknown permit, with Bypassed set.
func (g *Guarded) Report(ctx context.Context, r ReportRequest) (Receipt, error) {
	receipt, err := ask(ctx, g, "report", r, g.store.Report)
	if err != nil {
		return Receipt{Bypassed: true}, nil
	}
	return receipt, nil
}

// ask calls the store with the timeout and notes how that went.
func ask[Q, A any](ctx context.Context, g *Guarded, operation string, q Q, call func(context.Context, Q) (A, error)) (A, error) {
	n := g.asked.Add(1)
	defer g.asking.Add(-1)
	if g.asking.Add(1) > maxAskingDown && g.isDown() {
		g.failed(operation)
		var none A
		return none, errDown
	}
	limited, cancel := context.WithTimeout(ctx, g.opts.Timeout)
	defer cancel()
	a, err := call(limited, q)
	if err != nil && ctx.Err() != nil {
		return a, err // the caller went away, which says nothing about the store
	}
	if err != nil {
		g.failed(operation)
	}
	g.note(n, err)
	return a, err
}

func (g *Guarded) isDown() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.down
}

func (g *Guarded) failed(operation string) {
	if g.opts.Failed != nil {
		g.opts.Failed(operation)
	}
}

// note logs and reports a change between up and down, once. The end of a call
// that began before the last one noted is old news: without this, the calls
// that time out when the store is already back would say down again.
func (g *Guarded) note(n int64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n < g.noted {
		return
	}
	g.noted = n
	if down := err != nil; down == g.down {
		return
	}
	g.down = !g.down
	if g.down {
		g.opts.Logger.Error("the gate's store does not answer", "error", err, "failure_mode", g.mode())
	} else {
		g.opts.Logger.Info("the gate's store answers again")
	}
	if g.opts.Changed != nil {
		g.opts.Changed(!g.down)
	}
}

func (g *Guarded) mode() string {
	if g.opts.Open {
		return "open"
	}
	return "closed"
}
