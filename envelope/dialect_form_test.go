package envelope

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Every form, at noon UTC plus a quarter of a second where fractions matter.
func TestForms(t *testing.T) {
	quarter := noon.Add(250 * time.Millisecond)
	inf := math.Inf(1)
	rows := []struct {
		name string
		form form
		text string
		now  time.Time
		want float64 // negative: not of this form
	}{
		{"seconds", seconds, "2", noon, 2},
		{"seconds with a fraction", seconds, "15.314237833", noon, 15.314237833},
		{"a point first", seconds, ".5", noon, .5},
		{"negative seconds", seconds, "-1", noon, -1},
		{"a plus sign", seconds, "+1", noon, -1},
		{"an exponent", seconds, "1e3", noon, -1},
		{"hexadecimal", seconds, "0x10", noon, -1},
		{"a point alone", seconds, ".", noon, -1},
		{"nothing", seconds, "", noon, -1},
		{"NaN", seconds, "NaN", noon, -1},
		{"Infinity", seconds, "Infinity", noon, -1},
		{"more than the machine holds is endless", seconds, "99999999999999999999", noon, inf},
		{"milliseconds", milliseconds, "1250", noon, 1.25},
		{"minutes", minutes, "19", noon, 1140},
		{"an epoch", epoch, "1768478460", noon, 60},
		{"an epoch with a fraction", epoch, "1768478430.25", noon, 30.25},
		{"an epoch against a fraction of a second", epoch, "1768478460", quarter, 59.75},
		{"an epoch with microseconds is rounded up", epoch, "1768478400.1234567", noon, .124},
		{"an epoch in the past", epoch, "1768478340", noon, 0},
		{"an epoch is not a delta", epoch, "60", noon, 0},
		{"an epoch of milliseconds is not guessed at", epoch, "1768478460000", noon, 1768478460000 - 1768478400},
		{"an endless epoch", epoch, "99999999999999999999", noon, inf},
		{"epoch milliseconds", epochMillis, "1768478460500", noon, 60.5},
		{"endless epoch milliseconds", epochMillis, "99999999999999999999", noon, inf},
		{"a Go duration", duration, "6m0s", noon, 360},
		{"milliseconds in a duration", duration, "20ms", noon, .02},
		{"all its units", duration, "1d2h3m4.5s", noon, 93784.5},
		{"a sum that floats do not hold", duration, "7m12.345s", noon, 432.345},
		{"a duration without a unit is seconds", duration, "45", noon, 45},
		{"two numbers in a row", duration, "1m0", noon, -1},
		{"an unknown unit", duration, "3w", noon, -1},
		{"a unit alone", duration, "s", noon, -1},
		{"an endless duration", duration, "99999999999999999999h", noon, inf},
		{"ISO 8601", isoTime, "2026-01-15T12:05:00Z", noon, 300},
		{"ISO 8601 without seconds", isoTime, "2026-01-15T12:01Z", noon, 60},
		{"seven digits of a second", isoTime, "2026-01-15T12:03:49.9856571Z", noon, 229.986},
		{"twenty digits of a second", isoTime, "2026-01-15T12:00:00.00000000000000000001Z", noon, .001},
		{"an offset", isoTime, "2026-01-15T13:05:00+01:00", noon, 300},
		{"an offset without a colon", isoTime, "2026-01-15T13:05:00+0100", noon, 300},
		{"an offset west", isoTime, "2026-01-15T07:05:00-05", noon, 300},
		{"no zone is UTC", isoTime, "2026-01-15T12:05:00", noon, 300},
		{"the leap second", isoTime, "2026-01-15T11:59:60Z", noon, 0},
		{"no such day", isoTime, "2026-02-30T12:00:00Z", noon, -1},
		{"no such hour", isoTime, "2026-01-15T24:00:01Z", noon, -1},
		{"a date alone", isoTime, "2026-01-16", noon, -1},
		{"the provider's own zone", beijingTime, "2026-01-15 20:00:10", noon, 10},
		{"HTTP-date", httpDate, "Thu, 15 Jan 2026 12:00:45 GMT", noon, 45},
		{"words", inWords, "200 milliseconds", noon, .2},
		{"hours in words", inWords, "2 hours", noon, 7200},
		{"other words", inWords, "2 moons", noon, -1},
		{"a date without a weekday", looseWait, "15 Jan 2026 12:00:30 UTC", noon, 30},
		{"no such month", looseWait, "15 Foo 2026 12:00:30 UTC", noon, -1},
		{"a duration of ISO 8601", looseWait, "PT1M30S", noon, 90},
		{"an empty one", looseWait, "PT", noon, -1},
		{"a date as JavaScript prints it", looseWait, "Thu Jan 15 2026 13:00:30 GMT+0100 (Central European Standard Time)", noon, 30},
		{"asctime with a zone", looseWait, "Thu Jan 15 12:00:30 2026 GMT", noon, 30},
		{"a list with a member that may be a thousand", looseWaits, "1,000", noon, -1},
		{"a list with a date", looseWaits, "30, Thu, 15 Jan 2026 12:02:00 GMT", noon, 120},
		{"a list of junk", looseWaits, "soon, later", noon, -1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, ok := row.form.parse(row.text, row.now)
			if row.want < 0 {
				assert.False(t, ok, "read as %v", got)
				return
			}
			assert.True(t, ok)
			if math.IsInf(row.want, 1) {
				assert.True(t, math.IsInf(got, 1), "%v", got)
				return
			}
			assert.InDelta(t, row.want, got, 1e-9)
			assert.GreaterOrEqual(t, got, row.want, "never shorter")
		})
	}
}

func FuzzForms(f *testing.F) {
	for _, s := range []string{"2", "1.5", "6m0s", "1768478460.5", "2026-01-15T12:01Z", "30, 120", "2 minutes", "Thu, 15 Jan 2026 12:02:00 EST", "1e999", "+-.", ",,,"} {
		f.Add(s)
	}
	forms := []form{rfc9110, seconds, milliseconds, minutes, epoch, epochMillis, isoTime, httpDate, duration,
		inWords, decimalSeconds, timeOrSeconds, beijingTime, looseWait, looseWaits}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range forms {
			if s, ok := form.parse(text, noon); ok && !(s >= 0) {
				t.Fatalf("%s: %q is %v", form.name, text, s)
			}
		}
	})
}
