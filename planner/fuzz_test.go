package planner

import (
	"math"
	"testing"
)

// FuzzPlan gives Plan any numbers at all, whether the contract lets them in or
// not, and holds its promises against them.
func FuzzPlan(f *testing.F) {
	f.Add(uint8(0), 429, 7.0, false, int64(1), int64(5), 1.0, 60.0, 120.0, 0.0, 0.0, uint8(0), 100.0, 100.0, uint8(0), 0.0, 0.5, 0.5)
	f.Add(uint8(0), 503, math.Inf(1), false, int64(1), int64(5), 1.0, 60.0, 120.0, 0.0, 0.0, uint8(0), math.Inf(1), math.Inf(1), uint8(1), 5.0, 0.0, 0.0)
	f.Add(uint8(5), 0, 0.0, false, int64(math.MaxInt64-1), int64(math.MaxInt64), 5e-324, 1e308, 1e308, 1e292, 1e307, uint8(1), 1e308, 1e308, uint8(3), 1e308, lastDraw, lastDraw)
	f.Add(uint8(6), 0, 0.0, false, int64(2000), int64(9999), 0.1, 0.3, 0.8, 0.7, 0.1, uint8(1), 0.3, 0.1001, uint8(2), 0.0005, 0.1, 0.999)

	f.Fuzz(func(t *testing.T, class uint8, status int, floor float64, bad bool, attempts, maxAttempts int64,
		base, expCap, budget, elapsed, lastWait float64, safety uint8, maxWait, untilDeadline float64,
		jitter uint8, spread, jitterDraw, spreadDraw float64) {
		in := Input{
			Outcome: Outcome{Class: Class(class % 9), Status: status, Floor: abs(floor), BadRetryAfter: bad},
			State: State{Attempts: max(attempts, 1), MaxAttempts: max(maxAttempts, 1), Base: finite(base), ExpCap: finite(expCap),
				Budget: finite(budget), Elapsed: finite(elapsed), LastWait: finite(lastWait)},
			Policy: Policy{RetryStatuses: NewStatusSet(408, 425, 429, 500, 502, 503, 504), Safety: Safety(safety % 3),
				MaxWait: abs(maxWait), UntilDeadline: untilDeadline, Jitter: Jitter(jitter % 4), Spread: finite(spread)},
			Draws: Draws{Jitter: unitInterval(jitterDraw), Spread: unitInterval(spreadDraw)},
		}
		if math.IsNaN(untilDeadline) {
			t.Skip()
		}
		d := Plan(&in)
		if d != Plan(&in) {
			t.Fatalf("two answers to %+v", in)
		}
		if d.Verb != Retry {
			if d.Attempts != in.State.Attempts || (d.Code == "") != (d.Verb == Success) {
				t.Fatalf("%+v: a terminal decision %+v", in, d)
			}
			return
		}
		switch left := in.State.Budget - in.State.Elapsed; {
		case d.Code != "":
			t.Fatalf("%+v: a retry with code %s", in, d.Code)
		case d.Attempts != in.State.Attempts+1 || d.Attempts > in.State.MaxAttempts:
			t.Fatalf("%+v: call %d", in, d.Attempts)
		case !(d.Wait >= in.Outcome.Floor && d.Wait >= 0 && d.Wait <= in.Policy.MaxWait && d.Wait < math.Inf(1)):
			t.Fatalf("%+v: wait %v", in, d.Wait)
		case !(d.Wait <= left && d.ElapsedWait <= in.State.Budget && d.ElapsedWait >= in.State.Elapsed):
			t.Fatalf("%+v: wait %v of %v, elapsed %v", in, d.Wait, left, d.ElapsedWait)
		case !(d.Wait < in.Policy.UntilDeadline):
			t.Fatalf("%+v: wait %v to the deadline or past it", in, d.Wait)
		case in.State.Attempts >= in.State.MaxAttempts:
			t.Fatalf("%+v: a call too many", in)
		case in.Policy.Safety == SafetyForbidden || in.Outcome.BadRetryAfter:
			t.Fatalf("%+v: retried", in)
		}
		checkLocal(t, &in, &d)
	})
}

// checkLocal holds the pieces of a planned wait against section 3.
func checkLocal(t *testing.T, in *Input, d *Decision) {
	t.Helper()
	const milli = 0.001
	slack := milli + d.JitterHigh*1e-12
	switch {
	case in.Policy.Jitter == JitterNone && d.Local != d.Exponential,
		!(d.Exponential <= in.State.ExpCap),
		in.Policy.Jitter == JitterDecorrelated && d.Local > in.State.ExpCap,
		d.Local > d.JitterHigh+slack,
		d.Local < math.Min(d.JitterLow*(1-1e-12), in.State.ExpCap):
		t.Fatalf("%+v: local %v of %v to %v", in, d.Local, d.JitterLow, d.JitterHigh)
	case d.Spread < 0 || d.Spread > in.Policy.Spread:
		t.Fatalf("%+v: spread %v", in, d.Spread)
	case in.Policy.Spread == 0 && d.Wait != math.Max(d.Local, d.Floor):
		t.Fatalf("%+v: wait %v of local %v, floor %v", in, d.Wait, d.Local, d.Floor)
	}
}

// abs makes a number that is not negative, +Inf allowed.
func abs(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return math.Abs(f)
}

// finite makes a positive number that is finite.
func finite(f float64) float64 {
	f = abs(f)
	if math.IsInf(f, 0) {
		return math.MaxFloat64
	}
	return math.Max(f, math.SmallestNonzeroFloat64)
}

func unitInterval(f float64) float64 {
	_, f = math.Modf(abs(f))
	if math.IsNaN(f) {
		return 0
	}
	return f
}
