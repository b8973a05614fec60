package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate/gatetest"
)

func ownRedis(t *testing.T) *gatetest.Redis {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the binary")
	}
	if !gatetest.HasRedis() {
		fmt.Println("note: no redis-server found: the gate is not tested with several replicas")
		t.Skip("no redis-server")
	}
	s, err := gatetest.StartRedis(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { s.Resume(); s.Kill() })
	return s
}

var crowdState = map[string]any{"max_attempts": 50, "base": 0.1, "exp_cap": 1, "total_wait_budget": 600, "method": "GET"}

// TestThreeReplicasOneGate is the whole of it: three replicas, a hundred
// workers each, one Redis, an API that fails for a while and comes back,
// workers that die, and a replica that is killed in the middle. 120 calls in
// 60 seconds are scaled down to 120 in 5.
func TestThreeReplicasOneGate(t *testing.T) {
	const (
		limit, flights = 120, 30
		window, slack  = 5 * time.Second, 250 * time.Millisecond
		lease, reset   = 2 * time.Second, 500 * time.Millisecond
	)
	server := ownRedis(t)
	var broke time.Time
	api := &gatetest.Upstream{
		Takes: func() time.Duration { return time.Duration(20+rand.IntN(60)) * time.Millisecond },
		Answer: func(number int, now time.Time) (int, int) {
			if number == 100 {
				broke = now
			}
			if !broke.IsZero() && now.Sub(broke) < 1500*time.Millisecond {
				return 503, 0
			}
			return 200, 0
		},
	}
	api.Start()
	defer api.Close()
	var replicas []*process
	crowd := &gatetest.Crowd{
		API: api.URL(), State: crowdState, Workers: 300, Deaths: 0.02,
		// Sixty tasks have two workers each, on different replicas.
		Task: func(n int) string {
			if n >= 240 {
				n -= 239
			}
			return fmt.Sprintf("task-%d", n)
		},
		Gate: json.RawMessage(fmt.Sprintf(`{"resource":"billing-api","rate":{"limit":%d,"window":%v},"in_flight":{"limit":%d,"lease":%v},"breaker":{"threshold":5,"reset_after":%v}}`,
			limit, window.Seconds(), flights, lease.Seconds(), reset.Seconds())),
	}
	for range 3 {
		// The time-out is long, so that a busy machine does not let calls pass.
		p := startProcess(t, "PLANNER_REDIS_URL="+server.URL(), "PLANNER_REDIS_TIMEOUT=10s", "PLANNER_LOG_LEVEL=error")
		replicas = append(replicas, p)
		crowd.Replicas = append(crowd.Replicas, "http://"+p.address)
	}
	starts := keepAllStarts(t, server, crowd)
	began := time.Now()
	var asks []gatetest.Ask
	var ended map[string]int
	done := make(chan bool)
	go func() { asks, ended = crowd.Run(); close(done) }()
	time.Sleep(5 * time.Second)
	require.NoError(t, replicas[2].Process.Kill())
	killed := time.Now()
	<-done
	took := time.Since(began)

	goes, calls := gatetest.Goes(asks), api.Calls()
	require.Greater(t, len(goes), 240)
	assert.True(t, killed.Before(goes[len(goes)-1].Told), "the replica was killed in the middle")

	// The rate, by Redis's own log and by the API's.
	decided := starts()
	late := latestArrival(goes, calls)
	arrived := gatetest.FullestWindow(gatetest.Arrivals(calls), window)
	assert.LessOrEqual(t, gatetest.FullestWindow(decided, window), limit, "starts in one window, as Redis decided them")
	most := 0
	for _, c := range calls {
		most = max(most, c.Active)
	}
	probes, probeFaults := gatetest.Probes(asks, reset)
	waiters, overtaken := gatetest.Overtaken(asks)
	assert.Positive(t, probes)
	assert.Greater(t, most, 1, "calls are made at once")
	// Where calls arrive later than the gate allows for, leases end under way
	// and answers cross: what the workers saw then proves nothing.
	if late <= slack {
		assert.LessOrEqual(t, arrived, limit, "calls in one window, as the API saw them")
		assert.LessOrEqual(t, most, flights, "calls at once, as the API saw them")
		assert.Empty(t, gatetest.TasksTwice(goes))
		assert.Empty(t, probeFaults)
		assert.Empty(t, overtaken)
		assert.Greater(t, waiters, 50)
	} else {
		fmt.Printf("note: this machine is so busy that a call arrived %v after its go: Redis's log alone is judged\n", late.Round(time.Millisecond))
	}
	permits := map[string]bool{}
	for _, c := range calls {
		assert.False(t, permits[c.Permit], "two calls with the permit %s", c.Permit)
		permits[c.Permit] = true
	}

	total := 0
	for end, n := range ended {
		total += n
		assert.Contains(t, []string{"done", "died"}, end)
	}
	assert.Equal(t, crowd.Workers, total, "all work ended")
	assert.GreaterOrEqual(t, ended["done"], 270)
	t.Logf("%d asks, %d starts in %v; fullest window %d by Redis, %d by the API, of %d; most at once %d of %d; latest arrival %v after its question; %d probes, %d waiters in order; ended %v",
		len(asks), len(goes), took.Round(100*time.Millisecond), gatetest.FullestWindow(decided, window), arrived, limit, most, flights, late.Round(time.Millisecond), probes, waiters, ended)

	// The permits of the dead came back after their lease, all of them.
	time.Sleep(lease)
	last := &gatetest.Crowd{API: api.URL(), State: crowdState, Replicas: crowd.Replicas[:2], Workers: flights,
		Task: func(n int) string { return fmt.Sprintf("last-%d", n) },
		Gate: json.RawMessage(fmt.Sprintf(`{"resource":"billing-api","in_flight":{"limit":%d,"lease":2}}`, flights))}
	again, ended := last.Run()
	assert.Equal(t, map[string]int{"done": flights}, ended)
	assert.Len(t, again, flights, "every slot was free")
}

// keepAllStarts makes Redis keep the whole log of starts: one start with a
// window of an hour, under another limit of the same resource, is enough.
func keepAllStarts(t *testing.T, server *gatetest.Redis, crowd *gatetest.Crowd) func() []time.Time {
	t.Helper()
	first := &gatetest.Crowd{Replicas: crowd.Replicas, API: crowd.API, State: crowdState, Workers: 1,
		Task: func(int) string { return "first" }, Gate: json.RawMessage(`{"resource":"billing-api","rate":{"limit":1,"window":3600}}`)}
	_, ended := first.Run()
	require.Equal(t, map[string]int{"done": 1}, ended)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	return func() (out []time.Time) {
		keys := client.Keys(context.Background(), "*:starts:*").Val()
		require.Len(t, keys, 1)
		for _, z := range client.ZRangeByScoreWithScores(context.Background(), keys[0], &redis.ZRangeBy{Min: "0", Max: "+inf"}).Val() {
			out = append(out, time.UnixMicro(int64(z.Score)))
		}
		return out
	}
}

// latestArrival is the longest time from a question that got go to the arrival
// of its call.
func latestArrival(goes []gatetest.Ask, calls []gatetest.Call) (late time.Duration) {
	asked := map[string]time.Time{}
	for _, g := range goes {
		asked[g.Permit] = g.Asked
	}
	for _, c := range calls {
		if at, ok := asked[c.Permit]; ok {
			late = max(late, c.Arrived.Sub(at))
		}
	}
	return late
}

// TestRedisFaultsBehindReplicas harms Redis in the middle of the work: nobody
// crashes, no work is lost, each mode does as written, and it recovers by
// itself.
func TestRedisFaultsBehindReplicas(t *testing.T) {
	for name, row := range map[string]struct{ harm, heal func(*gatetest.Redis) error }{
		"killed and restarted": {
			func(s *gatetest.Redis) error { s.Kill(); return nil },
			(*gatetest.Redis).Start,
		},
		"stopped": {
			func(s *gatetest.Redis) error { s.Pause(); return nil },
			func(s *gatetest.Redis) error { s.Resume(); return nil },
		},
		"slow": {
			func(s *gatetest.Redis) error { return s.Slow(1500 * time.Millisecond) },
			func(*gatetest.Redis) error { return nil },
		},
	} {
		for _, mode := range []string{"open", "closed"} {
			t.Run(name+", "+mode, func(t *testing.T) {
				t.Parallel()
				server := ownRedis(t)
				api := &gatetest.Upstream{
					Takes:  func() time.Duration { return 10 * time.Millisecond },
					Answer: func(int, time.Time) (int, int) { return 200, 0 },
				}
				api.Start()
				defer api.Close()
				crowd := &gatetest.Crowd{API: api.URL(), State: crowdState, Workers: 150, Task: func(n int) string { return fmt.Sprintf("task-%d", n) },
					Gate: json.RawMessage(`{"resource":"billing-api","rate":{"limit":40,"window":1},"in_flight":{"limit":20,"lease":2}}`)}
				var replicas []*process
				for range 2 {
					p := startProcess(t, "PLANNER_REDIS_URL="+server.URL(), "PLANNER_GATE_FAILURE="+mode)
					replicas = append(replicas, p)
					crowd.Replicas = append(crowd.Replicas, "http://"+p.address)
				}
				var asks []gatetest.Ask
				var ended map[string]int
				done := make(chan bool)
				go func() { asks, ended = crowd.Run(); close(done) }()
				time.Sleep(700 * time.Millisecond)
				require.NoError(t, row.harm(server))
				time.Sleep(1500 * time.Millisecond)
				require.NoError(t, row.heal(server))
				<-done

				assert.Equal(t, map[string]int{"done": 150}, ended, "no work is lost")
				bypassed, unavailable := 0, 0
				for _, a := range asks {
					if a.Bypassed {
						bypassed++
					}
					if a.Code == "gate_unavailable" {
						unavailable++
					}
				}
				t.Logf("%d asks, %d let pass, %d refused", len(asks), bypassed, unavailable)
				if mode == "open" {
					assert.Positive(t, bypassed)
					assert.Zero(t, unavailable)
				} else {
					assert.Zero(t, bypassed)
					assert.Positive(t, unavailable)
				}
				for i, p := range replicas {
					require.Eventually(t, func() bool { return admits(crowd.Replicas[i]) }, 20*time.Second, 20*time.Millisecond, "it comes back by itself")
					assert.Eventually(t, func() bool {
						down, up := strings.Count(p.log.String(), "store does not answer"), strings.Count(p.log.String(), "store answers again")
						return down > 0 && down == up
					}, 10*time.Second, 10*time.Millisecond, "one line for each change, and back at the end")
				}
			})
		}
	}
}

// admits tells whether a replica's gate really answers.
func admits(replica string) bool {
	w, err := http.Post(replica+"/v1/admit", "application/json",
		strings.NewReader(`{"gate":{"resource":"other-api"},"max_attempts":2,"base":1,"exp_cap":1,"total_wait_budget":1}`))
	if err != nil {
		return false
	}
	defer func() { _ = w.Body.Close() }()
	got, err := io.ReadAll(w.Body)
	return err == nil && strings.Contains(string(got), `"decision":"go"`) && !strings.Contains(string(got), "gate_bypassed")
}
