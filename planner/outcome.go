package planner

// Class says what is known about a call that has ended.
type Class uint8

// The classes of an outcome. Those from Answered to Refused are responses,
// the others are failures before a response was read.
const (
	Answered       Class = iota // a response; its status decides
	RateLimited                 // a response that refuses the call because of a limit, whatever its status
	Overloaded                  // a response that says "not now", whatever its status
	QuotaExhausted              // a response that says the quota, not the rate, is used up
	Refused                     // a response whose provider says that repeating cannot help
	Unreached                   // the call never reached the server
	Unknown                     // the call may have been processed
	Permanent                   // bad certificate, bad URL, unsupported protocol
	Cancelled                   // the caller cancelled the call
)

// String gives the name that explanations use.
func (c Class) String() string {
	names := [...]string{"response", "rate_limited", "overloaded", "quota_exhausted", "refused",
		"never_reached", "unknown", "permanent", "cancelled"}
	if int(c) < len(names) {
		return names[c]
	}
	return "response"
}

// Successful tells whether a status is a 2xx (RFC 9110 §15.3).
func Successful(status int) bool { return status >= 200 && status <= 299 }

// Outcome is what the call gave.
type Outcome struct {
	Class  Class
	Status int // HTTP status; 0 when no response was read

	// Floor is the server's minimum wait in seconds: 0 when it gave none,
	// +Inf when it is too large for the machine.
	Floor float64

	// BadRetryAfter is set when the server's main hint is there but cannot be
	// read, so that its minimum is not known.
	BadRetryAfter bool

	// NotProcessed is set when the provider's documentation says that a
	// request refused like this one was not processed.
	NotProcessed bool
}
