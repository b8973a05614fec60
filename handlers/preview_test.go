package handlers

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/envelope/preview"
)

// ask posts a body, text or JSON to be, and gives the status and the answer.
func ask(t *testing.T, h http.Handler, path string, body any) (int, map[string]any) {
	t.Helper()
	raw, ok := body.(string)
	if !ok {
		b, err := json.Marshal(body)
		require.NoError(t, err)
		raw = string(b)
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(raw))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var answer map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	return w.Code, answer
}

// TestPreviewGivesTheNumbersOfPlan plays the loop of a workflow against
// /v1/plan, state by state, and compares every number with the preview's.
func TestPreviewGivesTheNumbersOfPlan(t *testing.T) {
	const script = `[{"statusCode":429,"headers":{"retry-after":"Thu, 15 Jan 2026 12:00:09 GMT"}},{"error":{"code":"ECONNRESET"}},{"statusCode":503,"headers":{}},{"statusCode":429,"headers":{"retry-after":["3","7"]}},{"statusCode":500,"headers":{},"repeat":"always"}]`
	policies := []string{`{}`, `{"jitter":"full"}`, `{"jitter":"equal","spread":5}`, `{"jitter":"decorrelated"}`, `{"max_wait":20}`,
		`{"deadline":"2026-01-15T12:01:00Z"}`, `{"jitter":"full","spread":20,"deadline":"2026-01-15T12:01:00Z"}`}
	for _, policy := range policies {
		for _, budget := range []int{5, 60, 500} {
			now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
			service := newTestService(func(o *Options) { o.Now = func() time.Time { return now } })
			state := map[string]any{"max_attempts": 7, "base": 0.3, "exp_cap": 30, "total_wait_budget": budget, "method": "GET",
				"task_id": "t-1", "policy": json.RawMessage(policy)}
			request := maps.Clone(state)
			request["script"] = json.RawMessage(script)
			status, answered := ask(t, service, "/v1/preview", request)
			require.Equal(t, http.StatusOK, status)
			raw, err := json.Marshal(answered)
			require.NoError(t, err)
			var timeline preview.Timeline
			require.NoError(t, json.Unmarshal(raw, &timeline))

			var entries []map[string]any
			require.NoError(t, json.Unmarshal([]byte(script), &entries))
			for i, attempt := range timeline.Attempts {
				item := maps.Clone(state)
				for _, consumed := range []string{"statusCode", "headers", "body"} {
					delete(item, consumed)
				}
				maps.Copy(item, entries[min(i, len(entries)-1)])
				delete(item, "repeat")
				_, answer := ask(t, service, "/v1/plan", item)
				require.Equal(t, attempt.Decision, answer["decision"], "%s %d call %d", policy, budget, i+1)
				if attempt.Decision != "retry" {
					require.Len(t, timeline.Attempts, i+1)
					require.Equal(t, *attempt.ErrorCode, answer["error_code"])
					break
				}
				require.Equal(t, *attempt.WaitSeconds, answer["wait_seconds"], "%s %d call %d", policy, budget, i+1)
				require.Equal(t, attempt.ElapsedWait, answer["elapsed_wait"])
				now = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC).Add(time.Duration(attempt.ElapsedWait * float64(time.Second)))
				state = answer
			}
		}
	}
}

func TestPreviewAndPaceRefuseAsPlanDoes(t *testing.T) {
	tests := map[string]struct {
		path, body string
		status     int
		code       string
	}{
		"preview: not JSON":       {"/v1/preview", `{`, 400, "malformed_json"},
		"preview: a key twice":    {"/v1/preview", `{"script":[],"script":[]}`, 400, "malformed_json"},
		"preview: faults":         {"/v1/preview", `{"script":[200]}`, 422, "invalid_state"},
		"preview: over the limit": {"/v1/preview", `{"x":"` + strings.Repeat("x", 5000) + `"}`, 413, "body_too_large"},
		"pace: not an object":     {"/v1/pace", `[]`, 400, "malformed_json"},
		"pace: faults":            {"/v1/pace", `{"limit":0}`, 422, "invalid_state"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			status, answer := ask(t, newTestService(nil), tt.path, tt.body)
			assert.Equal(t, tt.status, status)
			assert.Equal(t, tt.code, answer["error_code"])
		})
	}
}

func TestPreviewAndPaceAskForAKey(t *testing.T) {
	service := newTestService(func(o *Options) { o.APIKeys = []APIKey{{"main", "k"}} })
	for _, path := range []string{"/v1/preview", "/v1/pace"} {
		status, _ := ask(t, service, path, `{}`)
		assert.Equal(t, http.StatusUnauthorized, status, path)
	}
}

func TestPageRunsUnderItsOwnPolicyAlone(t *testing.T) {
	w := httptest.NewRecorder()
	newTestService(nil).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	policy := w.Header().Get("Content-Security-Policy")
	assert.Contains(t, policy, "default-src 'none'")
	assert.NotContains(t, policy, "unsafe")
	page := w.Body.String()
	assert.NotContains(t, page, "{{style}}")
	assert.NotContains(t, page, " style=", "the policy forbids style attributes")
	assert.NotRegexp(t, `<(script|link|img|iframe)[^>]+(src|href)="(?:https?:)?//`, page, "nothing is fetched from elsewhere")
	assert.Contains(t, page, `data-key=""`)
}

func TestPageSaysWhatNeedsAKey(t *testing.T) {
	for want, change := range map[string]func(*Options){
		`data-key="calls"`: func(o *Options) { o.APIKeys = []APIKey{{"main", "k"}} },
		`data-key="all"`:   func(o *Options) { o.APIKeys = []APIKey{{"main", "k"}}; o.Closed = true },
	} {
		w := httptest.NewRecorder()
		newTestService(change).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		assert.Contains(t, w.Body.String(), want)
	}
}
