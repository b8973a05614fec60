package gate_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

func rate(limit int64, window float64) gate.Spec {
	return gate.Spec{Rate: &gate.Rate{Limit: limit, Window: window}}
}

func TestRate(t *testing.T) {
	eachStore(t, "no parts: always go, and nothing to wait for", gate.Spec{}, func(w *world) {
		for range 50 {
			w.goes()
		}
	})
	// Windows of 10 s are counted as 10.25 s, places are given for 10.5 s.
	eachStore(t, "window edge: one microsecond early is still full", rate(2, 10), func(w *world) {
		w.goes()
		w.sleep(1)
		w.goes()
		w.sleep(9.249999)
		w.refuses(gate.DoesNotFit, atMost(0))
		w.sleep(0.000001)
		w.goes()
		w.refuses(gate.DoesNotFit, atMost(0))
	})
	eachStore(t, "herd: waiters get different places, first come first served", rate(2, 10), func(w *world) {
		w.goes()
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		b := w.waits(gate.RateWindowFull, 15.5)
		c := w.waits(gate.RateWindowFull, 20.75)
		w.sleep(10.25)
		w.goes(permit(a.Permit))
		w.sleep(5.25)
		w.goes(permit(b.Permit))
		w.sleep(5.25)
		w.goes(permit(c.Permit))
	})
	eachStore(t, "reservation: a newcomer does not take a waiter's place", rate(1, 10), func(w *world) {
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		w.sleep(10.25)
		w.waits(gate.RateWindowFull, 10.5)
		w.goes(permit(a.Permit))
	})
	eachStore(t, "early: the place is kept and the rest is told", rate(1, 10), func(w *world) {
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		w.sleep(4.25)
		w.waits(gate.RateWindowFull, 6, permit(a.Permit))
		w.sleep(5.9995)
		w.waits(gate.RateWindowFull, 0.001, permit(a.Permit))
		w.sleep(0.0005)
		w.goes(permit(a.Permit))
	})
	eachStore(t, "late: goes at once, and the window behind it moves", rate(1, 10), func(w *world) {
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		b := w.waits(gate.RateWindowFull, 20.75)
		w.sleep(15)
		w.goes(permit(a.Permit))
		w.sleep(5.75)
		w.waits(gate.RateWindowFull, 4.5, permit(b.Permit))
		w.sleep(4.5)
		w.goes(permit(b.Permit))
	})
	eachStore(t, "slightly late: inside the slack nobody behind has to wait again", rate(1, 10), func(w *world) {
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		b := w.waits(gate.RateWindowFull, 20.75)
		w.sleep(10.5)
		w.goes(permit(a.Permit))
		w.sleep(10.25)
		w.goes(permit(b.Permit))
	})
	eachStore(t, "lost waiter: its place expires and blocks nobody", rate(1, 10), func(w *world) {
		w.goes()
		w.waits(gate.RateWindowFull, 10.25)
		w.sleep(10.500001)
		w.goes()
	})
	eachStore(t, "lost waiter that returns after all: no window is overfilled", rate(1, 10), func(w *world) {
		w.goes()
		lost := w.waits(gate.RateWindowFull, 10.25)
		w.sleep(12)
		w.goes()
		w.waits(gate.RateWindowFull, 10.25, permit(lost.Permit))
		w.sleep(10.25)
		w.goes(permit(lost.Permit))
	})
	eachStore(t, "a wait that does not fit reserves nothing", rate(1, 10), func(w *world) {
		w.goes()
		v := w.refuses(gate.DoesNotFit, atMost(10.249))
		assert.Equal(t, 10.25, v.Wait)
		w.waits(gate.RateWindowFull, 10.25, atMost(10.25))
	})
	eachStore(t, "a waiter that can wait no longer gives its place back", rate(1, 10), func(w *world) {
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		w.refuses(gate.DoesNotFit, permit(a.Permit), atMost(1))
		w.waits(gate.RateWindowFull, 10.25)
	})
	eachStore(t, "a report of a waiting permit gives its place back", rate(1, 10), func(w *world) {
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		require.True(t, w.report(a.Permit, gate.Neutral).Known)
		w.waits(gate.RateWindowFull, 10.25)
	})
	eachStore(t, "a report does not give the start back", rate(1, 10), func(w *world) {
		w.report(w.goes(), gate.Success)
		w.refuses(gate.DoesNotFit, atMost(10))
	})
	eachStore(t, "same permit after its report: a new start, counted", rate(2, 10), func(w *world) {
		id := uuid.NewString()
		for range 2 {
			w.goes(permit(id))
			w.report(id, gate.Success)
		}
		w.waits(gate.RateWindowFull, 10.25, permit(id))
	})
	eachStore(t, "repeated admit: the same permit again is the same answer and no second start", rate(2, 10), func(w *world) {
		id := w.goes()
		for range 5 {
			assert.Equal(t, id, w.goes(permit(id)))
		}
		w.goes()
		a := w.waits(gate.RateWindowFull, 10.25)
		for range 5 {
			w.waits(gate.RateWindowFull, 10.25, permit(a.Permit))
		}
		w.waits(gate.RateWindowFull, 15.5)
	})
	eachStore(t, "tenants have windows of their own", rate(1, 10), func(w *world) {
		w.goes(tenant("a"))
		w.goes(tenant("b"))
		w.goes()
		w.waits(gate.RateWindowFull, 10.25, tenant("a"))
	})
	eachStore(t, "a shorter window of another item does not make the longer one forget", rate(1, 100), func(w *world) {
		w.goes()
		w.sleep(50)
		w.goes(func(r *gate.AdmitRequest) { r.Rate = &gate.Rate{Limit: 5, Window: 1} })
		w.refuses(gate.DoesNotFit, atMost(50))
		v := w.waits(gate.RateWindowFull, 50.25, func(r *gate.AdmitRequest) { r.Rate = &gate.Rate{Limit: 2, Window: 100} })
		assert.NotEmpty(t, v.Permit)
	})
	eachStore(t, "a wait is rounded up to whole milliseconds", rate(1, 1), func(w *world) {
		w.goes()
		w.sleep(0.000001)
		w.waits(gate.RateWindowFull, 1.05)
	})
}
