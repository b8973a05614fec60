package envelope

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"n8n-retry-planner/planner"
)

func TestPolicyFieldsAgainstTheirRules(t *testing.T) {
	tests := []struct {
		field    string
		accepted []string
		refused  map[string][]string
	}{
		{"retry_statuses", []string{`[]`, `[429]`, `["503",404]`, `[100,599]`, `null`}, map[string][]string{
			"array": {`429`, `"429"`, `{}`, `true`}, "status": {`[99]`, `[600]`, `[429.5]`, `["x"]`, `[null]`, `[true]`, `[[429]]`, `[429,{}]`}}},
		{"safe_to_retry", []string{`true`, `false`, `null`}, map[string][]string{"boolean": {`"true"`, `1`, `0`, `[]`}}},
		{"max_wait", []string{`0`, `"30"`, `2.5`, `null`, `1e308`}, map[string][]string{
			"number": {`""`, `"x"`, `true`, `[]`, `1e999`}, "min": {`-1`, `"-0.1"`}}},
		{"spread", []string{`0`, `"3"`, `0.5`, `null`}, map[string][]string{"number": {`""`, `"x"`, `true`}, "min": {`-1`}}},
		{"jitter", []string{`"none"`, `"full"`, `"equal"`, `"decorrelated"`, `null`}, map[string][]string{
			"one_of": {`"Full"`, `""`, `true`, `0`, `[]`, `"none "`}}},
		{"provider", []string{`"standard"`, `null`}, map[string][]string{"one_of": {`"nobody"`, `""`, `5`, `[]`, `"Standard"`}}},
		{"clock", []string{`"local"`, `"server"`, `null`}, map[string][]string{"one_of": {`"Local"`, `""`, `true`, `0`}}},
		{"explain", []string{`true`, `false`, `null`}, map[string][]string{"boolean": {`"true"`, `1`, `{}`}}},
		{"deadline", []string{`1768478400`, `"1768478400"`, `1768478400.5`, `-1`, `0`, `null`, `"2026-01-15T12:00:00Z"`,
			`"2026-01-15t12:00:00z"`, `"2026-01-15T12:00:00.123456789+02:00"`, `"2026-01-15T23:59:60Z"`, `"0001-01-01T00:00:00Z"`,
			`"9999-12-31T23:59:59Z"`, `253402300799`}, map[string][]string{
			"time": {`"soon"`, `""`, `true`, `[]`, `"2026-01-15"`, `"2026-01-15T12:00:00"`, `"2026-01-15 12:00:00Z"`,
				`"2026-01-15T12:00:00,5Z"`, `"2026-01-15T12:00Z"`, `"2026-02-29T12:00:00Z"`, `"2026-01-15T24:00:00Z"`,
				`"2026-01-15T12:00:61Z"`, `"2026-01-15T12:00:00+24:00"`, `"2026-01-15T12:00:00+02"`, `"2026-1-15T12:00:00Z"`,
				`"2026-01-15T1:00:00Z"`, `"Thu, 15 Jan 2026 12:00:30 GMT"`, `1768478400000`, `1e300`}}},
		{"max_wiat", nil, map[string][]string{"unknown": {`5`, `null`}}},
		{"Max_wait", nil, map[string][]string{"unknown": {`5`}}},
		{"", nil, map[string][]string{"unknown": {`5`}}},
	}
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			withPolicy := func(value string) string { return item(`"policy":{"` + tt.field + `":` + value + `}`) }
			for _, value := range tt.accepted {
				assert.Empty(t, faultsOf(t, withPolicy(value)), value)
			}
			for rule, values := range tt.refused {
				for _, value := range values {
					assert.Equal(t, []string{"policy." + tt.field + " " + rule}, faultsOf(t, withPolicy(value)), value)
				}
			}
		})
	}
}

func TestPolicyReachesThePlanner(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"no policy", item(), "1"},
		{"retry_statuses replaces the list", item(`"policy":{"retry_statuses":[404]}`), "status_not_retryable"},
		{"retry_statuses as strings", item(`"policy":{"retry_statuses":["429"]}`), "1"},
		{"safe_to_retry true", item(`"method":"POST"`, `"policy":{"safe_to_retry":true}`), "1"},
		{"safe_to_retry false", item(`"method":"GET"`, `"policy":{"safe_to_retry":false}`), "retry_not_safe"},
		{"an idempotency key", item(`"method":"POST"`, `"idempotency_key":"k"`), "1"},
		{"max_wait", item(`"policy":{"max_wait":0.5}`), "retry_max_wait_exceeded"},
		{"max_wait as a string", item(`"policy":{"max_wait":" 0.5"}`), "retry_max_wait_exceeded"},
		{"a deadline that is past", item(`"policy":{"deadline":"2026-01-15T11:59:59Z"}`), "retry_deadline_exceeded"},
		{"a deadline in the wait", item(`"policy":{"deadline":"2026-01-15T12:00:01.25Z"}`), "retry_deadline_exceeded"},
		{"a deadline just after the wait", item(`"policy":{"deadline":"2026-01-15T12:00:01.251Z"}`), "1"},
		{"a deadline in another zone", item(`"policy":{"deadline":"2026-01-15T14:00:01+02:00"}`), "retry_deadline_exceeded"},
		{"an epoch deadline", item(`"policy":{"deadline":1768478401.25}`), "retry_deadline_exceeded"},
		{"an epoch deadline after the wait", item(`"policy":{"deadline":"1768478402"}`), "1"},
		{"leap second 60 is the next second", item(`"policy":{"deadline":"2026-01-15T12:00:60Z"}`), "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, verdict(t, tt.raw)) })
	}
}

func TestDefaultsAreTheContracts(t *testing.T) {
	it := decode(t, item())
	assert.Equal(t, planner.State{Attempts: 1, MaxAttempts: 5, Base: 1, ExpCap: 60, Budget: 120}, it.State)
	assert.Equal(t, planner.Policy{RetryStatuses: planner.NewStatusSet(408, 425, 429, 500, 502, 503, 504),
		MaxWait: math.Inf(1), UntilDeadline: math.Inf(1)}, it.Policy)
	assert.False(t, it.WantsExplanation)
}

// The previous wait of decorrelated jitter is the state's wait_seconds.
func TestDecorrelatedReadsThePreviousWait(t *testing.T) {
	policy := `"policy":{"jitter":"decorrelated"}`
	assert.Equal(t, 7.5, decode(t, item(policy, `"attempts":2`, `"wait_seconds":"7.5"`)).State.LastWait)
	assert.Zero(t, decode(t, item(policy, `"wait_seconds":null`)).State.LastWait)
	assert.Equal(t, []string{"wait_seconds min"}, faultsOf(t, item(policy, `"wait_seconds":-1`)))
	assert.Equal(t, []string{"wait_seconds number"}, faultsOf(t, item(policy, `"wait_seconds":"x"`)))
	assert.Empty(t, faultsOf(t, item(`"wait_seconds":"x"`)), "no other jitter looks at it")
}

// The same request gets the same answer: draws are of task_id and attempts alone.
func TestATaskIDMakesTheAnswerDeterministic(t *testing.T) {
	raw := func(task string, attempts int) string {
		return item(fmt.Sprintf(`"attempts":%d,"task_id":%q,"policy":{"jitter":"full","spread":2}`, attempts, task))
	}
	assert.Equal(t, answer(t, raw("t", 2)), answer(t, raw("t", 2)))
	assert.NotEqual(t, verdict(t, raw("t", 2)), verdict(t, raw("u", 2)))
	moved := item(`"other":1`, `"policy":{"spread":2,"jitter":"full"}`, `"task_id":"t"`, `"attempts":2`)
	assert.Equal(t, verdict(t, raw("t", 2)), verdict(t, moved), "nothing else has a say")
}
