package gate_test

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

// Many tenants leave nothing behind after their time to live, and what they
// take meanwhile is bounded. GATE_TENANTS sets their number.
func TestRedisManyTenants(t *testing.T) {
	tenants := 5000
	if n, err := strconv.Atoi(os.Getenv("GATE_TENANTS")); err == nil {
		tenants = n
	}
	server := ownRedis(t)
	client := clientOf(t, server, 10*time.Second)
	store := gate.NewRedis(client)
	used := func() int64 {
		n, err := strconv.ParseInt(client.InfoMap(context.Background(), "memory").Item("Memory", "used_memory"), 10, 64)
		require.NoError(t, err)
		return n
	}
	before := used()
	const askers = 32
	var all sync.WaitGroup
	began := time.Now()
	for n := range askers {
		all.Go(func() {
			for i := n; i < tenants; i += askers {
				v, err := store.Admit(context.Background(), gate.AdmitRequest{Spec: gate.Spec{Resource: "api", Tenant: "tenant-" + strconv.Itoa(i),
					Rate: &gate.Rate{Limit: 120, Window: 2}, RetryBudget: &gate.RetryBudget{Min: 5, Window: 2}, InFlight: &gate.InFlight{Limit: 1_000_000, Lease: 2}}})
				if !assert.NoError(t, err) || !assert.Equal(t, gate.Go, v.Decision) {
					return
				}
			}
		})
	}
	all.Wait()
	took, most := time.Since(began), used()
	require.Eventually(t, func() bool { return client.DBSize(context.Background()).Val() <= 1 }, time.Minute, 100*time.Millisecond)
	t.Logf("%d tenants in %v; Redis used %d kB more at their end and %d kB more when they had expired", tenants, took.Round(time.Millisecond), (most-before)/1024, (used()-before)/1024)
}
