package envelope

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"time"

	"n8n-retry-planner/planner"
)

// autoDialect is for an API whose dialect is not known. It goes by names that
// are common and by what is plausible, and takes the latest of what it finds:
// it may wait too long, never too short. Nothing is its main hint, so what it
// cannot read is left out instead of ending the retries.
var autoDialect = &Dialect{
	Name: "auto", title: "Any API: common headers, by name and plausibility",
	docs:    []string{"https://www.rfc-editor.org/rfc/rfc9110#field.retry-after", "https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/"},
	limited: []int{429, 420}, overloaded: []int{529},
	rules: []rule{
		{at: inBody("error.code", "error.type"), is: []string{"insufficient_quota"}, class: planner.QuotaExhausted},
		{at: inBody("error.errors.#.reason"), is: []string{"dailyLimitExceeded"}, class: planner.QuotaExhausted},
		{at: inHeader("x-ratelimit-remaining"), like: nothingLeft, on: []int{403}, class: planner.RateLimited},
		{at: inHeader("retry-after"), like: anyText, on: []int{403}, class: planner.RateLimited},
		// RFC 9110 §15.5.14: a Retry-After says that the condition is temporary.
		{at: inHeader("retry-after"), like: anyText, on: []int{413}, class: planner.Overloaded},
	},
	hints: []hint{
		{at: inHeader("retry-after"), form: looseWaits},
		{at: inHeader("x-retry-after"), form: looseWaits},
		{at: inHeader("retry-after-ms"), form: milliseconds},
		{at: inHeader("x-ms-retry-after-ms"), form: milliseconds},
		{at: inHeader("x-amz-retry-after"), form: milliseconds},
		{at: inRateLimit("ratelimit"), form: seconds},
		{at: inBody("retry_after", "retryAfter", "retry-after", "retry_after_seconds", "retryAfterSeconds",
			"error.retry_after", "parameters.retry_after"), form: looseWait},
		{at: inBody("retry_after_ms", "retryAfterMs", "error.retry_after_ms"), form: milliseconds},
		{at: retryInfo, form: duration},
	},
	more:       resetHeaders,
	moreLabel:  "every header with limit and reset in its name, unless the one with remaining in its place is above 0",
	moreForm:   looseList,
	bothClocks: true,
}

// nothingLeft is a bucket that is used up, as a rule sees it.
var nothingLeft = regexp.MustCompile(`^(?:-.*|0+(?:\.\d*)?)$`)

var anyText = regexp.MustCompile(`.`)

// resetHeaders makes a hint of every header such as x-ratelimit-reset,
// ratelimit-reset-requests or x-rate-limit-reset-after. The header with what is
// left has the same name with remaining in the place of reset.
func resetHeaders(r *response) []hint {
	var out []hint
	seen := map[string]bool{}
	for _, h := range r.headers {
		if len(h.name) > 64 || isNull(h.value) || !bytes.Contains(bytes.ToLower(h.name), []byte("reset")) {
			continue
		}
		name := strings.ToLower(string(h.name))
		if !strings.Contains(name, "limit") || seen[name] {
			continue
		}
		seen[name] = true
		left := strings.Replace(name, "reset", "remaining", 1)
		for _, end := range []string{"-after", "-time", "time", "-at"} {
			left = strings.TrimSuffix(left, end)
		}
		out = append(out, hint{at: inHeader(name), form: looseList, bucket: left})
	}
	return out
}

// Plausible numbers: below a thousand million they are seconds to wait; up to
// the year 2100 the moments of the Unix clock, in seconds or milliseconds. A
// number that is neither is no wait that anybody meant.
const (
	longestPlausible = 1e9
	lastPlausible    = 4102444800 // 2100-01-01
)

var (
	looseWait  = form{name: "seconds, Unix time, duration or date, whichever is plausible", parse: parseLoose}
	looseWaits = form{name: looseWait.name + ", or a list of them", parse: parseLooseList}
	looseList  = form{name: looseWait.name, list: true, parse: parseLoose}
)

func parseLoose(text string, now time.Time) (float64, bool) {
	text = strings.TrimPrefix(text, "+")
	if n, ok := plainNumber(text); ok {
		switch {
		case n < longestPlausible:
			return n, true
		case n < lastPlausible:
			return untilEpoch(text, now)
		case n >= longestPlausible*1000 && n < lastPlausible*1000:
			return untilEpochMillis(text, now)
		}
		return 0, false
	}
	if s, ok := parseDuration(text, now); ok {
		return s, true
	}
	if s, ok := parseWords(text, now); ok {
		return s, true
	}
	if s, ok := parseISODuration(text, now); ok {
		return s, true
	}
	if t, ok := parseISO(text, time.UTC); ok {
		return untilTime(t, now), true
	}
	if t, ok := parseLooseDate(text, now); ok {
		return math.Max(0, untilTime(t, now)), true
	}
	return 0, false
}

// parseLooseList reads one wait, or the largest of several that a proxy has
// joined with commas (RFC 9110 §5.3). A date has a comma of its own. "1,000"
// may be a list or a thousand: it is not guessed at.
func parseLooseList(text string, now time.Time) (largest float64, ok bool) {
	if s, ok := parseLoose(text, now); ok {
		return s, true
	}
	parts := strings.Split(text, ",")
	for i := 0; i < len(parts); i++ {
		part := trimBlanks(parts[i])
		if len(part) > 1 && part[0] == '0' && digits(part) {
			return 0, false
		}
		s, read := parseLoose(part, now)
		if !read && i+1 < len(parts) {
			if s, read = parseLoose(part+","+parts[i+1], now); read {
				i++
			}
		}
		if read {
			largest, ok = math.Max(largest, s), true
		}
	}
	return largest, ok
}
