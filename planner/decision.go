package planner

// Verb is the decision in one word, as it stands in the answer.
type Verb string

// The decisions. All but Retry are terminal.
const (
	Retry     Verb = "retry"     // call again after Wait
	Success   Verb = "success"   // the call did what it should
	Exhausted Verb = "exhausted" // no calls left
	Defer     Verb = "defer"     // worth trying later, outside this execution
	Stop      Verb = "stop"      // repeating cannot help
	Escalate  Verb = "escalate"  // a person or a reconciliation must look first
)

// Code is the error_code of an answer; empty for a retry and a success.
type Code string

// The error codes of decisions, section 2 of the wire contract.
const (
	CodeAttemptsExhausted  Code = "retry_attempts_exhausted"
	CodeWaitBudgetExceeded Code = "retry_wait_budget_exceeded"
	CodeMaxWaitExceeded    Code = "retry_max_wait_exceeded"
	CodeDeadlineExceeded   Code = "retry_deadline_exceeded"
	CodeQuotaExhausted     Code = "quota_exhausted"
	CodeStatusNotRetryable Code = "status_not_retryable"
	CodeInvalidRetryAfter  Code = "invalid_retry_after"
	CodeNetworkPermanent   Code = "network_permanent"
	CodeCancelled          Code = "cancelled"
	CodeUnknownOutcome     Code = "unknown_outcome"
	CodeRetryNotSafe       Code = "retry_not_safe"
)

// Decision is the answer to one outcome.
type Decision struct {
	Verb        Verb
	Code        Code
	Attempts    int64   // a retry: the number of the next call; otherwise of the one that has ended
	Wait        float64 // seconds to wait; of a defer, the wait that did not fit
	ElapsedWait float64 // a retry: all waits planned so far, this one included, seconds
	Parts
}

// Parts are the pieces that the wait was made of, seconds each, kept so that
// every answer can be explained. They are zero where no wait was worked out.
type Parts struct {
	Exponential float64 // min(exp_cap, base · 2^(attempts-1))
	JitterLow   float64 // the range from which the local part was drawn
	JitterHigh  float64
	Local       float64 // the exponential part after jitter
	Floor       float64 // the server's minimum
	Spread      float64 // the random extra on top
}

func (d Decision) end(v Verb, c Code) Decision {
	d.Verb, d.Code = v, c
	return d
}
