package envelope

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// MaxScript is the most entries of a script.
const MaxScript = 1000

// Script is a scripted upstream: what each call of one operation will give,
// and the attempt state and policy of its first call.
type Script struct {
	state   []byte // the item's members without braces, less what a call gives
	entries []scriptEntry
}

// scriptEntry is what one call, or several in a row, will give.
type scriptEntry struct {
	members []byte // of the envelope, without braces
	last    int64  // number of the last call that gives this, the first call being 1
}

// failureNames are the short forms of a call that failed before a response was
// read, with the codes that n8n reports for them.
var failureNames = map[string]string{
	"timeout":   "ECONNABORTED", // n8n's own timeout
	"refused":   "ECONNREFUSED",
	"reset":     "ECONNRESET",
	"dns":       "ENOTFOUND",
	"cancelled": "ERR_CANCELED",
	"bad_cert":  "CERT_HAS_EXPIRED",
}

const scriptForms = `must be a status such as 503, one of "timeout", "refused", "reset", "dns", "cancelled", "bad_cert", ` +
	`an object {"status": 429, "retry_after": 30}, or what the call gave: {"statusCode", "headers", "body"} or {"error"}`

// DecodeScript reads an item whose field script says what each call gives:
// an array of entries, or one entry. An entry is
//
//   - a status: 503, or the same as a string;
//   - a failure's name: timeout, refused, reset, dns, cancelled, bad_cert;
//   - {"status": 429, "retry_after": 30}, the second may be absent;
//   - an envelope: {"statusCode", "headers", "body" or "data"} or {"error", "details"}.
//
// Both forms of object take repeat, the number of calls in a row that give
// this, or "always". What the item itself carries of an envelope is left out.
//
// It gives a *MalformedError, or an *InvalidError with all faults of the
// script, the state and the policy.
func DecodeScript(raw []byte, now time.Time) (*Script, error) {
	item, err := DecodeObject(raw)
	if err != nil {
		return nil, err
	}
	s := new(Script)
	var f faults
	var script []byte
	for _, m := range item.members {
		name := text(m.rawName)
		switch field := fieldOf(name); {
		case string(name) == "script":
			script = m.value
		case field >= fStatusCode && field <= fDetails:
		default:
			s.state = appendMember(s.state, m.rawName, m.value)
		}
	}
	if err := s.read(script, &f); err != nil {
		return nil, err
	}
	s.check(now, &f)
	if len(f.list) > 0 {
		return nil, &InvalidError{Faults: f.list, Attempts: 1}
	}
	return s, nil
}

func (s *Script) read(script []byte, f *faults) error {
	switch {
	case len(script) == 0 || isNull(script):
		f.add("script", "required", "is missing: send what each call gives, such as [429, 503, 200]")
		return nil
	case !isArray(script):
		s.add(script, "script", f)
		return nil
	}
	err := elements(script, func(n int, value []byte) {
		if n < MaxScript {
			s.add(value, fmt.Sprintf("script.%d", n), f)
		} else if n == MaxScript {
			f.add("script", "max", fmt.Sprintf("must have at most %d entries: use repeat", MaxScript))
		}
	})
	if err == nil && len(s.entries) == 0 && len(f.list) == 0 {
		f.add("script", "min", "must have at least one entry, such as 200")
	}
	return err
}

// add reads one entry. An entry that is not valid is kept empty, so that the
// numbers of the others stay.
func (s *Script) add(value []byte, path string, f *faults) {
	e := scriptEntry{last: s.end() + 1}
	if e.last <= 0 {
		f.add(path, "unreachable", "is never reached: an entry before it is repeated always")
	}
	switch {
	case isObject(value):
		s.addObject(value, path, &e, f)
	case isNumber(value), isString(value):
		if status, ok := integer(value); ok {
			e.members = strconv.AppendInt([]byte(`"statusCode":`), status, 10)
		} else if code := failureNames[stringOrEmpty(value)]; code != "" {
			e.members = strconv.AppendQuote([]byte(`"error":{"code":`), code)
			e.members = append(e.members, '}')
		} else {
			f.add(path, "one_of", scriptForms)
		}
	default:
		f.add(path, "one_of", scriptForms)
	}
	s.entries = append(s.entries, e)
}

// end is the number of the last call that the script tells of.
func (s *Script) end() int64 {
	if len(s.entries) == 0 {
		return 0
	}
	return s.entries[len(s.entries)-1].last
}

func (s *Script) addObject(value []byte, path string, e *scriptEntry, f *faults) {
	o := &Object{path: path + "."}
	if err := o.read(value); err != nil { // it has been read before: cannot fail
		f.add(path, "one_of", scriptForms)
		return
	}
	if repeat, ok := o.get("repeat"); ok {
		if stringOrEmpty(repeat) == "always" {
			e.last = math.MaxInt64
		} else if n, ok := integer(repeat); !ok || n < 1 {
			o.fault("repeat", "min", `must be an integer of 1 or more, or "always"`)
		} else if e.last += n - 1; e.last < n { // past the largest integer
			e.last = math.MaxInt64
		}
	}
	if status, ok := o.get("status"); ok {
		e.members = append(append(e.members, `"statusCode":`...), status...)
		if after, ok := o.get("retry_after"); ok {
			e.members = append(append(append(e.members, `,"headers":{"retry-after":`...), after...), '}')
		}
	} else {
		for _, name := range []string{"statusCode", "headers", "body", "data", "statusMessage", "error", "details"} {
			if v, ok := o.get(name); ok {
				e.members = appendMember(e.members, []byte(`"`+name+`"`), v)
			}
		}
		if e.members == nil {
			o.fault("status", "required", "is missing: send status, statusCode or error")
		}
	}
	var invalid *InvalidError
	if errors.As(o.Err(), &invalid) {
		f.list = append(f.list, invalid.Faults...)
		e.members = nil
	}
}

// check reads every entry once as the item that it makes, so that the rules
// for state, policy and envelope are those of an item.
func (s *Script) check(now time.Time, f *faults) {
	checked := false
	for n, e := range s.entries {
		if e.members != nil {
			s.checkEntry(e, fmt.Sprintf("script.%d.", n), now, f)
			checked = true
		}
	}
	if !checked { // the state's own faults are told all the same
		s.checkEntry(scriptEntry{members: []byte(`"statusCode":200`)}, "", now, f)
	}
}

func (s *Script) checkEntry(e scriptEntry, path string, now time.Time, f *faults) {
	it, err := Decode(s.item(e), now)
	var invalid *InvalidError
	if err == nil {
		it.Release()
	} else if !errors.As(err, &invalid) {
		f.add(path, "one_of", scriptForms)
		return
	} else {
		for _, fault := range invalid.Faults {
			if isOfEnvelope(fault.Field) {
				fault.Field, fault.Message = path+fault.Field, path+fault.Message
			}
			if !slices.Contains(f.list, fault) {
				f.list = append(f.list, fault)
			}
		}
	}
}

// isOfEnvelope tells a fault of what the call gave from one of the state.
func isOfEnvelope(path string) bool {
	top := path
	for i := range path {
		if path[i] == '.' {
			top = path[:i]
			break
		}
	}
	f := fieldOf([]byte(top))
	return f >= fStatusCode && f <= fDetails
}

// Item gives the item after the given call has ended, the operation's first
// call in the script being 1. Its state is that of the first item. now is the
// clock at that moment. ok is false when the script tells of no such call.
func (s *Script) Item(call int64, now time.Time) (it *Item, entry int, ok bool) {
	for n, e := range s.entries {
		if call > e.last {
			continue
		}
		it, err := Decode(s.item(e), now)
		return it, n, err == nil
	}
	return nil, 0, false
}

// Size is the length of the text that is read for the longest entry, in bytes.
func (s *Script) Size() int {
	longest := 0
	for _, e := range s.entries {
		longest = max(longest, len(e.members))
	}
	return len(s.state) + longest
}

func (s *Script) item(e scriptEntry) []byte {
	out := make([]byte, 0, len(s.state)+len(e.members)+3)
	out = append(append(out, '{'), s.state...)
	if len(s.state) > 0 && len(e.members) > 0 {
		out = append(out, ',')
	}
	return append(append(out, e.members...), '}')
}

func appendMember(dst, rawName, value []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return append(append(append(dst, rawName...), ':'), value...)
}
