package envelope

import (
	"math"
	"strconv"
	"strings"
)

// number reads a JSON number, or a JSON string that holds a decimal number
// with blanks around it, since n8n expressions often yield strings. What is
// not a finite number ("", "abc", "0x10", "NaN", 1e999) is refused.
func number(raw []byte) (float64, bool) {
	if isNumber(raw) {
		if n, ok := shortInteger(raw); ok {
			return n, true
		}
		return finite(string(raw))
	}
	if !isString(raw) {
		return 0, false
	}
	s := strings.TrimSpace(string(text(raw)))
	if !decimal(s) {
		return 0, false
	}
	return finite(s)
}

// integer reads a number without a fraction. What is too large for 64 bits
// saturates, so that a caller's "no limit" stays one.
func integer(raw []byte) (int64, bool) {
	f, ok := number(raw)
	if !ok || f != math.Trunc(f) {
		return 0, false
	}
	if math.Abs(f) < 1<<53 {
		return int64(f), true
	}
	// Past 2^53 a float no longer holds every integer: read the digits.
	digits := strings.TrimSpace(strings.Trim(string(raw), `"`))
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, true
	}
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}

func finite(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, false
	}
	return f, true
}

// shortInteger is the common case of number: up to 15 plain digits.
func shortInteger(raw []byte) (float64, bool) {
	if len(raw) > 15 {
		return 0, false
	}
	var n int64
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return float64(n), true
}

// decimal tells whether s is a sign, digits with or without a point, and an
// exponent: what JavaScript prints for a number, and what people type.
func decimal(s string) bool {
	s = unsigned(s)
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !digits(whole) || !digits(fraction) {
		return false
	}
	if !hasExponent {
		return true
	}
	exponent = unsigned(exponent)
	return exponent != "" && digits(exponent)
}

// unsigned takes one sign off.
func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// appendNumber writes a float as JavaScript and JSON do: 2, not 2.0; 0.5; no
// exponent below 1e21.
func appendNumber(dst []byte, f float64) []byte {
	if whole := int64(f); float64(whole) == f && -1<<53 < whole && whole < 1<<53 { // the common case, and 0 for -0
		return strconv.AppendInt(dst, whole, 10)
	}
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}
