package gate

import "context"

// Store is the memory that workers share. Both operations are atomic and are
// safe for use by many goroutines. An error means that the store could not be
// asked in time; nothing about the item itself is an error.
type Store interface {
	// Admit says whether the call may start now. It reserves a place when
	// the answer is [Wait] and nothing when it is [Refused].
	Admit(ctx context.Context, r AdmitRequest) (Verdict, error)
	// Report frees a permit and tells the store how its call ended. A permit
	// that is unknown, expired or reported before changes nothing.
	Report(ctx context.Context, r ReportRequest) (Receipt, error)
}

// Spec is the item's gate object: what shares the limits, and the limits. A
// nil part is not applied. The caller has checked the values; a store keeps
// values out of range harmless by moving them to the nearest legal one.
type Spec struct {
	Resource    string // names what shares the limits: an account, a key, a host
	Tenant      string // separates rate and retry budget inside the resource
	Rate        *Rate
	InFlight    *InFlight
	Breaker     *Breaker
	RetryBudget *RetryBudget
}

// Rate allows Limit starts (at least 1) in any stretch of Window seconds (> 0).
type Rate struct {
	Limit  int64
	Window float64
}

// InFlight allows Limit permits (at least 1) out at once; one that is never
// reported frees itself after Lease seconds (> 0).
type InFlight struct {
	Limit int64
	Lease float64
}

// Breaker opens after Threshold failures in a row (at least 1) for ResetAfter
// seconds (> 0).
type Breaker struct {
	Threshold  int64
	ResetAfter float64
}

// RetryBudget allows, within Window seconds (> 0), as many retries as the
// larger of Min and Ratio times the calls (both at least 0).
type RetryBudget struct {
	Ratio  float64
	Min    int64
	Window float64
}

// AdmitRequest asks for one call.
type AdmitRequest struct {
	Spec
	TaskID string // claims the task when not empty
	Permit string // of an earlier answer; empty for the first ask
	Retry  bool   // the call repeats an earlier one: attempts > 1
	// MaxWait is the longest wait in seconds that the caller accepts, +Inf for
	// any. For a bound that must not be reached, such as a deadline, give the
	// next smaller number.
	MaxWait float64
}

// ReportRequest tells how an admitted call ended.
type ReportRequest struct {
	Spec
	TaskID  string
	Permit  string
	Outcome Outcome
	Hold    float64 // seconds the server asked to be left alone (Retry-After and the like); 0 for none
}

// Outcome is what the breaker learns from a call.
type Outcome int

const (
	Neutral Outcome = iota // says nothing about the server's health: cancelled, or never sent
	Success                // a response below 500
	Failure                // no response, or a status of 500 and above
)

// Decision is the answer to an admit.
type Decision int

const (
	Refused Decision = iota // do not call; nothing is reserved
	Go                      // the call may start now
	Wait                    // ask again with the permit after the wait
)

// Reason says why the answer is not go. The text is the wire's error code,
// but for [DoesNotFit], whose code depends on the limit that the caller broke.
type Reason string

const (
	RateWindowFull   Reason = "rate_window_full"
	InFlightFull     Reason = "in_flight_full"
	ResourceOnHold   Reason = "resource_on_hold"
	DoesNotFit       Reason = "wait_does_not_fit"
	CircuitOpen      Reason = "circuit_open"
	RetryBudgetSpent Reason = "retry_budget_spent"
	AlreadyActive    Reason = "already_active"
	Unavailable      Reason = "gate_unavailable" // only from [Guarded]
)

// BreakerState is the state of the resource's breaker after an operation.
type BreakerState int

const (
	Unsaid BreakerState = iota // the item has no breaker, or the store did not look at it
	Closed
	Open
	HalfOpen
)

// Verdict is the answer to an admit.
type Verdict struct {
	Decision Decision
	Reason   Reason // empty on go
	// Wait is in seconds, whole milliseconds, rounded up. On DoesNotFit it is
	// the wait that did not fit, +Inf when the queue itself is full.
	Wait     float64
	Permit   string // a UUID; empty when refused
	Probe    bool   // the one call of a half-open breaker
	Breaker  BreakerState
	Bypassed bool // only from [Guarded]: the store was not asked
}

// Receipt is the answer to a report.
type Receipt struct {
	Known bool // the permit was live and has been freed
	// Hold is the rest of the resource's hold in seconds, whole milliseconds,
	// rounded up; whichever worker's server announced it. 0 without one.
	Hold    float64
	Breaker BreakerState
	Changed bool // this report opened or closed the breaker
	// Bypassed, only from [Guarded]: the store did not take the report.
	Bypassed bool
}
