package planner

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSpread(t *testing.T) {
	tests := []struct {
		name   string
		draw   float64
		spread float64
		change func(*Input)
		want   float64
	}{
		{"no spread, no extra", 0.9, 0, func(*Input) {}, 10},
		{"the lowest draw adds nothing", 0, 5, func(*Input) {}, 10},
		{"the middle", 0.5, 5, func(*Input) {}, 12.5},
		{"the highest draw adds all of it", lastDraw, 5, func(*Input) {}, 15},
		{"a draw is rounded up to a millisecond", 0.00001, 5, func(*Input) {}, 10.001},
		{"a spread below a millisecond adds nothing", lastDraw, 0.0004, func(*Input) {}, 10},
		{"within max_wait", lastDraw, 5, func(in *Input) { in.Policy.MaxWait = 12 }, 12},
		{"drawn from the room there is, not cut", 0.5, 5, func(in *Input) { in.Policy.MaxWait = 12 }, 11},
		{"no room under max_wait", lastDraw, 5, func(in *Input) { in.Policy.MaxWait = 10 }, 10},
		{"within the budget", lastDraw, 5, func(in *Input) { in.State.Budget = 13 }, 13},
		{"within what is left of the budget", lastDraw, 5, func(in *Input) { in.State.Budget, in.State.Elapsed = 20, 8 }, 12},
		{"no room in the budget", lastDraw, 5, func(in *Input) { in.State.Budget = 10 }, 10},
		{"before the deadline", lastDraw, 5, func(in *Input) { in.Policy.UntilDeadline = 12 }, 11.999},
		{"no room before the deadline", lastDraw, 5, func(in *Input) { in.Policy.UntilDeadline = 10.0005 }, 10},
		{"the largest spread does not overflow", lastDraw, math.MaxFloat64, func(*Input) {}, 120},
		{"a deadline so far that rounding eats the millisecond", lastDraw, 1e300, func(in *Input) {
			in.Outcome.Floor, in.State.Budget, in.Policy.UntilDeadline = 5, 1e300, 1<<54
		}, 5},
		{"float noise is cleaned away", 0.2 / 5, 5, func(in *Input) { in.Outcome.Floor = 1.1 }, 1.3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := plan(floor(10), func(in *Input) {
				in.Policy.Spread, in.Draws.Spread = tt.spread, tt.draw
				tt.change(in)
			})
			require.Equal(t, Retry, d.Verb)
			assert.Equal(t, tt.want, d.Wait)
		})
	}
	t.Run("a wait that is no whole millisecond gets no more than spread", func(t *testing.T) {
		d := plan(func(in *Input) {
			in.State.Base, in.Policy.Spread, in.Draws.Spread = 0.0004, 0.001, lastDraw
		})
		assert.InDelta(t, 0.0014, d.Wait, 1e-15)
	})
}

// A wait that fits without spread fits with it, whatever the numbers.
func TestSpreadNeverMakesAFittingWaitNotFit(t *testing.T) {
	waits := []float64{0.1, 0.3, 1, 1.1, 7, 29.999, 0.0004}
	rooms := []float64{0, 0.0001, 0.001, 0.0015, 0.1, 0.2, 1, 1e6}
	for _, wait := range waits {
		for _, room := range rooms {
			for _, elapsed := range []float64{0, 0.1, 0.7, 33.3} {
				for _, draw := range []float64{0, 1e-9, 0.5, 0.999, lastDraw} {
					in := retryInput()
					in.State.Base, in.State.Elapsed, in.State.Budget = wait, elapsed, elapsed+wait+room
					in.Policy.MaxWait, in.Policy.UntilDeadline = wait+room, math.Nextafter(wait+room, math.Inf(1))
					without := Plan(&in)
					in.Policy.Spread, in.Draws.Spread = 3, draw
					with := Plan(&in)
					require.Equal(t, without.Verb, with.Verb, "%+v", in)
					if with.Verb == Retry {
						require.GreaterOrEqual(t, with.Wait, wait)
						require.LessOrEqual(t, with.Wait, in.Policy.MaxWait)
						require.Less(t, with.Wait, in.Policy.UntilDeadline)
						require.LessOrEqual(t, with.ElapsedWait, in.State.Budget)
					}
				}
			}
		}
	}
}
