package envelope

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// BatchTooLargeError says that a batch has more items than are taken
// (error_code batch_too_large).
type BatchTooLargeError struct{ Limit int }

func (e *BatchTooLargeError) Error() string {
	return fmt.Sprintf("the batch has more than %d items; send it in several calls", e.Limit)
}

// Element is one element of a batch: the item, flat or inside an n8n item
// ({"json": …, "pairedItem": …}).
type Element struct {
	Item    *Item
	Invalid *InvalidError // set when the item is not valid; then only Append may be used

	outer *Item // the n8n item around it, nil for a flat one
	at    span  // where the element was written
}

// DecodeBatch reads the body of POST /v1/plan/batch and calls each with every
// element in order. The element may be used until each returns: the next one
// takes its place.
//
// It gives a *MalformedError when raw is not one JSON array and a
// *BatchTooLargeError past limit items. An item that is not valid is no error
// of the batch: its element says so. The work stops with an error that each
// gives, and with that of ctx when it ends, for example because the caller has
// gone away.
func DecodeBatch(ctx context.Context, raw []byte, limit int, now time.Time, each func(*Element) error) error {
	s := new(scanner)
	i, err := s.start(raw)
	if err != nil {
		return err
	}
	if raw[i] != '[' {
		if _, err := s.value(i, nil); err != nil {
			return err
		}
		return &MalformedError{Problem: "the body is not a JSON array; send the items as one array", Offset: -1}
	}
	outer, inner := items.Get().(*Item), items.Get().(*Item)
	defer outer.Release()
	defer inner.Release()
	var e Element
	i, more, err := s.openArray(i)
	for n := 0; more; n++ {
		if n == limit {
			return &BatchTooLargeError{Limit: limit}
		}
		if n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if i, err = e.decode(s, i, outer, inner, now); err != nil {
			return err
		}
		if err := each(&e); err != nil {
			return err
		}
		i, more, err = s.nextElement(i)
	}
	if err != nil {
		return err
	}
	return s.end(i)
}

// decode reads the element that begins at i into the items that it is given,
// and gives the offset of its end.
func (e *Element) decode(s *scanner, i int, outer, inner *Item, now time.Time) (end int, err error) {
	if outer.place[fJSON] != 0 { // the element before may have used it
		inner.clear()
	}
	outer.clear()
	outer.inner, inner.raw = inner, s.raw
	if end, err = outer.read(s, i); err != nil {
		return 0, err
	}
	*e = Element{Item: outer, at: span{int32(i), int32(end)}}
	if s.raw[i] != '{' {
		e.Invalid = &InvalidError{Attempts: 1, Faults: []Fault{
			{Field: "", Rule: "object", Message: "the item is not an object; send its fields as one object"}}}
		return end, nil
	}
	if value, ok := outer.n8nJSON(); ok {
		if e.outer = outer; !isObject(value) {
			e.Invalid = &InvalidError{Attempts: 1, Faults: []Fault{
				{Field: "json", Rule: "object", Message: "json is not an object; send the item's fields as one object"}}}
			return end, nil
		}
		e.Item = inner
	}
	if err := e.Item.interpret(now); err != nil && !errors.As(err, &e.Invalid) {
		return 0, err
	}
	return end, nil
}

// n8nJSON gives the json of an n8n item. An item that has state fields beside
// it is a flat one whose caller has a field of that name.
func (it *Item) n8nJSON() ([]byte, bool) {
	value, ok := it.get(fJSON)
	if !ok || it.place[fMaxAttempts] != 0 || it.place[fStatusCode] != 0 {
		return nil, false
	}
	return value, true
}

// Append appends the element's answer in the element's own form: answer
// appends the answer to an item, and is not called for one that is not valid.
func (e *Element) Append(dst []byte, answer func(dst []byte, it *Item) []byte) []byte {
	if e.outer == nil {
		return e.appendBare(dst, answer)
	}
	json := e.outer.members[e.outer.place[fJSON]-1].value
	dst = append(dst, e.outer.raw[e.at.start:json.start]...)
	dst = e.appendBare(dst, answer)
	return append(dst, e.outer.raw[json.end:e.at.end]...)
}

// appendBare appends the answer without an n8n item around it.
func (e *Element) appendBare(dst []byte, answer func(dst []byte, it *Item) []byte) []byte {
	if e.Invalid != nil {
		return appendInvalid(dst, e.Invalid)
	}
	return answer(dst, e.Item)
}

// appendInvalid appends the answer to an item of a batch that is not valid
// (contract section 4).
func appendInvalid(dst []byte, e *InvalidError) []byte {
	dst = append(dst, `{"error_code":"invalid_state","attempts":`...)
	dst = strconv.AppendInt(dst, e.Attempts, 10)
	dst = append(dst, `,"last_status":`...)
	dst = appendStatus(dst, e.LastStatus)
	dst = append(dst, `,"decision":"stop","next_request":false,"errors":`...)
	list, err := json.Marshal(e.Faults)
	if err != nil { // strings alone: cannot fail
		list = []byte("[]")
	}
	return append(append(dst, list...), '}')
}
