package envelope

import (
	"strconv"

	"github.com/tidwall/gjson"

	"n8n-retry-planner/planner"
)

// AppendAnswer appends the JSON answer for a decision about this item: the
// full state of the next call for a retry, the five fields for a terminal
// decision (contract section 2). explanation is added when it is not nil.
func (it *Item) AppendAnswer(dst []byte, d *planner.Decision, explanation []byte) []byte {
	if d.Verb == planner.Retry {
		return appendState(dst, it, retryState{it, d, explanation})
	}
	return appendTerminal(dst, d.Verb, d.Code, d.Attempts, it.Outcome.Status, explanation)
}

// appendTerminal appends the five fields of a terminal answer.
func appendTerminal(dst []byte, verb planner.Verb, code planner.Code, attempts int64, status int, explanation []byte) []byte {
	dst = append(dst, `{"error_code":`...)
	dst = appendCode(dst, code)
	dst = append(dst, `,"attempts":`...)
	dst = strconv.AppendInt(dst, attempts, 10)
	dst = append(dst, `,"last_status":`...)
	dst = appendStatus(dst, status)
	dst = append(dst, `,"decision":"`...)
	dst = append(dst, verb...)
	dst = append(dst, `","next_request":false`...)
	if explanation != nil {
		dst = append(dst, `,"explain":`...)
		dst = append(dst, explanation...)
	}
	return append(dst, '}')
}

// retryState is the state of the next call.
type retryState struct {
	it          *Item
	d           *planner.Decision
	explanation []byte
}

// retryFields are what a retry sets, in the order in which new ones follow.
var retryFields = []field{fErrorCode, fAttempts, fLastStatus, fDecision, fNextRequest, fWaitSeconds, fElapsedWait, fExplain}

func (s retryState) fields() []field { return retryFields }

// fateOf: an error or a data that is in the next item is a fresh one. After a
// failure the response that the item still carries belongs to an earlier call.
func (s retryState) fateOf(f field) fate {
	switch f {
	case fErrorCode, fAttempts, fLastStatus, fDecision, fNextRequest, fWaitSeconds, fElapsedWait:
		return isSet
	case fExplain:
		return isSet.when(s.explanation != nil)
	case fData, fStatusMessage, fError:
		return goes
	case fStatusCode, fHeaders, fBody:
		return goes.when(s.it.failed)
	case fDetails:
		details, _ := s.it.get(fDetails)
		return goes.when(s.it.failed && isN8nDetails(details))
	case fPermit, fGateBypassed: // of the call that has ended
		return goes.when(s.it.Gate != nil)
	}
	return stays
}

func (s retryState) appendValue(dst []byte, f field) []byte {
	switch f {
	case fErrorCode:
		return append(dst, "null"...)
	case fAttempts:
		return strconv.AppendInt(dst, s.d.Attempts, 10)
	case fLastStatus:
		return appendStatus(dst, s.it.Outcome.Status)
	case fDecision:
		return append(dst, `"retry"`...)
	case fNextRequest:
		return append(dst, "true"...)
	case fWaitSeconds:
		return appendNumber(dst, s.d.Wait)
	case fElapsedWait:
		return appendNumber(dst, s.d.ElapsedWait)
	}
	return append(dst, s.explanation...) // fExplain
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
