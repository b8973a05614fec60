package gate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"n8n-retry-planner/gate"
)

// starts are the events whose answer was go, by the time they were told.
func starts(log []event) []event {
	var gos []event
	for _, e := range log {
		if e.verdict.Decision == gate.Go {
			gos = append(gos, e)
		}
	}
	slices.SortFunc(gos, func(a, b event) int { return a.told.Compare(b.told) })
	return gos
}

// provenWindow is the largest number of starts of which the store must have
// decided all within one window: asked and told inside it.
func provenWindow(gos []event, window time.Duration) int {
	most := 0
	for _, from := range gos {
		n, end := 0, from.asked.Add(window)
		for _, e := range gos {
			if !e.asked.Before(from.asked) && e.told.Before(end) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// fullestWindow is the largest number of times in any stretch of the window.
func fullestWindow(times []time.Time, window time.Duration) int {
	fullest, from := 0, 0
	for i, t := range times {
		for t.Sub(times[from]) >= window {
			from++
		}
		fullest = max(fullest, i-from+1)
	}
	return fullest
}

// span is when a permit was out for certain: from the answer to the report,
// or for a dead worker from the question to the end of the lease.
func span(e event, lease time.Duration) (from, to time.Time) {
	if e.reported.IsZero() {
		return e.told, e.asked.Add(lease)
	}
	return e.told, e.reported
}

// mostAtOnce is the largest number of permits that were out for certain.
func mostAtOnce(gos []event, lease time.Duration) int {
	type edge struct {
		at   time.Time
		step int
	}
	var edges []edge
	for _, e := range gos {
		if from, to := span(e, lease); to.After(from) {
			edges = append(edges, edge{from, 1}, edge{to, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return a.step - b.step
	})
	now, most := 0, 0
	for _, e := range edges {
		now += e.step
		most = max(most, now)
	}
	return most
}

// checkTasks demands that no two permits of one task were out at once.
func checkTasks(t testing.TB, gos []event, lease time.Duration) {
	byTask := map[string][]event{}
	for _, e := range gos {
		byTask[e.task] = append(byTask[e.task], e)
	}
	for task, es := range byTask {
		assert.LessOrEqual(t, mostAtOnce(es, lease), 1, "permits out for %s", task)
	}
}

// checkProbes demands that from a probe's go to its report nobody else was
// let in, and returns how many probes there were.
func checkProbes(t testing.TB, gos []event) int {
	n := 0
	for _, p := range gos {
		if !p.verdict.Probe {
			continue
		}
		n++
		for _, e := range gos {
			if e.verdict.Permit != p.verdict.Permit && e.asked.After(p.told) && e.told.Before(p.reported) {
				assert.Fail(t, "a go while the probe was out", "probe %+v\nother %+v", p, e)
			}
		}
	}
	return n
}

// checkPlaces demands first come, first served: whoever asked for the first
// time after a waiter had its place gets a later time than that place.
func checkPlaces(t testing.TB, log []event) int {
	type arrival struct{ asked, told, place time.Time }
	var all []arrival
	waiters := 0
	for _, e := range log {
		if !e.first || e.verdict.Decision == gate.Refused || e.verdict.Reason == gate.InFlightFull {
			continue
		}
		if e.verdict.Decision == gate.Wait {
			waiters++
		}
		wait := time.Duration(e.verdict.Wait * float64(time.Second))
		all = append(all, arrival{e.asked, e.told, e.told.Add(wait)})
	}
	for _, earlier := range all {
		for _, later := range all {
			// The place is known to within the duration of the answer.
			if later.asked.After(earlier.told) && later.place.Before(earlier.place.Add(earlier.asked.Sub(earlier.told)-time.Millisecond)) {
				assert.Fail(t, "overtaken", "earlier %+v\nlater %+v", earlier, later)
				return waiters
			}
		}
	}
	return waiters
}

// checkQueue demands that no slot is given past a punctual waiter: when
// somebody who came later was let in between two asks of a waiter, then there
// was a slot for both, and the second ask is a go. Overdue waiters are first
// again when they return, so stretches with one of them prove nothing. It
// returns how many pairs of asks it could judge.
func checkQueue(t testing.TB, log []event, slack time.Duration) int {
	slices.SortFunc(log, func(a, b event) int { return a.asked.Compare(b.asked) })
	type key struct {
		worker int
		task   string
	}
	var late []time.Time
	first, before := map[key]event{}, map[key]event{}
	gos := starts(log)
	judged := 0
	for _, e := range log {
		k := key{e.worker, e.task}
		prev, ok := before[k]
		before[k] = e
		if !ok {
			first[k] = e
			continue
		}
		if due := prev.told.Add(time.Duration(prev.verdict.Wait * float64(time.Second))); e.told.After(due.Add(slack)) {
			late = append(late, e.told)
			continue
		}
		if e.verdict.Decision == gate.Go || slices.ContainsFunc(late, func(at time.Time) bool { return at.After(prev.asked) }) {
			continue
		}
		judged++
		for _, g := range gos {
			junior := first[key{g.worker, g.task}]
			if junior.asked.After(first[k].told) && g.asked.After(prev.told) && g.told.Before(e.asked) {
				assert.Fail(t, "a slot given past a waiter", "waiter %+v\nand %+v\nother %+v", prev, e, g)
				return judged
			}
		}
	}
	return judged
}
