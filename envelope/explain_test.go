package envelope

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"
)

func TestExplanationOfARetry(t *testing.T) {
	got := answer(t, item(`"attempts":2`, `"elapsed_wait":1`, `"headers":{"retry-after":"7"}`, `"policy":{"explain":true,"max_wait":30}`))
	assert.JSONEq(t, `{
		"reason": "The call may be repeated; the wait is the server's minimum.",
		"outcome": "response", "provider": "standard",
		"wait": {"exponential":2,"jitter_low":2,"jitter_high":2,"local":2,"floor":7,"floor_source":"header retry-after","spread":0,"total":7},
		"limits": {"attempts_left":3,"budget_left":119,"max_wait":30,"until_deadline":null}
	}`, gjson.Get(got, "explain").Raw)
	assert.True(t, strings.HasSuffix(got, `}}`), "it stands at the end")
}

func TestExplanationStandsWhereItStood(t *testing.T) {
	got := answer(t, item(`"explain":{"old":1}`, `"policy":{"explain":true}`))
	assert.Less(t, strings.Index(got, `"explain"`), strings.Index(got, `"policy"`))
	assert.False(t, gjson.Get(got, "explain.old").Exists())
	assert.Equal(t, 1, strings.Count(got, `"explain":{`))
}

// A terminal answer has six members when an explanation is asked for.
func TestExplanationOfATerminalAnswer(t *testing.T) {
	tests := []struct{ name, raw, outcome, wait string }{
		{"success", `{"statusCode":200,` + state + `,"policy":{"explain":true}}`, "response", ""},
		{"a defer tells the wait that did not fit", item(`"headers":{"retry-after":"500"}`, `"policy":{"explain":true}`), "response", "500"},
		{"an endless wait is null", item(`"headers":{"retry-after":"99999999999999999999"}`, `"policy":{"explain":true}`), "response", "null"},
		{"a failure", failedItem(`{"code":"ECONNRESET"}`, `"policy":{"explain":true}`), "unknown", ""},
		{"never reached", failedItem(`{"code":"ECONNREFUSED"}`, `"policy":{"explain":true,"safe_to_retry":false}`), "never_reached", ""},
		{"cancelled", failedItem(`{"name":"AbortError"}`, `"policy":{"explain":true}`), "cancelled", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, tt.raw)
			var names []string
			gjson.Parse(got).ForEach(func(name, _ gjson.Result) bool { names = append(names, name.Str); return true })
			assert.Equal(t, []string{"error_code", "attempts", "last_status", "decision", "next_request", "explain"}, names)
			assert.Equal(t, tt.outcome, gjson.Get(got, "explain.outcome").Str)
			assert.NotEmpty(t, gjson.Get(got, "explain.reason").Str)
			assert.Equal(t, tt.wait, gjson.Get(got, "explain.wait.total").Raw)
		})
	}
	assert.NotContains(t, answer(t, item(`"policy":{"explain":false}`)), `"explain":{`)
}
