package herd

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
	"n8n-retry-planner/planner"
)

var world = World{Executions: 3000, Workers: 40, Concurrency: 10, ResponseTime: 0.2, Seed: 1,
	Upstream: Upstream{Outage: 120, Recovery: 30, Limit: 50, Window: 1, RetryAfter: true}}

func state(base, expCap float64) planner.State {
	return planner.State{Attempts: 1, MaxAttempts: 30, Base: base, ExpCap: expCap, Budget: 1800}
}

func with(jitter planner.Jitter) planner.Policy {
	p := planner.DefaultPolicy()
	p.Jitter = jitter
	return p
}

func play(t *testing.T, w World, p Policy) Result {
	t.Helper()
	r, err := Play(context.Background(), &w, &p, func(int) {})
	require.NoError(t, err)
	return r
}

func TestFullJitterLowersThePeakOf3000ExecutionsOver40Workers(t *testing.T) {
	for seed := range uint64(3) {
		w := world
		w.Seed = seed
		fixed := play(t, w, Policy{State: state(10, 10), Policy: with(planner.JitterNone)})
		jitter := play(t, w, Policy{State: state(2, 60), Policy: with(planner.JitterFull)})
		assert.GreaterOrEqual(t, float64(fixed.PeakBack)/float64(jitter.PeakBack), 8.0, "fixed %d, jitter %d", fixed.PeakBack, jitter.PeakBack)
		assert.Zero(t, jitter.Lost)
		assert.Less(t, jitter.Wasted, fixed.Wasted)
	}
}

func TestTheGateKeepsToTheLimit(t *testing.T) {
	p := Policy{State: state(2, 60), Policy: with(planner.JitterFull),
		Gate: &gate.Spec{Resource: "api", Rate: &gate.Rate{Limit: 50, Window: 1}}}
	r := play(t, world, p)
	assert.LessOrEqual(t, max(r.PeakBack, r.PeakOutage), 50)
	assert.Zero(t, r.Lost)
}

func TestSpreadPartsThoseWhoGotTheSameRetryAfter(t *testing.T) {
	w := world
	w.Upstream = Upstream{Limit: 3000, Window: 60, RetryAfter: true}
	w.Executions = 9000
	w.Concurrency = 100
	plain, spread := with(planner.JitterFull), with(planner.JitterFull)
	spread.Spread = 30
	without := play(t, w, Policy{State: state(1, 1), Policy: plain})
	parted := play(t, w, Policy{State: state(1, 1), Policy: spread})
	// The first second is the same for both: look at the edge of the window.
	assert.Greater(t, without.Arrivals[60], 8*parted.Arrivals[60])
}

func TestPlayCountsEachCallAndExecution(t *testing.T) {
	w := World{Executions: 10, Workers: 1, Concurrency: 2, ResponseTime: 1, Upstream: Upstream{Outage: 3, Limit: 100, Window: 1}}
	p := Policy{Name: "one call", State: planner.State{Attempts: 1, MaxAttempts: 1, Base: 1, ExpCap: 1, Budget: 10}, Policy: with(planner.JitterNone)}
	ended := 0
	r, err := Play(context.Background(), &w, &p, func(n int) { ended += n })
	require.NoError(t, err)
	assert.Equal(t, Result{Name: "one call", PeakBack: 2, PeakOutage: 2, Calls: 10, Wasted: 6, Done: 5, Lost: 6, Arrivals: []int{2, 2, 2, 2, 2}}, r,
		"two places: two calls a second, of which three seconds are in the outage")
	assert.Equal(t, 10, ended)
}

func TestTheSameSeedGivesTheSameNumbers(t *testing.T) {
	p := Policy{State: state(2, 60), Policy: with(planner.JitterFull)}
	other := world
	other.Seed = 2
	first := play(t, world, p)
	assert.Equal(t, first, play(t, world, p))
	assert.NotEqual(t, first, play(t, other, p))
}

func TestPlayEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Play(ctx, &world, &Policy{State: state(1, 1), Policy: with(planner.JitterNone)}, func(int) {})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestUpstream(t *testing.T) {
	w := window{Upstream: Upstream{Outage: 10, Recovery: 10, Limit: 10, Window: 5, RetryAfter: true}}
	ask := func(now float64) [2]float64 {
		status, after := w.answer(now)
		return [2]float64{float64(status), after}
	}
	assert.Equal(t, [2]float64{503, 0}, ask(9.9), "in the outage")
	assert.Equal(t, [2]float64{200, 0}, ask(10), "a tenth of the limit is one call")
	assert.Equal(t, [2]float64{429, 5}, ask(10), "the window ends at 15")
	assert.Equal(t, [2]float64{200, 0}, ask(14.9), "it grows: nearly half the limit")
	for range 10 {
		ask(25)
	}
	assert.Equal(t, [2]float64{429, 5}, ask(25), "the whole limit")
	assert.Equal(t, [2]float64{429, 1}, ask(29.9), "whole seconds, at least one")
	assert.Equal(t, [2]float64{200, 0}, ask(30), "the next window")
}
