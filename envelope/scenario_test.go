package envelope

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// merge does what n8n's { ...state, ...envelope } does: the envelope wins.
func merge(t *testing.T, state, envelope string) string {
	t.Helper()
	merged := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal([]byte(state), &merged))
	require.NoError(t, json.Unmarshal([]byte(envelope), &merged))
	out, err := json.Marshal(merged)
	require.NoError(t, err)
	return string(out)
}

// step is one turn of the loop: the envelope that the call gave, and what the
// answer must hold.
type step struct {
	envelope string
	want     map[string]string // by path, as JSON; "" for a field that must not be there
}

func retried(attempts, wait, elapsed, lastStatus string) map[string]string {
	return map[string]string{"decision": `"retry"`, "error_code": `null`, "next_request": `true`, "attempts": attempts,
		"wait_seconds": wait, "elapsed_wait": elapsed, "last_status": lastStatus, "error": "", "data": "", "statusMessage": ""}
}

func ended(decision, code, attempts, lastStatus string) map[string]string {
	return map[string]string{"decision": `"` + decision + `"`, "error_code": code, "next_request": `false`, "attempts": attempts,
		"last_status": lastStatus, "cursor": "", "wait_seconds": ""}
}

// Each answer is the next state, merged with the next envelope as the workflow
// does it.
func TestScenarios(t *testing.T) {
	const start = `{"url":"http://x","method":"GET","cursor":12345678901234567890,"max_attempts":4,"base":1,"exp_cap":60,"total_wait_budget":30}`
	tests := []struct {
		name, start string
		steps       []step
	}{
		{"429, 429, 200", start, []step{
			{`{"statusCode":429,"headers":{"retry-after":"2"},"body":{"e":1},"statusMessage":"x"}`, retried("2", "2", "2", "429")},
			{`{"statusCode":429,"headers":{},"body":{}}`, retried("3", "2", "4", "429")},
			{`{"statusCode":200,"headers":{},"body":{"ok":true}}`, ended("success", "null", "3", "200")},
		}},
		{"429 until the calls are used up", start, []step{
			{`{"statusCode":429,"headers":{}}`, retried("2", "1", "1", "429")},
			{`{"statusCode":429,"headers":{}}`, retried("3", "2", "3", "429")},
			{`{"statusCode":429,"headers":{}}`, retried("4", "4", "7", "429")},
			{`{"statusCode":429,"headers":{}}`, ended("exhausted", `"retry_attempts_exhausted"`, "4", "429")},
		}},
		{"a text reply, then JSON", start, []step{
			{`{"statusCode":503,"headers":{},"data":"<html>"}`, retried("2", "1", "1", "503")},
			{`{"statusCode":503,"headers":{},"body":{}}`, retried("3", "2", "3", "503")},
			{`{"statusCode":404,"headers":{},"data":"gone"}`, ended("stop", `"status_not_retryable"`, "3", "404")},
		}},
		{"refused, then a response: the old error does not come back", start, []step{
			{`{"error":{"code":"ECONNREFUSED"},"details":{"context":{}}}`, retried("2", "1", "1", "null")},
			{`{"statusCode":503,"headers":{"retry-after":"3"}}`, retried("3", "3", "4", "503")},
			{`{"statusCode":200,"headers":{},"body":1}`, ended("success", "null", "3", "200")},
		}},
		{"a response, then an error: the old response does not decide", start, []step{
			{`{"statusCode":429,"headers":{"retry-after":"9"},"body":1}`, retried("2", "9", "9", "429")},
			{`{"error":{"code":"ECONNRESET"}}`, func() map[string]string {
				want := retried("3", "2", "11", "null")
				want["statusCode"], want["headers"], want["body"] = "", "", ""
				return want
			}()},
			{`{"statusCode":429,"headers":{}}`, retried("4", "4", "15", "429")},
		}},
		{"the budget runs out", start, []step{
			{`{"statusCode":429,"headers":{"retry-after":"20"}}`, retried("2", "20", "20", "429")},
			{`{"statusCode":429,"headers":{"retry-after":"10"}}`, retried("3", "10", "30", "429")},
			{`{"statusCode":429,"headers":{"retry-after":"0"}}`, ended("defer", `"retry_wait_budget_exceeded"`, "3", "429")},
		}},
		{"a time-out of a POST is looked at by a person", `{"method":"POST","idempotency_key":null,"max_attempts":4,"base":1,"exp_cap":60,"total_wait_budget":30}`, []step{
			{`{"error":{"code":"ECONNREFUSED","options":{"method":"post"}}}`, retried("2", "1", "1", "null")},
			{`{"error":{"code":"ECONNABORTED","message":"timeout of 2000ms exceeded"}}`, ended("escalate", `"unknown_outcome"`, "2", "null")},
		}},
		{"a state of numeric strings", `{"max_attempts":"3","base":"0.5","exp_cap":"60","total_wait_budget":"30","attempts":"1"}`, []step{
			{`{"statusCode":"429","headers":null}`, retried("2", "0.5", "0.5", "429")},
			{`{"statusCode":"429","headers":null}`, retried("3", "1", "1.5", "429")},
			{`{"statusCode":"429","headers":null}`, ended("exhausted", `"retry_attempts_exhausted"`, "3", "429")},
		}},
		{"an explanation is replaced, not heaped up", `{"max_attempts":3,"base":1,"exp_cap":60,"total_wait_budget":30,"policy":{"explain":true}}`, []step{
			{`{"statusCode":429}`, map[string]string{"explain.wait.local": "1", "attempts": "2"}},
			{`{"statusCode":429}`, map[string]string{"explain.wait.local": "2", "attempts": "3"}},
			{`{"statusCode":429}`, map[string]string{"explain.outcome": `"response"`, "decision": `"exhausted"`}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			current := tt.start
			for n, s := range tt.steps {
				current = answer(t, merge(t, current, s.envelope))
				for path, want := range s.want {
					assert.Equal(t, want, gjson.Get(current, path).Raw, "step %d: %s in %s", n+1, path, current)
				}
				if gjson.Get(current, "decision").Str == "retry" && gjson.Get(tt.start, "cursor").Exists() {
					assert.Equal(t, "12345678901234567890", gjson.Get(current, "cursor").Raw)
				}
			}
		})
	}
}
