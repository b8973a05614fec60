//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onePixel is a GIF.
var onePixel, _ = base64.StdEncoding.DecodeString("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")

// shopifyThrottle is a throttled GraphQL call, which is a 200.
const shopifyThrottle = `{"errors": [{"message": "Throttled", "extensions": {"code": "THROTTLED"}}], "extensions": {"cost": {
	"requestedQueryCost": 100, "throttleStatus": {"maximumAvailable": 1000, "currentlyAvailable": 90, "restoreRate": 50}}}}`

// TestHTTPRequestWithRetry: the sub-workflow returns what the upstream gave, with the attempts it took and the
// caller's context, whatever the kind of reply, and the outcome of the last call when it has to give up.
func TestHTTPRequestWithRetry(t *testing.T) {
	get := map[string]any{}
	for _, row := range []struct {
		name   string
		script []http.HandlerFunc
		input  map[string]any // besides url, context and on_failure = return
		want   string         // fields of the item that comes back
		calls  int
	}{
		{"JSON", []http.HandlerFunc{replyJSON(200, `{"items": [1]}`)}, get,
			`{"statusCode": 200, "body": {"items": [1]}, "attempts": 1, "decision": "success", "error_code": null}`, 1},
		{"text after a 503", []http.HandlerFunc{reply(503, ""), replyText(200, "hello")}, get,
			`{"statusCode": 200, "data": "hello", "attempts": 2}`, 2},
		{"an empty reply", []http.HandlerFunc{reply(204, "")}, get, `{"statusCode": 204, "attempts": 1}`, 1},
		{"HTML after a 429 in HTML", []http.HandlerFunc{
			reply(429, "<p>slow</p>", "Content-Type", "text/html"), reply(200, "<p>ok</p>", "Content-Type", "text/html"),
		}, get, `{"statusCode": 200, "data": "<p>ok</p>", "attempts": 2}`, 2},
		{"a 429 with Retry-After and one without", []http.HandlerFunc{
			replyJSON(429, `{}`, "Retry-After", "1"), replyJSON(429, `{}`), replyJSON(200, `{}`),
		}, get, `{"statusCode": 200, "attempts": 3}`, 3},
		{"a dropped connection", []http.HandlerFunc{drop, replyJSON(200, `{"back": 1}`)}, get,
			`{"body": {"back": 1}, "attempts": 2}`, 2},
		{"a time-out", []http.HandlerFunc{hang, replyJSON(200, `{"back": 1}`)}, map[string]any{"timeout": 2},
			`{"body": {"back": 1}, "attempts": 2}`, 2},
		{"a 404", []http.HandlerFunc{replyJSON(404, `{}`)}, get,
			`{"error_code": "status_not_retryable", "attempts": 1, "last_status": 404, "decision": "stop", "next_request": false}`, 1},
		{"always 500", []http.HandlerFunc{reply(500, ""), reply(500, "")}, map[string]any{"max_attempts": 2},
			`{"error_code": "retry_attempts_exhausted", "attempts": 2, "last_status": 500, "decision": "exhausted", "next_request": false}`, 2},
		{"a wait over the budget", []http.HandlerFunc{reply(429, "", "Retry-After", "11")}, get,
			`{"error_code": "retry_wait_budget_exceeded", "attempts": 1, "last_status": 429, "decision": "defer", "next_request": false}`, 1},
		{"a POST that was dropped", []http.HandlerFunc{drop}, map[string]any{"method": "post"},
			`{"error_code": "unknown_outcome", "attempts": 1, "last_status": null, "decision": "escalate", "next_request": false}`, 1},
		{"a provider that puts a 429's end into the body", []http.HandlerFunc{
			replyJSON(429, `{"error": {"code": "insufficient_quota", "type": "insufficient_quota"}}`),
		}, map[string]any{"policy": map[string]any{"provider": "openai"}},
			`{"error_code": "quota_exhausted", "attempts": 1, "last_status": 429, "decision": "defer", "next_request": false}`, 1},
		{"a provider whose throttle is a 200", []http.HandlerFunc{
			replyJSON(200, shopifyThrottle),
			replyJSON(200, `{"data": {"shop": 1}}`),
		}, map[string]any{"policy": map[string]any{"provider": "shopify"}},
			`{"statusCode": 200, "body": {"data": {"shop": 1}}, "attempts": 2, "decision": "success"}`, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			u, tap := startUpstream(t, row.script...), tapPlanner(t, nil)
			input := map[string]any{
				"url": u.at("/items?cursor=c-17"), "context": map[string]any{"cursor": "c-17"}, "on_failure": "return",
			}
			maps.Copy(input, row.input)
			e := callOnce(t, tap, input)
			require.Equal(t, "success", e.Status, "%+v", e.Error)
			item, err := e.only("End", 0)
			require.NoError(t, err)
			requireFields(t, row.want, item)
			if item["decision"] == "success" {
				requireJSON(t, `{"cursor": "c-17"}`, item["context"])
			} else {
				assert.Len(t, item, 5, "a failure is five fields")
			}
			require.Len(t, u.all(), row.calls)
			requireInTime(t, u, tap)
		})
	}

	t.Run("an image comes back whole", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, ""), reply(200, string(onePixel), "Content-Type", "image/gif"))
		e := callOnce(t, tapPlanner(t, nil), map[string]any{"url": u.at("/logo")})
		require.Equal(t, "success", e.Status, "%+v", e.Error)
		requireFields(t, `{"statusCode": 200, "attempts": 2}`, e.Runs["End"][0].Outputs[0][0])
		file, _ := e.Runs["End"][0].Binary[0][0]["data"].(map[string]any)
		assert.Equal(t, "image/gif", file["mimeType"])
		assert.Equal(t, fmt.Sprintf("%d B", len(onePixel)), file["fileSize"])
	})

	t.Run("a redirect is followed, also by the second call", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(302, "", "Location", "/new"), reply(503, ""), reply(302, "", "Location", "/new"), replyJSON(200, `{"at": "new"}`))
		e := callOnce(t, tapPlanner(t, nil), map[string]any{"url": u.at("/old")})
		require.Equal(t, "success", e.Status, "%+v", e.Error)
		requireFields(t, `{"body": {"at": "new"}, "attempts": 2}`, e.Runs["End"][0].Outputs[0][0])
		require.Len(t, u.all(), 4)
	})

	t.Run("every attempt is the same request with the same key", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, drop, reply(503, ""), replyJSON(201, `{}`))
		tap := tapPlanner(t, nil)
		e := callOnce(t, tap, map[string]any{
			"url": u.at("/orders"), "method": "POST", "query": map[string]any{"shop": "a&b", "page": 2},
			"headers": map[string]any{"X-Trace": "t-1", "Authorization": "Bearer very-secret"},
			"body":    map[string]any{"sku": "ß-9", "count": 2}, "idempotency_key": "order-9",
		})
		require.Equal(t, "success", e.Status, "%+v", e.Error)
		calls := u.all()
		require.Len(t, calls, 3)
		for _, c := range calls {
			assert.Equal(t, "POST /orders?page=2&shop=a%26b", c.Method+" "+c.Path)
			assert.Equal(t, "order-9", c.Header.Get("Idempotency-Key"))
			assert.Equal(t, "t-1", c.Header.Get("X-Trace"))
			assert.Contains(t, c.Header.Get("Content-Type"), "application/json")
			assert.JSONEq(t, `{"sku": "ß-9", "count": 2}`, c.Body)
		}
		for _, plan := range tap.all() {
			assert.NotContains(t, plan.Body, "very-secret", "the planner needs no key of the upstream")
			assert.NotContains(t, plan.Body, "sku", "nor the request's body")
		}
		requireInTime(t, u, tap)
	})

	t.Run("a body that is text is sent as it is", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, replyJSON(200, `{}`))
		e := callOnce(t, tapPlanner(t, nil), map[string]any{
			"url": u.at("/soap"), "method": "PUT", "body": "<a>1</a>", "headers": map[string]any{"Content-Type": "text/xml"},
		})
		require.Equal(t, "success", e.Status, "%+v", e.Error)
		assert.Equal(t, "<a>1</a>", u.all()[0].Body)
		assert.Equal(t, "text/xml", u.all()[0].Header.Get("Content-Type"))
	})

	t.Run("a failure ends the caller's run with the five fields in its message", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, replyJSON(404, `{}`))
		e := callOnce(t, tapPlanner(t, nil), map[string]any{"url": u.at("/gone")})
		require.Equal(t, "error", e.Status)
		object := strings.TrimPrefix(e.Error.Message, "Error: ")
		requireJSON(t, `{"error_code": "status_not_retryable", "attempts": 1, "last_status": 404,
			"decision": "stop", "next_request": false}`, json.RawMessage(object))
	})

	t.Run("several items come back in order, each with its own outcome", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, replyJSON(429, `{}`, "Retry-After", "1"), replyJSON(200, `{"n": 1}`), replyJSON(404, `{}`), drop, replyJSON(200, `{"n": 3}`))
		item := func(path string) map[string]any {
			return map[string]any{"url": u.at(path), "context": path, "on_failure": "return"}
		}
		e := callOnce(t, tapPlanner(t, nil), item("/1"), item("/2"), item("/3"))
		require.Equal(t, "success", e.Status, "%+v", e.Error)
		got := e.Runs["End"][0].Outputs[0]
		require.Len(t, got, 3)
		requireFields(t, `{"body": {"n": 1}, "attempts": 2, "context": "/1"}`, got[0])
		requireFields(t, `{"error_code": "status_not_retryable", "attempts": 1}`, got[1])
		requireFields(t, `{"body": {"n": 3}, "attempts": 2, "context": "/3"}`, got[2])
		var paths []string
		for _, c := range u.all() {
			paths = append(paths, c.Path)
		}
		assert.Equal(t, []string{"/1", "/1", "/2", "/3", "/3"}, paths)
	})

	t.Run("without a planner there is no second call", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, reply(429, ""))
		tap := tapPlanner(t, nil)
		tap.url += "/nowhere"
		e := callOnce(t, tap, map[string]any{"url": u.at("/"), "on_failure": "return"})
		require.Equal(t, "error", e.Status)
		require.Len(t, u.all(), 1)
	})
}
