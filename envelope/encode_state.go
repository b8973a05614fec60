package envelope

// stateAnswer is an answer that gives the whole item back with some fields set.
type stateAnswer interface {
	// fields are what may be set, in the order in which new ones follow.
	fields() []field
	// drops tells whether a member does not come back.
	drops(m *member) bool
	// appendSet appends the new value of a field; set is false for one that
	// stays as it is.
	appendSet(dst []byte, f field) (out []byte, set bool)
}

// names are the names of the fields that answers set.
var names = [numFields]string{
	fErrorCode: "error_code", fAttempts: "attempts", fLastStatus: "last_status", fDecision: "decision",
	fNextRequest: "next_request", fWaitSeconds: "wait_seconds", fElapsedWait: "elapsed_wait", fExplain: "explain",
	fPermit: "permit", fGateBypassed: "gate_bypassed",
}

// appendState appends the item as s changes it. Members that stay are copied
// byte for byte; fields that were there keep their place, new ones follow.
func appendState[S stateAnswer](dst []byte, it *Item, s S) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for i := range it.members {
		m := &it.members[i]
		if s.drops(m) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(append(dst, m.rawName...), ':')
		var set bool
		if dst, set = s.appendSet(dst, m.field); !set {
			dst = append(dst, m.value...)
		}
	}
	for _, f := range s.fields() {
		if it.place[f] != 0 {
			continue
		}
		before := len(dst)
		if before > start {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), names[f]...), '"', ':')
		var set bool
		if dst, set = s.appendSet(dst, f); !set {
			dst = dst[:before]
		}
	}
	return append(dst, '}')
}
