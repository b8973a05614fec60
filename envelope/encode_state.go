package envelope

// stateAnswer is an answer that gives the whole item back with some fields
// changed.
type stateAnswer interface {
	// fields are what may be set, in the order in which new ones follow.
	fields() []field
	// fateOf tells what becomes of a field.
	fateOf(f field) fate
	// appendValue appends the new value of a field that is set.
	appendValue(dst []byte, f field) []byte
}

// fate is what an answer does with a field.
type fate uint8

const (
	stays fate = iota
	goes       // does not come back
	isSet      // has a new value
)

// when gives the fate where it applies; elsewhere the field stays.
func (f fate) when(applies bool) fate {
	if applies {
		return f
	}
	return stays
}

// names are the names of the fields that answers set.
var names = [numFields]string{
	fErrorCode: "error_code", fAttempts: "attempts", fLastStatus: "last_status", fDecision: "decision",
	fNextRequest: "next_request", fWaitSeconds: "wait_seconds", fElapsedWait: "elapsed_wait", fExplain: "explain",
	fPermit: "permit", fGateBypassed: "gate_bypassed",
}

// appendState appends the item as s changes it. What stays is copied byte for
// byte, members without blanks between them in one piece; fields that were there
// keep their place, new ones follow.
func appendState[S stateAnswer](dst []byte, it *Item, s S) []byte {
	dst = append(dst, '{')
	start := len(dst)
	var piece span // members that stay and are not copied yet
	for i := range it.members {
		m := &it.members[i]
		what := stays
		if m.field != callersOwn {
			what = s.fateOf(m.field)
		}
		if what == goes {
			continue
		}
		isCompact := m.isCompact()
		if what == stays && isCompact && piece.end > 0 && m.name.start == piece.end+int32(len(",")) {
			piece.end = m.value.end
			continue
		}
		dst = appendMembers(dst, start, piece.of(it.raw))
		if piece = (span{}); what == stays && isCompact {
			piece = span{m.name.start, m.value.end}
			continue
		}
		dst = append(appendMembers(dst, start, m.name.of(it.raw)), ':')
		if what == isSet {
			dst = s.appendValue(dst, m.field)
		} else {
			dst = append(dst, m.value.of(it.raw)...)
		}
	}
	dst = appendMembers(dst, start, piece.of(it.raw))
	for _, f := range s.fields() {
		if it.place[f] == 0 && s.fateOf(f) == isSet {
			if len(dst) > start {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, '"'), names[f]...), '"', ':')
			dst = s.appendValue(dst, f)
		}
	}
	return append(dst, '}')
}

// appendMembers appends a piece of an object whose first member is at start.
func appendMembers(dst []byte, start int, piece []byte) []byte {
	if len(piece) > 0 && len(dst) > start {
		dst = append(dst, ',')
	}
	return append(dst, piece...)
}
