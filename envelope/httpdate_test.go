package envelope

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func at(year int, month time.Month, day, hour, minute, second int) time.Time {
	return time.Date(year, month, day, hour, minute, second, 0, time.UTC)
}

func TestParseHTTPDate(t *testing.T) {
	rfcExample := at(1994, 11, 6, 8, 49, 37)
	tests := []struct {
		name, value string
		want        time.Time
	}{
		{"IMF-fixdate", "Sun, 06 Nov 1994 08:49:37 GMT", rfcExample},
		{"RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT", rfcExample},
		{"asctime", "Sun Nov  6 08:49:37 1994", rfcExample},
		{"asctime with two digits", "Sun Nov 06 08:49:37 1994", rfcExample},
		{"asctime on a late day", "Wed Nov 16 08:49:37 1994", at(1994, 11, 16, 8, 49, 37)},
		{"a wrong weekday", "Mon, 06 Nov 1994 08:49:37 GMT", rfcExample},
		{"a wrong weekday in RFC 850", "Wednesday, 06-Nov-94 08:49:37 GMT", rfcExample},
		{"a wrong weekday in asctime", "Tue Nov  6 08:49:37 1994", rfcExample},
		{"second 60", "Sat, 31 Dec 2016 23:59:60 GMT", at(2017, 1, 1, 0, 0, 0)},
		{"second 60 in RFC 850", "Saturday, 31-Dec-16 23:59:60 GMT", at(2017, 1, 1, 0, 0, 0)},
		{"second 60 in asctime", "Sat Dec 31 23:59:60 2016", at(2017, 1, 1, 0, 0, 0)},
		{"29 February of a leap year", "Tue, 29 Feb 2028 00:00:00 GMT", at(2028, 2, 29, 0, 0, 0)},
		{"29 February of 2000", "Tuesday, 29-Feb-00 00:00:00 GMT", at(2000, 2, 29, 0, 0, 0)},
		{"the year 0000", "Sat, 01 Jan 0000 00:00:00 GMT", at(0, 1, 1, 0, 0, 0)},
		// testNow is 2026-01-15 12:00:00.25.
		{"50 years ahead to the second", "Wednesday, 15-Jan-76 12:00:00 GMT", at(2076, 1, 15, 12, 0, 0)},
		{"a second more is the last century", "Thursday, 15-Jan-76 12:00:01 GMT", at(1976, 1, 15, 12, 0, 1)},
		{"49 years ahead", "Friday, 01-Jan-75 00:00:00 GMT", at(2075, 1, 1, 0, 0, 0)},
		{"51 years ahead is the last century", "Saturday, 01-Jan-77 00:00:00 GMT", at(1977, 1, 1, 0, 0, 0)},
		{"29 February 76 is past the 50 years", "Sunday, 29-Feb-76 00:00:00 GMT", at(1976, 2, 29, 0, 0, 0)},
		{"99", "Friday, 31-Dec-99 23:59:59 GMT", at(1999, 12, 31, 23, 59, 59)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := ParseHTTPDate(tt.value, testNow)
			assert.True(t, ok)
			assert.Equal(t, tt.want, got)
		})
	}
}

// The rule of 50 years holds against the clock, not against a fixed year.
func TestTwoDigitYearsMoveWithTheClock(t *testing.T) {
	tests := []struct {
		name, value string
		now, want   time.Time
	}{
		{"in 1999 a 00 is 2000", "Saturday, 01-Jan-00 00:00:00 GMT", at(1999, 12, 31, 0, 0, 0), at(2000, 1, 1, 0, 0, 0)},
		{"in 1960 a 26 is 1926", "Friday, 01-Jan-26 00:00:00 GMT", at(1960, 1, 1, 0, 0, 0), at(1926, 1, 1, 0, 0, 0)},
		{"in 2060 a 09 is 2109", "Tuesday, 01-Jan-09 00:00:00 GMT", at(2060, 1, 1, 0, 0, 0), at(2109, 1, 1, 0, 0, 0)},
		{"in 2060 an 11 is 2011", "Saturday, 01-Jan-11 00:00:00 GMT", at(2060, 1, 1, 0, 0, 0), at(2011, 1, 1, 0, 0, 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := ParseHTTPDate(tt.value, tt.now)
			assert.True(t, ok)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestParseHTTPDateRefuses(t *testing.T) {
	tests := map[string][]string{
		"wrong case": {"sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 NOV 1994 08:49:37 GMT",
			"Sun, 06 Nov 1994 08:49:37 gmt", "SUNDAY, 06-Nov-94 08:49:37 GMT", "sun Nov  6 08:49:37 1994"},
		"another zone": {"Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 +0000",
			"Sun, 06 Nov 1994 08:49:37", "Sun Nov  6 08:49:37 1994 GMT", "Sunday, 06-Nov-94 08:49:37 UTC"},
		"a day that is none": {"Sat, 29 Feb 2025 00:00:00 GMT", "Wed, 29 Feb 2100 00:00:00 GMT", "Sun, 31 Apr 2026 00:00:00 GMT",
			"Sun, 00 Jan 2026 00:00:00 GMT", "Sun, 32 Jan 2026 00:00:00 GMT", "Thursday, 29-Feb-25 00:00:00 GMT", "Sun Jan  0 00:00:00 2026"},
		"a time that is none": {"Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
			"Sun, 06 Nov 1994 -8:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT"},
		"blanks": {"Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT",
			"Sun,  6 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun, 06\tNov 1994 08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT",
			"Sunday,  06-Nov-94 08:49:37 GMT", "Sunday, 6-Nov-94 08:49:37 GMT"},
		"names": {"Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nob 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
			"Sun, 06-Nov-94 08:49:37 GMT", "Sunda, 06-Nov-94 08:49:37 GMT", "Sundays, 06-Nov-94 08:49:37 GMT"},
		"years":  {"Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 19a4 08:49:37 GMT", "Sun Nov  6 08:49:37 94"},
		"pieces": {"", ",", "Sun,", "Sun, 06 Nov 1994", "GMT", "Sunday,", "Sun Nov  6", "Sun, 06 Nov 1994 08:49 GMT"},
	}
	for name, values := range tests {
		t.Run(name, func(t *testing.T) {
			for _, value := range values {
				_, ok := ParseHTTPDate(value, testNow)
				assert.False(t, ok, value)
			}
		})
	}
}
