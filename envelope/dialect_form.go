package envelope

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// form is how a text tells a wait, unit included.
type form struct {
	name string // for the list of providers
	list bool   // a comma divides several

	// parse gives the seconds from now, never negative or NaN, +Inf for what is
	// too large for the machine. ok is false for a text of another form.
	parse func(text string, now time.Time) (seconds float64, ok bool)
}

var (
	rfc9110      = form{name: "seconds or HTTP-date", parse: ParseRetryAfter}
	seconds      = form{name: "seconds", list: true, parse: inUnits(1, 1)}
	milliseconds = form{name: "milliseconds", list: true, parse: inUnits(1, 1000)}
	minutes      = form{name: "minutes", list: true, parse: inUnits(60, 1)}
	epoch        = form{name: "Unix seconds", list: true, parse: untilEpoch}
	epochMillis  = form{name: "Unix milliseconds", list: true, parse: untilEpochMillis}
	isoTime      = form{name: "ISO 8601 time", list: true, parse: inZone(time.UTC)}
	httpDate     = form{name: "HTTP-date", parse: untilHTTPDate}
	duration     = form{name: "duration (6m0s, 20ms)", list: true, parse: parseDuration}
	inWords      = form{name: "a number and its unit in words", parse: parseWords}
)

// divide divides texts at their commas, where the form has lists and a text as
// it stands is none of its own (a time may have a comma before its fraction).
func (f form) divide(texts []string, now time.Time) []string {
	if !f.list {
		return texts
	}
	for _, text := range texts {
		if _, ok := f.parse(text, now); !ok {
			return splitList(texts)
		}
	}
	return texts
}

// decimalSeconds is a Retry-After with decimals, or an HTTP-date.
var decimalSeconds = form{name: "seconds with decimals, or HTTP-date", parse: anyOf(rfc9110, seconds)}

// anyOf takes the first form that reads a text.
func anyOf(forms ...form) func(string, time.Time) (float64, bool) {
	return func(text string, now time.Time) (float64, bool) {
		for _, f := range forms {
			if s, ok := f.parse(text, now); ok {
				return s, true
			}
		}
		return 0, false
	}
}

// plainNumber reads digits with or without a fraction: no sign, no exponent.
func plainNumber(text string) (float64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if whole+fraction == "" || !digits(whole) || !digits(fraction) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is +Inf
	if f > maxExactSeconds {
		return math.Inf(1), true
	}
	return f, true
}

func inUnits(times, per float64) func(string, time.Time) (float64, bool) {
	return func(text string, _ time.Time) (float64, bool) {
		f, ok := plainNumber(text)
		return f * times / per, ok
	}
}

// untilEpoch keeps the whole part and the fraction apart: together they are
// too long for a float to hold microseconds.
func untilEpoch(text string, now time.Time) (float64, bool) {
	if _, ok := plainNumber(text); !ok {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(text, ".")
	at, _ := plainNumber("0" + whole)
	part, _ := plainNumber("0." + fraction)
	return fromNow(at-float64(now.Unix()), part-float64(now.Nanosecond())/1e9), true
}

func untilEpochMillis(text string, now time.Time) (float64, bool) {
	ms, ok := plainNumber(text)
	if !ok {
		return 0, false
	}
	if math.IsInf(ms, 1) {
		return ms, true
	}
	whole := math.Floor(ms / 1000)
	return fromNow(whole-float64(now.Unix()), (ms-whole*1000)/1000-float64(now.Nanosecond())/1e9), true
}

func untilHTTPDate(text string, now time.Time) (float64, bool) {
	t, ok := ParseHTTPDate(text, now)
	return untilTime(t, now), ok
}

func untilTime(t, now time.Time) float64 {
	return fromNow(float64(t.Unix()-now.Unix()), float64(t.Nanosecond()-now.Nanosecond())/1e9)
}

// fromNow adds whole seconds and a fraction, rounded up to a millisecond; 0
// when that is past.
func fromNow(whole, fraction float64) float64 {
	ms := fraction * 1000
	if near := math.Round(ms); math.Abs(ms-near) < 1e-7 { // float noise: clocks have whole nanoseconds
		ms = near
	}
	return math.Max(0, (whole*1000+math.Ceil(ms))/1000)
}

// units of a duration, in seconds, as a factor and a divisor that are exact.
var durationUnits = map[string][2]float64{
	"d": {86400, 1}, "h": {3600, 1}, "m": {60, 1}, "s": {1, 1},
	"ms": {1, 1e3}, "us": {1, 1e6}, "µs": {1, 1e6}, "ns": {1, 1e9},
}

// parseDuration reads numbers with units ("6m0s", "1h2m3.5s", "20ms"). A number
// alone is seconds.
func parseDuration(text string, _ time.Time) (float64, bool) {
	if s, ok := plainNumber(text); ok {
		return s, true
	}
	total, parts := 0.0, 0
	for rest := text; rest != ""; parts++ {
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		value, ok := plainNumber(rest[:n])
		rest = rest[n:]
		m := strings.IndexAny(rest, "0123456789.")
		if m < 0 {
			m = len(rest)
		}
		unit, known := durationUnits[rest[:m]]
		if !ok || !known {
			return 0, false
		}
		total += value * unit[0] / unit[1]
		rest = rest[m:]
	}
	if parts > 1 {
		whole := math.Floor(total)
		return fromNow(whole, total-whole), true
	}
	return total, parts > 0
}

var isoDuration = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)

// parseISODuration reads a duration of ISO 8601 in days and less ("PT1M30S").
func parseISODuration(text string, now time.Time) (float64, bool) {
	m := isoDuration.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	units := ""
	for i, unit := range []string{"d", "h", "m", "s"} {
		if m[i+1] != "" {
			units += m[i+1] + unit
		}
	}
	return parseDuration(units, now)
}

var wordUnits = regexp.MustCompile(`(?i)^(\d+(?:\.\d+)?) ?(?:(milliseconds?|msecs?)|(seconds?|secs?)|(minutes?|mins?)|(hours?|hrs?))$`)

// parseWords reads "60 seconds" or "5 minutes".
func parseWords(text string, _ time.Time) (float64, bool) {
	m := wordUnits.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, ok := plainNumber(m[1])
	switch {
	case m[2] != "":
		n /= 1000
	case m[4] != "":
		n *= 60
	case m[5] != "":
		n *= 3600
	}
	return n, ok
}

// always is a wait of so many seconds.
func always(seconds float64) *manualWait {
	return &manualWait{strconv.FormatFloat(seconds, 'f', -1, 64) + " s", func(time.Time) float64 { return seconds }}
}

// untilMidnightUTC is the wait for a limit that is counted by UTC days.
var untilMidnightUTC = &manualWait{"to midnight UTC", func(now time.Time) float64 {
	now = now.UTC()
	return untilTime(time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC), now)
}}
