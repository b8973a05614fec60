package planner

import "strings"

// Idempotent tells whether a method may be repeated by its definition
// (RFC 9110 §9.2.2). Names are compared without case.
func Idempotent(method string) bool {
	switch len(method) {
	case 3, 4, 5, 6, 7:
	default:
		return false
	}
	for _, m := range [...]string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"} {
		if strings.EqualFold(m, method) {
			return true
		}
	}
	return false
}

// mayRepeat tells whether the call may be made again as far as safety goes.
// The caller's word comes first, then what is known of the outcome, then the
// request itself.
func mayRepeat(o *Outcome, r *Request, s Safety) bool {
	switch {
	case s == SafetyForbidden:
		return false
	case s == SafetyVouched, o.Class == Unreached, o.NotProcessed, r.IdempotencyKey:
		return true
	case r.Method == "":
		// A response shows that the server has answered for this call; with no
		// response and no method nothing is known.
		return o.Class != Unknown
	}
	return Idempotent(r.Method)
}
