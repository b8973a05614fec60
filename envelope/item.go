package envelope

import (
	"sync"
	"time"

	"n8n-retry-planner/gate"
	"n8n-retry-planner/planner"
)

// itemMember is one member of an item: where its name and its value were
// written. Members of the caller's own that follow each other without blanks
// are one, whose value goes on to the end of the last: an item may have millions.
type itemMember struct {
	name, value span
	field       field
}

// Item is one decoded n8n item: what the call gave, where the loop stands, and
// the caller's own members. It points into the text that it was read from.
type Item struct {
	Outcome planner.Outcome
	State   planner.State
	Request planner.Request
	Policy  planner.Policy
	TaskID  string // "" when there is none

	Gate   *gate.Spec // nil when the item has none
	Permit string     // of the gate; "" when there is none

	// WantsExplanation is policy.explain.
	WantsExplanation bool

	scan    *scanner
	raw     []byte // the text that it was read from
	members []itemMember
	named   itemMember       // its value is to come
	place   [numFields]int32 // 1 + the index in members, 0 when absent
	headers headers
	policy  members
	inner   *Item // takes the members of json, in a batch

	failed   bool // the outcome is an n8n error item
	dialect  *Dialect
	response response
	reading  reading
}

var items = sync.Pool{New: func() any { return &Item{scan: new(scanner)} }}

// Decode reads one item, the whole body of POST /v1/plan. now is the clock for
// dates and the deadline. The item points into raw, which must not change
// until Release.
//
// It gives a *MalformedError when raw is not one JSON object, and an
// *InvalidError when a field is missing or against its rule.
func Decode(raw []byte, now time.Time) (*Item, error) {
	return decodeWith(raw, now, (*Item).interpret)
}

// DecodeAdmit reads one item, the whole body of POST /v1/admit. It is like
// Decode, but the call is still to come: there need not be an outcome, and one
// of an earlier call is not looked at; a gate must be there.
func DecodeAdmit(raw []byte, now time.Time) (*Item, error) {
	return decodeWith(raw, now, (*Item).interpretAdmit)
}

func decodeWith(raw []byte, now time.Time, interpret func(*Item, time.Time) error) (*Item, error) {
	it := items.Get().(*Item)
	err := it.decode(raw)
	if err == nil {
		err = interpret(it, now)
	}
	if err != nil {
		it.Release()
		return nil, err
	}
	return it, nil
}

// Input gives what the planner decides about. The draws come from the task_id
// where there is one, and are asked of random otherwise.
func (it *Item) Input(random func() planner.Draws) planner.Input {
	in := planner.Input{Outcome: it.Outcome, State: it.State, Request: it.Request, Policy: it.Policy}
	if it.TaskID != "" {
		in.Draws = planner.DrawsFor(it.TaskID, it.State.Attempts)
	} else {
		in.Draws = random()
	}
	return in
}

func (it *Item) decode(raw []byte) error {
	i, err := it.scan.start(raw)
	if err != nil {
		return err
	}
	isItem := raw[i] == '{'
	if i, err = it.read(it.scan, i); err == nil {
		err = it.scan.end(i)
	}
	if err != nil {
		return err
	}
	if !isItem {
		return &MalformedError{Problem: "the body is not a JSON object; send the item's fields as one object", Offset: -1}
	}
	return nil
}

// Release gives the item back for reuse. It must not be used afterwards.
func (it *Item) Release() {
	it.clear()
	it.scan.release()
	// A caller's many members must not stay in memory for ever.
	if cap(it.members) > 1024 || cap(it.headers) > 1024 || cap(it.policy) > 1024 {
		return
	}
	items.Put(it)
}

func (it *Item) clear() {
	clear(it.headers)
	clear(it.policy)
	*it = Item{scan: it.scan, members: it.members[:0], headers: it.headers[:0], policy: it.policy[:0]}
}

// read reads the value that begins at i in s and takes the members of an object.
// It takes member by member: to split the whole text afterwards would be a
// second walk through a large body.
func (it *Item) read(s *scanner, i int) (end int, err error) {
	it.raw = s.raw
	return s.value(i, it)
}

func (it *Item) takeName(name, _ []byte, at span) receiver {
	it.named = itemMember{name: at, field: fieldOf(name)}
	switch {
	case it.named.field == fHeaders:
		return &it.headers
	case it.named.field == fPolicy:
		return &it.policy
	case it.named.field == fJSON && it.inner != nil:
		return it.inner
	}
	return nil
}

func (it *Item) takeValue(_ []byte, at span) {
	it.named.value = at
	if last := len(it.members) - 1; last >= 0 && it.members[last].goesOnWith(&it.named) {
		it.members[last].value.end = at.end
		return
	}
	it.members = append(it.members, it.named)
	if it.named.field != callersOwn {
		it.place[it.named.field] = int32(len(it.members))
	}
}

// goesOnWith tells whether both are the caller's own and one piece of text.
func (m *itemMember) goesOnWith(next *itemMember) bool {
	return m.field == callersOwn && next.field == callersOwn && m.isCompact() && next.isCompact() &&
		next.name.start == m.value.end+int32(len(","))
}

// isCompact tells whether there is nothing but the colon between name and value.
func (m *itemMember) isCompact() bool { return m.value.start == m.name.end+int32(len(":")) }

// get gives the value of a contract field; ok is false when it is absent or
// null.
func (it *Item) get(f field) (value []byte, ok bool) {
	at := it.place[f]
	if at == 0 {
		return nil, false
	}
	value = it.members[at-1].value.of(it.raw)
	return value, !isNull(value)
}
