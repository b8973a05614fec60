// Package planner decides what a workflow does after a call has ended: go on,
// call again after a wait, put the work off, stop, or ask a person.
//
// It is pure: the outcome, the state, the policy and the random draws come in
// as values and a Decision goes out. It reads no clock, draws no numbers,
// allocates nothing and uses the standard library alone. Every duration is in
// seconds.
package planner

// Input is all that one decision depends on.
type Input struct {
	Outcome Outcome
	State   State
	Request Request
	Policy  Policy
	Draws   Draws
}

// State says where the retry loop stands.
type State struct {
	Attempts    int64   // the number of the call that has just ended, 1 for the first
	MaxAttempts int64   // calls allowed in all, the first one included
	Base        float64 // exponential part after the first call, seconds, > 0
	ExpCap      float64 // upper limit of the exponential part alone, seconds, > 0
	Budget      float64 // the sum of all waits of the operation, seconds, >= 0
	Elapsed     float64 // waits planned so far, seconds, >= 0
	LastWait    float64 // the wait before the call that has just ended, seconds; 0 when there was none
}

// Request is what is known of the call that would be repeated.
type Request struct {
	Method         string // HTTP method, in any case; "" when it is not known
	IdempotencyKey bool   // the call carries an Idempotency-Key
}

// Plan decides what comes after in.Outcome. The rules are tried in the order
// of section 2 of the wire contract; the first that applies decides.
//
// For a retry, Wait is not shorter than the server's floor, not longer than
// Policy.MaxWait, ends before the deadline, and ElapsedWait does not exceed
// State.Budget.
func Plan(in *Input) Decision {
	if d, done := settled(&in.Outcome, &in.Policy); done {
		d.Attempts = in.State.Attempts
		return d
	}
	d := Decision{Attempts: in.State.Attempts}
	if in.Outcome.Class == QuotaExhausted {
		return d.end(Defer, CodeQuotaExhausted)
	}
	if !mayRepeat(&in.Outcome, &in.Request, in.Policy.Safety) {
		if in.Outcome.Class == Unknown {
			return d.end(Escalate, CodeUnknownOutcome)
		}
		return d.end(Escalate, CodeRetryNotSafe)
	}
	if in.Outcome.BadRetryAfter {
		return d.end(Stop, CodeInvalidRetryAfter)
	}
	d.Parts = waitParts(in)
	d.Wait = max(d.Local, d.Floor)
	if in.State.Attempts >= in.State.MaxAttempts {
		return d.end(Exhausted, CodeAttemptsExhausted)
	}
	if code := Misfit(d.Wait, &in.State, &in.Policy); code != "" {
		return d.end(Defer, code)
	}
	d.Wait, d.Spread = withSpread(d.Wait, in)
	d.Verb = Retry
	d.Attempts++
	d.ElapsedWait = in.State.Elapsed + d.Wait
	return d
}

// settled handles the outcomes after which neither safety nor waiting matters.
func settled(o *Outcome, p *Policy) (Decision, bool) {
	switch o.Class {
	case Cancelled:
		return Decision{Verb: Stop, Code: CodeCancelled}, true
	case Permanent:
		return Decision{Verb: Stop, Code: CodeNetworkPermanent}, true
	case Refused:
		return Decision{Verb: Stop, Code: CodeStatusNotRetryable}, true
	case QuotaExhausted, Unreached, Unknown:
		return Decision{}, false
	case Answered:
		if Successful(o.Status) {
			return Decision{Verb: Success}, true
		}
	}
	if !retryable(o, p) {
		return Decision{Verb: Stop, Code: CodeStatusNotRetryable}, true
	}
	return Decision{}, false
}

// retryable tells whether the policy lets this response be retried. A response
// that its provider declares rate limited or overloaded may carry any status
// (GitHub's 403, Anthropic's 529): it counts as the 429 or the 503 that it
// means.
func retryable(o *Outcome, p *Policy) bool {
	switch {
	case p.RetryStatuses.Has(o.Status):
		return true
	case o.Class == RateLimited:
		return p.RetryStatuses.Has(429)
	case o.Class == Overloaded:
		return p.RetryStatuses.Has(503)
	}
	return false
}

// After gives the state of the next call after a retry, as the answer's
// attempts, elapsed_wait and wait_seconds carry it there.
func (s State) After(d *Decision) State {
	s.Attempts, s.Elapsed, s.LastWait = d.Attempts, d.ElapsedWait, d.Wait
	return s
}
