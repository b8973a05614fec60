package gate_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

// replicas are three stores that share their state: three clients of one
// Redis, or the same memory three times.
func replicas(t *testing.T, kind string) []gate.Store {
	if kind == "memory" {
		m := gate.NewMemory(time.Now)
		return []gate.Store{m, m, m}
	}
	needRedis(t)
	var out []gate.Store
	for range 3 {
		out = append(out, gate.NewRedis(clientOf(t, shared, 5*time.Second)))
	}
	return out
}

// Three replicas, a hundred workers each, an upstream that fails for a while
// and workers that die: the log of starts must show no limit broken, and all
// work must end.
func TestManyWorkers(t *testing.T) {
	for _, kind := range []string{"memory", "redis"} {
		t.Run(kind, func(t *testing.T) {
			const limit, window, flights, lease = 60, 500 * time.Millisecond, 24, time.Second
			c := &crowd{
				spec: gate.Spec{
					Rate:     &gate.Rate{Limit: limit, Window: window.Seconds()},
					InFlight: &gate.InFlight{Limit: flights, Lease: lease.Seconds()},
					Breaker:  &gate.Breaker{Threshold: 5, ResetAfter: 0.2},
				},
				stores: replicas(t, kind), workers: 300, tasks: 2, shared: true, deaths: 0.02,
				call:   func() time.Duration { return time.Duration(20+rand.IntN(60)) * time.Millisecond },
				outage: 700 * time.Millisecond,
			}
			log := c.run(t)
			gos := starts(log)
			fullest, most := provenWindow(gos, window), mostAtOnce(gos, lease)
			probes := checkProbes(t, gos)
			t.Logf("%d starts, fullest window %d of %d, most in flight %d of %d, %d probes", len(gos), fullest, limit, most, flights, probes)
			assert.LessOrEqual(t, fullest, limit)
			assert.LessOrEqual(t, most, flights)
			assert.GreaterOrEqual(t, most, flights/2, "the slots are used")
			assert.GreaterOrEqual(t, probes, 1)
			checkTasks(t, gos, lease)
			total := 0
			for end, n := range c.ended {
				total += n
				assert.Contains(t, []string{"done", "died", string(gate.AlreadyActive)}, end)
			}
			assert.Equal(t, c.workers*c.tasks, total, "all work ended")
			assert.GreaterOrEqual(t, c.ended["done"], c.workers*c.tasks/3)

			// No permit is lost: after a lease all slots are there again.
			time.Sleep(lease)
			spec := gate.Spec{Resource: c.spec.Resource, InFlight: c.spec.InFlight}
			for range flights {
				v, err := c.stores[0].Admit(context.Background(), gate.AdmitRequest{Spec: spec})
				require.NoError(t, err)
				require.Equal(t, gate.Go, v.Decision)
			}
		})
	}
}

// Only the rate: its whole log is read from Redis afterwards, in Redis's own
// time, and the places are first come, first served.
func TestManyWorkersWindow(t *testing.T) {
	const limit, window = 50, 400 * time.Millisecond
	c := &crowd{spec: gate.Spec{Rate: &gate.Rate{Limit: limit, Window: window.Seconds()}},
		stores: replicas(t, "redis"), workers: 300, tasks: 1,
		call: func() time.Duration { return time.Millisecond }}
	// One start with a window of an hour makes the store keep all starts.
	c.spec.Resource = uuid.NewString()
	_, err := c.stores[0].Admit(context.Background(), gate.AdmitRequest{
		Spec: gate.Spec{Resource: c.spec.Resource, Rate: &gate.Rate{Limit: 1, Window: 3600}}})
	require.NoError(t, err)
	log := c.run(t)
	gos := starts(log)
	require.Len(t, gos, 300)
	var stored []time.Time
	client := clientOf(t, shared, time.Second)
	key := client.Keys(context.Background(), gate.Prefix(c.spec.Resource)+"starts:*").Val()
	require.Len(t, key, 1)
	for _, z := range client.ZRangeByScoreWithScores(context.Background(), key[0], &redis.ZRangeBy{Min: "0", Max: "+inf"}).Val() {
		stored = append(stored, time.UnixMicro(int64(z.Score)))
	}
	waiters := checkPlaces(t, log)
	t.Logf("fullest window %d by Redis, %d proven by the workers, of %d; %d waiters", fullestWindow(stored, window), provenWindow(gos, window), limit, waiters)
	assert.Len(t, stored, 301)
	assert.LessOrEqual(t, fullestWindow(stored, window), limit)
	assert.LessOrEqual(t, provenWindow(gos, window), limit)
	assert.GreaterOrEqual(t, waiters, 100)
	again := 0
	for _, e := range log {
		if e.verdict.Decision == gate.Wait && !e.first {
			again++
		}
	}
	t.Logf("%d waits after the first", again)
	rateOfStarts := float64(len(gos)-1) / gos[len(gos)-1].told.Sub(gos[0].told).Seconds()
	assert.Greater(t, rateOfStarts, 0.4*limit/window.Seconds(), "the rate is used")
}

// Only the slots: they are given in the order of the queue.
func TestManyWorkersQueue(t *testing.T) {
	const flights, lease = 10, 5 * time.Second
	c := &crowd{spec: gate.Spec{InFlight: &gate.InFlight{Limit: flights, Lease: lease.Seconds()}},
		stores: replicas(t, "redis"), workers: 150, tasks: 2,
		call: func() time.Duration { return time.Duration(30+rand.IntN(20)) * time.Millisecond }}
	log := c.run(t)
	gos := starts(log)
	most := mostAtOnce(gos, lease)
	checked := checkQueue(t, log, lease/20)
	used := 0.0
	for _, e := range gos {
		used += e.reported.Sub(e.told).Seconds()
	}
	used /= flights * gos[len(gos)-1].told.Sub(gos[0].told).Seconds()
	t.Logf("%d admits for %d starts, most in flight %d of %d, slots used %.0f %%, %d pairs of asks judged", len(log), len(gos), most, flights, 100*used, checked)
	assert.Len(t, gos, 300)
	assert.LessOrEqual(t, most, flights)
	assert.GreaterOrEqual(t, checked, 100)
	// A slot that is only freed by its lease would leave less than 0.01; a busy machine alone leaves 0.2.
	assert.Greater(t, used, 0.1, "the slots are used")
}
