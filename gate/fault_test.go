package gate_test

import (
	"context"
	"io"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
	"n8n-retry-planner/gate/gatetest"
)

const faultTimeout = 250 * time.Millisecond

// outage lets 40 workers ask a guarded Redis without pause, breaks the server
// in the middle and demands that nobody fails or hangs, that the answers in
// between are those of the mode, and that it recovers by itself.
func outage(t *testing.T, open bool, harm, heal func(*gatetest.Redis)) {
	server := ownRedis(t)
	var changes []bool
	var failed atomic.Int64
	g := gate.NewGuarded(gate.NewRedis(clientOf(t, server, faultTimeout)), gate.GuardOptions{
		Open: open, Timeout: faultTimeout, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Failed:  func(string) { failed.Add(1) },
		Changed: func(up bool) { changes = append(changes, up) },
	})
	spec := gate.Spec{Resource: uuid.NewString(), InFlight: &gate.InFlight{Limit: 1000, Lease: 1}}
	var stop atomic.Bool
	var mu sync.Mutex
	counts, slowest := map[string]int{}, time.Duration(0)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			for !stop.Load() {
				begin := time.Now()
				v, err := g.Admit(context.Background(), gate.AdmitRequest{Spec: spec, MaxWait: math.Inf(1)})
				took := time.Since(begin)
				assert.NoError(t, err)
				kind := "ok"
				switch {
				case v.Bypassed:
					kind = "bypassed"
				case v.Reason == gate.Unavailable:
					kind = "unavailable"
				}
				_, err = g.Report(context.Background(), gate.ReportRequest{Spec: spec, Permit: v.Permit})
				assert.NoError(t, err)
				mu.Lock()
				counts[kind]++
				slowest = max(slowest, took)
				mu.Unlock()
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	waitFor := func(kind string, n int) {
		mu.Lock()
		from := counts[kind]
		mu.Unlock()
		require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return counts[kind] >= from+n }, 20*time.Second, 10*time.Millisecond, kind)
	}
	waitFor("ok", 100)
	harm(server)
	waitFor(map[bool]string{true: "bypassed", false: "unavailable"}[open], 100)
	heal(server)
	waitFor("ok", 200)
	stop.Store(true)
	all.Wait()
	t.Logf("answers %v, slowest %v, changes %v", counts, slowest, changes)
	assert.Zero(t, counts[map[bool]string{true: "unavailable", false: "bypassed"}[open]])
	assert.GreaterOrEqual(t, failed.Load(), int64(100))
	require.GreaterOrEqual(t, len(changes), 2)
	assert.True(t, changes[len(changes)-1], "up at the end")
	for i, up := range changes {
		assert.Equal(t, i%2 == 1, up, "down and up in turn")
	}
	assert.Less(t, slowest, faultTimeout+2*time.Second, "nobody hangs") // this machine may be busy
}

func TestRedisFaults(t *testing.T) {
	for _, row := range []struct {
		name string
		open bool
		harm func(*gatetest.Redis)
		heal func(*gatetest.Redis)
	}{
		{"killed and restarted, open", true, (*gatetest.Redis).Kill, func(s *gatetest.Redis) { assert.NoError(t, s.Start()) }},
		{"killed and restarted, closed", false, (*gatetest.Redis).Kill, func(s *gatetest.Redis) { assert.NoError(t, s.Start()) }},
		{"stopped (SIGSTOP), open", true, (*gatetest.Redis).Pause, (*gatetest.Redis).Resume},
		{"stopped (SIGSTOP), closed", false, (*gatetest.Redis).Pause, (*gatetest.Redis).Resume},
		{"slower than the timeout", true, func(s *gatetest.Redis) { assert.NoError(t, s.Slow(1500*time.Millisecond)) }, func(*gatetest.Redis) {}},
	} {
		t.Run(row.name, func(t *testing.T) { outage(t, row.open, row.harm, row.heal) })
	}
}

// A script cache that was flushed, or a failover to a server that never had
// the scripts: the next call loads them again.
func TestRedisForgetsScripts(t *testing.T) {
	server := ownRedis(t)
	client := clientOf(t, server, 5*time.Second)
	store := gate.NewRedis(client)
	for range 3 {
		require.NoError(t, client.ScriptFlush(context.Background()).Err())
		v, err := store.Admit(context.Background(), gate.AdmitRequest{Spec: gate.Spec{Resource: "r"}})
		require.NoError(t, err)
		require.NoError(t, client.ScriptFlush(context.Background()).Err())
		got, err := store.Report(context.Background(), gate.ReportRequest{Spec: gate.Spec{Resource: "r"}, Permit: v.Permit})
		require.NoError(t, err)
		assert.True(t, got.Known)
	}
}

// All keys of a resource are in one slot of a cluster, have a time to live,
// and are gone after it; many tenants leave nothing behind.
func TestRedisLeavesNothingBehind(t *testing.T) {
	server := ownRedis(t)
	client := clientOf(t, server, 5*time.Second)
	store := gate.NewRedis(client)
	ctx := context.Background()
	for i := range 300 {
		spec := gate.Spec{Resource: "}{ any name", Tenant: uuid.NewString(), Rate: &gate.Rate{Limit: 2, Window: 0.3},
			InFlight: &gate.InFlight{Limit: 200, Lease: 0.5}, RetryBudget: &gate.RetryBudget{Min: 5, Window: 0.4}}
		for range 3 {
			v, err := store.Admit(ctx, gate.AdmitRequest{Spec: spec, TaskID: uuid.NewString(), Retry: true, MaxWait: 60})
			require.NoError(t, err)
			if i%10 == 0 {
				_, err = store.Report(ctx, gate.ReportRequest{Spec: spec, Permit: v.Permit, Hold: 0.2})
				require.NoError(t, err)
			}
		}
	}
	keys := client.Keys(ctx, "*").Val()
	require.Greater(t, len(keys), 500)
	slot := client.ClusterKeySlot(ctx, keys[0]).Val()
	for _, k := range keys[:200] {
		ttl := client.PTTL(ctx, k).Val()
		assert.True(t, ttl == -2 || ttl > 0, "%s lives for %v", k, ttl) // -2: gone meanwhile
		assert.Equal(t, slot, client.ClusterKeySlot(ctx, k).Val(), k)
		assert.Contains(t, k, gate.Prefix("}{ any name"))
	}
	left := func() []string { return client.Keys(ctx, "*").Val() }
	require.Eventually(t, func() bool { return len(left()) <= 1 }, 15*time.Second, 50*time.Millisecond)
	for _, k := range left() { // the average length of a call: for a minute
		assert.Less(t, client.PTTL(ctx, k).Val(), 61*time.Second, k)
	}
}

// The memory store sweeps as it is used.
func TestMemoryLeavesNothingBehind(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	m := gate.NewMemory(func() time.Time { return now })
	ask := func(tenant string) {
		_, err := m.Admit(context.Background(), gate.AdmitRequest{TaskID: tenant, Retry: true, Spec: gate.Spec{Resource: tenant, Tenant: tenant,
			Rate: &gate.Rate{Limit: 2, Window: 3}, RetryBudget: &gate.RetryBudget{Min: 5, Window: 40}}})
		require.NoError(t, err)
	}
	for range 1000 {
		ask(uuid.NewString())
	}
	assert.GreaterOrEqual(t, m.Left(), 5000)
	now = now.Add(10 * time.Minute)
	for range 200 {
		ask("one")
	}
	assert.LessOrEqual(t, m.Left(), 5)
}
