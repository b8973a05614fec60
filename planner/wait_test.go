package planner

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExponential(t *testing.T) {
	tests := []struct {
		name      string
		base, cap float64
		attempts  int64
		want      float64
	}{
		{"the first wait is base", 2, 60, 1, 2},
		{"it doubles", 2, 60, 2, 4},
		{"fractions double exactly", 0.5, 60, 4, 4},
		{"the cap holds", 2, 60, 6, 60},
		{"just below the cap", 2, 64.5, 6, 64},
		{"base above the cap", 90, 60, 1, 60},
		{"attempt 64 does not overflow an integer", 1, 60, 64, 60},
		{"attempt 1025 does not overflow a float", 1, 60, 1025, 60},
		{"a million attempts", 1, 60, 1_000_000, 60},
		{"the largest number of attempts", 1, 60, math.MaxInt64, 60},
		{"2^1023 is still a float", 1, math.MaxFloat64, 1024, math.Ldexp(1, 1023)},
		{"the smallest base reaches the cap", 5e-324, 60, math.MaxInt64, 60},
		{"the smallest base stays small", 5e-324, 60, 2, 1e-323},
		{"the largest base", math.MaxFloat64, math.MaxFloat64, 5, math.MaxFloat64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Exponential(tt.base, tt.cap, tt.attempts))
		})
	}
}

// The four formulas of section 3 at both ends of the draw and in its middle.
func TestJitterModes(t *testing.T) {
	tests := []struct {
		name             string
		jitter           Jitter
		attempts         int64
		lastWait         float64
		low, middle, top float64
	}{
		{"none takes no draw", JitterNone, 3, 0, 4, 4, 4},
		{"full is 0 to exp", JitterFull, 3, 0, 0, 2, 4},
		{"equal is half of exp to exp", JitterEqual, 3, 0, 2, 3, 4},
		{"decorrelated starts from base", JitterDecorrelated, 1, 0, 1, 2, 3},
		{"decorrelated without a previous wait starts from base", JitterDecorrelated, 3, 0, 1, 2, 3},
		{"decorrelated is base to three times the last wait", JitterDecorrelated, 3, 5, 1, 8, 15},
		{"decorrelated is capped", JitterDecorrelated, 3, 50, 1, 60, 60},
		{"decorrelated after a wait below base", JitterDecorrelated, 3, 0.1, 1, 1, 1},
		{"the first call has no previous wait", JitterDecorrelated, 1, 50, 1, 2, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for draw, want := range map[float64]float64{0: tt.low, 0.5: tt.middle, lastDraw: tt.top} {
				d := plan(func(in *Input) {
					in.State.Attempts, in.State.LastWait = tt.attempts, tt.lastWait
					in.Policy.Jitter, in.Draws.Jitter = tt.jitter, draw
				})
				require.Equal(t, Retry, d.Verb)
				assert.Equal(t, want, d.Wait, "draw %v", draw)
			}
		})
	}
}

func TestWithoutJitterTheNumbersAreThoseOfTheFormula(t *testing.T) {
	for _, base := range []float64{0.1, 0.3, 0.0004, 1.0 / 3, 2} {
		d := plan(func(in *Input) {
			in.State.Base, in.State.Attempts, in.State.ExpCap = base, 3, 1000
			in.Draws = Draws{Jitter: 0.77, Spread: 0.33}
		})
		assert.Equal(t, base*4, d.Wait)
	}
}

func TestFloorIsNeverShortened(t *testing.T) {
	for _, jitter := range []Jitter{JitterNone, JitterFull, JitterEqual, JitterDecorrelated} {
		d := plan(floor(70), func(in *Input) { in.Policy.Jitter, in.Draws.Jitter = jitter, 0.5 })
		assert.Equal(t, 70.0, d.Wait, "exp_cap 60 caps only the local part")
	}
	assert.Equal(t, 1.0, plan(floor(0.5)).Wait, "the local part may be longer")
	assert.Equal(t, 70.0, plan(floor(70), func(in *Input) { in.Policy.MaxWait = 69 }).Wait,
		"a defer names the wait that did not fit")
}

func TestDrawsAreWholeMilliseconds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		base := []float64{1, 0.5, 2.5, 0.1, 30}[r.IntN(5)]
		in := retryInput()
		in.State.Base, in.State.Attempts = base, 1+r.Int64N(4)
		in.State.LastWait = float64(r.IntN(3000)) / 1000
		in.Policy.Jitter = Jitter(1 + r.IntN(3))
		in.Policy.Spread = float64(r.IntN(3)) * 1.5
		in.Draws = Draws{r.Float64(), r.Float64()}
		d := Plan(&in)
		require.Equal(t, Retry, d.Verb)
		require.Equal(t, math.Round(d.Wait*1000)/1000, d.Wait, "%+v", in)
		require.GreaterOrEqual(t, d.Wait, d.JitterLow)
		require.LessOrEqual(t, d.Wait, math.Ceil(d.JitterHigh*1000)/1000+in.Policy.Spread+1e-12)
	}
}

func TestCeilMilli(t *testing.T) {
	tests := []struct {
		name     string
		in, want float64
	}{
		{"nothing", 0, 0},
		{"a whole millisecond stays", 0.123, 0.123},
		{"up, not to the nearest", 0.1231, 0.124},
		{"the smallest draw is a millisecond", 5e-324, 0.001},
		{"float noise is no millisecond more", 0.30000000000000004, 0.3},
		{"float noise below", math.Nextafter(0.3, 0), 0.3},
		{"a real excess counts, however small", 1.000000001, 1.001},
		{"large values round up too", 999_999_999.0004, 999_999_999.001},
		{"past what a float can tell", 1 << 60, 1 << 60},
		{"a half second at the edge", 1<<42 + 0.5, 1<<42 + 1},
		{"the largest float does not overflow", math.MaxFloat64, math.MaxFloat64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, ceilMilli(tt.in)) })
	}
}
