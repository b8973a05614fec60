package envelope

import (
	"encoding/json"
	"math"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var dateSeeds = []string{
	"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun Nov 16 08:49:37 1994",
	"Sat, 31 Dec 2016 23:59:60 GMT", "Tue, 29 Feb 2028 00:00:00 GMT", "Sat, 29 Feb 2025 00:00:00 GMT", "sun, 06 nov 1994 08:49:37 gmt",
	"Wednesday, 15-Jan-76 12:00:00 GMT", "Thursday, 15-Jan-76 12:00:01 GMT", "Sunday, 29-Feb-76 00:00:00 GMT", "Tuesday, 29-Feb-00 00:00:00 GMT",
	"Fri, 31 Dec 9999 23:59:59 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun,", ",", "",
}

// The grammar of RFC 9110 §5.6.7, written as it stands there.
var (
	daysOfWeek     = `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)`
	longDays       = `(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)`
	months         = `(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`
	clockTime      = `([0-9]{2}):([0-9]{2}):([0-9]{2})`
	imfGrammar     = regexp.MustCompile(`^` + daysOfWeek + `, ([0-9]{2}) ` + months + ` ([0-9]{4}) ` + clockTime + ` GMT$`)
	rfc850Grammar  = regexp.MustCompile(`^` + longDays + `, ([0-9]{2})-` + months + `-([0-9]{2}) ` + clockTime + ` GMT$`)
	asctimeGrammar = regexp.MustCompile(`^` + daysOfWeek + ` ` + months + ` ([0-9]{2}| [0-9]) ` + clockTime + ` ([0-9]{4})$`)
)

// slowHTTPDate is a second reading of the rules, without regard to speed.
func slowHTTPDate(value string, now time.Time) (time.Time, bool) {
	if m := imfGrammar.FindStringSubmatch(value); m != nil {
		return slowDate(m[3], m[2], m[1], m[4:7])
	}
	if m := asctimeGrammar.FindStringSubmatch(value); m != nil {
		return slowDate(m[6], m[1], strings.TrimSpace(m[2]), m[3:6])
	}
	m := rfc850Grammar.FindStringSubmatch(value)
	if m == nil {
		return time.Time{}, false
	}
	// Of all years with these digits, the latest that is not too far ahead. The
	// day counts as it stands there, even if that year has no such day.
	limit := now.AddDate(50, 0, 0).UTC().Format("2006-01-02 15:04:05")
	for century := now.UTC().Year()/100 + 1; century >= 0; century-- {
		year := strconv.Itoa(century) + m[3]
		month := strconv.Itoa(101 + slices.Index(monthNames[:], m[2]))[1:]
		if year+"-"+month+"-"+m[1]+" "+m[4]+":"+m[5]+":"+m[6] <= limit {
			return slowDate(year, m[2], m[1], m[4:7])
		}
	}
	return time.Time{}, false
}

func slowDate(year, month, day string, clock []string) (time.Time, bool) {
	leap := clock[2] == "60"
	if leap {
		clock = []string{clock[0], clock[1], "59"}
	}
	t, err := time.Parse("2006 Jan 2 15:04:05", year+" "+month+" "+day+" "+strings.Join(clock, ":"))
	if err != nil {
		return time.Time{}, false
	}
	if leap {
		t = t.Add(time.Second)
	}
	return t, true
}

// FuzzHTTPDate compares the parser with the grammar, and with net/http where
// that keeps to it.
func FuzzHTTPDate(f *testing.F) {
	for _, seed := range dateSeeds {
		f.Add(seed, testNow.Unix())
		f.Add(seed, int64(951_782_400)) // 29 February 2000
	}
	f.Fuzz(func(t *testing.T, value string, epoch int64) {
		now := time.Unix(epoch%200_000_000_000, 0).UTC()
		if now.Year() < 1000 || now.Year() > 9900 {
			t.Skip()
		}
		got, ok := ParseHTTPDate(value, now)
		want, wantOK := slowHTTPDate(value, now)
		if ok != wantOK || ok && !got.Equal(want) {
			t.Fatalf("%q at %v: %v %v, by the grammar %v %v", value, now, got, ok, want, wantOK)
		}
		if standard, err := http.ParseTime(value); err == nil && ok && !rfc850Grammar.MatchString(value) && !got.Equal(standard) {
			t.Fatalf("%q: %v, net/http says %v", value, got, standard)
		}
	})
}

// FuzzParseRetryAfter compares the parser with RFC 9110 §10.2.3 read slowly.
func FuzzParseRetryAfter(f *testing.F) {
	for _, seed := range append(dateSeeds, "0", "120", "007", " 5\t", "-5", "+5", "1.5", "1e3", "10, 20", "9007199254740992",
		"9007199254740993", "18446744073709551621", strings.Repeat("9", 400), "Thu, 15 Jan 2026 12:00:30 GMT", "\n5", "５") {
		f.Add(seed)
	}
	number := regexp.MustCompile(`^[0-9]+$`)
	f.Fuzz(func(t *testing.T, value string) {
		got, ok := ParseRetryAfter(value, testNow)
		trimmed := strings.Trim(value, " \t")
		if number.MatchString(trimmed) {
			want, _ := new(big.Int).SetString(trimmed, 10)
			switch exact, _ := new(big.Float).SetFloat64(math.Min(got, math.MaxFloat64)).Int(nil); {
			case !ok, got < 0:
				t.Fatalf("%q: %v %v", value, got, ok)
			case math.IsInf(got, 1) != (want.Cmp(big.NewInt(1<<53)) > 0), !math.IsInf(got, 1) && exact.Cmp(want) != 0:
				t.Fatalf("%q: %v", value, got)
			}
			return
		}
		date, wantOK := slowHTTPDate(trimmed, testNow)
		if ok != wantOK {
			t.Fatalf("%q: %v, by the grammar %v", value, ok, wantOK)
		}
		if !ok {
			return
		}
		wait := date.Sub(testNow) // saturates after 292 years
		if wait < math.MaxInt64 && got != math.Max(0, math.Ceil(wait.Seconds())) || got < 0 || got != math.Trunc(got) {
			t.Fatalf("%q: %v seconds, want %v", value, got, wait)
		}
	})
}

// FuzzNumber compares number and integer with a grammar and exact arithmetic.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{`3`, `"3"`, `" 2.5 "`, `1e3`, `"0x10"`, `""`, `true`, `null`, `1e999`, `5e-324`, `"+.5e+1"`, `"5."`,
		`9007199254740993`, `"9223372036854775807"`, `9223372036854775808`, `-0`, `1.0`, `"\u0033"`, `[]`, `"Infinity"`, `"1_0"`} {
		f.Add(seed)
	}
	grammar := regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) || strings.TrimSpace(raw) != raw || len(raw) > 1000 {
			t.Skip()
		}
		s := raw
		if raw[0] == '"' {
			if err := json.Unmarshal([]byte(raw), &s); err != nil {
				t.Skip()
			}
			s = strings.TrimSpace(s)
		}
		want, err := strconv.ParseFloat(s, 64)
		wantOK := err == nil && grammar.MatchString(s)
		got, ok := number([]byte(raw))
		if ok != wantOK || ok && got != want {
			t.Fatalf("%s: %v %v, want %v %v", raw, got, ok, want, wantOK)
		}
		n, isInteger := integer([]byte(raw))
		if isInteger != (ok && got == math.Trunc(got)) {
			t.Fatalf("%s: integer %v %v", raw, n, isInteger)
		}
		if !ok {
			return
		}
		if exact, err := strconv.ParseInt(s, 10, 64); err == nil && n != exact {
			t.Fatalf("%s: integer %d, want %d", raw, n, exact)
		}
		back, ok := number(appendNumber(nil, got))
		if !ok || back != got {
			t.Fatalf("%s: written as %s", raw, appendNumber(nil, got))
		}
	})
}
