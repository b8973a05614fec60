package gate_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

// ceiling is a script of the size of an admit that decides nothing: as many
// keys and arguments, as many commands of the same kinds, the same answer.
var ceiling = redis.NewScript(`
local call = redis.call
local now = call('TIME') now = now[1] * 1000000 + now[2]
call('GET', KEYS[7]) call('GET', KEYS[8])
call('HMGET', KEYS[1], 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
call('ZREMRANGEBYSCORE', KEYS[3], 0, 1) call('ZSCORE', KEYS[2], '~') call('ZREMRANGEBYSCORE', KEYS[2], 1, now - 1000000)
call('ZCARD', KEYS[3]) call('ZREVRANGE', KEYS[2], 9, 9, 'WITHSCORES')
call('ZREMRANGEBYSCORE', KEYS[4], 0, now - 1000000) call('ZRANGEBYSCORE', KEYS[6], 0, 1) call('ZREMRANGEBYSCORE', KEYS[6], 0, 1)
call('ZCARD', KEYS[4]) call('ZCOUNT', KEYS[5], 0, 1) call('ZADD', KEYS[4], now, ARGV[1]) call('PTTL', KEYS[4]) call('PEXPIRE', KEYS[4], 1000)
call('ZADD', KEYS[2], now, ARGV[1] .. now) call('PTTL', KEYS[2]) call('PEXPIRE', KEYS[2], 1000)
call('HINCRBY', KEYS[10], 'x', 1)
call('SET', KEYS[7], 'g 1800000000000000 1800000000000000 0', 'PX', 1000) call('SET', KEYS[8], ARGV[1], 'PX', 1000)
return {1, 0, 0, 0, 0}`)

// bare is a script that does nothing, with the keys and arguments of an admit.
var bare = redis.NewScript("return {1, 0, 0, 0, 0}")

// rush lets many goroutines call for the given time and returns the durations.
func rush(goroutines int, d time.Duration, call func(n int)) []time.Duration {
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	end := time.Now().Add(d)
	for n := range goroutines {
		all.Go(func() {
			var mine []time.Duration
			for time.Now().Before(end) {
				begin := time.Now()
				call(n)
				mine = append(mine, time.Since(begin))
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

// BenchmarkRedisAdmit measures admits against the same Redis's own ceiling, in
// one run and by turns, so that a busy machine slows both. Run it with
// -benchtime 1x. Every admit is a go with all parts and a task.
func BenchmarkRedisAdmit(b *testing.B) {
	needRedis(b)
	ctx := context.Background()
	client := clientOf(b, shared, 10*time.Second)
	store := gate.NewRedis(client)
	specs, keys := make([]gate.Spec, 64), make([][]string, 64)
	for i := range specs {
		specs[i] = gate.Spec{Resource: uuid.NewString(), Tenant: "acme",
			Rate: &gate.Rate{Limit: 1e6, Window: 1}, InFlight: &gate.InFlight{Limit: 1e6, Lease: 1},
			Breaker: &gate.Breaker{Threshold: 5, ResetAfter: 30}, RetryBudget: &gate.RetryBudget{Ratio: 0.2, Min: 10, Window: 60}}
		tag, part := "gate:{"+uuid.NewString()[:22]+"}:", ":"+strings.Repeat("t", 22)
		for _, kind := range []string{"meta", "starts" + part, "places" + part, "out", "queue", "due",
			"permit:" + uuid.NewString(), "task" + part, "retries" + part + ":60000000", "calls" + part + ":60000000"} {
			keys[i] = append(keys[i], tag+kind)
		}
	}
	admit := func(n int) {
		v, err := store.Admit(ctx, gate.AdmitRequest{Spec: specs[n], TaskID: uuid.NewString(), MaxWait: 1})
		if err != nil || v.Decision != gate.Go {
			b.Error(v, err)
		}
	}
	script := func(s *redis.Script) func(n int) {
		return func(n int) {
			id := uuid.NewString()
			_, err := s.Run(ctx, client, keys[n], id, true, false, 0.2, 1000, 1000000, 1050000, 1, 50000, 1000000,
				1000000, 50000, 100000, 5, 10, 60000000, 937500, 10000, 10000, 250000).Int64Slice()
			require.NoError(b, err)
		}
	}
	ping := func(int) { client.Ping(ctx) }
	const rounds = 10
	count := map[string]int{}
	p99 := map[string]time.Duration{}
	for b.Loop() {
		for range rounds {
			for name, call := range map[string]func(int){"admit": admit, "ceiling": script(ceiling), "bare": script(bare)} {
				count[name] += len(rush(32, 300*time.Millisecond, call))
			}
			for name, call := range map[string]func(int){"admit": admit, "ping": ping, "ceiling": script(ceiling)} {
				took := rush(4, 300*time.Millisecond, call)
				p99[name] += took[len(took)*99/100]
			}
		}
	}
	b.ReportMetric(float64(count["admit"])/(rounds*0.3), "admits/s")
	b.ReportMetric(float64(count["ceiling"])/(rounds*0.3), "ceiling/s")
	b.ReportMetric(float64(count["admit"])/float64(count["ceiling"]), "of-ceiling")
	b.ReportMetric(float64(count["admit"])/float64(count["bare"]), "of-bare")
	b.ReportMetric(float64(p99["admit"].Microseconds())/rounds, "p99-µs")
	b.ReportMetric(float64(p99["admit"])/float64(p99["ping"]), "p99-of-ping")
}

// BenchmarkMemoryAdmit is one admit with its report in the in-process store.
func BenchmarkMemoryAdmit(b *testing.B) {
	m, ctx := gate.NewMemory(time.Now), context.Background()
	spec := gate.Spec{Resource: "r", Rate: &gate.Rate{Limit: 1e6, Window: 1}, InFlight: &gate.InFlight{Limit: 8, Lease: 1}}
	for b.Loop() {
		v, _ := m.Admit(ctx, gate.AdmitRequest{Spec: spec, TaskID: "t"})
		_, _ = m.Report(ctx, gate.ReportRequest{Spec: spec, TaskID: "t", Permit: v.Permit})
	}
}
