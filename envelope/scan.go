package envelope

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the deepest nesting that is taken, in levels of objects and
// arrays (contract section 5).
const MaxDepth = 1000

// scanner walks JSON text and gives every value as a piece of the text itself.
// It refuses a key that stands twice in one object, at any depth.
type scanner struct {
	raw []byte
	buf bytes.Buffer
	dec jsontext.Decoder
}

// start begins a text. A lone surrogate escape ("\ud83d", half an emoji cut by
// JavaScript) is let pass: it is ASCII on the wire and goes back as it came.
// Bytes that are not UTF-8 are refused.
func (s *scanner) start(raw []byte) error {
	if !utf8.Valid(raw) {
		return &MalformedError{Problem: "the body is not valid UTF-8; send it as UTF-8", Offset: -1}
	}
	if at := tooDeep(raw); at >= 0 {
		return &MalformedError{Problem: "the body is nested deeper than 1000 levels; send it flatter", Offset: int64(at)}
	}
	s.resume(raw)
	return nil
}

// resume begins a text that has been checked before.
func (s *scanner) resume(raw []byte) {
	s.raw = raw
	s.buf = *bytes.NewBuffer(raw)
	s.dec.Reset(&s.buf, jsontext.AllowInvalidUTF8(true))
}

// release drops the text, so that a pooled scanner does not keep it.
func (s *scanner) release() { s.resume(nil) }

// value reads the next value whole.
func (s *scanner) value() ([]byte, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return nil, s.malformed(err)
	}
	end := int(s.dec.InputOffset())
	return s.raw[end-len(v) : end], nil
}

// token steps over one brace or bracket.
func (s *scanner) token() error {
	if _, err := s.dec.ReadToken(); err != nil {
		return s.malformed(err)
	}
	return nil
}

// members reads an object and calls f with each member. The name comes as it
// was written, quotes included.
func (s *scanner) members(f func(rawName, value []byte)) error {
	if err := s.token(); err != nil {
		return err
	}
	for s.dec.PeekKind() != '}' {
		name, err := s.value()
		if err != nil {
			return err
		}
		value, err := s.value()
		if err != nil {
			return err
		}
		f(name, value)
	}
	return s.token()
}

// end makes sure that nothing follows the value.
func (s *scanner) end() error {
	_, err := s.dec.ReadToken()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return &MalformedError{Problem: "something follows the JSON value; send one value and nothing else",
		Offset: s.dec.InputOffset(), Err: err}
}

func (s *scanner) malformed(err error) error {
	problem := "the body is not valid JSON; send one JSON value"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		problem = "a key stands twice in one object; send each key once"
	case len(bytes.TrimSpace(s.raw)) == 0:
		problem = "the body is empty; send the JSON of the item"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		problem = "the JSON ends too early; send the whole value"
	}
	offset := s.dec.InputOffset()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		offset = syntax.ByteOffset
	}
	return &MalformedError{Problem: problem, Offset: offset, Err: err}
}

// tooDeep gives the offset of the first bracket that is deeper than MaxDepth,
// -1 when there is none. Text with few brackets is told without a look at each.
func tooDeep(raw []byte) int {
	if bytes.Count(raw, []byte{'{'})+bytes.Count(raw, []byte{'['}) <= MaxDepth {
		return -1
	}
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// stringEnd gives the offset of the quote that closes the string opened at
// start, or the end of the text.
func stringEnd(raw []byte, start int) int {
	for i := start + 1; i < len(raw); {
		q := bytes.IndexByte(raw[i:], '"')
		if q < 0 {
			break
		}
		i += q
		backslashes := 0
		for raw[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
		i++
	}
	return len(raw)
}

// text gives what a JSON string says, without a copy where it holds no escape.
func text(rawString []byte) []byte {
	inner := rawString[1 : len(rawString)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	// A lone surrogate makes an error beside the usable rest: it reads as U+FFFD.
	out, _ := jsontext.AppendUnquote(nil, rawString)
	return out
}

func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }
func isNull(raw []byte) bool   { return len(raw) > 0 && raw[0] == 'n' }
func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}
