package handlers

import (
	"math"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/planner"
)

// namespace stands before the name of every metric of the service's own.
const namespace = "retry_planner"

// metrics are what GET /metrics tells. No label holds anything that a caller
// chose: each comes from a list that stands in the code.
type metrics struct {
	plans        *prometheus.CounterVec
	ended        *prometheus.CounterVec
	firstRetries prometheus.Counter
	waits        prometheus.Histogram
	attempts     prometheus.Histogram
	floors       *prometheus.CounterVec
	refusals     *prometheus.CounterVec
	durations    *prometheus.HistogramVec
	admits       *prometheus.CounterVec
	admitWaits   prometheus.Histogram
	bypassed     prometheus.Counter
}

func newMetrics(r prometheus.Registerer, inFlight func() int, limit int, openBreakers func() float64) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	m := &metrics{
		plans:  counter("plans_total", "Items planned, by decision, error code and class of the status they came with.", "decision", "error_code", "status_class"),
		ended:  counter("operations_ended_total", "Operations that ended at the planner, by decision and whether they had been retried.", "decision", "retried"),
		floors: counter("floors_total", "Minimum waits that servers gave, by the header or body field they came from.", "source"),
		admits: counter("gate_admits_total", "Answers of the gate, by decision and error code.", "decision", "error_code"),
		admitWaits: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: "gate_wait_seconds",
			Help: "Waits that the gate gave.", Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 3600}}),
		bypassed: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "gate_bypassed_total",
			Help: "Calls that passed because the gate's store did not answer."}),
		refusals: counter("refusals_total", "Calls that were refused, by error code.", "error_code"),
		firstRetries: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "operations_retried_total",
			Help: "Operations that got their first retry."}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: "wait_seconds",
			Help: "Waits of the retries planned.", Buckets: []float64{0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600, 21600, 86400}}),
		attempts: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: "attempts_at_end",
			Help: "Calls that an operation had made when it ended.", Buckets: []float64{1, 2, 3, 4, 5, 7, 10, 15, 20, 50}}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: "request_duration_seconds",
			Help:    "Time to answer, by route and class of the answer's status.",
			Buckets: []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10}}, []string{"route", "status_class"}),
	}
	r.MustRegister(m.firstRetries, m.waits, m.attempts, m.durations, m.admitWaits, m.bypassed,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: "gate_breakers_open",
			Help: "Breakers that this replica has seen open or half-open and not closed since."}, openBreakers),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: "in_flight",
			Help: "Calls to /v1 that are being answered."}, func() float64 { return float64(inFlight()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: "in_flight_limit",
			Help: "Most calls to /v1 at once."}, func() float64 { return float64(limit) }),
	)
	m.startAtZero()
	return m
}

// startAtZero makes the series that alerts look at exist before their first
// event: a rate over a series that begins at 1 misses that one.
func (m *metrics) startAtZero() {
	for _, k := range kinds {
		m.refusals.WithLabelValues(k.code)
	}
	for _, alarming := range []outcome{
		{decision: planner.Escalate, code: planner.CodeUnknownOutcome}, {decision: planner.Escalate, code: planner.CodeRetryNotSafe},
		{decision: planner.Defer, code: planner.CodeQuotaExhausted}, {decision: planner.Stop, code: codeInvalid},
	} {
		for _, class := range statusClasses {
			m.plans.WithLabelValues(string(alarming.decision), string(alarming.code), class)
		}
	}
	for _, verb := range []planner.Verb{planner.Success, planner.Exhausted, planner.Defer, planner.Stop, planner.Escalate} {
		m.ended.WithLabelValues(string(verb), "false")
		m.ended.WithLabelValues(string(verb), "true")
	}
}

// add takes over what one call planned.
func (m *metrics) add(t *tally) {
	for _, o := range t.outcomes {
		m.plans.WithLabelValues(string(o.key.decision), string(o.key.code), o.key.class).Add(float64(o.n))
		if o.key.decision != planner.Retry && o.key.code != codeInvalid {
			m.ended.WithLabelValues(string(o.key.decision), strconv.FormatBool(o.key.retried)).Add(float64(o.n))
		}
	}
	for _, f := range t.floors {
		m.floors.WithLabelValues(f.key).Add(float64(f.n))
	}
	if t.firstRetries > 0 {
		m.firstRetries.Add(float64(t.firstRetries))
	}
	for _, wait := range t.waits {
		m.waits.Observe(wait)
	}
	for _, attempts := range t.attempts {
		m.attempts.Observe(math.Max(1, attempts))
	}
}

// admission counts an answer of the gate.
func (m *metrics) admission(a *envelope.Admission) {
	m.admits.WithLabelValues(string(a.Verb), string(a.Code)).Inc()
	if a.Verb == envelope.Wait {
		m.admitWaits.Observe(a.Wait)
	}
	if a.Bypassed {
		m.bypassed.Inc()
	}
}

// scrape answers GET /metrics.
func scrape(g prometheus.Gatherer) gin.HandlerFunc {
	return gin.WrapH(promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
}
