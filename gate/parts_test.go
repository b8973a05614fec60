package gate_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

func TestInFlight(t *testing.T) {
	two := gate.Spec{InFlight: &gate.InFlight{Limit: 2, Lease: 100}}
	eachStore(t, "limit: no more permits out than allowed, a report frees one", two, func(w *world) {
		a := w.goes()
		w.goes()
		w.refuses(gate.DoesNotFit, atMost(0))
		w.report(a, gate.Success)
		w.goes()
		w.refuses(gate.DoesNotFit, atMost(0))
	})
	eachStore(t, "lease: a permit that is never reported frees itself", two, func(w *world) {
		w.goes()
		w.sleep(1)
		w.goes()
		w.sleep(98.999999)
		w.refuses(gate.DoesNotFit, atMost(0))
		w.sleep(0.000001)
		w.goes()
		w.refuses(gate.DoesNotFit, atMost(0))
	})
	eachStore(t, "lease: a late report of an expired permit frees nobody's slot", two, func(w *world) {
		a := w.goes()
		w.sleep(100)
		w.goes()
		w.goes()
		assert.False(t, w.report(a, gate.Success).Known)
		w.refuses(gate.DoesNotFit, atMost(0))
	})
	eachStore(t, "report twice: frees one slot, not two", two, func(w *world) {
		a := w.goes()
		w.goes()
		assert.True(t, w.report(a, gate.Success).Known)
		assert.False(t, w.report(a, gate.Success).Known)
		w.goes()
		w.refuses(gate.DoesNotFit, atMost(0))
	})
	eachStore(t, "queue: the free slot is the first waiter's, whoever asks first", two, func(w *world) {
		a := w.goes()
		w.goes()
		w.sleep(4)
		first := w.waits(gate.InFlightFull, 1.5)
		second := w.waits(gate.InFlightFull, 3)
		w.report(a, gate.Success)
		w.waits(gate.InFlightFull, -1)
		w.waits(gate.InFlightFull, 3, permit(second.Permit))
		w.goes(permit(first.Permit))
	})
	eachStore(t, "queue: a waiter that was too early is told the rest", two, func(w *world) {
		w.goes()
		w.goes()
		w.sleep(4)
		a := w.waits(gate.InFlightFull, 1.5)
		w.sleep(0.2)
		w.waits(gate.InFlightFull, 1.3, permit(a.Permit))
	})
	eachStore(t, "queue: an overdue waiter is passed over, and first again on its return", two, func(w *world) {
		a, b := w.goes(), w.goes()
		w.sleep(4)
		lost := w.waits(gate.InFlightFull, 1.5)
		next := w.waits(gate.InFlightFull, 3)
		w.sleep(1.76)
		w.report(a, gate.Success)
		w.goes(permit(next.Permit))
		w.waits(gate.InFlightFull, -1)
		w.report(b, gate.Success)
		w.goes(permit(lost.Permit))
	})
	eachStore(t, "estimate: learned from the calls, never longer than the next lease", two, func(w *world) {
		a := w.goes()
		w.sleep(8)
		w.report(a, gate.Success)
		w.goes()
		w.goes()
		w.waits(gate.InFlightFull, 3)
		w.sleep(98)
		w.waits(gate.InFlightFull, 2)
	})
	eachStore(t, "two limits: a waiter of the rate queues by its place", gate.Spec{
		Rate: &gate.Rate{Limit: 1, Window: 10}, InFlight: &gate.InFlight{Limit: 1, Lease: 100}}, func(w *world) {
		a := w.goes()
		b := w.waits(gate.RateWindowFull, 10.25)
		w.sleep(10.25)
		b = w.waits(gate.InFlightFull, 7.688, permit(b.Permit))
		c := w.ask()
		w.report(a, gate.Success)
		w.refuses(gate.DoesNotFit, permit(c.Permit), atMost(0))
		w.goes(permit(b.Permit))
	})
}

func TestBreaker(t *testing.T) {
	spec := gate.Spec{Breaker: &gate.Breaker{Threshold: 3, ResetAfter: 30}}
	fail := func(w *world, times int) {
		for range times {
			w.report(w.goes(), gate.Failure)
		}
	}
	eachStore(t, "opens at the threshold, not before", spec, func(w *world) {
		fail(w, 2)
		got := w.report(w.goes(), gate.Failure)
		assert.Equal(t, gate.Receipt{Known: true, Breaker: gate.Open, Changed: true}, got)
		assert.Equal(t, gate.Open, w.refuses(gate.CircuitOpen).Breaker)
	})
	eachStore(t, "an answer that did not look at the breaker does not call it closed", spec, func(w *world) {
		v := w.ask(task("t"))
		assert.Equal(t, gate.Closed, v.Breaker)
		fail(w, 3)
		assert.Equal(t, gate.Unsaid, w.ask(permit(v.Permit)).Breaker)
		assert.Equal(t, gate.Unsaid, w.ask(task("t")).Breaker)
		w.spec.Breaker = nil
		assert.Equal(t, gate.Unsaid, w.ask().Breaker)
		assert.Equal(t, gate.Unsaid, w.report(v.Permit, gate.Success).Breaker)
	})
	eachStore(t, "only failures in a row count", spec, func(w *world) {
		fail(w, 2)
		w.report(w.goes(), gate.Success)
		fail(w, 2)
		w.report(w.goes(), gate.Neutral)
		w.goes()
	})
	eachStore(t, "half-open: one probe, its success closes", spec, func(w *world) {
		fail(w, 3)
		w.sleep(29.999999)
		w.refuses(gate.CircuitOpen)
		w.sleep(0.000001)
		v := w.ask()
		require.True(t, v.Decision == gate.Go && v.Probe && v.Breaker == gate.HalfOpen, "%+v", v)
		assert.True(t, w.ask(permit(v.Permit)).Probe, "the same answer again")
		assert.Equal(t, gate.HalfOpen, w.refuses(gate.CircuitOpen).Breaker)
		assert.Equal(t, gate.Receipt{Known: true, Breaker: gate.Closed, Changed: true}, w.report(v.Permit, gate.Success))
		w.goes()
		w.goes()
	})
	eachStore(t, "half-open: the probe's failure opens again for the whole time", spec, func(w *world) {
		fail(w, 3)
		w.sleep(40)
		fail(w, 1)
		w.sleep(29.9)
		w.refuses(gate.CircuitOpen)
		w.sleep(0.1)
		w.goes()
		w.refuses(gate.CircuitOpen)
	})
	eachStore(t, "half-open: a neutral end lets the next one probe", spec, func(w *world) {
		fail(w, 3)
		w.sleep(30)
		w.report(w.goes(), gate.Neutral)
		w.goes()
		w.refuses(gate.CircuitOpen)
	})
	eachStore(t, "half-open: a probe whose worker died does not jam the breaker", spec, func(w *world) {
		fail(w, 3)
		w.sleep(30)
		dead := w.goes()
		w.sleep(gate.DefaultLease - 1)
		w.refuses(gate.CircuitOpen)
		w.sleep(1)
		w.goes()
		assert.False(t, w.report(dead, gate.Failure).Known)
		w.refuses(gate.CircuitOpen)
	})
	eachStore(t, "calls from before the opening neither close nor prolong it", spec, func(w *world) {
		old, older := w.goes(), w.goes()
		fail(w, 3)
		w.sleep(10)
		w.report(old, gate.Failure)
		w.sleep(20)
		probe := w.goes()
		w.report(older, gate.Success)
		w.refuses(gate.CircuitOpen)
		w.report(probe, gate.Success)
		w.goes()
	})
	eachStore(t, "a waiter that finds the breaker open gives its place back", gate.Spec{
		Breaker: spec.Breaker, Rate: &gate.Rate{Limit: 3, Window: 100}}, func(w *world) {
		ids := []string{w.goes(), w.goes(), w.goes()}
		a := w.waits(gate.RateWindowFull, 100.25)
		for _, id := range ids {
			w.report(id, gate.Failure)
		}
		w.refuses(gate.CircuitOpen, permit(a.Permit))
		w.sleep(31)
		w.waits(gate.RateWindowFull, 69.25)
	})
	eachStore(t, "an item without a breaker is not stopped by it", spec, func(w *world) {
		fail(w, 3)
		w.goes(func(r *gate.AdmitRequest) { r.Breaker = nil })
	})
}

func TestHold(t *testing.T) {
	eachStore(t, "holds everybody; later extends, earlier never shortens", gate.Spec{}, func(w *world) {
		a, b, c := w.goes(), w.goes(), w.goes(tenant("other"))
		assert.Equal(t, 30.0, w.report(a, gate.Success, hold(30)).Hold)
		assert.Equal(t, 30.0, w.report(b, gate.Success, hold(10)).Hold)
		w.waits(gate.ResourceOnHold, 30)
		assert.Equal(t, 40.0, w.report(c, gate.Success, hold(40)).Hold)
		w.waits(gate.ResourceOnHold, 40, tenant("third"))
		w.sleep(40)
		w.goes()
	})
	eachStore(t, "another worker's hold is told to a report, even of an unknown permit", gate.Spec{}, func(w *world) {
		a, b := w.goes(), w.goes()
		w.report(a, gate.Success, hold(30))
		w.sleep(10)
		assert.Equal(t, gate.Receipt{Known: true, Hold: 20}, w.report(b, gate.Success))
		assert.Equal(t, gate.Receipt{Hold: 20}, w.report(b, gate.Success, hold(500)))
		assert.Equal(t, gate.Receipt{Hold: 20}, w.report("not a permit", gate.Failure, hold(500)))
	})
	eachStore(t, "no rate: waiters return 20 ms apart", gate.Spec{}, func(w *world) {
		w.report(w.goes(), gate.Success, hold(30))
		a := w.waits(gate.ResourceOnHold, 30)
		b := w.waits(gate.ResourceOnHold, 30.02)
		w.sleep(30)
		w.goes(permit(a.Permit))
		w.waits(gate.ResourceOnHold, 0.02, permit(b.Permit))
		w.sleep(0.02)
		w.goes(permit(b.Permit))
	})
	eachStore(t, "rate: waiters return spread out by it", rate(4, 2), func(w *world) {
		w.report(w.goes(), gate.Success, hold(30))
		w.waits(gate.ResourceOnHold, 30)
		w.waits(gate.ResourceOnHold, 30.55)
		w.waits(gate.ResourceOnHold, 31.1)
	})
	eachStore(t, "a hold moves the places given before it, in order", rate(1, 10), func(w *world) {
		first := w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		b := w.waits(gate.RateWindowFull, 20.75)
		w.report(first, gate.Success, hold(15))
		w.sleep(10.25)
		w.waits(gate.ResourceOnHold, 4.75, permit(a.Permit))
		w.sleep(4.75)
		w.goes(permit(a.Permit))
		w.sleep(5.75)
		w.waits(gate.RateWindowFull, 4.75, permit(b.Permit))
		w.sleep(4.75)
		w.goes(permit(b.Permit))
	})
	eachStore(t, "an endless hold ends with the longest that is kept", gate.Spec{}, func(w *world) {
		assert.Equal(t, gate.MaxHold, w.report(w.goes(), gate.Success, hold(1e300)).Hold)
		w.refuses(gate.DoesNotFit, atMost(3600))
	})
}

func TestRetryBudget(t *testing.T) {
	spec := gate.Spec{RetryBudget: &gate.RetryBudget{Ratio: 0.2, Min: 2, Window: 60}}
	eachStore(t, "the minimum is always there, first calls are free", spec, func(w *world) {
		w.goes(retry)
		w.goes(retry)
		w.refuses(gate.RetryBudgetSpent, retry)
		w.goes()
	})
	eachStore(t, "a fifth of all calls, the retries and the asking one included", spec, func(w *world) {
		for range 40 {
			w.goes()
		}
		for range 10 {
			w.goes(retry) // 10 of 50
		}
		w.refuses(gate.RetryBudgetSpent, retry)
	})
	eachStore(t, "retries leave the window exactly", spec, func(w *world) {
		w.goes(retry)
		w.sleep(1)
		w.goes(retry)
		w.sleep(58.999999)
		w.refuses(gate.RetryBudgetSpent, retry)
		w.sleep(0.000001)
		w.goes(retry)
		w.refuses(gate.RetryBudgetSpent, retry)
	})
	eachStore(t, "a refused retry spends nothing, a waiting one is not asked again", gate.Spec{
		RetryBudget: &gate.RetryBudget{Min: 1, Window: 60}, Rate: &gate.Rate{Limit: 1, Window: 5}}, func(w *world) {
		w.goes()
		w.refuses(gate.DoesNotFit, retry, atMost(1))
		a := w.waits(gate.RateWindowFull, 5.25, retry)
		w.refuses(gate.RetryBudgetSpent, retry)
		w.sleep(5.25)
		w.goes(retry, permit(a.Permit))
		w.refuses(gate.RetryBudgetSpent, retry)
	})
	eachStore(t, "tenants have budgets of their own", spec, func(w *world) {
		w.goes(retry)
		w.goes(retry)
		w.goes(retry, tenant("b"))
	})
}

func TestTask(t *testing.T) {
	eachStore(t, "one permit a task; the same permit is the same answer", gate.Spec{}, func(w *world) {
		a := w.goes(task("t"))
		w.refuses(gate.AlreadyActive, task("t"))
		w.refuses(gate.AlreadyActive, task("t"), permit(uuid.NewString()))
		assert.Equal(t, a, w.goes(task("t"), permit(a)))
		w.goes(task("u"))
		w.report(a, gate.Success, ofTask("t"))
		w.goes(task("t"))
	})
	eachStore(t, "a waiting permit has the task as well", rate(1, 10), func(w *world) {
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25, task("t"))
		w.refuses(gate.AlreadyActive, task("t"))
		w.sleep(10.25)
		w.goes(task("t"), permit(a.Permit))
		w.refuses(gate.AlreadyActive, task("t"))
	})
	eachStore(t, "a refusal gives the task back", rate(1, 10), func(w *world) {
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25, task("t"))
		w.refuses(gate.DoesNotFit, task("t"), permit(a.Permit), atMost(1))
		w.waits(gate.RateWindowFull, 10.25, task("t"))
	})
	eachStore(t, "a task of a dead worker is free after the lease", gate.Spec{}, func(w *world) {
		w.goes(task("t"))
		w.sleep(gate.DefaultLease)
		w.goes(task("t"))
	})
	eachStore(t, "another's report does not free the task", gate.Spec{}, func(w *world) {
		w.goes(task("t"))
		other := w.goes()
		w.report(other, gate.Success, ofTask("t"))
		w.refuses(gate.AlreadyActive, task("t"))
	})
}
