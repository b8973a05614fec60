package handlers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// served sends calls one after the other and gives what /metrics tells then.
func served(t *testing.T, calls ...*http.Request) *prometheus.Registry {
	t.Helper()
	registry := prometheus.NewRegistry()
	h := newTestService(func(o *Options) { o.Registry = registry })
	for _, call := range calls {
		h.ServeHTTP(httptest.NewRecorder(), call)
	}
	return registry
}

// TestMetricsCountSingleItemsAndBatchesAlike holds each series against the
// calls that move it.
func TestMetricsCountSingleItemsAndBatchesAlike(t *testing.T) {
	items := []string{
		`{"statusCode":429,"headers":{"retry-after":"7"},"attempts":1,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300}`, // first retry, 7 s
		`{"statusCode":503,` + limited + `}`, // second retry, 2 s
		`{"statusCode":200,` + limited + `}`, // success after a retry
		`{"statusCode":200,"attempts":1,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300}`, // success at once
		`{"error":"socket hang up",` + limited + `}`,                                                     // escalate
	}
	const want = `
# HELP retry_planner_attempts_at_end Calls that an operation had made when it ended.
# TYPE retry_planner_attempts_at_end histogram
retry_planner_attempts_at_end_bucket{le="1"} 1
retry_planner_attempts_at_end_bucket{le="2"} 3
retry_planner_attempts_at_end_bucket{le="3"} 3
retry_planner_attempts_at_end_bucket{le="4"} 3
retry_planner_attempts_at_end_bucket{le="5"} 3
retry_planner_attempts_at_end_bucket{le="7"} 3
retry_planner_attempts_at_end_bucket{le="10"} 3
retry_planner_attempts_at_end_bucket{le="15"} 3
retry_planner_attempts_at_end_bucket{le="20"} 3
retry_planner_attempts_at_end_bucket{le="50"} 3
retry_planner_attempts_at_end_bucket{le="+Inf"} 3
retry_planner_attempts_at_end_sum 5
retry_planner_attempts_at_end_count 3
# HELP retry_planner_floors_total Minimum waits that servers gave, by the header or body field they came from.
# TYPE retry_planner_floors_total counter
retry_planner_floors_total{source="header retry-after"} 1
# HELP retry_planner_operations_retried_total Operations that got their first retry.
# TYPE retry_planner_operations_retried_total counter
retry_planner_operations_retried_total 1
`
	names := []string{"retry_planner_attempts_at_end", "retry_planner_floors_total", "retry_planner_operations_retried_total"}
	plans := []string{"escalate", "retry", "retry", "success"}

	var single []*http.Request
	for _, item := range items {
		single = append(single, post("/v1/plan", item))
	}
	batch := post("/v1/plan/batch", "["+strings.Join(items, ",")+"]")
	for _, calls := range [][]*http.Request{single, {batch}} {
		r := served(t, calls...)
		require.NoError(t, testutil.GatherAndCompare(r, strings.NewReader(want), names...))
		assert.Equal(t, plans, plansCounted(t, r))
	}
}

func TestMetricsTellTheShareThatSucceededAfterARetry(t *testing.T) {
	r := served(t, post("/v1/plan", `{"statusCode":200,`+limited+`}`))
	const want = `
# HELP retry_planner_operations_ended_total Operations that ended at the planner, by decision and whether they had been retried.
# TYPE retry_planner_operations_ended_total counter
retry_planner_operations_ended_total{decision="defer",retried="false"} 0
retry_planner_operations_ended_total{decision="defer",retried="true"} 0
retry_planner_operations_ended_total{decision="escalate",retried="false"} 0
retry_planner_operations_ended_total{decision="escalate",retried="true"} 0
retry_planner_operations_ended_total{decision="exhausted",retried="false"} 0
retry_planner_operations_ended_total{decision="exhausted",retried="true"} 0
retry_planner_operations_ended_total{decision="stop",retried="false"} 0
retry_planner_operations_ended_total{decision="stop",retried="true"} 0
retry_planner_operations_ended_total{decision="success",retried="false"} 0
retry_planner_operations_ended_total{decision="success",retried="true"} 1
`
	require.NoError(t, testutil.GatherAndCompare(r, strings.NewReader(want), "retry_planner_operations_ended_total"))
}

// TestABatchThatIsRefusedCountsNoPlan keeps half a batch out of the counts.
func TestABatchThatIsRefusedCountsNoPlan(t *testing.T) {
	r := served(t, post("/v1/plan/batch", `[{"statusCode":200,`+limited+`},`))
	assert.Empty(t, plansCounted(t, r))
	assert.Equal(t, 1, testutil.CollectAndCount(r, "retry_planner_request_duration_seconds"))
}

// TestLabelsAreBounded sends what a hostile caller can vary, and expects no
// series of its own for any of it.
func TestLabelsAreBounded(t *testing.T) {
	send := func(texts ...string) (calls []*http.Request) {
		for _, text := range texts {
			calls = append(calls,
				httptest.NewRequest("X"+text, "/v1/plan", nil),
				httptest.NewRequest(http.MethodGet, "/"+text, nil),
				httptest.NewRequest(http.MethodGet, "/workflows/"+text, nil),
				post("/v1/plan", `{"statusCode":429,"headers":{"x-`+text+`":"`+text+`","retry-after":"1"},"error":null,"task_id":"`+text+`","method":"GET",
				"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300}`),
				post("/v1/plan", `{"error":{"code":"`+text+`"},"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300}`))
		}
		return calls
	}
	once, all := served(t, send("a")...), served(t, send("a", "b", "c", "d")...)
	assert.Equal(t, testutil.CollectAndCount(once), testutil.CollectAndCount(all))
}

func TestClosedRoutesAskForAKey(t *testing.T) {
	tests := map[string]struct{ whenOpen, whenClosed int }{
		"/healthz":                  {http.StatusOK, http.StatusOK},
		"/readyz":                   {http.StatusOK, http.StatusOK},
		"/metrics":                  {http.StatusOK, http.StatusUnauthorized},
		"/openapi.yaml":             {http.StatusOK, http.StatusUnauthorized},
		"/workflows":                {http.StatusOK, http.StatusUnauthorized},
		"/workflows/retry-429.json": {http.StatusOK, http.StatusUnauthorized},
		"/v1/providers":             {http.StatusUnauthorized, http.StatusUnauthorized},
	}
	for path, tt := range tests {
		t.Run(path, func(t *testing.T) {
			for closed, want := range map[bool]int{false: tt.whenOpen, true: tt.whenClosed} {
				h := newTestService(func(o *Options) { o.APIKeys, o.Closed = []APIKey{{"main", "k"}}, closed })
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
				assert.Equal(t, want, w.Code, "closed: %t", closed)
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Header.Set("Authorization", "Bearer k")
				w = httptest.NewRecorder()
				h.ServeHTTP(w, r)
				assert.Equal(t, http.StatusOK, w.Code, "with a key, closed: %t", closed)
			}
		})
	}
}

// TestEveryKeyOpensDuringARotation also tells which of them was used.
func TestEveryKeyOpensDuringARotation(t *testing.T) {
	keys := func(o *Options) { o.APIKeys = []APIKey{{"old", "aaa"}, {"new", "bbb"}} }
	for secret, name := range map[string]string{"aaa": "old", "bbb": "new"} {
		for header, value := range map[string]string{"X-API-Key": secret, "Authorization": "bearer " + secret} {
			r := post("/v1/plan", `{"statusCode":200,`+limited+`}`)
			r.Header.Set(header, value)
			line, w := logged(t, keys, r)
			assert.Equal(t, http.StatusOK, w.Code)
			assert.Equal(t, name, line["key"])
		}
	}
	for _, wrong := range []string{"", "aa", "aaaa", "AAA", "aaa,bbb"} {
		r := post("/v1/plan", `{}`)
		r.Header.Set("X-API-Key", wrong)
		line, w := logged(t, keys, r)
		assert.Equal(t, http.StatusUnauthorized, w.Code)
		assert.NotContains(t, line, "key")
	}
}

// plansCounted gives the decisions that were counted at all.
func plansCounted(t *testing.T, r *prometheus.Registry) []string {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	var decisions []string
	for _, family := range families {
		for _, m := range family.Metric {
			if family.GetName() == "retry_planner_plans_total" && m.Counter.GetValue() > 0 {
				decisions = append(decisions, m.Label[0].GetValue())
			}
		}
	}
	return decisions
}
