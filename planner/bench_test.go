package planner

import "testing"

func BenchmarkPlanRetryAfter(b *testing.B) {
	in := retryInput()
	in.Outcome.Floor = 7
	in.Request.Method = "GET"
	b.ReportAllocs()
	for b.Loop() {
		if d := Plan(&in); d.Verb != Retry {
			b.Fatal(d.Verb)
		}
	}
}

func BenchmarkPlanJitterAndSpread(b *testing.B) {
	in := retryInput()
	in.Policy.Jitter, in.Policy.Spread = JitterEqual, 3
	in.Draws = Draws{Jitter: 0.3, Spread: 0.7}
	b.ReportAllocs()
	for b.Loop() {
		if d := Plan(&in); d.Verb != Retry {
			b.Fatal(d.Verb)
		}
	}
}

func BenchmarkDrawsFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		DrawsFor("order-4711", 3)
	}
}

// The planner allocates nothing, so that a batch costs no garbage.
func TestPlanDoesNotAllocate(t *testing.T) {
	in := retryInput()
	in.Outcome.Floor, in.Policy.Jitter, in.Policy.Spread = 7, JitterFull, 3
	if n := testing.AllocsPerRun(100, func() { Plan(&in) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
