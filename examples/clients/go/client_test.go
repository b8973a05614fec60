package goclient

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/examples/clients/go/planner"
)

// setting gives what examples/clients/run sets.
func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skip("examples/clients/run starts the services for this test")
	}
	return value
}

func open(t *testing.T) *planner.ClientWithResponses {
	t.Helper()
	client, err := planner.NewClientWithResponses(setting(t, "TEST_PLANNER_URL"))
	require.NoError(t, err)
	return client
}

// strict is a client of the service with a key and small limits.
func strict(t *testing.T, options ...planner.ClientOption) *planner.ClientWithResponses {
	t.Helper()
	client, err := planner.NewClientWithResponses(setting(t, "TEST_STRICT_PLANNER_URL"), options...)
	require.NoError(t, err)
	return client
}

func withKey(t *testing.T) planner.ClientOption {
	key := setting(t, "TEST_PLANNER_KEY")
	return planner.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-API-Key", key)
		return nil
	})
}

func seconds(t *testing.T, n float64) (s planner.Seconds) {
	require.NoError(t, s.FromSecondsNumber(n))
	return s
}

func positive(t *testing.T, n float64) (s planner.PositiveSeconds) {
	require.NoError(t, s.FromPositiveSecondsNumber(n))
	return s
}

func count(t *testing.T, n int64) (c planner.Count) {
	require.NoError(t, c.FromCountNumber(n))
	return c
}

func status(t *testing.T, n int) *planner.Status {
	var s planner.Status
	require.NoError(t, s.FromStatusNumber(n))
	return &s
}

func header(t *testing.T, name, value string) *map[string]*planner.HeaderValue {
	var v planner.HeaderValue
	require.NoError(t, v.FromHeaderText(value))
	return &map[string]*planner.HeaderValue{name: &v}
}

func failure(t *testing.T, code string) *planner.CallError {
	var e planner.CallError
	require.NoError(t, e.FromErrorObject(planner.ErrorObject{"code": code}))
	return &e
}

// newItem is the first state of a loop, with a field of the caller's own.
func newItem(t *testing.T) planner.Item {
	return planner.Item{
		MaxAttempts: count(t, 3), Base: positive(t, 0.01), ExpCap: positive(t, 1), TotalWaitBudget: seconds(t, 5),
		AdditionalProperties: map[string]any{"cursor": "page 7"},
	}
}

func TestAWholeLoop(t *testing.T) {
	client := open(t)
	script := []int{429, 429, 200}
	calls := 0
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(script[calls])
		calls++
	}))
	defer api.Close()

	item := newItem(t)
	for {
		response, err := http.Get(api.URL)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		item.StatusCode = status(t, response.StatusCode)
		item.Headers = header(t, "retry-after", response.Header.Get("Retry-After"))

		plan, err := client.PlanWithResponse(t.Context(), item)
		require.NoError(t, err)
		require.NotNil(t, plan.JSON200, string(plan.Body))
		answer, err := plan.JSON200.ValueByDiscriminator()
		require.NoError(t, err)
		switch answer := answer.(type) {
		case planner.RetryState:
			assert.Equal(t, "page 7", answer.AdditionalProperties["cursor"])
			time.Sleep(time.Duration(answer.WaitSeconds * float64(time.Second)))
			item = planner.Item{} // the answer is the next state
			require.NoError(t, json.Unmarshal(plan.Body, &item))
		case planner.Success:
			assert.EqualValues(t, 3, answer.Attempts)
			assert.Equal(t, 3, calls)
			return
		default:
			t.Fatalf("unexpected answer: %+v", answer)
		}
	}
}

func TestEachDecision(t *testing.T) {
	limit := func(p planner.Policy) *planner.Policy { return &p }
	maxWait, provider, post, three := seconds(t, 1), "openai", "POST", count(t, 3)
	var deadline planner.Deadline
	require.NoError(t, deadline.FromEpochSeconds(1))
	tests := map[string]struct {
		change func(*planner.Item)
		want   any // of the answer's own type
		code   string
	}{
		"retry":   {func(i *planner.Item) { i.StatusCode = status(t, 503) }, planner.RetryState{}, ""},
		"success": {func(i *planner.Item) { i.StatusCode = status(t, 204) }, planner.Success{}, ""},
		"exhausted": {func(i *planner.Item) { i.StatusCode, i.Attempts = status(t, 429), &three },
			planner.Exhausted{}, "retry_attempts_exhausted"},
		"defer, budget": {func(i *planner.Item) { i.StatusCode, i.Headers = status(t, 429), header(t, "Retry-After", "9") },
			planner.Defer{}, "retry_wait_budget_exceeded"},
		"defer, max_wait": {func(i *planner.Item) {
			i.StatusCode, i.Headers, i.Policy = status(t, 429), header(t, "Retry-After", "2"), limit(planner.Policy{MaxWait: &maxWait})
		}, planner.Defer{}, "retry_max_wait_exceeded"},
		"defer, deadline": {func(i *planner.Item) {
			i.StatusCode, i.Policy = status(t, 429), limit(planner.Policy{Deadline: &deadline})
		}, planner.Defer{}, "retry_deadline_exceeded"},
		"defer, quota": {func(i *planner.Item) {
			i.StatusCode, i.Policy = status(t, 429), limit(planner.Policy{Provider: &provider})
			i.Body = map[string]any{"error": map[string]any{"code": "insufficient_quota"}}
		}, planner.Defer{}, "quota_exhausted"},
		"stop, status": {func(i *planner.Item) { i.StatusCode = status(t, 404) }, planner.Stop{}, "status_not_retryable"},
		"stop, Retry-After": {func(i *planner.Item) { i.StatusCode, i.Headers = status(t, 429), header(t, "Retry-After", "soon") },
			planner.Stop{}, "invalid_retry_after"},
		"stop, permanent":   {func(i *planner.Item) { i.Error = failure(t, "CERT_HAS_EXPIRED") }, planner.Stop{}, "network_permanent"},
		"stop, cancelled":   {func(i *planner.Item) { i.Error = failure(t, "ERR_CANCELED") }, planner.Stop{}, "cancelled"},
		"escalate, unknown": {func(i *planner.Item) { i.Error, i.Method = failure(t, "ECONNRESET"), &post }, planner.Escalate{}, "unknown_outcome"},
		"escalate, unsafe":  {func(i *planner.Item) { i.StatusCode, i.Method = status(t, 503), &post }, planner.Escalate{}, "retry_not_safe"},
	}
	client := open(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			item := newItem(t)
			test.change(&item)
			plan, err := client.PlanWithResponse(t.Context(), item)
			require.NoError(t, err)
			require.NotNil(t, plan.JSON200, string(plan.Body))
			answer, err := plan.JSON200.ValueByDiscriminator()
			require.NoError(t, err)
			require.IsType(t, test.want, answer)
			var code string
			switch answer := answer.(type) {
			case planner.Exhausted:
				code = string(answer.ErrorCode)
			case planner.Defer:
				code = string(answer.ErrorCode)
			case planner.Stop:
				code = string(answer.ErrorCode)
			case planner.Escalate:
				code = string(answer.ErrorCode)
			}
			assert.Equal(t, test.code, code)
		})
	}
}

func TestABatch(t *testing.T) {
	flat, invalid := newItem(t), newItem(t)
	flat.StatusCode = status(t, 503)
	var first, second planner.BatchItem
	require.NoError(t, first.FromItem(flat))
	require.NoError(t, second.FromN8nItem(planner.N8nItem{Json: invalid, PairedItem: 1}))
	plan, err := open(t).PlanBatchWithResponse(t.Context(), planner.Batch{first, second})
	require.NoError(t, err)
	require.NotNil(t, plan.JSON200, string(plan.Body))
	require.Len(t, *plan.JSON200, 2)

	one, err := (*plan.JSON200)[0].AsBatchAnswer()
	require.NoError(t, err)
	retry, err := one.AsRetryState()
	require.NoError(t, err)
	assert.EqualValues(t, 2, retry.Attempts)

	two, err := (*plan.JSON200)[1].AsN8nAnswer()
	require.NoError(t, err)
	answer, err := two.Json.ValueByDiscriminator()
	require.NoError(t, err)
	require.IsType(t, planner.BatchStop{}, answer)
	stop, err := two.Json.AsBatchStop()
	require.NoError(t, err)
	assert.Equal(t, planner.BatchStopErrorCodeInvalidState, stop.ErrorCode)
	require.NotNil(t, stop.Errors)
	assert.Equal(t, "statusCode", (*stop.Errors)[0].Field)
}

func TestAnAdmitAndItsReport(t *testing.T) {
	client := open(t)
	item := newItem(t)
	var task planner.AdmitItem
	task.MaxAttempts, task.Base, task.ExpCap, task.TotalWaitBudget = item.MaxAttempts, item.Base, item.ExpCap, item.TotalWaitBudget
	resource := planner.Gate{Resource: "go-client", Rate: &planner.GateRate{Limit: count(t, 1), Window: positive(t, 1)}}
	task.Gate = resource

	first, err := client.AdmitWithResponse(t.Context(), task)
	require.NoError(t, err)
	require.NotNil(t, first.JSON200, string(first.Body))
	admitted, err := first.JSON200.ValueByDiscriminator()
	require.NoError(t, err)
	require.IsType(t, planner.AdmitGo{}, admitted)
	pass, err := first.JSON200.AsAdmitGo()
	require.NoError(t, err)

	second, err := client.AdmitWithResponse(t.Context(), task)
	require.NoError(t, err)
	require.NotNil(t, second.JSON200, string(second.Body))
	wait, err := second.JSON200.AsAdmitWait()
	require.NoError(t, err)
	assert.Equal(t, planner.RateWindowFull, wait.ErrorCode)
	assert.Positive(t, wait.WaitSeconds)

	permit := pass.Permit.String()
	item.Gate, item.Permit, item.StatusCode = &resource, &permit, status(t, 200)
	report, err := client.PlanWithResponse(t.Context(), item)
	require.NoError(t, err)
	require.NotNil(t, report.JSON200, string(report.Body))
	decision, err := report.JSON200.Discriminator()
	require.NoError(t, err)
	assert.Equal(t, "success", decision)
}

func TestTheProviders(t *testing.T) {
	list, err := open(t).ListProvidersWithResponse(t.Context())
	require.NoError(t, err)
	require.NotNil(t, list.JSON200)
	assert.NotEmpty(t, list.JSON200.Providers)
}

// A refusal has its own field in the response, by status.
func TestEachRefusal(t *testing.T) {
	item := newItem(t)
	item.StatusCode = status(t, 503)
	large := newItem(t)
	large.StatusCode = item.StatusCode
	large.AdditionalProperties["padding"] = strings.Repeat("x", 1000)
	invalid := item
	invalid.Base = positive(t, 0)
	var element planner.BatchItem
	require.NoError(t, element.FromItem(item))
	client, guarded := open(t), strict(t, withKey(t))
	check := func(name string, problem *planner.Problem, err error, status int, code planner.ProblemErrorCode) {
		t.Helper()
		require.NoError(t, err, name)
		require.NotNil(t, problem, name)
		assert.Equal(t, status, problem.Status, name)
		assert.Equal(t, code, problem.ErrorCode, name)
		assert.NotEmpty(t, problem.Detail, name)
	}

	plan, err := client.PlanWithBodyWithResponse(t.Context(), "application/json", strings.NewReader("{"))
	check("not JSON", plan.ApplicationproblemJSON400, err, 400, planner.ProblemErrorCodeMalformedJson)
	plan, err = strict(t).PlanWithResponse(t.Context(), item)
	check("no key", plan.ApplicationproblemJSON401, err, 401, planner.ProblemErrorCodeUnauthorized)
	plan, err = client.PlanWithResponse(t.Context(), item, func(_ context.Context, r *http.Request) error {
		r.URL.Path = "/nowhere"
		return nil
	})
	check("no such path", plan.ApplicationproblemJSON404, err, 404, planner.ProblemErrorCodeNotFound)
	plan, err = client.PlanWithResponse(t.Context(), item, func(_ context.Context, r *http.Request) error {
		r.Method = http.MethodPut
		return nil
	})
	check("no such method", plan.ApplicationproblemJSON405, err, 405, planner.ProblemErrorCodeMethodNotAllowed)
	plan, err = guarded.PlanWithResponse(t.Context(), large)
	check("too large", plan.ApplicationproblemJSON413, err, 413, planner.ProblemErrorCodeBodyTooLarge)
	batch, err := guarded.PlanBatchWithResponse(t.Context(), planner.Batch{element, element, element})
	check("too many", batch.ApplicationproblemJSON413, err, 413, planner.ProblemErrorCodeBatchTooLarge)
	plan, err = client.PlanWithBodyWithResponse(t.Context(), "text/plain", strings.NewReader("{}"))
	check("not sent as JSON", plan.ApplicationproblemJSON415, err, 415, planner.ProblemErrorCodeUnsupportedMediaType)
	plan, err = client.PlanWithResponse(t.Context(), invalid)
	check("not valid", plan.ApplicationproblemJSON422, err, 422, planner.ProblemErrorCodeInvalidState)
	require.NotNil(t, plan.ApplicationproblemJSON422.Errors)
	assert.Equal(t, "base", (*plan.ApplicationproblemJSON422.Errors)[0].Field)
}

func TestAnOverload(t *testing.T) {
	// A call whose body never comes takes the only place.
	address := strings.TrimPrefix(setting(t, "TEST_STRICT_PLANNER_URL"), "http://")
	held, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer held.Close()
	_, err = held.Write([]byte("POST /v1/plan HTTP/1.1\r\nHost: planner\r\nContent-Type: application/json\r\n" +
		"Content-Length: 100\r\nX-API-Key: " + setting(t, "TEST_PLANNER_KEY") + "\r\n\r\n"))
	require.NoError(t, err)

	client := strict(t, withKey(t))
	item := newItem(t)
	item.StatusCode = status(t, 503)
	require.Eventually(t, func() bool {
		plan, err := client.PlanWithResponse(t.Context(), item)
		return err == nil && plan.ApplicationproblemJSON503 != nil &&
			plan.ApplicationproblemJSON503.ErrorCode == planner.ProblemErrorCodeOverloaded &&
			plan.Headers503.RetryAfter == 1
	}, 5*time.Second, 10*time.Millisecond)
}

func TestTheFileIsServed(t *testing.T) {
	file, err := open(t).OpenapiWithResponse(t.Context())
	require.NoError(t, err)
	require.NotNil(t, file.YAML200)
	assert.Equal(t, "3.1.0", file.YAML200.Openapi)
}
