package herd

import "math"

// Upstream is an API that is down from 0 on, comes back slowly and allows so
// many calls in each window. Durations are seconds.
type Upstream struct {
	Outage     float64 // answers 503 until then
	Recovery   float64 // from then on its limit grows evenly from a tenth to the whole
	Limit      int     // calls in each window; more get 429
	Window     float64 // > 0; windows follow each other from 0 on
	RetryAfter bool    // a 429 says when the window ends, in whole seconds
}

// window counts the calls of the upstream's present window.
type window struct {
	Upstream
	number float64
	calls  int
}

// answer gives the status of a call that starts now, and its Retry-After.
func (w *window) answer(now float64) (status int, retryAfter float64) {
	if now < w.Outage {
		return 503, 0
	}
	if number := math.Floor(now / w.Window); number != w.number {
		w.number, w.calls = number, 0
	}
	if w.calls < w.limit(now) {
		w.calls++
		return 200, 0
	}
	if w.RetryAfter {
		retryAfter = math.Max(1, math.Ceil((w.number+1)*w.Window-now))
	}
	return 429, retryAfter
}

// limit is what the window allows: at least one call, or nobody would ever be
// served.
func (w *window) limit(now float64) int {
	if since := now - w.Outage; since < w.Recovery {
		return max(1, int(float64(w.Limit)*math.Max(0.1, since/w.Recovery)))
	}
	return w.Limit
}
