package envelope

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/planner"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// decideFor plans one item given as JSON members and a policy.
func decideFor(t testing.TB, members, policy string) (planner.Decision, *Item) {
	var input map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte("{"+members+"}"), &input), members)
	return plan(t, noon, input, policy)
}

func TestUnreadableHints(t *testing.T) {
	rows := []struct {
		name, provider, headers string
		code                    planner.Code
		wait                    float64
	}{
		{"the main hint ends the retries", "github", `{"retry-after":"soon"}`, planner.CodeInvalidRetryAfter, 0},
		{"negative is not a form", "slack", `{"retry-after":"-43"}`, planner.CodeInvalidRetryAfter, 0},
		{"decimals only where they are documented", "slack", `{"retry-after":"2.0"}`, planner.CodeInvalidRetryAfter, 0},
		{"decimals at Shopify", "shopify", `{"retry-after":"2.0"}`, "", 2},
		{"Shopify's date", "shopify", `{"retry-after":"Thu, 15 Jan 2026 12:00:09 GMT"}`, "", 9},
		{"Shopify's junk", "shopify", `{"retry-after":"2.0s"}`, planner.CodeInvalidRetryAfter, 0},
		{"a list only where it is known", "slack", `{"retry-after":"30,120"}`, planner.CodeInvalidRetryAfter, 0},
		{"one bad value of several", "msgraph", `{"retry-after":["30","x"]}`, planner.CodeInvalidRetryAfter, 0},
		{"the only hint of a provider is its main one", "sendgrid", `{"x-ratelimit-remaining":"0","x-ratelimit-reset":"soon"}`, planner.CodeInvalidRetryAfter, 0},
		{"not when its bucket is not used up", "sendgrid", `{"x-ratelimit-remaining":"3","x-ratelimit-reset":"soon"}`, "", localBackoff},
		{"milliseconds are the main hint of Azure", "azure", `{"retry-after-ms":"-1","retry-after":"6"}`, planner.CodeInvalidRetryAfter, 0},
		{"Retry-After is a secondary one there", "azure", `{"retry-after":"-43"}`, "", localBackoff},
		{"a date at Zoom", "zoom", `{"retry-after":"2026-01-15T12:00:30Z"}`, "", 30},
		{"a date at Zoom that is none", "zoom", `{"retry-after":"2026-13-15T12:00:30Z"}`, planner.CodeInvalidRetryAfter, 0},
		{"a malformed RateLimit is ignored", "ietf", `{"ratelimit":"r=0 t=9"}`, "", localBackoff},
		{"auto ignores what it cannot read", "auto", `{"retry-after":"soon"}`, "", localBackoff},
		{"blank is absent", "github", `{"retry-after":" "}`, "", localBackoff},
		{"null is absent", "github", `{"retry-after":null}`, "", localBackoff},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			d, it := decideFor(t, `"statusCode":429,"headers":`+row.headers, `{"provider":"`+row.provider+`"}`)
			defer it.Release()
			assert.Equal(t, row.code, d.Code)
			if row.code == "" {
				assert.InDelta(t, row.wait, d.Wait, 1e-9)
			}
		})
	}
}

func TestExplainNamesTheFieldThatDecided(t *testing.T) {
	_, it := decideFor(t, `"statusCode":429,"headers":{"retry-after":"5","x-ratelimit-remaining":"0","x-ratelimit-reset":"1768478700"}`,
		`{"provider":"github","explain":true}`)
	assert.Equal(t, "header x-ratelimit-reset", it.reading.source)
	assert.Equal(t, []Ignored{{"header retry-after", whyShorter}}, it.reading.ignored)

	d, it := decideFor(t, `"statusCode":429,"headers":{"retry-after":"SECRET"}`, `{"provider":"github","explain":true}`)
	text := string(it.Explanation(&d))
	assert.Contains(t, text, `"hint":{"source":"header retry-after","seconds":null,"readable":false}`)
	assert.NotContains(t, text, "SECRET")

	d, it = decideFor(t, `"statusCode":429,"headers":{"x-daylimit-remaining":"0","x-rate-limit-problem":"day","retry-after":"51243"}`,
		`{"provider":"xero","explain":true}`)
	assert.Equal(t, planner.CodeQuotaExhausted, d.Code)
	assert.Contains(t, string(it.Explanation(&d)), `"hint":{"source":"header retry-after","seconds":51243,"readable":true}`)

	_, it = decideFor(t, `"statusCode":429,"headers":{"ratelimit-remaining":"9","ratelimit-reset":"5","retry-after":"3"}`, `{"provider":"resend"}`)
	assert.Equal(t, []Ignored{{"header ratelimit-reset", whyNotEmpty}}, it.reading.ignored)
}

func TestClock(t *testing.T) {
	// The server's clock is 30 s ahead of this machine's.
	ahead := `"statusCode":429,"headers":{"date":"Thu, 15 Jan 2026 12:00:30 GMT","x-rate-limit-remaining":"0","x-rate-limit-reset":"1768478475"}`
	// It is 30 s behind, and the reply says to wait until what is past here.
	behind := `"statusCode":429,"headers":{"date":"Thu, 15 Jan 2026 11:59:30 GMT","retry-after":"Thu, 15 Jan 2026 11:59:50 GMT"}`
	cached := strings.Replace(behind, `{"date"`, `{"age":"5","date"`, 1)
	rows := []struct {
		name, members, policy string
		floor                 float64
	}{
		{"Okta's manual measures against Date", ahead, `{"provider":"okta"}`, 45},
		{"the caller's word outranks it", ahead, `{"provider":"okta","clock":"local"}`, 75},
		{"others go by the local clock", ahead, `{"provider":"x"}`, 75},
		{"unless told otherwise", ahead, `{"provider":"x","clock":"server"}`, 45},
		{"auto takes the later of both", behind, `{"provider":"auto"}`, 20},
		{"auto by the local clock", behind, `{"provider":"auto","clock":"local"}`, 0},
		{"auto with a clock ahead", ahead, `{"provider":"auto"}`, 75},
		{"standard goes by the local clock", behind, `{}`, 0},
		{"standard by the server's", behind, `{"clock":"server"}`, 20},
		{"the Date of a cached reply is old", cached, `{"provider":"auto"}`, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, it := decideFor(t, row.members, row.policy)
			defer it.Release()
			assert.InDelta(t, row.floor, it.Outcome.Floor, 1e-9)
		})
	}
}

// Contract, section Safety: a provider may vouch for its rate-limit responses.
func TestVouching(t *testing.T) {
	rows := []struct {
		name, members, policy string
		code                  planner.Code
	}{
		{"a POST that a vouching provider refused is repeated", `"method":"POST","statusCode":429`, `{"provider":"openai"}`, ""},
		{"not after a 503", `"method":"POST","statusCode":503`, `{"provider":"openai"}`, planner.CodeRetryNotSafe},
		{"not against the caller's word", `"method":"POST","statusCode":429`, `{"provider":"openai","safe_to_retry":false}`, planner.CodeRetryNotSafe},
		{"not for another provider", `"method":"POST","statusCode":429`, `{"provider":"github"}`, planner.CodeRetryNotSafe},
		{"not for standard", `"method":"POST","statusCode":429`, `{}`, planner.CodeRetryNotSafe},
		{"not for an overload", `"method":"POST","statusCode":529`, `{"provider":"anthropic"}`, planner.CodeRetryNotSafe},
		{"a write behind a gateway that gave up", `"method":"PATCH","statusCode":504`, `{"provider":"msgraph"}`, planner.CodeUnknownOutcome},
		{"a read behind a gateway that gave up", `"method":"GET","statusCode":504`, `{"provider":"msgraph"}`, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			d, it := decideFor(t, row.members, row.policy)
			defer it.Release()
			assert.Equal(t, row.code, d.Code)
		})
	}
}

// The list of statuses is the caller's: a class counts as the status it means.
func TestClassesKeepToRetryStatuses(t *testing.T) {
	throttled := `"statusCode":200,"body":{"errors":[{"extensions":{"code":"THROTTLED"}}]}`
	rows := []struct {
		name, members, policy string
		code                  planner.Code
	}{
		{"throttled inside a 200", throttled, `{"provider":"shopify"}`, ""},
		{"no 429 in the list", throttled, `{"provider":"shopify","retry_statuses":[503]}`, planner.CodeStatusNotRetryable},
		{"an overload is a 503", `"statusCode":529`, `{"provider":"anthropic","retry_statuses":[429]}`, planner.CodeStatusNotRetryable},
		{"529 in the list", `"statusCode":529`, `{"retry_statuses":[529]}`, ""},
		{"a 200 is a success elsewhere", throttled, `{}`, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			d, it := decideFor(t, row.members, row.policy)
			defer it.Release()
			assert.Equal(t, row.code, d.Code)
		})
	}
}

func TestWhatUsersWriteSetsNoWait(t *testing.T) {
	rows := []struct{ name, provider, members string }{
		{"a commit's message inside a 200", "github", `"statusCode":200,"body":{"sha":"1","message":"You have exceeded a secondary rate limit"}`},
		{"a Slack message that says ratelimited", "slack", `"statusCode":200,"body":{"ok":true,"error":"ratelimited"}`},
		{"a status inside a Graph list", "msgraph", `"statusCode":200,"body":{"value":[{"responses":[{"status":429}]}]}`},
		{"a wait inside a 200", "auto", `"statusCode":200,"body":{"retry_after":99}`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			d, it := decideFor(t, row.members, `{"provider":"`+row.provider+`"}`)
			defer it.Release()
			assert.Equal(t, planner.Success, d.Verb)
		})
	}
}

func TestBodyIsReadToItsFirst64KiB(t *testing.T) {
	padding := strings.Repeat("x", maxBody)
	rows := []struct {
		name, body string
		want       float64
	}{
		{"before the end", `{"retry_after":7,"pad":"` + padding + `"}`, 7},
		{"behind the end", `{"pad":"` + padding + `","retry_after":7}`, 0},
		{"a number that the end cuts is not its first digits", `{"pad":"` + padding[:maxBody-27] + `","retry_after":1234567}`, 0},
	}
	for _, row := range rows {
		for _, form := range []string{"object", "text"} {
			t.Run(row.name+" "+form, func(t *testing.T) {
				body := row.body
				if form == "text" {
					body = string(mustJSON(t, body))
				}
				_, it := decideFor(t, `"statusCode":429,"body":`+body, `{"provider":"auto"}`)
				defer it.Release()
				assert.InDelta(t, row.want, it.Outcome.Floor, 1e-9)
			})
		}
	}
}

// A fresh text stands in data; a body beside it is of an earlier call.
func TestDataOutranksAnOlderBody(t *testing.T) {
	_, it := decideFor(t, `"statusCode":429,"data":"{\"retry_after\":4}","body":{"retry_after":90}`, `{"provider":"auto"}`)
	assert.InDelta(t, 4, it.Outcome.Floor, 1e-9)
}

// An error item that carries a response is read like one.
func TestErrorItemWithAResponse(t *testing.T) {
	_, it := decideFor(t, `"error":{"status":403,"response":{"headers":{"x-ratelimit-remaining":"0","x-ratelimit-reset":"1768478460"}}}`,
		`{"provider":"github"}`)
	assert.InDelta(t, 60, it.Outcome.Floor, 1e-9)
	assert.Equal(t, planner.RateLimited, it.Outcome.Class)
}

// Whatever a response holds, no dialect panics, and every floor is one.
func FuzzDialects(f *testing.F) {
	for _, file := range []string{"providers.json", "edge.json", "more.json"} {
		for _, c := range realCases(f, file) {
			f.Add(string(mustJSON(f, c.Input)))
		}
	}
	f.Fuzz(func(t *testing.T, input string) {
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(input), &members) != nil {
			return
		}
		for _, d := range allDialects() {
			item := fmt.Sprintf(`{"max_attempts":3,"base":1,"exp_cap":9,"total_wait_budget":1e9,"policy":{"provider":%q,"explain":true}`, d.Name)
			for _, name := range []string{"statusCode", "headers", "body", "data", "error"} {
				if value, ok := members[name]; ok {
					item += fmt.Sprintf(`,%q:%s`, name, value)
				}
			}
			it, err := Decode([]byte(item+"}"), noon)
			if err != nil {
				continue
			}
			floor := it.Outcome.Floor
			require.False(t, math.IsNaN(floor) || floor < 0, "%s: %v", d.Name, floor)
			decision := planner.Plan(&planner.Input{Outcome: it.Outcome, State: it.State, Request: it.Request, Policy: it.Policy})
			if decision.Verb == planner.Retry {
				require.GreaterOrEqual(t, decision.Wait, floor, d.Name)
			}
			require.True(t, json.Valid(it.Explanation(&decision)), d.Name)
			it.Release()
		}
	})
}

// A hint may be the rounding of a more exact one, never the other way round:
// the wait is never shorter than what the provider announced.
func TestOfSeveralExactHintsTheLatestCounts(t *testing.T) {
	const local = 0
	rows := []struct {
		name, provider, reply string
		floor                 float64
	}{
		{"Discord's body is later than its header", "discord", `"headers":{"retry-after":"65","x-ratelimit-remaining":"0","x-ratelimit-reset-after":"64.2"},"body":{"retry_after":64.57}`, 64.57},
		{"Azure's two spellings", "azure", `"headers":{"retry-after-ms":"200","x-ms-retry-after-ms":"900","retry-after":"1"}`, 0.9},
		{"a list of milliseconds", "openai", `"headers":{"retry-after-ms":"200, 900","retry-after":"1"}`, 0.9},
		{"a later whole second that is no rounding", "openai", `"headers":{"retry-after-ms":"200","retry-after":"2"}`, 2},
		{"an exact hint that is over", "openai", `"headers":{"retry-after-ms":"0","retry-after":"1"}`, 1},
		{"Discord's old milliseconds", "discord", `"headers":{"x-ratelimit-remaining":"0","x-ratelimit-reset-after":"1.337"},"body":{"retry_after":1337}`, 1.337},
		{"they stay a wait when the bucket that tells the unit does not count", "discord", `"headers":{"x-ratelimit-remaining":"1","x-ratelimit-reset-after":"1.337"},"body":{"retry_after":1337}`, 1337},
		{"Discord's global limit has no bucket", "discord", `"headers":{"x-ratelimit-global":"true","x-ratelimit-remaining":"0","x-ratelimit-reset-after":"1.0"},"body":{"retry_after":1000}`, 1000},
		{"Discord's global limit in the body", "discord", `"headers":{"x-ratelimit-remaining":"0","x-ratelimit-reset-after":"1.0"},"body":{"retry_after":1000,"global":true}`, 1000},
		{"nothing announced", "discord", `"body":{"global":true}`, local},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, it := decideFor(t, `"statusCode":429,`+row.reply, `{"provider":"`+row.provider+`"}`)
			defer it.Release()
			assert.InDelta(t, row.floor, it.Outcome.Floor, 1e-9)
		})
	}
}

// Node joins a header that is sent several times with ", ": of the values the
// latest counts, whatever their form.
func TestJoinedHeadersAreAList(t *testing.T) {
	rows := []struct {
		name, provider, headers string
		floor                   float64
	}{
		{"durations", "openai", `"x-ratelimit-remaining-requests":"0","x-ratelimit-reset-requests":"1s, 6m0s"`, 360},
		{"durations by their bucket", "groq", `"x-ratelimit-remaining-tokens":"0, 9","x-ratelimit-reset-tokens":"1s, 6m0s"`, 1},
		{"times", "anthropic", `"anthropic-ratelimit-tokens-remaining":"0","anthropic-ratelimit-tokens-reset":"2026-01-15T12:00:09Z, 2026-01-15T12:01:00Z"`, 60},
		{"a time with a comma of its own", "akamai", `"x-ratelimit-remaining":"0","x-ratelimit-next":"2026-01-15T14:00:09,5+02:00"`, 9.5},
		{"Azure's Retry-After", "azure", `"retry-after":"30, 90"`, 90},
		{"Azure's Retry-After below zero", "azure", `"retry-after":"-43"`, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, it := decideFor(t, `"statusCode":429,"headers":{`+row.headers+`}`, `{"provider":"`+row.provider+`"}`)
			defer it.Release()
			assert.False(t, it.Outcome.BadRetryAfter)
			assert.InDelta(t, row.floor, it.Outcome.Floor, 1e-9)
		})
	}
}

// The work on a response grows with its length, not with the square of it: the
// largest item is read in a moment.
func TestManyHeadersAreReadInAMoment(t *testing.T) {
	const many = 20000
	list := func(value string) string { return `"` + strings.Repeat(value+",", many) + value + `"` }
	each := func(name string, value string) string {
		var out []string
		for i := range many {
			out = append(out, fmt.Sprintf(`"`+name+`":%s`, i, value))
		}
		return strings.Join(out, ",")
	}
	rows := []struct {
		name, provider, headers string
		floor                   float64
	}{
		{"many resets", "auto", each("x-limit-reset-%d", `"5"`), 5},
		{"many endpoints", "zendesk", each("zendesk-ratelimit-%d", `"remaining=0; resets=5"`), 5},
		{"parallel lists", "auto", `"x-limit-reset":` + list("5") + `,"x-limit-remaining":` + list("0"), 5},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			start := time.Now()
			_, it := decideFor(t, `"statusCode":429,"headers":{`+row.headers+`}`, `{"provider":"`+row.provider+`"}`)
			defer it.Release()
			assert.InDelta(t, row.floor, it.Outcome.Floor, 1e-9)
			assert.Less(t, time.Since(start), 5*time.Second)
		})
	}
}

// x-should-retry overrules the status and the kind of error beside it, as in
// the official libraries; a quota that is used up stays one.
func TestShouldRetryOverrulesTheError(t *testing.T) {
	rows := []struct {
		name, members string
		code          planner.Code
	}{
		{"a limit", `"statusCode":429,"headers":{"x-should-retry":"false"},"body":{"error":{"type":"rate_limit_error"}}`, planner.CodeStatusNotRetryable},
		{"an overload", `"statusCode":529,"headers":{"x-should-retry":"false"},"body":{"error":{"type":"overloaded_error"}}`, planner.CodeStatusNotRetryable},
		{"a quota", `"statusCode":429,"headers":{"x-should-retry":"false"},"body":{"error":{"type":"billing_error"}}`, planner.CodeQuotaExhausted},
		{"a limit that may be retried", `"statusCode":429,"headers":{"x-should-retry":"true"},"body":{"error":{"type":"rate_limit_error"}}`, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			d, it := decideFor(t, row.members, `{"provider":"anthropic"}`)
			defer it.Release()
			assert.Equal(t, row.code, d.Code)
		})
	}
}

// auto never waits less than any hint that it can read by itself.
func TestAutoIsNeverShorterThanAHint(t *testing.T) {
	hints := []struct {
		header string
		floor  float64
	}{
		{`"retry-after":"7"`, 7}, {`"retry-after-ms":"9500"`, 9.5}, {`"x-ms-retry-after-ms":"3000"`, 3},
		{`"x-ratelimit-reset":"1768478431"`, 31}, {`"ratelimit-reset":"12"`, 12}, {`"ratelimit":"\"a\";r=0;t=40"`, 40},
		{`"x-ratelimit-reset-after":"2.25"`, 2.25}, {`"x-rate-limit-reset":"2026-01-15T12:01Z"`, 60}, {`"x-retry-after":"20s"`, 20},
	}
	for set := range 1 << len(hints) {
		var headers []string
		longest := 0.0
		for i, h := range hints {
			if set&(1<<i) != 0 {
				headers, longest = append(headers, h.header), max(longest, h.floor)
			}
		}
		_, it := decideFor(t, `"statusCode":429,"headers":{`+strings.Join(headers, ",")+`}`, `{"provider":"auto"}`)
		require.InDelta(t, longest, it.Outcome.Floor, 1e-9, "%v", headers)
		it.Release()
	}
}

func mustJSON(t testing.TB, v any) []byte {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}
