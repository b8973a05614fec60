package envelope

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// string reads a string (RFC 8259 §7).
func (s *scanner) string(start int) (int, error) {
	raw := s.raw
	for i := start + 1; i < len(raw); {
		if i+8 <= len(raw) {
			special := specialBytes(binary.LittleEndian.Uint64(raw[i:]))
			if special == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(special) / 8
		}
		switch c := raw[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			n := escapeLength(raw[i:])
			if n == 0 {
				return 0, s.unexpected(i)
			}
			i += n
			s.escaped = true
		case c < ' ':
			return 0, s.malformed("a string holds a control character; write it as an escape", i)
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && n == 1 {
				return 0, s.malformed("the body is not valid UTF-8; send it as UTF-8", i)
			}
			i += n
		default:
			i++
		}
	}
	return 0, s.unexpected(len(raw))
}

// specialBytes marks with their high bit those of eight bytes that are not
// plain text inside a string: quotes, backslashes, control characters and what
// is not ASCII. The lowest mark is right; a borrow may set marks above it.
func specialBytes(eight uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quotes := eight ^ ones*'"'
	backslashes := eight ^ ones*'\\'
	return ((quotes - ones) | (backslashes - ones) | (eight - ones*' ') | eight) & highs
}

// escapeLength gives the length of the escape that raw begins with, 0 when it
// is none.
func escapeLength(raw []byte) int {
	if len(raw) < 2 {
		return 0
	}
	switch raw[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(raw[2:]); ok {
			return 6
		}
	}
	return 0
}
