package gate_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
	"n8n-retry-planner/gate/gatetest"
)

// shared is the Redis of the tests that do not harm it; nil without a binary.
var shared *gatetest.Redis

func TestMain(m *testing.M) {
	if !gatetest.HasRedis() {
		fmt.Fprintln(os.Stderr, "note: no redis-server found: the gate is tested with the in-process store only")
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "gate-redis-")
	if err == nil {
		shared, err = gatetest.StartRedis(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "redis-server does not start:", err)
		os.Exit(1)
	}
	code := m.Run()
	shared.Kill()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// clientOf opens a client as the service does.
func clientOf(t testing.TB, s *gatetest.Redis, timeout time.Duration) *redis.Client {
	c, err := gate.RedisClient(s.URL(), timeout)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ownRedis is a server that the test may kill, pause or slow.
func ownRedis(t testing.TB) *gatetest.Redis {
	needRedis(t)
	s, err := gatetest.StartRedis(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { s.Resume(); s.Kill() })
	return s
}

func needRedis(t testing.TB) {
	if shared == nil {
		t.Skip("no redis-server")
	}
}
