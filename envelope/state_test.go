package envelope

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The attempt state and the request: what each field takes, and the fault that
// names it.
func TestFieldsAgainstTheirRules(t *testing.T) {
	full := map[string]string{"statusCode": "429", "max_attempts": "5", "base": "1", "exp_cap": "60", "total_wait_budget": "120"}
	with := func(field, value string) string {
		members := []string{`"` + field + `":` + value}
		for name, v := range full {
			if name != field {
				members = append(members, `"`+name+`":`+v)
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	const ok = ""
	notNumbers := []string{`""`, `"abc"`, `"0x10"`, `true`, `[]`, `{}`, `"NaN"`, `"Infinity"`, `1e999`}
	tests := []struct {
		field    string
		accepted []string
		refused  map[string][]string // by rule
	}{
		{"statusCode", []string{`100`, `"503"`, `" 429 "`, `429.0`, `599`},
			map[string][]string{"status": append(notNumbers, `99`, `600`, `429.5`, `-429`, `0`), "required": {`null`}}},
		{"attempts", []string{`1`, `"3"`, `" 3 "`, `4.0`, `null`, `9223372036854775807`},
			map[string][]string{"integer": append(notNumbers, `1.5`, `"2.5"`), "min": {`0`, `-1`, `"0"`, `-0`}}},
		{"max_attempts", []string{`1`, `"3"`, `1e300`, `9223372036854775808`},
			map[string][]string{"integer": append(notNumbers, `1.5`), "min": {`0`, `-1`}, "required": {`null`}}},
		{"base", []string{`1`, `"0.5"`, `5e-324`, `1e308`},
			map[string][]string{"number": notNumbers, "greater_than": {`0`, `-1`, `"-0.0"`, `1e-400`}, "required": {`null`}}},
		{"exp_cap", []string{`1`, `"0.5"`, `1e308`},
			map[string][]string{"number": notNumbers, "greater_than": {`0`, `-1`}, "required": {`null`}}},
		{"total_wait_budget", []string{`0`, `-0`, `"120"`, `1e308`},
			map[string][]string{"number": notNumbers, "min": {`-1`, `"-0.001"`}, "required": {`null`}}},
		{"elapsed_wait", []string{`0`, `"3.5"`, `null`, `1e308`},
			map[string][]string{"number": notNumbers, "min": {`-1`}}},
		{"method", []string{`"GET"`, `"brew"`, `null`},
			map[string][]string{"string": {`""`, `5`, `true`, `[]`, `{}`}}},
		{"idempotency_key", []string{`"k"`, `null`},
			map[string][]string{"string": {`""`, `5`, `true`, `[]`}}},
		{"task_id", []string{`"t"`, `null`},
			map[string][]string{"string": {`""`, `5`, `false`}}},
		{"headers", []string{`{}`, `null`, `{"a":"b","c":5,"d":["e",null],"f":null,"g":[]}`},
			map[string][]string{"object": {`[]`, `"x"`, `5`, `true`}}},
		{"body", []string{`null`, `"x"`, `5`, `[]`, `{}`, `false`}, nil},
		{"data", []string{`null`, `"x"`, `5`, `[]`, `{}`}, nil},
		{"statusMessage", []string{`null`, `"x"`, `5`, `[]`}, nil},
		{"policy", []string{`null`, `{}`},
			map[string][]string{"object": {`[]`, `"x"`, `5`, `false`}}},
		{"error", []string{`null`, `"boom"`, `""`, `{}`},
			map[string][]string{"object": {`5`, `true`, `false`, `[]`}}},
	}
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			for _, value := range tt.accepted {
				assert.Empty(t, faultsOf(t, with(tt.field, value)), value)
			}
			for rule, values := range tt.refused {
				for _, value := range values {
					assert.Equal(t, []string{tt.field + " " + rule}, faultsOf(t, with(tt.field, value)), value)
				}
			}
		})
	}
	assert.Equal(t, ok, strings.Join(faultsOf(t, item()), ""))
}

func TestHeaderValuesAreChecked(t *testing.T) {
	for _, value := range []string{`true`, `{}`, `{"a":1}`, `[true]`, `[{}]`, `[["x"]]`, `[5]`} {
		assert.Equal(t, []string{"headers.X-Odd header_value"}, faultsOf(t, item(`"headers":{"a":"b","X-Odd":`+value+`}`)), value)
	}
}

// A body may hold millions of headers; nobody reads them all.
func TestMoreHeadersThanAnybodySends(t *testing.T) {
	values := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`"7",`, n), ",") + "]" }
	statuses := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("429,", n), ",") + "]" }
	tests := []struct {
		name, raw string
		want      []string
	}{
		{"100000 headers", item(`"headers":` + objectOf(100_000, "h%d")), nil},
		{"100001 headers", item(`"headers":` + objectOf(100_001, "h%d")), []string{"headers max"}},
		{"200000 headers", item(`"headers":` + objectOf(200_000, "h%d")), []string{"headers max"}},
		{"100000 values", item(`"headers":{"retry-after":` + values(100_000) + `}`), nil},
		{"100001 values", item(`"headers":{"retry-after":` + values(100_001) + `}`), []string{"headers.retry-after header_value"}},
		{"500 statuses", item(`"policy":{"retry_statuses":` + statuses(500) + `}`), nil},
		{"501 statuses", item(`"policy":{"retry_statuses":` + statuses(501) + `}`), []string{"policy.retry_statuses status"}},
		{"200000 policy fields", item(`"policy":` + objectOf(200_000, "p%d")), faultsOf(t, item(`"policy":`+objectOf(maxFaults, "p%d")))},
		{"an error's headers are not checked", failedItem(`{"status":429,"headers":` + objectOf(200_000, "h%d") + `}`), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == nil {
				verdict(t, tt.raw)
				return
			}
			assert.Equal(t, tt.want, faultsOf(t, tt.raw))
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	got := faultsOf(t, `{"statusCode":"x","headers":{"h":true},"attempts":0,"base":-1,"exp_cap":"","elapsed_wait":-1,
		"method":5,"idempotency_key":"","task_id":1,
		"policy":{"max_wait":-1,"jitter":"some","max_wiat":5,"retry_statuses":[1],"spread":"x","deadline":"soon","clock":"utc",
			"provider":"nobody","safe_to_retry":1,"explain":"yes"}}`)
	assert.ElementsMatch(t, []string{
		"statusCode status", "headers.h header_value", "attempts min", "max_attempts required", "base greater_than",
		"exp_cap number", "total_wait_budget required", "elapsed_wait min", "method string", "idempotency_key string",
		"task_id string", "policy.max_wait min", "policy.jitter one_of", "policy.max_wiat unknown",
		"policy.retry_statuses status", "policy.spread number", "policy.deadline time", "policy.clock one_of",
		"policy.provider one_of", "policy.safe_to_retry boolean", "policy.explain boolean",
	}, got)
	assert.ElementsMatch(t, []string{"statusCode required", "max_attempts required", "base required", "exp_cap required",
		"total_wait_budget required"}, faultsOf(t, `{}`), "nothing required is filled in")
}

// An error is the outcome whatever else the item carries: an earlier response
// beside it is not even checked.
func TestAnErrorMakesTheResponseUnimportant(t *testing.T) {
	assert.Empty(t, faultsOf(t, failedItem(`{"code":"ECONNREFUSED"}`, `"statusCode":"x"`, `"headers":[]`)))
	assert.Equal(t, "1", verdict(t, failedItem(`{"code":"ECONNREFUSED"}`, `"statusCode":200`)))
	assert.Equal(t, "success", verdict(t, `{"statusCode":200,"error":null,`+state+`}`), "null is no error")
}

func TestWhatCouldBeReadOfAnInvalidItem(t *testing.T) {
	tests := []struct {
		name, raw string
		attempts  int64
		status    int
	}{
		{"nothing", `{}`, 1, 0},
		{"both", `{"statusCode":"503","attempts":"4"}`, 4, 503},
		{"attempts against its rule", `{"statusCode":503,"attempts":-4}`, 1, 503},
		{"a status against its rule", `{"statusCode":1000,"attempts":4}`, 4, 0},
		{"the status of an error", `{"error":{"status":429}}`, 1, 429},
		{"an error without a status beside an earlier response", `{"error":{},"statusCode":503}`, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.raw), testNow)
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid)
			assert.Equal(t, tt.attempts, invalid.Attempts)
			assert.Equal(t, tt.status, invalid.LastStatus)
		})
	}
}

// Numbers may come as strings, as n8n's expressions often give them.
func TestNumericStringsPlanLikeNumbers(t *testing.T) {
	numbers := answer(t, `{"statusCode":429,"attempts":3,"max_attempts":5,"base":0.5,"exp_cap":60,"total_wait_budget":120,"elapsed_wait":3}`)
	strs := answer(t, `{"statusCode":"429","attempts":"3","max_attempts":" 5","base":"0.5","exp_cap":"60 ","total_wait_budget":"120.0","elapsed_wait":"3e0"}`)
	assert.Equal(t, `{"statusCode":429,"attempts":4,"max_attempts":5,"base":0.5,"exp_cap":60,"total_wait_budget":120,"elapsed_wait":5,`+
		`"error_code":null,"last_status":429,"decision":"retry","next_request":true,"wait_seconds":2}`, numbers)
	assert.Equal(t, `{"statusCode":"429","attempts":4,"max_attempts":" 5","base":"0.5","exp_cap":"60 ","total_wait_budget":"120.0","elapsed_wait":5,`+
		`"error_code":null,"last_status":429,"decision":"retry","next_request":true,"wait_seconds":2}`, strs,
		"only the set fields change their form")
}
