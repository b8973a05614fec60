package envelope

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// isoPattern is a date and time of ISO 8601 as providers write it: seconds,
// their fraction and the zone may be missing.
var isoPattern = regexp.MustCompile(
	`^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)? ?(?:([Zz]|UTC|GMT)|([+-])(\d\d):?(\d\d)?)?$`)

// inZone reads ISO 8601 times; one that names no zone is in zone.
func inZone(zone *time.Location) func(string, time.Time) (float64, bool) {
	return func(text string, now time.Time) (float64, bool) {
		t, ok := parseISO(text, zone)
		return untilTime(t, now), ok
	}
}

func parseISO(text string, zone *time.Location) (time.Time, bool) {
	m := isoPattern.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	second, month := m[6], number2(m[2])
	if second == "" {
		second = "00"
	}
	if month > 12 {
		return time.Time{}, false
	}
	t, ok := date(number4(m[1]), month, number2(m[3]), m[4]+":"+m[5]+":"+second)
	if !ok {
		return time.Time{}, false
	}
	switch {
	case m[9] != "":
		offset, ok := zoneOffset(m[9], m[10], m[11])
		if !ok {
			return time.Time{}, false
		}
		t = t.Add(-offset)
	case m[8] == "":
		_, offset := t.In(zone).Zone()
		t = t.Add(-time.Duration(offset) * time.Second)
	}
	return t.Add(fractionUp(m[7])), true
}

// fractionUp gives the fraction of a second, rounded up to a nanosecond.
func fractionUp(digits string) time.Duration {
	if len(digits) > 9 {
		rest := strings.Trim(digits[9:], "0")
		n, _ := strconv.Atoi(digits[:9])
		if rest != "" {
			n++
		}
		return time.Duration(n)
	}
	n, _ := strconv.Atoi((digits + "000000000")[:9])
	return time.Duration(n)
}

func zoneOffset(sign, hours, minutes string) (time.Duration, bool) {
	if minutes == "" {
		minutes = "00"
	}
	h, m := number2(hours), number2(minutes)
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return 0, false
	}
	offset := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if sign == "-" {
		offset = -offset
	}
	return offset, true
}

// looseDatePattern is an HTTP-date with the liberties that servers take: no
// weekday, a day of one digit, dashes, no seconds, a zone by number or name.
var looseDatePattern = regexp.MustCompile(
	`^(?:[A-Za-z]{3,9},? +)?(\d{1,2})[ -]([A-Za-z]{3})[a-z]*[ -](\d{4}) +(\d{1,2}):(\d\d)(?::(\d\d))?(?: *([A-Za-z]{1,4}|[+-]\d\d:?\d\d))?$`)

// scriptDatePattern is what JavaScript's Date prints as text, and asctime with
// a zone behind it: the month before the day.
var scriptDatePattern = regexp.MustCompile(
	`^[A-Za-z]{3} ([A-Za-z]{3}) +(\d{1,2}) (?:(\d{4}) (\d\d:\d\d:\d\d)|(\d\d:\d\d:\d\d) (\d{4})) (GMT|UTC|Z)([+-]\d{4})?(?: \(.*\))?$`)

// zoneNames are those of RFC 5322 §4.3. Any other name is not guessed at.
var zoneNames = map[string]string{
	"": "+0000", "GMT": "+0000", "UTC": "+0000", "UT": "+0000", "Z": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// parseLooseDate reads an HTTP-date in the three forms of RFC 9110 §5.6.7 or
// one that comes near. A date without a zone is in UTC.
func parseLooseDate(text string, now time.Time) (time.Time, bool) {
	if t, ok := ParseHTTPDate(text, now); ok {
		return t, true
	}
	if m := scriptDatePattern.FindStringSubmatch(text); m != nil {
		text = m[2] + " " + m[1] + " " + m[3] + m[6] + " " + m[4] + m[5] + " " + cmp.Or(m[8], m[7])
	}
	m := looseDatePattern.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	month := 0
	for i, name := range monthNames {
		if strings.EqualFold(name, m[2]) {
			month = i + 1
		}
	}
	zone, second := m[7], m[6]
	if named, ok := zoneNames[strings.ToUpper(zone)]; ok {
		zone = named
	}
	if second == "" {
		second = "00"
	}
	t, ok := date(number4(m[3]), month, number2(twoDigits(m[1])), twoDigits(m[4])+":"+m[5]+":"+second)
	if !ok || zone[0] != '+' && zone[0] != '-' {
		return time.Time{}, false
	}
	offset, ok := zoneOffset(zone[:1], zone[1:3], zone[len(zone)-2:])
	return t.Add(-offset), ok
}

func twoDigits(s string) string {
	if len(s) == 1 {
		return "0" + s
	}
	return s
}
