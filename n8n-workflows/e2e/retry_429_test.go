//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scenario is one run of retry-429.json.
type scenario struct {
	upstream *upstream
	planner  *plannerTap
	run      execution
}

// runRetry429 runs a copy of retry-429.json against the upstream. The state is what each scenario starts from; the
// given fields override it.
func runRetry429(t *testing.T, u *upstream, tap *plannerTap, state map[string]any) scenario {
	t.Helper()
	w := retry429(t, u, tap.url, state)
	theN8n.add(t, w)
	return scenario{upstream: u, planner: tap, run: theN8n.run(t, w, "Start")}
}

func retry429(t *testing.T, u *upstream, plannerURL string, state map[string]any) workflow {
	t.Helper()
	w := loadWorkflow(t, "retry-429.json", workflowID(t))
	w.set(t, "Request", map[string]any{
		"url": u.at("/items?cursor=c-17"), "method": "GET", "max_attempts": 5, "base": 0.2, "exp_cap": 2,
		"total_wait_budget": 10, "context": map[string]any{"cursor": "c-17", "page": 3}, "planner_url": plannerURL,
	})
	w.set(t, "Request", state)
	return w
}

// requireSuccess checks that the run ended in Success with a 2xx, after this many calls, each not earlier than
// planned, and that the caller's context is whole.
func (s scenario) requireSuccess(t *testing.T, calls int) map[string]any {
	t.Helper()
	require.Equal(t, "success", s.run.Status, "%+v", s.run.Error)
	require.Equal(t, "Success", s.run.LastNode)
	item, err := s.run.only("Success", 0)
	require.NoError(t, err)
	requireJSON(t, `{"cursor": "c-17", "page": 3}`, item["context"])
	requireJSON(t, mustJSON(t, calls), item["attempts"])
	s.requireCalls(t, calls)
	return item
}

// requireStopped checks that the run failed in the node with the five-field object, after this many calls.
func (s scenario) requireStopped(t *testing.T, node, object string, calls int) {
	t.Helper()
	require.Equal(t, "error", s.run.Status)
	require.NotNil(t, s.run.Error)
	require.Equal(t, node, s.run.Error.Node, "%+v", s.run.Error)
	requireJSON(t, object, s.run.Error.Metadata)
	s.requireCalls(t, calls)
}

// requireCalls checks the transcripts: so many calls at the upstream, in time, and nothing but a retry ran the Wait
// node.
func (s scenario) requireCalls(t *testing.T, calls int) {
	t.Helper()
	require.Len(t, s.upstream.all(), calls)
	retries := requireInTime(t, s.upstream, s.planner)
	assert.Len(t, s.run.Runs["Wait"], retries)
}

// requireInTime checks the transcripts of one operation: every call at the upstream is the same request, none is
// earlier than the planner said or one too many, and the planner was asked with attempts 1, 2, 3 … It returns how
// many retries were planned.
func requireInTime(t *testing.T, u *upstream, planner *plannerTap) (retries int) {
	t.Helper()
	got := u.all()
	for i, plan := range planner.all() {
		var asked struct{ Attempts int }
		var answer struct {
			Decision    string
			WaitSeconds float64 `json:"wait_seconds"`
		}
		require.NoError(t, json.Unmarshal([]byte(plan.Body), &asked))
		assert.Equal(t, i+1, asked.Attempts, "the planner is asked about each call once")
		require.NoError(t, json.Unmarshal([]byte(plan.Answer), &answer), plan.Answer)
		if answer.Decision != "retry" {
			continue
		}
		retries++
		require.Less(t, i+1, len(got), "a retry was planned but not made")
		wait := time.Duration(answer.WaitSeconds * float64(time.Second))
		// The wait starts after the plan is answered, so this is a stricter floor than from the upstream's answer.
		assert.GreaterOrEqual(t, got[i+1].Arrived.Sub(plan.Answered), wait-clockGrain, "call %d came early", i+2)
	}
	for _, c := range got {
		assert.Equal(t, got[0].Method+" "+got[0].Path, c.Method+" "+c.Path)
	}
	return retries
}

// clockGrain is how much earlier than asked a timer may fire: n8n counts a wait in whole milliseconds.
const clockGrain = 2 * time.Millisecond

func TestRetry429(t *testing.T) {
	t.Run("429 429 200 makes three calls and keeps the context", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t,
			replyJSON(429, `{"reason": "slow down"}`, "Retry-After", "1"), replyJSON(429, `{}`), replyJSON(200, `{"items": [7]}`))
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"task_id": "import-42"})
		item := s.requireSuccess(t, 3)
		requireJSON(t, `{"items": [7]}`, item["body"])

		var states []any
		for _, r := range s.run.Runs["Retry State"] {
			states = append(states, r.Outputs[0][0]["attempts"])
		}
		requireJSON(t, `[1, 2, 3]`, states)
		last, err := s.run.only("Retry State", 0)
		require.NoError(t, err)
		requireJSON(t, `1.4`, last["elapsed_wait"]) // 1 from Retry-After, then 0.2·2
		assert.Equal(t, "import-42", last["task_id"])
	})

	t.Run("always 429 makes max_attempts calls and no more", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, ""), reply(429, ""), reply(429, ""))
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"max_attempts": 3})
		s.requireStopped(t, "Stop And Error", `{"error_code": "retry_attempts_exhausted", "attempts": 3,
			"last_status": 429, "decision": "exhausted", "next_request": false}`, 3)
		// What an error workflow's or a parent's reader sees when there is only the message.
		requireJSON(t, `{"error_code": "retry_attempts_exhausted", "attempts": 3, "last_status": 429,
			"decision": "exhausted", "next_request": false}`, json.RawMessage(s.run.Error.Message[len("Error: "):]))
	})

	t.Run("a Retry-After over the budget is deferred without a wait", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, "", "Retry-After", "3600"))
		s := runRetry429(t, u, tapPlanner(t, nil), nil)
		s.requireStopped(t, "Stop And Error", `{"error_code": "retry_wait_budget_exceeded", "attempts": 1,
			"last_status": 429, "decision": "defer", "next_request": false}`, 1)
		assert.NotContains(t, s.run.Runs, "Wait")
	})

	t.Run("a Retry-After that is a date is waited for", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, retryAfterDate(429, 3*time.Second), replyJSON(200, `{}`))
		s := runRetry429(t, u, tapPlanner(t, nil), nil)
		s.requireSuccess(t, 2)
		first := s.upstream.all()[0].Answered.Add(3 * time.Second).Truncate(time.Second)
		assert.False(t, s.upstream.all()[1].Arrived.Before(first), "the second call came before the date")
	})

	t.Run("a Retry-After of 0 goes on after the local wait", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, "", "Retry-After", "0"), replyJSON(200, `{}`))
		runRetry429(t, u, tapPlanner(t, nil), nil).requireSuccess(t, 2)
	})

	t.Run("a 503 is retried", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(503, "<h1>Down</h1>", "Content-Type", "text/html"), replyJSON(200, `{}`))
		runRetry429(t, u, tapPlanner(t, nil), nil).requireSuccess(t, 2)
	})

	t.Run("an old body or data is not taken for a fresh one", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t,
			replyText(429, "text first"), replyJSON(429, `{"second": true}`), replyText(429, "text third"),
			reply(429, ""), replyText(200, "done"))
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"base": 0.05})
		item := s.requireSuccess(t, 5)
		assert.Equal(t, "done", item["data"])
		assert.NotContains(t, item, "body")

		plans := s.planner.all()
		require.Len(t, plans, 4)
		for i, want := range []struct{ body, data any }{
			{nil, "text first"}, {map[string]any{"second": true}, nil}, {nil, "text third"}, {nil, nil},
		} {
			var sent map[string]any
			require.NoError(t, json.Unmarshal([]byte(plans[i].Body), &sent))
			assert.Equal(t, want.body, sent["body"], "body of plan %d", i+1)
			assert.Equal(t, want.data, sent["data"], "data of plan %d", i+1)
		}
	})

	t.Run("a failure between two responses is not taken for either", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t,
			replyJSON(429, `{"first": true}`, "Retry-After", "1"), drop, replyText(503, "third"), replyJSON(200, `{}`))
		s := runRetry429(t, u, tapPlanner(t, nil), nil)
		s.requireSuccess(t, 4)
		var afterFailure map[string]any
		require.NoError(t, json.Unmarshal([]byte(s.planner.all()[1].Answer), &afterFailure))
		for _, stale := range []string{"error", "details", "body", "headers", "statusCode", "data"} {
			assert.NotContains(t, afterFailure, stale)
		}
		// The first Retry-After of 1 s must not be waited for again.
		requireJSON(t, `0.4`, afterFailure["wait_seconds"])
		requireJSON(t, `null`, afterFailure["last_status"])
	})

	t.Run("a 404 is one call", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, replyJSON(404, `{"message": "no such thing"}`))
		s := runRetry429(t, u, tapPlanner(t, nil), nil)
		s.requireStopped(t, "Unexpected Status Error", `{"error_code": "status_not_retryable", "attempts": 1,
			"last_status": 404, "decision": "stop", "next_request": false}`, 1)
		assert.Empty(t, s.planner.all())
	})

	t.Run("policy.retry_statuses decides what is retried", func(t *testing.T) {
		t.Parallel()
		policy := map[string]any{"policy": map[string]any{"retry_statuses": []int{404}}}
		u := startUpstream(t, reply(404, ""), reply(429, ""))
		s := runRetry429(t, u, tapPlanner(t, nil), policy)
		s.requireStopped(t, "Unexpected Status Error", `{"error_code": "status_not_retryable", "attempts": 2,
			"last_status": 429, "decision": "stop", "next_request": false}`, 2)
	})

	t.Run("a refused connection is retried", func(t *testing.T) {
		t.Parallel()
		u := newUpstream(t, replyJSON(200, `{"up": true}`))
		tap := tapPlanner(t, func(number int) {
			if number == 1 {
				u.open(t)
			}
		})
		s := runRetry429(t, u, tap, nil)
		require.Equal(t, "success", s.run.Status, "%+v", s.run.Error)
		require.Len(t, u.all(), 1)
		require.Len(t, tap.all(), 1)
		assert.Contains(t, tap.all()[0].Body, "ECONNREFUSED")
		require.Len(t, s.run.Runs["HTTP Request"], 2)
		require.Len(t, s.run.Runs["Wait"], 1)
		item, err := s.run.only("Success", 0)
		require.NoError(t, err)
		requireJSON(t, `{"cursor": "c-17", "page": 3}`, item["context"])
		requireJSON(t, `2`, item["attempts"])
	})

	t.Run("a POST that timed out is not repeated", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, hang)
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"method": "POST", "timeout": 0.5})
		s.requireStopped(t, "Stop And Error", `{"error_code": "unknown_outcome", "attempts": 1,
			"last_status": null, "decision": "escalate", "next_request": false}`, 1)
		assert.Equal(t, http.MethodPost, u.all()[0].Method)
	})

	t.Run("a POST with an idempotency key is repeated with the same key", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, drop, replyJSON(201, `{}`))
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"method": "POST", "idempotency_key": "order-9"})
		s.requireSuccess(t, 2)
		for _, c := range u.all() {
			assert.Equal(t, "order-9", c.Header.Get("Idempotency-Key"))
		}
	})

	t.Run("a bad URL stops", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t)
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"url": "http://:bad:url/"})
		s.requireStopped(t, "Stop And Error", `{"error_code": "network_permanent", "attempts": 1,
			"last_status": null, "decision": "stop", "next_request": false}`, 0)
	})

	t.Run("an empty 204 is a success", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, replyJSON(429, `{"old": true}`), reply(204, ""))
		item := runRetry429(t, u, tapPlanner(t, nil), nil).requireSuccess(t, 2)
		assert.NotContains(t, mustJSON(t, item), "old")
	})

	t.Run("a provider's throttle in a 200 is retried, and its success is one", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, replyJSON(200, shopifyThrottle), replyJSON(200, `{"data": {"shop": 1}}`))
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"policy": map[string]any{"provider": "shopify", "jitter": "none"}})
		item := s.requireSuccess(t, 2)
		requireJSON(t, `{"data": {"shop": 1}}`, item["body"])
		requireJSON(t, `200`, item["statusCode"])
	})

	t.Run("a provider may stop a 429", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, replyJSON(429, `{"error": {"code": "insufficient_quota", "type": "insufficient_quota"}}`))
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"policy": map[string]any{"provider": "openai"}})
		s.requireStopped(t, "Stop And Error", `{"error_code": "quota_exhausted", "attempts": 1,
			"last_status": 429, "decision": "defer", "next_request": false}`, 1)
	})

	t.Run("a provider sees a status that is not retryable by default", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(404, ""))
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"policy": map[string]any{"provider": "github"}})
		s.requireStopped(t, "Stop And Error", `{"error_code": "status_not_retryable", "attempts": 1,
			"last_status": 404, "decision": "stop", "next_request": false}`, 1)
	})

	t.Run("an invalid Retry-After stops", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, "", "Retry-After", "soon"))
		s := runRetry429(t, u, tapPlanner(t, nil), nil)
		s.requireStopped(t, "Stop And Error", `{"error_code": "invalid_retry_after", "attempts": 1,
			"last_status": 429, "decision": "stop", "next_request": false}`, 1)
	})
}

// TestRetry429PlannerFails checks what n8n's user reads when the planner cannot or will not plan. In every case the
// execution fails in Plan Retry: without a plan there is no next call.
func TestRetry429PlannerFails(t *testing.T) {
	t.Run("the planner is down", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, ""))
		nowhere, err := freeAddress()
		require.NoError(t, err)
		w := retry429(t, u, "http://"+nowhere, nil)
		theN8n.add(t, w)
		e := theN8n.run(t, w, "Start")
		requireFailedIn(t, e, "Plan Retry")
		assert.Equal(t, "ECONNREFUSED", e.Error.HTTPCode)
		assert.Contains(t, e.Error.Message, "refused the connection")
		assert.Contains(t, e.Error.Messages, nowhere, "the address to look at is named")
		assert.Len(t, u.all(), 1)
	})

	t.Run("a state that is not valid is a 422 that says what to change", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, ""))
		s := runRetry429(t, u, tapPlanner(t, nil), map[string]any{"max_attempts": 0})
		requireFailedIn(t, s.run, "Plan Retry")
		assert.Equal(t, "422", s.run.Error.HTTPCode)
		assert.Contains(t, s.run.Error.Description, "max_attempts")
		requireDetailShown(t, s)
	})

	t.Run("a wrong planner address is a 404 that says where to go", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, ""))
		tap := tapPlanner(t, nil)
		tap.url += "/v1/plan" // a likely slip: the path twice
		s := runRetry429(t, u, tap, nil)
		requireFailedIn(t, s.run, "Plan Retry")
		assert.Equal(t, "404", s.run.Error.HTTPCode)
		requireDetailShown(t, s)
	})
}

// requireDetailShown checks that the text under n8n's error message is the problem's detail.
func requireDetailShown(t *testing.T, s scenario) {
	t.Helper()
	plans := s.planner.all()
	require.Len(t, plans, 1)
	var problem struct{ Detail string }
	require.NoError(t, json.Unmarshal([]byte(plans[0].Answer), &problem), plans[0].Answer)
	require.NotEmpty(t, problem.Detail)
	assert.Equal(t, problem.Detail, s.run.Error.Description)
	assert.Len(t, s.upstream.all(), 1)
}

func requireFailedIn(t *testing.T, e execution, node string) {
	t.Helper()
	require.Equal(t, "error", e.Status)
	require.NotNil(t, e.Error)
	require.Equal(t, node, e.Error.Node, "%+v", e.Error)
	require.NotContains(t, e.Runs, "Wait")
}
