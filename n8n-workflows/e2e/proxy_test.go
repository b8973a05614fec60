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

// publishProxy publishes a copy of webhook-retry-proxy.json that may call the upstreams, and returns its path.
func publishProxy(t *testing.T, plannerURL string, settings map[string]any, upstreams ...*upstream) string {
	t.Helper()
	w := webhookProxy(t, plannerURL, settings, upstreams...)
	theN8n.add(t, w)
	theN8n.publish(t, w)
	return w.id()
}

func webhookProxy(t *testing.T, plannerURL string, settings map[string]any, upstreams ...*upstream) workflow {
	t.Helper()
	id := workflowID(t)
	sub := subWorkflow(t, id+"-sub", plannerURL)
	theN8n.publish(t, sub)
	w := loadWorkflow(t, "webhook-retry-proxy.json", id)
	var origins []string
	for _, u := range upstreams {
		origins = append(origins, u.at(""))
	}
	w.set(t, "Settings", map[string]any{
		"planner_url": plannerURL, "allowed_origins": origins, "answer_within": 2, "timeout": 5, "max_attempts": 3,
		"base": 0.2, "exp_cap": 2, "total_wait_budget": 20, "policy": map[string]any{"jitter": "none"},
	})
	w.set(t, "Settings", settings)
	w.node(t, "Webhook")["path"] = id
	w.find(t, "Webhook")["webhookId"] = id
	w.node(t, "Call Back")["workflowId"].(map[string]any)["value"] = sub.id()
	return w
}

// TestWebhookRetryProxy: the caller of the webhook gets the outcome with the upstream's own status.
func TestWebhookRetryProxy(t *testing.T) {
	rows := []struct {
		name   string
		script []http.HandlerFunc
		asked  map[string]any
		status int
		want   string
		calls  int
	}{
		{"JSON after a 429 with Retry-After", []http.HandlerFunc{reply(429, "", "Retry-After", "1"), replyJSON(201, `{"id": 7}`)}, nil,
			201, `{"statusCode": 201, "body": {"id": 7}, "attempts": 2, "decision": "success"}`, 2},
		{"text", []http.HandlerFunc{replyText(200, "hello")}, nil, 200, `{"data": "hello", "attempts": 1}`, 1},
		{"nothing", []http.HandlerFunc{reply(204, "")}, nil, 200, `{"statusCode": 204}`, 1},
		{"an image", []http.HandlerFunc{reply(200, string(onePixel), "Content-Type", "image/gif")}, nil, 200, `{"attempts": 1}`, 1},
		{"gone", []http.HandlerFunc{reply(410, "<h1>")}, nil,
			410, `{"error_code": "status_not_retryable", "attempts": 1, "last_status": 410, "decision": "stop", "next_request": false}`, 1},
		{"a redirect, which could lead anywhere", []http.HandlerFunc{reply(302, "", "Location", "/elsewhere")}, nil,
			502, `{"error_code": "status_not_retryable", "last_status": 302}`, 1},
		{"always 503", []http.HandlerFunc{reply(503, ""), reply(503, ""), reply(503, "")}, nil,
			503, `{"error_code": "retry_attempts_exhausted", "attempts": 3}`, 3},
		{"a POST that was dropped", []http.HandlerFunc{drop}, map[string]any{"method": "POST", "body": map[string]any{"a": 1}},
			504, `{"error_code": "unknown_outcome", "decision": "escalate", "last_status": null}`, 1},
		{"a POST with a key that was dropped", []http.HandlerFunc{drop, replyJSON(200, `{}`)},
			map[string]any{"method": "POST", "body": map[string]any{"a": 1}, "idempotency_key": "k-1"}, 200, `{"attempts": 2}`, 2},
		{"a wait longer than the caller's patience", []http.HandlerFunc{reply(429, "", "Retry-After", "3")}, nil,
			429, `{"error_code": "retry_wait_budget_exceeded", "decision": "defer"}`, 1},
		{"no url", nil, map[string]any{"url": nil}, 400, `{}`, 0},
		{"an origin that is not on the list", nil, map[string]any{"url": "http://127.0.0.1:1/"}, 403, `{}`, 0},
		{"a host behind a user name", nil, map[string]any{"url": "USER"}, 403, `{}`, 0},
		{"a callback to an origin that is not on the list", nil, map[string]any{"callback_url": "http://127.0.0.1:1/"}, 403, `{}`, 0},
	}
	var upstreams []*upstream
	for _, row := range rows {
		upstreams = append(upstreams, startUpstream(t, row.script...))
	}
	path := publishProxy(t, theService.url, nil, upstreams...)
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			u := upstreams[i]
			asked := map[string]any{"url": u.at("/x?y=1")}
			for name, value := range row.asked {
				asked[name] = value
			}
			if asked["url"] == "USER" {
				asked["url"] = u.at("") + "@127.0.0.1:1/"
			}
			status, answer := theN8n.webhook(t, path, mustJSON(t, asked))
			assert.Equal(t, row.status, status, answer)
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(answer), &got), answer)
			requireFields(t, row.want, got)
			calls := u.all()
			require.Len(t, calls, row.calls)
			for _, c := range calls {
				assert.Equal(t, calls[0].Body, c.Body)
				assert.Equal(t, calls[0].Header.Get("Idempotency-Key"), c.Header.Get("Idempotency-Key"))
			}
			if row.calls > 1 && calls[0].Status == http.StatusTooManyRequests {
				assert.GreaterOrEqual(t, calls[1].Arrived.Sub(calls[0].Answered), time.Second-clockGrain)
			}
		})
	}

	t.Run("a planner that is down", func(t *testing.T) {
		u := startUpstream(t, reply(429, ""))
		path := publishProxy(t, theService.url+"/nowhere", nil, u)
		status, answer := theN8n.webhook(t, path, mustJSON(t, map[string]any{"url": u.at("/")}))
		assert.Equal(t, 500, status, answer)
		assert.True(t, json.Valid([]byte(answer)), answer)
		assert.Len(t, u.all(), 1)
	})
}

// TestWebhookRetryProxyCallsBack: a long wait is answered with 202 at once, and the outcome is posted once it is
// there, again with the same key when the callback fails.
func TestWebhookRetryProxyCallsBack(t *testing.T) {
	t.Parallel()
	u := startUpstream(t, reply(429, "", "Retry-After", "5"), replyJSON(200, `{"late": true}`))
	back := startUpstream(t, reply(503, ""), drop, replyJSON(200, `{}`))
	path := publishProxy(t, theService.url, nil, u, back)
	status, answer := theN8n.webhook(t, path, mustJSON(t, map[string]any{
		"url": u.at("/report"), "callback_url": back.at("/done"), "task_id": "report-7",
	}))
	answered := time.Now()
	assert.Equal(t, http.StatusAccepted, status)
	assert.JSONEq(t, `{"accepted": true, "task_id": "report-7", "attempts": 1, "wait_seconds": 5}`, answer)

	require.Eventually(t, func() bool { return len(back.all()) == 3 && back.all()[2].Status == 200 }, time.Minute, 100*time.Millisecond)
	calls := u.all()
	require.Len(t, calls, 2)
	assert.GreaterOrEqual(t, calls[1].Arrived.Sub(calls[0].Answered), 5*time.Second-clockGrain)
	assert.True(t, answered.Before(calls[1].Arrived), "the 202 came before the second call")
	for _, c := range back.all() {
		assert.Equal(t, "POST /done", c.Method+" "+c.Path)
		assert.Equal(t, "report-7", c.Header.Get("Idempotency-Key"))
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(c.Body), &got), c.Body)
		requireFields(t, `{"task_id": "report-7", "status": 200}`, got)
		requireFields(t, `{"body": {"late": true}, "attempts": 2, "decision": "success"}`, got["answer"].(map[string]any))
	}
}
