package envelope

import (
	"strconv"

	"github.com/tidwall/gjson"

	"n8n-retry-planner/planner"
)

// setFields are what a retry sets, in the order in which new ones follow.
var setFields = [...]struct {
	field field
	name  string
}{
	{fErrorCode, "error_code"}, {fAttempts, "attempts"}, {fLastStatus, "last_status"}, {fDecision, "decision"},
	{fNextRequest, "next_request"}, {fWaitSeconds, "wait_seconds"}, {fElapsedWait, "elapsed_wait"},
}

// AppendAnswer appends the JSON answer for a decision about this item: the
// full state of the next call for a retry, the five fields for a terminal
// decision (contract section 2). explanation is added when it is not nil.
func (it *Item) AppendAnswer(dst []byte, d *planner.Decision, explanation []byte) []byte {
	if d.Verb == planner.Retry {
		return it.appendRetry(dst, d, explanation)
	}
	dst = append(dst, `{"error_code":`...)
	dst = appendCode(dst, d.Code)
	dst = append(dst, `,"attempts":`...)
	dst = strconv.AppendInt(dst, d.Attempts, 10)
	dst = append(dst, `,"last_status":`...)
	dst = appendStatus(dst, it.Outcome.Status)
	dst = append(dst, `,"decision":"`...)
	dst = append(dst, d.Verb...)
	dst = append(dst, `","next_request":false`...)
	if explanation != nil {
		dst = append(dst, `,"explain":`...)
		dst = append(dst, explanation...)
	}
	return append(dst, '}')
}

func (it *Item) appendRetry(dst []byte, d *planner.Decision, explanation []byte) []byte {
	dst = append(dst, '{')
	start := len(dst)
	comma := func() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
	}
	for i := range it.members {
		m := &it.members[i]
		if it.consumed(m) {
			continue
		}
		comma()
		dst = append(dst, m.rawName...)
		dst = append(dst, ':')
		switch {
		case m.field == fExplain && explanation != nil:
			dst = append(dst, explanation...)
		default:
			var set bool
			if dst, set = it.appendSet(dst, m.field, d); !set {
				dst = append(dst, m.value...)
			}
		}
	}
	for _, f := range setFields {
		if it.place[f.field] != 0 {
			continue
		}
		comma()
		dst = append(append(append(dst, '"'), f.name...), '"', ':')
		dst, _ = it.appendSet(dst, f.field, d)
	}
	if explanation != nil && it.place[fExplain] == 0 {
		comma()
		dst = append(append(dst, `"explain":`...), explanation...)
	}
	return append(dst, '}')
}

// appendSet appends the new value of a field that a retry sets.
func (it *Item) appendSet(dst []byte, f field, d *planner.Decision) (out []byte, set bool) {
	switch f {
	case fErrorCode:
		return append(dst, "null"...), true
	case fAttempts:
		return strconv.AppendInt(dst, d.Attempts, 10), true
	case fLastStatus:
		return appendStatus(dst, it.Outcome.Status), true
	case fDecision:
		return append(dst, `"retry"`...), true
	case fNextRequest:
		return append(dst, "true"...), true
	case fWaitSeconds:
		return appendNumber(dst, d.Wait), true
	case fElapsedWait:
		return appendNumber(dst, d.ElapsedWait), true
	}
	return dst, false
}

// consumed tells whether a member does not come back: an error or a data that
// is in the next item is then a fresh one. After a failure the response that
// the item still carries belongs to an earlier call.
func (it *Item) consumed(m *member) bool {
	switch m.field {
	case fData, fStatusMessage, fError:
		return true
	case fStatusCode, fHeaders, fBody:
		return it.failed
	case fDetails:
		return it.failed && isN8nDetails(m.value)
	}
	return false
}

// isN8nDetails tells the details that HTTP Request 4.5 adds to an error item
// from a field of that name that is the caller's own.
func isN8nDetails(value []byte) bool {
	if !isObject(value) {
		return false
	}
	found := false
	gjson.ParseBytes(value).ForEach(func(name, _ gjson.Result) bool {
		found = name.Str == "httpCode" || name.Str == "context"
		return !found
	})
	return found
}

func appendCode(dst []byte, code planner.Code) []byte {
	if code == "" {
		return append(dst, "null"...)
	}
	return append(append(append(dst, '"'), code...), '"')
}

func appendStatus(dst []byte, status int) []byte {
	if status == 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(status), 10)
}
