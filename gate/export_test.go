package gate

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// NewRedisAt is the Redis store with a clock of the test's own. The scripts
// that take the time from an argument exist only in this file, so no setting
// of the service can reach them.
func NewRedisAt(client redis.Scripter, clock func() time.Time) *Redis {
	const argumentClock = "local now = tonumber(ARGV[#ARGV])\n"
	s := NewRedis(client)
	s.admit = redis.NewScript(argumentClock + admitBody)
	s.report = redis.NewScript(argumentClock + reportBody)
	s.extra = func() []any { return []any{clock().UnixMicro()} }
	return s
}

// Left is how many entries of all kinds the memory store still has.
func (m *Memory) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.resources.slots) + len(m.tenants.slots) + len(m.budgets.slots) + len(m.permits.slots) + len(m.tasks.slots)
}

// Prefix is the start of all Redis keys of a resource.
func Prefix(resource string) string { return newKeys(Spec{Resource: resource}).prefix }
