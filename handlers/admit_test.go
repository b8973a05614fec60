package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

// office is the service with a gate in memory and a clock that tests move.
type office struct {
	*testing.T
	service  http.Handler
	now      time.Time
	store    *countingStore
	registry *prometheus.Registry
	log      bytes.Buffer
}

// countingStore counts the questions to a store; refuses makes it unreachable.
type countingStore struct {
	gate.Store
	admits, reports int
	last            gate.AdmitRequest
	told            gate.ReportRequest
	broken          error
}

func (s *countingStore) Admit(ctx context.Context, r gate.AdmitRequest) (gate.Verdict, error) {
	s.admits, s.last = s.admits+1, r
	if s.broken != nil {
		return gate.Verdict{}, s.broken
	}
	return s.Store.Admit(ctx, r)
}

func (s *countingStore) Report(ctx context.Context, r gate.ReportRequest) (gate.Receipt, error) {
	s.reports, s.told = s.reports+1, r
	if s.broken != nil {
		return gate.Receipt{}, s.broken
	}
	return s.Store.Report(ctx, r)
}

// newOffice makes one; mode is what the guard does when the store is down.
func newOffice(t *testing.T, mode string) *office {
	o := &office{T: t, now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), registry: prometheus.NewRegistry()}
	clock := func() time.Time { return o.now }
	o.store = &countingStore{Store: gate.NewMemory(clock)}
	guarded := gate.NewGuarded(o.store, gate.GuardOptions{Open: mode == "open", Timeout: time.Minute, Logger: slog.New(slog.DiscardHandler)})
	o.service = newTestService(func(options *Options) {
		options.Now, options.Gate, options.Registry = clock, guarded, o.registry
		options.Log = slog.New(slog.NewJSONHandler(&o.log, nil))
	})
	return o
}

func (o *office) sleep(seconds float64) {
	o.now = o.now.Add(time.Duration(seconds * float64(time.Second)))
}

// answer is what came back, decoded, with its text.
type answer struct {
	text, decision, code, permit string
	status                       int
	wait                         float64
	members                      map[string]any
}

func (o *office) post(path, body string) answer {
	o.Helper()
	w := httptest.NewRecorder()
	o.service.ServeHTTP(w, post(path, body))
	a := answer{text: w.Body.String(), status: w.Code}
	if strings.HasPrefix(a.text, "{") {
		require.NoError(o, json.Unmarshal(w.Body.Bytes(), &a.members))
		a.decision, _ = a.members["decision"].(string)
		a.code, _ = a.members["error_code"].(string)
		a.permit, _ = a.members["permit"].(string)
		a.wait, _ = a.members["wait_seconds"].(float64)
	}
	return a
}

// admit asks for an item with the gate's parts and further members.
func (o *office) admit(parts string, members ...string) answer {
	o.Helper()
	a := o.post("/v1/admit", gated(parts, members...))
	require.Equal(o, http.StatusOK, a.status, a.text)
	return a
}

// asks demands a decision and code, written "wait rate_window_full".
func (o *office) asks(want, parts string, members ...string) answer {
	o.Helper()
	a := o.admit(parts, members...)
	require.Equal(o, want, strings.TrimSpace(a.decision+" "+a.code), a.text)
	return a
}

// plan reports a call that ended with a status.
func (o *office) plan(status int, parts, permit string, members ...string) answer {
	o.Helper()
	a := o.post("/v1/plan", gated(parts, append(members, fmt.Sprintf(`"statusCode":%d,"permit":%q`, status, permit))...))
	require.Equal(o, http.StatusOK, a.status, a.text)
	return a
}

const gateState = `"max_attempts":9,"base":1,"exp_cap":60,"total_wait_budget":300`

// gated is an item whose gate has a resource and the parts.
func gated(parts string, members ...string) string {
	if parts != "" {
		parts = "," + parts
	}
	all := append([]string{gateState, `"gate":{"resource":"billing-api"` + parts + `}`}, members...)
	return "{" + strings.Join(all, ",") + "}"
}

func permitOf(id string) string { return `"permit":"` + id + `"` }

const (
	rateOf2   = `"rate":{"limit":2,"window":10}`
	oneFlight = `"in_flight":{"limit":1,"lease":20}`
	breaker2  = `"breaker":{"threshold":2,"reset_after":30}`
)

// fiveFields is a terminal answer.
func fiveFields(decision, code string, attempts int, lastStatus string) string {
	return fmt.Sprintf(`{"error_code":%q,"attempts":%d,"last_status":%s,"decision":%q,"next_request":false}`, code, attempts, lastStatus, decision)
}

func TestAdmitGo(t *testing.T) {
	o := newOffice(t, "open")
	a := o.asks("go", rateOf2, `"cursor": 12345678901234567890`)
	assert.Len(t, a.permit, 36)
	assert.Equal(t, `{`+gateState+`,"gate":{"resource":"billing-api",`+rateOf2+`},"cursor":12345678901234567890,`+
		`"decision":"go","next_request":true,"wait_seconds":0,"permit":"`+a.permit+`"}`, a.text)
	again := o.asks("go", rateOf2, permitOf(a.permit))
	assert.Equal(t, a.permit, again.permit, "the same permit again is the same answer")
	assert.NotEqual(t, a.permit, o.asks("go", rateOf2).permit, "and took no second place")
	o.asks("wait rate_window_full", rateOf2)
}

// A wait is a reservation: the permit keeps its place and goes after the wait.
func TestAdmitWaitsForTheRate(t *testing.T) {
	o := newOffice(t, "open")
	o.asks("go", rateOf2)
	o.asks("go", rateOf2)
	first := o.asks("wait rate_window_full", rateOf2, `"elapsed_wait":1.5,"error_code":"x"`)
	second := o.asks("wait rate_window_full", rateOf2)
	assert.Greater(t, first.wait, 9.9)
	assert.Greater(t, second.wait, first.wait, "waiters get different places")
	assert.Equal(t, false, first.members["next_request"])
	assert.InDelta(t, 1.5+first.wait, first.members["elapsed_wait"], 1e-9)
	o.sleep(first.wait)
	o.asks("wait rate_window_full", rateOf2) // a newcomer comes after both
	got := o.asks("go", rateOf2, permitOf(first.permit), `"error_code":"rate_window_full"`)
	assert.Contains(t, got.text, `"error_code":null`)
	assert.Equal(t, first.permit, got.permit)
	o.sleep(second.wait - first.wait)
	o.asks("go", rateOf2, permitOf(second.permit))
}

func TestAdmitWaitsForASlot(t *testing.T) {
	o := newOffice(t, "open")
	a := o.asks("go", oneFlight)
	b := o.asks("wait in_flight_full", oneFlight)
	assert.Positive(t, b.wait)
	assert.LessOrEqual(t, b.wait, 20.0, "no longer than the lease")
	o.plan(200, oneFlight, a.permit)
	o.asks("go", oneFlight, permitOf(b.permit))
	c := o.asks("wait in_flight_full", oneFlight)
	o.sleep(20)
	o.asks("go", oneFlight, permitOf(c.permit)) // b never reported: its lease has ended
}

func TestAdmitRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		before func(o *office)
		ask    []string // parts, then members
		want   string
	}{
		"a wait over max_wait": {fillRate, []string{rateOf2, `"policy":{"max_wait":5}`}, fiveFields("defer", "retry_max_wait_exceeded", 1, "null")},
		"a wait past the deadline": {fillRate, []string{rateOf2, `"policy":{"deadline":"2026-01-15T12:00:05Z"},"attempts":2,"last_status":429`},
			fiveFields("defer", "retry_deadline_exceeded", 2, "429")},
		"a wait over the budget": {fillRate, []string{rateOf2, `"elapsed_wait":295`}, fiveFields("defer", "retry_wait_budget_exceeded", 1, "null")},
		"the contract's order when nothing fits": {fillRate, []string{rateOf2, `"elapsed_wait":300,"policy":{"max_wait":5,"deadline":"2026-01-15T12:00:05Z"}`},
			fiveFields("defer", "retry_max_wait_exceeded", 1, "null")},
		"a deadline that has passed, though there is room": {nil, []string{rateOf2, `"policy":{"deadline":"2026-01-15T12:00:00Z"}`},
			fiveFields("defer", "retry_deadline_exceeded", 1, "null")},
		"an open breaker": {func(o *office) {
			for range 2 {
				o.plan(503, breaker2, o.asks("go", breaker2).permit)
			}
		}, []string{breaker2, `"attempts":3,"last_status":503`}, fiveFields("defer", "circuit_open", 3, "503")},
		"a retry budget that is spent": {func(o *office) {
			o.asks("go", `"retry_budget":{"ratio":0,"min":1,"window":60}`, `"attempts":2`)
		}, []string{`"retry_budget":{"ratio":0,"min":1,"window":60}`, `"attempts":2`}, fiveFields("defer", "retry_budget_spent", 2, "null")},
		"a task with a permit out": {func(o *office) { o.asks("go", "", `"task_id":"order-7"`) },
			[]string{"", `"task_id":"order-7"`}, fiveFields("stop", "already_active", 1, "null")},
		"a task that waits": {func(o *office) { fillRate(o); o.asks("wait rate_window_full", rateOf2, `"task_id":"order-7"`) },
			[]string{rateOf2, `"task_id":"order-7"`}, fiveFields("stop", "already_active", 1, "null")},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, "open")
			if row.before != nil {
				row.before(o)
			}
			a := o.admit(row.ask[0], row.ask[1:]...)
			assert.Equal(t, row.want, a.text)
		})
	}
}

func fillRate(o *office) {
	o.asks("go", rateOf2)
	o.asks("go", rateOf2)
}

// A wait that just fits a limit is a wait; a millisecond less is a refusal.
func TestAdmitWaitsThatFit(t *testing.T) {
	wait := func(members string) answer {
		o := newOffice(t, "open")
		fillRate(o)
		return o.admit(rateOf2, members)
	}
	w := wait(`"n":1`).wait
	for name, limit := range map[string]func(room float64) string{
		"max_wait": func(room float64) string { return fmt.Sprintf(`"policy":{"max_wait":%v}`, room) },
		"budget":   func(room float64) string { return fmt.Sprintf(`"elapsed_wait":%v`, 300-room) },
		// A call at the deadline itself is too late.
		"deadline": func(room float64) string {
			return fmt.Sprintf(`"policy":{"deadline":"2026-01-15T12:00:%09.6fZ"}`, room+0.001)
		},
	} {
		assert.Equal(t, "wait", wait(limit(w)).decision, name)
		assert.Equal(t, "defer", wait(limit(w-0.001)).decision, name)
	}
}

// Every refusal gives back what the permit had reserved, also the one for a
// deadline that has passed, which needs no answer of the gate.
func TestAdmitRefusalGivesThePlaceBack(t *testing.T) {
	for name, limit := range map[string]string{
		"a deadline that has passed": `"policy":{"deadline":"2026-01-15T12:00:01Z"}`,
		"max_wait":                   `"policy":{"max_wait":0.5}`,
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, "open")
			fillRate(o)
			a := o.asks("wait rate_window_full", rateOf2, `"task_id":"order-7"`)
			o.asks("stop already_active", rateOf2, `"task_id":"order-7"`)
			o.sleep(2)
			assert.Equal(t, "defer", o.admit(rateOf2, permitOf(a.permit), limit, `"task_id":"order-7"`).decision)
			b := o.asks("wait rate_window_full", rateOf2, `"task_id":"order-7"`)
			assert.InDelta(t, a.wait-2, b.wait, 0.01, "the place is free again")
		})
	}
}

func TestAdmitRefusesBadItems(t *testing.T) {
	o := newOffice(t, "open")
	for name, row := range map[string]struct {
		body   string
		status int
		fields string
	}{
		"no gate":              {`{` + gateState + `}`, 422, "gate"},
		"a null gate":          {`{` + gateState + `,"gate":null}`, 422, "gate"},
		"a gate that is text":  {`{` + gateState + `,"gate":"billing-api"}`, 422, "gate"},
		"a misspelt part":      {gated(`"rates":{"limit":1,"window":1}`), 422, "gate.rates"},
		"bad fields":           {gated(`"rate":{"limit":0,"window":"x"},"breaker":{"threshold":1}`), 422, "gate.rate.limit gate.rate.window gate.breaker.reset_after"},
		"a state without caps": {`{"gate":{"resource":"r"},"max_attempts":2}`, 422, "base exp_cap total_wait_budget"},
		"no JSON":              {`{`, 400, ""},
		"an array":             {`[]`, 400, ""},
		"a body over its size": {`{"a":"` + strings.Repeat("x", 5000) + `"}`, 413, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := o.post("/v1/admit", row.body)
			assert.Equal(t, row.status, a.status, a.text)
			var fields []string
			list, _ := a.members["errors"].([]any)
			for _, f := range list {
				fields = append(fields, f.(map[string]any)["field"].(string))
			}
			assert.Equal(t, row.fields, strings.Join(fields, " "))
		})
	}
	assert.Zero(t, o.store.admits)
	a := o.post("/v1/plan", gated(`"rates":{}`, `"statusCode":200`))
	assert.Equal(t, 422, a.status, "a plan refuses them as well")
	w := httptest.NewRecorder()
	o.service.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/admit", nil))
	assert.Equal(t, 405, w.Code)
}

// The report is the plan: permit and task are free, the breaker learns.
func TestPlanReports(t *testing.T) {
	o := newOffice(t, "open")
	parts := oneFlight + "," + breaker2
	a := o.asks("go", parts, `"task_id":"order-7"`)
	o.asks("stop already_active", parts, `"task_id":"order-7"`)
	got := o.plan(503, parts, a.permit, `"task_id":"order-7","gate_bypassed":true,"cursor":"c"`)
	assert.Equal(t, "retry", got.decision)
	assert.NotContains(t, got.text, "permit", "the retry state is for a new admit")
	assert.NotContains(t, got.text, "gate_bypassed")
	assert.Equal(t, "c", got.members["cursor"])

	b := o.asks("go", parts, `"task_id":"order-7"`)
	o.plan(503, parts, a.permit, `"task_id":"order-7"`) // twice: changes nothing
	o.asks("stop already_active", parts, `"task_id":"order-7"`)
	o.plan(503, parts, "00000000-0000-4000-8000-000000000000") // unknown: changes nothing
	o.plan(503, parts, "mine")                                 // no permit at all
	assert.Equal(t, "success", o.plan(200, parts, b.permit, `"task_id":"order-7"`).decision)
	c := o.asks("go", parts)
	o.plan(503, parts, c.permit)
	d := o.asks("go", parts) // one failure after a success: the breaker is closed
	o.plan(500, parts, d.permit)
	o.asks("defer circuit_open", parts)
	o.sleep(30)
	probe := o.asks("go", parts)
	o.asks("defer circuit_open", parts) // one probe
	o.plan(404, parts, probe.permit)    // below 500: the server is there
	o.asks("go", parts)
}

// What the breaker counts as a failure, a success, or neither.
func TestPlanTellsTheBreaker(t *testing.T) {
	for name, row := range map[string]struct {
		ended string
		want  gate.Outcome
		hold  float64
	}{
		"200":                     {`"statusCode":200`, gate.Success, 0},
		"a hint on a success":     {`"statusCode":200,"headers":{"retry-after":"9"}`, gate.Success, 0},
		"429":                     {`"statusCode":429,"headers":{"retry-after":"9"}`, gate.Success, 9},
		"429 without a floor":     {`"statusCode":429`, gate.Success, 0},
		"500":                     {`"statusCode":500`, gate.Failure, 0},
		"503 with a floor":        {`"statusCode":503,"headers":{"retry-after":"9"}`, gate.Failure, 9},
		"an endless floor":        {`"statusCode":503,"headers":{"retry-after":"99999999999999999999"}`, gate.Failure, math.Inf(1)},
		"no response":             {`"error":{"code":"ECONNREFUSED"}`, gate.Failure, 0},
		"a time-out":              {`"error":{"code":"ECONNABORTED"}`, gate.Failure, 0},
		"an error with a status":  {`"error":{"status":429}`, gate.Success, 0},
		"cancelled by the caller": {`"error":{"code":"ERR_CANCELED"}`, gate.Neutral, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, "open")
			a := o.asks("go", breaker2, `"task_id":"t"`)
			o.post("/v1/plan", gated(breaker2, row.ended, permitOf(a.permit), `"task_id":"t"`))
			assert.Equal(t, row.want, o.store.told.Outcome)
			assert.Equal(t, row.hold, o.store.told.Hold)
			assert.Equal(t, "t", o.store.told.TaskID)
			assert.Equal(t, a.permit, o.store.told.Permit)
		})
	}
}

// A floor that one worker was given holds the whole resource: it is a floor of
// other workers' plans, and an admit waits for it.
func TestHoldIsSharedByAll(t *testing.T) {
	o := newOffice(t, "open")
	a, b, c := o.asks("go", ""), o.asks("go", ""), o.asks("go", "")
	assert.Equal(t, 40.0, o.plan(429, "", a.permit, `"headers":{"retry-after":"40"}`).wait)
	o.sleep(10)
	got := o.plan(503, "", b.permit, `"policy":{"explain":true}`)
	assert.Equal(t, 30.0, got.wait, "the rest of the other worker's hold, not the second of its own")
	assert.Contains(t, got.text, "hold of the gate")
	waiting := o.asks("wait resource_on_hold", "")
	assert.GreaterOrEqual(t, waiting.wait, 30.0)
	assert.Equal(t, 30.0, o.plan(503, "", c.permit, `"headers":{"retry-after":"5"}`).wait, "an earlier end never shortens it")
	o.sleep(30)
	o.asks("go", "", permitOf(waiting.permit))
	assert.Equal(t, "success", o.plan(200, "", waiting.permit).decision)
}

func TestBatchReports(t *testing.T) {
	o := newOffice(t, "open")
	const three = `"in_flight":{"limit":3,"lease":20}`
	var items []string
	for i := range 3 {
		a := o.asks("go", three)
		items = append(items, gated(three, `"statusCode":200`, permitOf(a.permit)))
		if i == 1 {
			items[i] = `{"json":` + items[i] + `,"pairedItem":0}`
		}
	}
	o.asks("wait in_flight_full", three)
	got := o.post("/v1/plan/batch", "["+strings.Join(append(items, `{}`, `{"statusCode":200,`+gateState+`}`), ",")+"]")
	assert.Equal(t, 4, strings.Count(got.text, `"success"`), got.text)
	assert.Equal(t, 3, o.store.reports, "nothing is asked for an item without a gate")
	o.sleep(1)
	for range 3 {
		o.asks("go", three, `"policy":{"max_wait":0}`)
	}
}

// Items without a gate never touch the store.
func TestItemsWithoutAGateNeverAsk(t *testing.T) {
	o := newOffice(t, "closed")
	for _, status := range []int{200, 404, 429, 503} {
		item := fmt.Sprintf(`{"statusCode":%d,%s,"permit":"0b6a4f2e-8c0d-4b52-9d7e-2f1a3c5b7d90"}`, status, gateState)
		o.post("/v1/plan", item)
		o.post("/v1/plan/batch", "["+item+"]")
	}
	o.post("/v1/plan", gated("", `"statusCode":200`)) // a gate, but no permit
	assert.Zero(t, o.store.admits+o.store.reports)
}

func TestGateThatIsDown(t *testing.T) {
	for _, mode := range []string{"open", "closed"} {
		t.Run(mode, func(t *testing.T) {
			o := newOffice(t, mode)
			before := o.asks("go", oneFlight)
			o.store.broken = errors.New("connection refused")
			switch a := o.admit(oneFlight, `"attempts":2,"last_status":503`); mode {
			case "open":
				assert.Equal(t, true, a.members["gate_bypassed"])
				assert.Len(t, a.permit, 36)
				assert.Equal(t, "go", a.decision)
				// Its report finds nobody, and the plan does not mind.
				got := o.plan(503, oneFlight, a.permit, `"gate_bypassed":true`)
				assert.Equal(t, "retry", got.decision)
				assert.NotContains(t, got.text, "gate_bypassed")
			default:
				assert.Equal(t, fiveFields("defer", "gate_unavailable", 2, "503"), a.text)
			}
			assert.Equal(t, "success", o.plan(200, oneFlight, before.permit).decision, "planning never fails because the gate does")

			o.store.reports = 0
			item := gated(oneFlight, `"statusCode":503`, permitOf(before.permit))
			got := o.post("/v1/plan/batch", "["+strings.Repeat(item+",", 50)+item+"]")
			assert.Equal(t, 51, strings.Count(got.text, `"retry"`))
			assert.Equal(t, 1, o.store.reports, "a batch asks a gate that is down once")

			o.store.broken = nil
			o.sleep(20)
			assert.NotContains(t, o.asks("go", oneFlight, `"gate_bypassed":true`).text, "gate_bypassed")
			o.store.reports = 0
			o.post("/v1/plan/batch", "["+item+","+item+"]")
			assert.Equal(t, 2, o.store.reports)
		})
	}
}

func TestGateMetrics(t *testing.T) {
	o := newOffice(t, "open")
	parts := rateOf2 + "," + breaker2
	a, b := o.asks("go", parts), o.asks("go", parts)
	o.asks("wait rate_window_full", parts)
	o.asks("defer retry_max_wait_exceeded", parts, `"policy":{"max_wait":1}`)
	o.asks("defer retry_deadline_exceeded", parts, `"policy":{"deadline":0}`)
	o.plan(503, parts, a.permit)
	o.plan(503, parts, b.permit)
	o.asks("defer circuit_open", parts)
	const want = `
# HELP retry_planner_gate_admits_total Answers of the gate, by decision and error code.
# TYPE retry_planner_gate_admits_total counter
retry_planner_gate_admits_total{decision="defer",error_code="circuit_open"} 1
retry_planner_gate_admits_total{decision="defer",error_code="retry_deadline_exceeded"} 1
retry_planner_gate_admits_total{decision="defer",error_code="retry_max_wait_exceeded"} 1
retry_planner_gate_admits_total{decision="go",error_code=""} 3
retry_planner_gate_admits_total{decision="wait",error_code="rate_window_full"} 1
# HELP retry_planner_gate_breakers_open Breakers that this replica has seen open or half-open and not closed since.
# TYPE retry_planner_gate_breakers_open gauge
retry_planner_gate_breakers_open 1
# HELP retry_planner_gate_bypassed_total Calls that passed because the gate's store did not answer.
# TYPE retry_planner_gate_bypassed_total counter
retry_planner_gate_bypassed_total 1
`
	o.store.broken = errors.New("connection refused")
	o.asks("go", parts)
	o.store.broken = nil
	assert.NoError(t, testutil.GatherAndCompare(o.registry, strings.NewReader(want),
		"retry_planner_gate_admits_total", "retry_planner_gate_breakers_open", "retry_planner_gate_bypassed_total"))
	waits, err := testutil.GatherAndCount(o.registry, "retry_planner_gate_wait_seconds")
	require.NoError(t, err)
	assert.Equal(t, 1, waits)
}

// An open breaker is one gauge and one log line at each change, whatever else
// is answered meanwhile.
func TestBreakerGaugeAndLog(t *testing.T) {
	o := newOffice(t, "open")
	open := func() float64 {
		m, err := o.registry.Gather()
		require.NoError(t, err)
		for _, family := range m {
			if family.GetName() == "retry_planner_gate_breakers_open" {
				return family.Metric[0].Gauge.GetValue()
			}
		}
		return math.NaN()
	}
	lines := func(text string) int { return strings.Count(o.log.String(), text) }
	a, b, other := o.asks("go", breaker2), o.asks("go", breaker2), o.asks("go", breaker2, `"task_id":"t"`)
	assert.Zero(t, open())
	o.plan(503, breaker2, a.permit)
	o.plan(503, breaker2, b.permit)
	assert.Equal(t, 1.0, open())
	o.asks("defer circuit_open", breaker2)
	// Answers that say nothing about the breaker do not close it here.
	o.asks("go", breaker2, permitOf(other.permit), `"task_id":"t"`)
	o.asks("stop already_active", breaker2, `"task_id":"t"`)
	o.asks("go", "")
	o.store.broken = errors.New("connection refused")
	o.asks("go", breaker2)
	o.plan(503, breaker2, other.permit)
	o.store.broken = nil
	assert.Equal(t, 1.0, open())
	o.sleep(30)
	o.plan(503, breaker2, o.asks("go", breaker2).permit) // the probe fails
	assert.Equal(t, 1.0, open())
	assert.Equal(t, 1, lines("circuit open"), "one line while it stays broken")
	assert.Zero(t, lines("circuit closed"))
	o.sleep(30)
	o.plan(200, breaker2, o.asks("go", breaker2).permit)
	assert.Zero(t, open())
	assert.Equal(t, 1, lines("circuit closed"))
	assert.NotContains(t, o.log.String(), "billing-api", "a resource may be named after a key")
}

// The calls that were under way when a breaker opened must not close it here,
// and one that is never asked for again is forgotten.
func TestBreakersIgnoreOldNews(t *testing.T) {
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	b := newBreakers(&Options{Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	spec := &gate.Spec{Resource: "r", Breaker: &gate.Breaker{Threshold: 1, ResetAfter: 30}}
	slow, trip := b.begin(), b.begin()
	b.note(trip, spec, gate.Open)
	b.note(slow, spec, gate.Closed)
	assert.Equal(t, 1.0, b.count())
	late := b.begin()
	b.note(b.begin(), spec, gate.Closed)
	b.note(late, spec, gate.Open)
	assert.Zero(t, b.count())
	b.note(b.begin(), spec, gate.Open)
	now = now.Add(329 * time.Second)
	assert.Equal(t, 1.0, b.count())
	now = now.Add(2 * time.Second)
	assert.Zero(t, b.count())
	for i := range maxBreakers + 10 {
		spec.Resource = fmt.Sprint(i)
		b.note(b.begin(), spec, gate.Open)
	}
	assert.Equal(t, float64(maxBreakers), b.count(), "ever new names do not fill the memory")
}

func TestAdmitIsLogged(t *testing.T) {
	line, _ := logged(t, nil, post("/v1/admit", gated(rateOf2, `"attempts":2,"last_status":503,"task_id":"order-7"`)))
	assert.Equal(t, "go", line["decision"])
	assert.Equal(t, "/v1/admit", line["route"])
	assert.NotContains(t, line, "task_id")
	assert.NotContains(t, fmt.Sprint(line), "billing-api")
}
