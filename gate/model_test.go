package gate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

// play runs one random history against a store. The same seed is the same
// history as long as the answers are the same; it returns the log of both.
func play(t testing.TB, seed uint64, steps int, make func(func() time.Time) gate.Store) []string {
	rng := rand.New(rand.NewPCG(seed, 7))
	now := time.Unix(1_800_000_000, 0)
	store := make(func() time.Time { return now })
	resource := fmt.Sprint("model-", seed, "-", uuid.NewString())
	pick := func(n int) int { return rng.IntN(n) }
	newID := func() string {
		var id uuid.UUID
		for i := range id {
			id[i] = byte(rng.UintN(256))
		}
		return id.String()
	}
	base := gate.Spec{}
	if pick(4) > 0 {
		base.Rate = &gate.Rate{Limit: int64(1 + pick(5)), Window: float64(1+pick(40)) / 4}
	}
	if pick(4) > 0 {
		base.InFlight = &gate.InFlight{Limit: int64(1 + pick(4)), Lease: float64(1 + pick(20))}
	}
	if pick(3) > 0 {
		base.Breaker = &gate.Breaker{Threshold: int64(1 + pick(4)), ResetAfter: float64(1 + pick(10))}
	}
	if pick(3) > 0 {
		base.RetryBudget = &gate.RetryBudget{Ratio: rng.Float64(), Min: int64(pick(3)), Window: float64(1 + pick(20))}
	}
	spec := func() gate.Spec {
		s := base
		s.Resource, s.Tenant = resource, []string{"", "", "x"}[pick(3)]
		if pick(12) == 0 && s.Rate != nil {
			s.Rate = &gate.Rate{Limit: int64(1 + pick(6)), Window: float64(1+pick(40)) / 4}
		}
		if pick(12) == 0 {
			s.InFlight = &gate.InFlight{Limit: int64(1 + pick(6)), Lease: float64(1 + pick(20))}
		}
		if pick(20) == 0 {
			s.Breaker, s.RetryBudget = nil, nil
		}
		return s
	}
	var log, permits []string
	due := now
	for i := range steps {
		switch pick(6) {
		case 0:
			now = now.Add(time.Duration(rng.ExpFloat64()*1e6) * time.Microsecond)
		case 1:
			if due.After(now) {
				now = due
			}
		case 2:
			now = now.Add(time.Duration(pick(3)) * time.Microsecond)
		}
		var id, taskID string
		if len(permits) > 0 && pick(5) > 0 {
			id = permits[max(len(permits)-1-pick(12), 0)]
		}
		if pick(3) == 0 {
			taskID = fmt.Sprint("task-", pick(6))
		}
		if pick(3) > 0 {
			if id == "" {
				id = newID()
				permits = append(permits, id)
			}
			r := gate.AdmitRequest{Spec: spec(), TaskID: taskID, Permit: id, Retry: pick(2) == 0, MaxWait: math.Inf(1)}
			if pick(4) == 0 {
				r.MaxWait = rng.Float64() * 10
			}
			v, err := store.Admit(context.Background(), r)
			require.NoError(t, err)
			if v.Decision == gate.Wait {
				due = now.Add(time.Duration(v.Wait*1e6) * time.Microsecond)
			}
			log = append(log, fmt.Sprintf("%d %d admit %.5s task=%q rate=%v tenant=%q: %+v", i, now.UnixMicro(), id, taskID, r.Rate, r.Tenant, v))
			continue
		}
		r := gate.ReportRequest{Spec: spec(), TaskID: taskID, Permit: id, Outcome: gate.Outcome(pick(3))}
		if pick(8) == 0 {
			r.Hold = rng.Float64() * 15
		}
		got, err := store.Report(context.Background(), r)
		require.NoError(t, err)
		log = append(log, fmt.Sprintf("%d %d report %.5s: %+v", i, now.UnixMicro(), id, got))
	}
	return log
}

// compare plays one seed against both stores and shows the first difference.
func compare(t testing.TB, seed uint64, steps int) {
	a := play(t, seed, steps, func(c func() time.Time) gate.Store { return gate.NewMemory(c) })
	client := clientOf(t, shared, 5*time.Second)
	defer client.Close()
	b := play(t, seed, steps, func(c func() time.Time) gate.Store { return gate.NewRedisAt(client, c) })
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("seed %d differs at step %d after %v\nmemory %s\nredis  %s", seed, i, a[max(i-5, 0):i], a[i], b[i])
		}
	}
}

// The stores are two writings of the same rules; a random history of admits
// and reports under one clock must get the same answers from both.
func TestStoresAgree(t *testing.T) {
	needRedis(t)
	for seed := range uint64(30) {
		compare(t, seed, 300)
	}
}

func FuzzStoresAgree(f *testing.F) {
	needRedis(f)
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { compare(t, seed, 200) })
}
