package planner

import "math"

// Safety is what the caller says about repeating the operation.
type Safety uint8

// The values of policy.safe_to_retry.
const (
	SafetyUnsaid Safety = iota // decided from the method and the idempotency key
	SafetyVouched
	SafetyForbidden
)

// Jitter is the way in which the exponential part is spread.
type Jitter uint8

// The values of policy.jitter; section 3 of the wire contract has the formulas.
const (
	JitterNone Jitter = iota
	JitterFull
	JitterEqual
	JitterDecorrelated
)

// Policy holds the caller's choices. DefaultPolicy gives the contract's
// defaults; the zero value retries nothing.
type Policy struct {
	RetryStatuses StatusSet
	Safety        Safety
	MaxWait       float64 // longest single wait, seconds; +Inf for no limit
	UntilDeadline float64 // seconds from now to the deadline; +Inf for none
	Jitter        Jitter
	Spread        float64 // largest random extra on top of the wait, seconds
}

// DefaultPolicy is the policy of an item that brings none.
func DefaultPolicy() Policy { return defaultPolicy }

var defaultPolicy = Policy{
	RetryStatuses: NewStatusSet(408, 425, 429, 500, 502, 503, 504),
	MaxWait:       math.Inf(1),
	UntilDeadline: math.Inf(1),
}

// StatusSet is a set of HTTP status codes, 0 to 639, as a value.
type StatusSet [10]uint64

// NewStatusSet makes a set of the codes given; codes outside 0 to 639 are
// left out.
func NewStatusSet(codes ...int) StatusSet {
	var s StatusSet
	for _, c := range codes {
		if c >= 0 && c < 640 {
			s[c/64] |= 1 << (c % 64)
		}
	}
	return s
}

// Has tells whether code is in the set.
func (s *StatusSet) Has(code int) bool {
	return code >= 0 && code < 640 && s[code/64]&(1<<(code%64)) != 0
}
