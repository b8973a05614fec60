package gate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"n8n-retry-planner/gate"
)

// event is one admit in the log of a crowd. The store decided somewhere
// between asked and told.
type event struct {
	worker, seq int
	task        string
	asked, told time.Time
	verdict     gate.Verdict
	first       bool      // no permit was brought
	reported    time.Time // go: when the report was sent; zero for a worker that died
	crowded     int64     // go: calls that the upstream had at once, this one included
}

// crowd is many workers on several clients of one store, all calling one
// upstream, each until its tasks have ended.
type crowd struct {
	spec    gate.Spec
	stores  []gate.Store
	workers int
	tasks   int                  // a worker
	call    func() time.Duration // how long a call takes
	outage  time.Duration        // how long the upstream fails, from its 80th call on
	shared  bool                 // two workers have each task
	deaths  float64              // share of calls whose worker dies without a report

	begin  time.Time
	active atomic.Int64
	calls  atomic.Int64
	broke  atomic.Int64 // when the outage began
	mu     sync.Mutex
	log    []event
	ended  map[string]int
}

// run lets all workers work and returns when the last has ended.
func (c *crowd) run(t testing.TB) []event {
	if c.spec.Resource == "" {
		c.spec.Resource = uuid.NewString()
	}
	c.begin, c.ended = time.Now(), map[string]int{}
	var all sync.WaitGroup
	for n := range c.workers {
		all.Go(func() {
			for i := range c.tasks {
				owner := n
				if c.shared {
					owner = n / 2
				}
				end := c.work(n, fmt.Sprintf("task-%d-%d", owner, i), c.stores[n%len(c.stores)])
				c.mu.Lock()
				c.ended[end]++
				c.mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%d admits in %v, tasks ended: %v", len(c.log), time.Since(c.begin).Round(time.Millisecond), c.ended)
	return c.log
}

// work is one task: ask, wait, call, report, until it has ended.
func (c *crowd) work(worker int, task string, store gate.Store) string {
	id, retry := "", false
	for seq := 0; ; seq++ {
		e := event{worker: worker, seq: seq, task: task, first: id == "", asked: time.Now()}
		v, err := store.Admit(context.Background(), gate.AdmitRequest{Spec: c.spec, TaskID: task, Permit: id, Retry: retry, MaxWait: 60})
		e.told, e.verdict = time.Now(), v
		end := ""
		switch {
		case err != nil:
			end = "error: " + err.Error()
		case v.Decision == gate.Wait:
			id = v.Permit
		case v.Decision == gate.Refused && v.Reason != gate.CircuitOpen:
			end = string(v.Reason)
		case v.Decision == gate.Refused:
			id = ""
		default:
			end = c.callOnce(&e, store, task)
			id, retry = "", true
		}
		c.mu.Lock()
		c.log = append(c.log, e)
		c.mu.Unlock()
		switch {
		case end != "":
			return end
		case v.Decision == gate.Wait:
			time.Sleep(time.Duration(v.Wait * float64(time.Second)))
		case v.Decision == gate.Refused:
			time.Sleep(time.Duration(20+rand.IntN(40)) * time.Millisecond)
		}
	}
}

// callOnce calls the upstream and reports; "" when the task needs another try.
func (c *crowd) callOnce(e *event, store gate.Store, task string) string {
	e.crowded = c.active.Add(1)
	ok := c.healthy()
	time.Sleep(c.call())
	c.active.Add(-1)
	if rand.Float64() < c.deaths {
		return "died"
	}
	r := gate.ReportRequest{Spec: c.spec, TaskID: task, Permit: e.verdict.Permit, Outcome: gate.Success}
	if !ok {
		r.Outcome = gate.Failure
	}
	e.reported = time.Now()
	if _, err := store.Report(context.Background(), r); err != nil {
		return "error: " + err.Error()
	}
	if !ok {
		return ""
	}
	return "done"
}

// healthy is the upstream's answer to the next call.
func (c *crowd) healthy() bool {
	now := time.Now().UnixNano()
	if c.outage > 0 && c.calls.Add(1) == 80 {
		c.broke.Store(now)
	}
	broke := c.broke.Load()
	return broke == 0 || now > broke+int64(c.outage)
}
