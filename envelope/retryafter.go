package envelope

import (
	"math"
	"strings"
	"time"
)

// maxExactSeconds is the largest delay whose float64 is exact. A longer one is
// an endless wait: it must not overflow, and rounding must not shorten it.
const maxExactSeconds = 1 << 53

// ParseRetryAfter reads one Retry-After value by RFC 9110 §10.2.3: delay
// seconds (1*DIGIT) or an HTTP-date (§5.6.7). It gives the seconds to wait
// from now: whole, 0 for a date that is past, +Inf for a number too large for
// the machine. Blanks around the value are ignored. ok is false for every
// other form; nothing is guessed.
func ParseRetryAfter(value string, now time.Time) (seconds float64, ok bool) {
	value = trimBlanks(value)
	if value == "" {
		return 0, false
	}
	if c := value[0]; c >= '0' && c <= '9' {
		return delaySeconds(value)
	}
	date, ok := ParseHTTPDate(value, now)
	if !ok {
		return 0, false
	}
	return secondsUntil(date, now), true
}

// delaySeconds reads 1*DIGIT.
func delaySeconds(value string) (float64, bool) {
	var n uint64
	for i := range len(value) {
		c := value[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		if n <= maxExactSeconds {
			n = n*10 + uint64(c-'0')
		}
	}
	if n > maxExactSeconds {
		return math.Inf(1), true
	}
	return float64(n), true
}

// secondsUntil gives the whole seconds from now to a date that has no
// fraction, rounded up, 0 when it is past.
func secondsUntil(date, now time.Time) float64 {
	// now is cut down to its second, which is what rounding up the difference is.
	return math.Max(0, float64(date.Unix()-now.Unix()))
}

// trimBlanks takes the optional white space (RFC 9110 §5.6.3) off.
func trimBlanks(s string) string { return strings.Trim(s, " \t") }
