package gate

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisClock is the first line of both scripts: the time is Redis's own, so
// that the clocks of the replicas do not matter.
const redisClock = "local now = redis.call('TIME') now = now[1] * 1000000 + now[2]\n"

var (
	//go:embed admit.lua
	admitBody string
	//go:embed report.lua
	reportBody string
)

// Redis is the store that any number of replicas share. Each operation is one
// script in one round trip, called by its hash; go-redis loads it again when
// the server has forgotten it (NOSCRIPT).
type Redis struct {
	client        redis.Scripter
	admit, report *redis.Script
	// extra is appended to the arguments of every script. It is empty, and
	// the scripts have no use for it, outside this package's own tests.
	extra func() []any
}

// NewRedis makes a store on a client: a single server's, a cluster's or one
// behind sentinels.
func NewRedis(client redis.Scripter) *Redis {
	return &Redis{
		client: client,
		admit:  redis.NewScript(redisClock + admitBody),
		report: redis.NewScript(redisClock + reportBody),
		extra:  func() []any { return nil },
	}
}

// go-redis prints a line to standard error for every connection that fails.
// Each failure reaches the caller as an error as well, and [Guarded] logs the
// changes, once.
func init() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// RedisClient opens a client for a redis:// or rediss:// URL whose calls end
// with their context and never last longer than the timeout. It does not
// connect yet: a Redis that is down at the start is no different from one that
// goes down later. The error is about the URL and does not repeat it, as it
// may hold a password.
func RedisClient(url string, timeout time.Duration) (*redis.Client, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("not a Redis URL such as redis://host:6379/0")
	}
	o.ContextTimeoutEnabled = true
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
	// One more try is for a connection that a restart of Redis has closed; a
	// permit asked twice gets the same answer, so it does no harm.
	o.MaxRetries = 1
	return redis.NewClient(o), nil
}

var (
	reasons  = []Reason{"", RateWindowFull, InFlightFull, ResourceOnHold, DoesNotFit, CircuitOpen, RetryBudgetSpent, AlreadyActive}
	outcomes = map[Outcome]string{Neutral: "neutral", Success: "success", Failure: "failure"}
)

// Admit implements [Store].
func (s *Redis) Admit(ctx context.Context, r AdmitRequest) (Verdict, error) {
	id, t, k := permitFor(r.Permit), newTerms(r.Spec), newKeys(r.Spec)
	args := append([]any{
		id, r.TaskID != "", r.Retry, t.ratio, fitting(r.MaxWait), t.limit, t.window, t.spacing, t.slack,
		t.flights, t.lease, t.leaseSlack, t.guess, t.threshold, t.minRetries, t.budget, t.step,
		maxWaiting, minEstimate, maxSlack,
	}, s.extra()...)
	n, err := s.admit.Run(ctx, s.client, []string{
		k.of("meta"), k.tenant("starts"), k.tenant("places"), k.of("out"), k.of("queue"), k.of("due"),
		k.permit(id), k.task(r.TaskID), k.budget("retries", t.budget), k.budget("calls", t.budget),
	}, args...).Int64Slice()
	if err == nil && (len(n) != 5 || n[1] < 0 || n[1] >= int64(len(reasons))) {
		err = fmt.Errorf("unexpected answer of %d numbers", len(n))
	}
	if err != nil {
		return Verdict{}, fmt.Errorf("gate: admit: %w", err)
	}
	v := Verdict{Decision: Decision(n[0]), Reason: reasons[n[1]], Wait: float64(n[2]) / 1000,
		Breaker: BreakerState(n[3]), Probe: n[4] == 1}
	if n[2] < 0 {
		v.Wait = math.Inf(1)
	}
	if v.Decision != Refused {
		v.Permit = id
	}
	return v, nil
}

// Report implements [Store].
func (s *Redis) Report(ctx context.Context, r ReportRequest) (Receipt, error) {
	id, t, k := canonical(r.Permit), newTerms(r.Spec), newKeys(r.Spec)
	args := append([]any{
		id, outcomes[r.Outcome], holdMicros(r.Hold), t.threshold, t.reset, t.forget, t.flights, t.lease,
	}, s.extra()...)
	n, err := s.report.Run(ctx, s.client, []string{
		k.of("meta"), k.tenant("places"), k.of("out"), k.of("queue"), k.of("due"),
		k.permit(id), k.task(r.TaskID), k.budget("retries", t.budget),
	}, args...).Int64Slice()
	if err == nil && len(n) != 4 {
		err = fmt.Errorf("unexpected answer of %d numbers", len(n))
	}
	if err != nil {
		return Receipt{}, fmt.Errorf("gate: report: %w", err)
	}
	return Receipt{Known: n[0] == 1, Hold: float64(n[1]) / 1000, Breaker: BreakerState(n[2]), Changed: n[3] == 1}, nil
}
