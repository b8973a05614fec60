package gatetest

import (
	"fmt"
	"slices"
	"time"
)

// FullestWindow is the largest number of times in any stretch of the window.
func FullestWindow(times []time.Time, window time.Duration) int {
	slices.SortFunc(times, time.Time.Compare)
	fullest, from := 0, 0
	for i, t := range times {
		for t.Sub(times[from]) >= window {
			from++
		}
		fullest = max(fullest, i-from+1)
	}
	return fullest
}

// Arrivals are the times at which calls arrived.
func Arrivals(calls []Call) []time.Time {
	out := make([]time.Time, len(calls))
	for i, c := range calls {
		out[i] = c.Arrived
	}
	return out
}

// Goes are the asks whose answer was go, by the time they were told.
func Goes(asks []Ask) []Ask {
	var out []Ask
	for _, a := range asks {
		if a.Decision == "go" {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b Ask) int { return a.Told.Compare(b.Told) })
	return out
}

// TasksTwice finds tasks of which two permits were out at once for certain:
// from the go to the report.
func TasksTwice(goes []Ask) (faults []string) {
	last := map[string]Ask{}
	for _, g := range goes {
		if before, ok := last[g.Task]; ok && !before.Reported.IsZero() && g.Told.Before(before.Reported) {
			faults = append(faults, fmt.Sprintf("%s: permits %s and %s", g.Task, before.Permit, g.Permit))
		}
		last[g.Task] = g
	}
	return faults
}

// Probes finds goes that must have been probes: the breaker was said to be
// open before they were asked for, and nothing that could have closed it was
// reported between. From a probe's go to its report nobody else may go, and
// after its failure nobody for the reset time. It gives the number of probes.
func Probes(asks []Ask, reset time.Duration) (probes int, faults []string) {
	goes := Goes(asks)
	for _, p := range goes {
		if !isProbe(asks, goes, p) {
			continue
		}
		probes++
		until := p.Reported
		if failed := p.Status == 0 || p.Status >= 500; failed && !p.Reported.IsZero() {
			until = until.Add(reset)
		}
		for _, g := range goes {
			if g.Permit != p.Permit && g.Asked.After(p.Told) && g.Told.Before(until) {
				faults = append(faults, fmt.Sprintf("probe %+v, and %+v", p, g))
			}
		}
	}
	return probes, faults
}

func isProbe(asks, goes []Ask, p Ask) bool {
	var open time.Time // the last certain sign before the probe was asked for
	for _, a := range asks {
		if a.Code == "circuit_open" && a.Told.Before(p.Asked) && a.Asked.After(open) {
			open = a.Asked
		}
	}
	if open.IsZero() {
		return false
	}
	for _, g := range goes {
		healthy := g.Status > 0 && g.Status < 500
		if healthy && !g.Reported.IsZero() && g.Freed.After(open) && g.Reported.Before(p.Told) {
			return false
		}
	}
	return true
}

// Overtaken demands first come, first served: whoever asked for the first time
// after a waiter had its place gets a later time than that place. Waiters that
// were refused later gave their place back and prove nothing. It gives the
// number of waiters judged.
func Overtaken(asks []Ask) (waiters int, faults []string) {
	went := map[string]bool{}
	for _, g := range Goes(asks) {
		went[g.Permit] = true
	}
	type arrival struct {
		Ask
		place time.Time
	}
	var all []arrival
	for _, a := range asks {
		if a.First && (a.Decision == "go" || a.Code == "rate_window_full") {
			all = append(all, arrival{a, a.Told.Add(a.Wait)})
		}
	}
	for _, e := range all {
		if e.Decision != "wait" || !went[e.Permit] {
			continue
		}
		waiters++
		// The place is known to within the duration of the answer.
		earliest := e.place.Add(e.Asked.Sub(e.Told) - time.Millisecond)
		for _, l := range all {
			if l.Asked.After(e.Told) && l.place.Before(earliest) {
				faults = append(faults, fmt.Sprintf("waiter %+v was overtaken by %+v", e, l))
			}
		}
	}
	return waiters, faults
}
