package planner

import "math"

// waitParts works out the local part of the wait and sets the floor beside it
// (section 3 of the wire contract).
func waitParts(in *Input) Parts {
	p := Parts{Exponential: Exponential(in.State.Base, in.State.ExpCap, in.State.Attempts), Floor: in.Outcome.Floor}
	switch in.Policy.Jitter {
	case JitterFull:
		p.JitterLow, p.JitterHigh = 0, p.Exponential
	case JitterEqual:
		p.JitterLow, p.JitterHigh = p.Exponential/2, p.Exponential
	case JitterDecorrelated:
		p.JitterLow, p.JitterHigh = decorrelatedRange(&in.State)
	default:
		p.JitterLow, p.JitterHigh = p.Exponential, p.Exponential
		p.Local = p.Exponential
		return p
	}
	// A difference that overflows would draw +Inf or NaN; two products cannot.
	p.Local = ceilMilli(p.JitterLow*(1-in.Draws.Jitter) + p.JitterHigh*in.Draws.Jitter)
	if in.Policy.Jitter == JitterDecorrelated {
		p.Local = min(in.State.ExpCap, p.Local)
	}
	return p
}

// Exponential is min(expCap, base · 2^(attempts-1)) in seconds. It is capped
// while still a float, so that no number of attempts overflows.
func Exponential(base, expCap float64, attempts int64) float64 {
	// Any finite base is past the largest float after 2200 doublings.
	doublings := min(max(attempts-1, 0), 2200)
	return min(expCap, math.Ldexp(base, int(doublings)))
}

// decorrelatedRange is the range base to three times the previous wait; the
// first wait has no previous one and starts from base.
func decorrelatedRange(s *State) (low, high float64) {
	last := s.LastWait
	if s.Attempts <= 1 || last <= 0 {
		last = s.Base
	}
	return s.Base, min(max(s.Base, 3*last), math.MaxFloat64)
}

// withSpread adds a random extra to a wait that fits, and gives the sum and the
// extra. It is drawn from the room there is, so that the sum fits as well and
// does not pile up at the limit.
func withSpread(wait float64, in *Input) (sum, extra float64) {
	top := min(in.Policy.Spread, LongestWait(&in.State, &in.Policy)-wait)
	if !(top > 0) {
		return wait, 0
	}
	extra = min(ceilMilli(in.Draws.Spread*top), math.Floor(top*1000)/1000)
	sum = max(wait, cleanMilli(wait+extra))
	// Float rounding may have eaten the millisecond of large numbers.
	if extra <= 0 || Misfit(sum, &in.State, &in.Policy) != "" {
		return wait, 0
	}
	return sum, extra
}

// Past lastMilli seconds a float64 no longer tells milliseconds apart.
const lastMilli = 1 << 42

// ceilMilli rounds up to a whole millisecond. A value that is one but for
// float noise (0.1 + 0.2) becomes that one.
func ceilMilli(s float64) float64 {
	if s >= lastMilli {
		return math.Ceil(s)
	}
	if clean := cleanMilli(s); clean != s {
		return clean
	}
	return math.Ceil(s*1000) / 1000
}

// cleanMilli gives the whole millisecond that s is but for float noise, and s
// itself when it is none.
func cleanMilli(s float64) float64 {
	if s >= lastMilli {
		return s
	}
	ms := s * 1000
	if near := math.Round(ms); math.Abs(ms-near) <= near*1e-15 {
		return near / 1000
	}
	return s
}
