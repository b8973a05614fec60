package envelope

import (
	"bytes"
	"math"
)

// MaxDepth is the deepest nesting that is taken, in levels of objects and
// arrays (contract section 5).
const MaxDepth = 1000

// scanner walks JSON text (RFC 8259) once and gives every value as a piece of
// the text itself: nothing of the caller's is decoded, so that it can go back as
// it came. It refuses what JSON readers do not agree about: a key that stands
// twice in one object, at any depth, and bytes that are not UTF-8.
//
// A lone surrogate escape ("\ud83d", half an emoji cut by JavaScript) is let
// pass: it is ASCII on the wire and goes back as it came.
//
// Its methods take the offset where a thing begins and give the one after it.
type scanner struct {
	raw     []byte
	depth   int
	names   openNames
	escaped bool // the last string, or one before it, holds an escape
}

// span is a piece of a text, as offsets: unlike a slice it costs the garbage
// collector nothing.
type span struct{ start, end int32 }

func (s span) of(text []byte) []byte { return text[s.start:s.end] }

// receiver takes the members of an object that is read from raw.
type receiver interface {
	// takeName takes the name of the next member: what it says, which is good
	// until the method returns, and where it was written, quotes included. It gives
	// who takes the members of the value, should that be an object; nil for
	// nobody.
	takeName(name, raw []byte, at span) receiver
	// takeValue takes the value of the member that was named last.
	takeValue(raw []byte, at span)
}

// start begins a text and gives the offset of its value.
func (s *scanner) start(raw []byte) (int, error) {
	s.raw, s.depth = raw, 0
	s.names.reset(raw)
	if len(raw) > math.MaxInt32 {
		return 0, &MalformedError{Problem: "the body is larger than 2 GB; send less", Offset: -1}
	}
	i := s.skipBlanks(0)
	if i == len(raw) {
		return 0, s.malformed("the body is empty; send the JSON of the item", 0)
	}
	return i, nil
}

// release drops the text, so that a pooled scanner does not keep it.
func (s *scanner) release() {
	s.raw = nil
	s.names.release()
}

// end makes sure that nothing but blanks follows the value that ended at i.
func (s *scanner) end(i int) error {
	if i = s.skipBlanks(i); i < len(s.raw) {
		return s.malformed("something follows the JSON value; send one value and nothing else", i)
	}
	return nil
}

// value reads any value. r takes the members of an object; nil for nobody.
func (s *scanner) value(i int, r receiver) (int, error) {
	switch c := s.at(i); c {
	case '"':
		return s.string(i)
	case '{':
		return s.object(i, r)
	case '[':
		return s.array(i)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	default:
		return s.number(i)
	}
}

// object reads an object and gives each member to r, when there is one.
func (s *scanner) object(i int, r receiver) (int, error) {
	if err := s.enter(i); err != nil {
		return 0, err
	}
	names := s.names.open()
	i = s.skipBlanks(i + 1)
	for more := s.at(i) != '}'; more; {
		var err error
		if i, err = s.member(i, &names, r); err != nil {
			return 0, err
		}
		if i = s.skipBlanks(i); s.at(i) != ',' {
			break
		}
		i = s.skipBlanks(i + 1)
	}
	if s.at(i) != '}' {
		return 0, s.unexpected(i)
	}
	if at := s.names.close(&names); at >= 0 {
		return 0, s.twice(at)
	}
	s.depth--
	return i + 1, nil
}

// member reads a name and its value. names are those of the same object.
func (s *scanner) member(i int, names *namesOfObject, r receiver) (int, error) {
	if s.at(i) != '"' {
		return 0, s.unexpected(i)
	}
	s.escaped = false
	nameEnd, err := s.string(i)
	if err != nil {
		return 0, err
	}
	at := span{int32(i), int32(nameEnd)}
	name, isNew := s.names.add(names, at, s.escaped)
	if !isNew {
		return 0, s.twice(i)
	}
	var inside receiver
	if r != nil {
		inside = r.takeName(name, s.raw, at)
	}
	if i = s.skipBlanks(nameEnd); s.at(i) != ':' {
		return 0, s.unexpected(i)
	}
	start := s.skipBlanks(i + 1)
	end, err := s.value(start, inside)
	if err == nil && r != nil {
		r.takeValue(s.raw, span{int32(start), int32(end)})
	}
	return end, err
}

// array reads an array.
func (s *scanner) array(i int) (int, error) {
	i, more, err := s.openArray(i)
	for more {
		if i, err = s.value(i, nil); err != nil {
			return 0, err
		}
		i, more, err = s.nextElement(i)
	}
	return i, err
}

// openArray steps into an array: to its first element where there is more,
// behind the array otherwise.
func (s *scanner) openArray(i int) (next int, more bool, err error) {
	if err := s.enter(i); err != nil {
		return 0, false, err
	}
	if i = s.skipBlanks(i + 1); s.at(i) == ']' {
		s.depth--
		return i + 1, false, nil
	}
	return i, true, nil
}

// nextElement steps from the end of an element to the next one where there is
// more, behind the array otherwise.
func (s *scanner) nextElement(i int) (next int, more bool, err error) {
	switch i = s.skipBlanks(i); s.at(i) {
	case ',':
		return s.skipBlanks(i + 1), true, nil
	case ']':
		s.depth--
		return i + 1, false, nil
	}
	return 0, false, s.unexpected(i)
}

func (s *scanner) enter(i int) error {
	if s.depth++; s.depth > MaxDepth {
		return s.malformed("the body is nested deeper than 1000 levels; send it flatter", i)
	}
	return nil
}

func (s *scanner) literal(i int, want string) (int, error) {
	end := i + len(want)
	if end > len(s.raw) || string(s.raw[i:end]) != want {
		return 0, s.unexpected(i)
	}
	return end, nil
}

// number reads a number (RFC 8259 §6).
func (s *scanner) number(i int) (int, error) {
	if s.at(i) == '-' {
		i++
	}
	if s.at(i) == '0' {
		i++
	} else if i = s.digits(i); i < 0 {
		return 0, s.unexpected(^i)
	}
	if s.at(i) == '.' {
		if i = s.digits(i + 1); i < 0 {
			return 0, s.unexpected(^i)
		}
	}
	if c := s.at(i); c == 'e' || c == 'E' {
		if c = s.at(i + 1); c == '+' || c == '-' {
			i++
		}
		if i = s.digits(i + 1); i < 0 {
			return 0, s.unexpected(^i)
		}
	}
	return i, nil
}

// digits reads one digit or more. It gives the complement of i when there is
// none.
func (s *scanner) digits(i int) int {
	start := i
	for i < len(s.raw) && isDigit(s.raw[i]) {
		i++
	}
	if i == start {
		return ^i
	}
	return i
}

func (s *scanner) skipBlanks(i int) int {
	for i < len(s.raw) && isBlank(s.raw[i]) {
		i++
	}
	return i
}

// at gives the byte at i, 0 past the end. No JSON value begins with 0.
func (s *scanner) at(i int) byte {
	if i < len(s.raw) {
		return s.raw[i]
	}
	return 0
}

func (s *scanner) unexpected(i int) error {
	if len(bytes.TrimRight(s.raw, " \t\r\n")) <= i {
		return s.malformed("the JSON ends too early; send the whole value", len(s.raw))
	}
	return s.malformed("the body is not valid JSON; send one JSON value", i)
}

func (s *scanner) twice(i int) error {
	return s.malformed("a key stands twice in one object; send each key once", i)
}

func (s *scanner) malformed(problem string, i int) error {
	return &MalformedError{Problem: problem, Offset: int64(i)}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }
func isNull(raw []byte) bool   { return len(raw) > 0 && raw[0] == 'n' }
func isNumber(raw []byte) bool { return len(raw) > 0 && (raw[0] == '-' || isDigit(raw[0])) }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
