package envelope

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every form in the contract's list, and what else was seen in the wild.
func TestParseRetryAfter(t *testing.T) {
	endless := math.Inf(1)
	valid := []struct {
		name, value string
		want        float64
	}{
		{"seconds", "120", 120},
		{"zero is no wait", "0", 0},
		{"leading zeros are decimal", "007", 7},
		{"blanks around", " \t42 ", 42},
		{"a hundred leading zeros", strings.Repeat("0", 100) + "5", 5},
		{"the largest exact float", "9007199254740992", 1 << 53},
		{"one more is endless, not rounded down", "9007199254740993", endless},
		{"2^64 does not wrap round", "18446744073709551616", endless},
		{"2^64+5 does not wrap round to 5", "18446744073709551621", endless},
		{"400 digits", strings.Repeat("9", 400), endless},
		{"IMF-fixdate, rounded up", "Thu, 15 Jan 2026 12:00:30 GMT", 30},
		{"the next second is one second away", "Thu, 15 Jan 2026 12:00:01 GMT", 1},
		{"this second is past", "Thu, 15 Jan 2026 12:00:00 GMT", 0},
		{"a date long past", "Sun, 06 Nov 1994 08:49:37 GMT", 0},
		{"RFC 850", "Thursday, 15-Jan-26 12:01:00 GMT", 60},
		{"asctime", "Thu Jan 15 12:00:10 2026", 10},
		{"blanks around a date", "  Thu, 15 Jan 2026 12:00:30 GMT\t", 30},
		{"the end of the year 9999", "Fri, 31 Dec 9999 23:59:59 GMT", 251633822399},
	}
	for _, tt := range valid {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := ParseRetryAfter(tt.value, testNow)
			assert.True(t, ok)
			assert.Equal(t, tt.want, got)
		})
	}
	invalid := []string{
		"-5", "+5", "-0", "1.5", "0.129", ".5", "5.", "10s", "10 s", "1e3", "10, 20", "10,20", "10;", "1 0", "0x10", "abc",
		"null", "undefined", "NaN", "Infinity", "2026-01-15T12:00:10Z", "2026-01-15 12:00:10", "12:00:10", "PT10S",
		"Thu, 15 Jan 2026 12:00:30 UTC", "Thu, 15 Jan 2026 12:00:30 +0000", "Thu, 15 Jan 2026 12:00:30 EST",
		"Thu, 15 Jan 2026 12:00:30", "\n5", "5\n", "5\r\n", "\u00a05", "５", "٥", "5\x00", "", " ",
	}
	for _, value := range invalid {
		t.Run("invalid "+value, func(t *testing.T) {
			_, ok := ParseRetryAfter(value, testNow)
			assert.False(t, ok)
		})
	}
}

func TestRetryAfterOnAWholeSecond(t *testing.T) {
	got, ok := ParseRetryAfter("Thu, 15 Jan 2026 12:00:30 GMT", testNow.Truncate(1e9))
	assert.True(t, ok)
	assert.Equal(t, 30.0, got, "rounding up adds nothing to a whole number")
}

// What the JSON value of the header makes of the whole item: the wait, or the
// error code.
func TestRetryAfterHeader(t *testing.T) {
	const bad = "invalid_retry_after"
	tests := []struct{ name, headers, want string }{
		{"absent", `{}`, "1"},
		{"null", `{"retry-after":null}`, "1"},
		{"empty", `{"retry-after":""}`, "1"},
		{"blank", `{"retry-after":" \t "}`, "1"},
		{"a string", `{"retry-after":"7"}`, "7"},
		{"a number", `{"retry-after":7}`, "7"},
		{"a number with a point is no 1*DIGIT", `{"retry-after":7.0}`, bad},
		{"a number with an exponent", `{"retry-after":1e1}`, bad},
		{"a negative number", `{"retry-after":-7}`, bad},
		{"an escaped digit", `{"retry-after":"\u0037"}`, "7"},
		{"the name in other case", `{"Retry-After":"7"}`, "7"},
		{"the name with escapes", `{"retry\u002dafter":"7"}`, "7"},
		{"another name is not looked at", `{"x-retry-after":"7","retry_after":"9"}`, "1"},
		{"an empty array", `{"retry-after":[]}`, "1"},
		{"an array of nulls", `{"retry-after":[null,null]}`, "1"},
		{"an array of blanks", `{"retry-after":[""," "]}`, "1"},
		{"an array of one", `{"retry-after":["7"]}`, "7"},
		{"the largest of several", `{"retry-after":["3","9","7"]}`, "9"},
		{"null elements are absent", `{"retry-after":[null,"7",null]}`, "7"},
		{"a date and seconds", `{"retry-after":["3","Thu, 15 Jan 2026 12:00:30 GMT"]}`, "30"},
		{"one invalid makes all invalid", `{"retry-after":["7","soon"]}`, bad},
		{"an invalid one first", `{"retry-after":["-1","7"]}`, bad},
		{"two spellings count like an array", `{"retry-after":"3","Retry-After":"9"}`, "9"},
		{"two spellings, one invalid", `{"retry-after":"3","Retry-After":"x"}`, bad},
		{"two spellings, one null", `{"retry-after":null,"Retry-After":"9"}`, "9"},
		{"an array beside a string", `{"retry-after":["3"],"RETRY-AFTER":"9"}`, "9"},
		{"never split at a comma", `{"retry-after":"10, 20"}`, bad},
		{"the comma of a date is its own", `{"retry-after":"Thu, 15 Jan 2026 12:00:30 GMT"}`, "30"},
		{"a date that is past is no floor", `{"retry-after":"Thu, 15 Jan 2026 11:00:00 GMT"}`, "1"},
		{"over the budget", `{"retry-after":"121"}`, "retry_wait_budget_exceeded"},
		{"too large for the machine is a defer", `{"retry-after":"` + strings.Repeat("9", 400) + `"}`, "retry_wait_budget_exceeded"},
		{"too large beside an invalid one", `{"retry-after":["` + strings.Repeat("9", 400) + `","x"]}`, bad},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, verdict(t, item(`"headers":`+tt.headers)))
		})
	}
	t.Run("a success does not look at it", func(t *testing.T) {
		assert.Equal(t, "success", verdict(t, `{"statusCode":200,`+state+`,"headers":{"retry-after":"soon"}}`))
	})
}
