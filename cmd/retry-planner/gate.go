package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"n8n-retry-planner/gate"
)

// newGate makes the store of what workers must know together: in Redis for any
// number of replicas, otherwise in this process. close ends its connections.
func newGate(s *Settings, log *slog.Logger, r prometheus.Registerer) (store gate.Store, closeStore func(), err error) {
	if s.RedisURL == "" {
		return gate.NewMemory(time.Now), func() {}, nil
	}
	client, err := gate.RedisClient(s.RedisURL, s.RedisTimeout)
	if err != nil {
		return nil, nil, &usageError{fmt.Errorf("%s is %w", settingName("RedisURL"), err)}
	}
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "retry_planner", Name: "gate_store_failures_total",
		Help: "Calls that the gate's store did not answer in time, by operation."}, []string{"operation"})
	up := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "retry_planner", Name: "gate_store_up",
		Help: "1 while the gate's store answers."})
	up.Set(1)
	r.MustRegister(failures, up)
	store = gate.NewGuarded(gate.NewRedis(client), gate.GuardOptions{
		Open: s.GateFailure == "open", Timeout: s.RedisTimeout, Logger: log,
		Failed: func(operation string) { failures.WithLabelValues(operation).Inc() },
		Changed: func(isUp bool) {
			up.Set(0)
			if isUp {
				up.Set(1)
			}
		},
	})
	return store, func() { _ = client.Close() }, nil
}
