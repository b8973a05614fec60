package envelope

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"
)

// header is one member of the headers object: the decoded name and the value
// as it was written (a JSON string, number, null or array).
type header struct {
	name  []byte
	value []byte
}

// headers are a response's headers. Names are compared without case, and one
// name may stand in several spellings.
type headers []header

// maxHeaders is the most headers of a response, and the most values of one, that
// are looked at. No server takes or sends as many; a body may hold millions.
const maxHeaders = 100_000

// takeName keeps one header more than are allowed, which tells that there are.
func (h *headers) takeName(name, _ []byte, at span) receiver {
	if len(*h) > maxHeaders {
		return nil
	}
	if len(name) < int(at.end-at.start)-2 { // it was written with escapes, and will not stay where it is
		name = bytes.Clone(name)
	}
	*h = append(*h, header{name: name})
	return nil
}

func (h *headers) takeValue(raw []byte, at span) { (*h)[len(*h)-1].value = at.of(raw) }

// headerValueRule is what validHeaderValue asks for, in words.
var headerValueRule = fmt.Sprintf("must be a string, a number or an array of at most %d strings", maxHeaders)

// validHeaderValue tells whether a value is a string, a number or an array of
// strings. null counts as absent, in an array too.
func validHeaderValue(value []byte) bool {
	if !isArray(value) {
		return isString(value) || isNumber(value) || isNull(value)
	}
	valid, n := true, 0
	gjson.ParseBytes(value).ForEach(func(_, element gjson.Result) bool {
		n++
		valid = n <= maxHeaders && (element.Type == gjson.String || element.Type == gjson.Null)
		return valid
	})
	return valid
}

// has tells whether a header of that name is there with any value but null.
func (h headers) has(name string) bool { return len(h.values(name)) > 0 }

// values gives the texts of all headers of that name, those of an array one by
// one. A number's text is the one that was sent, and so is that of a value that
// no header can have: it is then read as an invalid one. null elements are left
// out. A text is never split at a comma.
func (h headers) values(name string) []string {
	var out []string
	for _, e := range h {
		if len(e.name) != len(name) || !bytes.EqualFold(e.name, []byte(name)) {
			continue
		}
		switch {
		case isNull(e.value):
		case isString(e.value):
			out = append(out, string(text(e.value)))
		case isArray(e.value):
			n := 0
			gjson.ParseBytes(e.value).ForEach(func(_, element gjson.Result) bool {
				switch n++; element.Type {
				case gjson.Null:
				case gjson.String:
					out = append(out, element.Str)
				default:
					out = append(out, element.Raw)
				}
				return n < maxHeaders
			})
		default:
			out = append(out, string(e.value))
		}
	}
	return out
}

// only gives the text of a header that is there once and not blank.
func (h headers) only(name string) (string, bool) {
	values := h.values(name)
	if len(values) != 1 {
		return "", false
	}
	value := trimBlanks(values[0])
	return value, value != ""
}
