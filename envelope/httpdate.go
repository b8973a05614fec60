package envelope

import (
	"strings"
	"time"
)

var (
	monthNames    = [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
	shortDayNames = [...]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	longDayNames  = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)

// ParseHTTPDate reads the three forms of RFC 9110 §5.6.7:
//
//	IMF-fixdate  Sun, 06 Nov 1994 08:49:37 GMT
//	RFC 850      Sunday, 06-Nov-94 08:49:37 GMT
//	asctime      Sun Nov  6 08:49:37 1994
//
// Case counts. A weekday must be one but need not be the date's: the date
// decides. Second 60 is legal. The two-digit year of RFC 850 is the latest one
// that is not more than 50 years after now.
//
// It is stricter than net/http.ParseTime (which takes any case) and takes the
// leap second, which that refuses.
func ParseHTTPDate(value string, now time.Time) (time.Time, bool) {
	comma := strings.IndexByte(value, ',')
	switch {
	case comma == 3 && len(value) == len("Sun, 06 Nov 1994 08:49:37 GMT"):
		return imfFixdate(value)
	case comma >= 6:
		return rfc850(value[:comma], value[comma+1:], now)
	case comma < 0 && len(value) == len("Sun Nov  6 08:49:37 1994"):
		return asctime(value)
	}
	return time.Time{}, false
}

func imfFixdate(v string) (time.Time, bool) {
	if indexOf(shortDayNames[:], v[:3]) < 0 || v[4] != ' ' || v[7] != ' ' || v[11] != ' ' || v[16] != ' ' || v[25:] != " GMT" {
		return time.Time{}, false
	}
	return date(number4(v[12:16]), indexOf(monthNames[:], v[8:11])+1, number2(v[5:7]), v[17:25])
}

func rfc850(day, v string, now time.Time) (time.Time, bool) {
	if indexOf(longDayNames[:], day) < 0 || len(v) != len(" 06-Nov-94 08:49:37 GMT") ||
		v[0] != ' ' || v[3] != '-' || v[7] != '-' || v[10] != ' ' || v[19:] != " GMT" {
		return time.Time{}, false
	}
	yy := number2(v[8:10])
	if yy < 0 {
		return time.Time{}, false
	}
	// The year may be in the next century, this one or the last; the day is
	// checked with the year that is taken (29 February).
	month, dayOfMonth := indexOf(monthNames[:], v[4:7])+1, number2(v[1:3])
	limit := now.AddDate(50, 0, 0)
	for year := now.UTC().Year()/100*100 + 100 + yy; ; year -= 100 {
		t, ok := date(year, month, dayOfMonth, v[11:19])
		if startOfYear := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC); startOfYear.After(limit) || ok && t.After(limit) {
			continue
		}
		return t, ok
	}
}

func asctime(v string) (time.Time, bool) {
	if indexOf(shortDayNames[:], v[:3]) < 0 || v[3] != ' ' || v[7] != ' ' || v[10] != ' ' || v[19] != ' ' {
		return time.Time{}, false
	}
	day := number2(v[8:10])
	if v[8] == ' ' { // 2DIGIT / ( SP 1DIGIT )
		day = digit(v[9])
	}
	return date(number4(v[20:24]), indexOf(monthNames[:], v[4:7])+1, day, v[11:19])
}

// date checks the parts; clock is hh:mm:ss.
func date(year, month, day int, clock string) (time.Time, bool) {
	hour, minute, second := number2(clock[0:2]), number2(clock[3:5]), number2(clock[6:8])
	if clock[2] != ':' || clock[5] != ':' ||
		year < 0 || month < 1 || day < 1 || day > daysIn(year, month) ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC), true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func indexOf(names []string, s string) int {
	for i, n := range names {
		if n == s {
			return i
		}
	}
	return -1
}

// digit, number2 and number4 give -1 for anything but digits.
func digit(c byte) int {
	if c < '0' || c > '9' {
		return -1
	}
	return int(c - '0')
}

func number2(s string) int {
	tens, ones := digit(s[0]), digit(s[1])
	if tens < 0 || ones < 0 {
		return -1
	}
	return tens*10 + ones
}

func number4(s string) int {
	high, low := number2(s[:2]), number2(s[2:])
	if high < 0 || low < 0 {
		return -1
	}
	return high*100 + low
}
