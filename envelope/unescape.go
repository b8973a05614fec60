package envelope

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// text gives what a sound JSON string says, without a copy where it holds no
// escape. A lone surrogate reads as U+FFFD.
func text(rawString []byte) []byte {
	inner := rawString[1 : len(rawString)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return appendUnescaped(nil, inner)
}

// appendUnescaped appends what the inside of a sound JSON string says.
func appendUnescaped(dst, inner []byte) []byte {
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			return append(dst, inner...)
		}
		dst = append(dst, inner[:i]...)
		inner = inner[i:]
		if inner[1] != 'u' {
			dst = append(dst, unescapedByte(inner[1]))
			inner = inner[2:]
			continue
		}
		r, _ := hex4(inner[2:])
		inner = inner[6:]
		if utf16.IsSurrogate(r) {
			r, inner = pair(r, inner)
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// pair gives the character of a surrogate and the one that follows it, and
// what comes after both. A surrogate without its other half is U+FFFD.
func pair(first rune, following []byte) (rune, []byte) {
	if len(following) >= 6 && following[0] == '\\' && following[1] == 'u' {
		if second, ok := hex4(following[2:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, following[6:]
			}
		}
	}
	return utf8.RuneError, following
}

func unescapedByte(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // a quote, a backslash or a slash
}

// hex4 reads four hexadecimal digits.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range raw[:4] {
		switch {
		case isDigit(c):
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
