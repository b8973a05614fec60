package planner

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each row of the decision table in section 2 of the contract, at its edge.
func TestPlanDecides(t *testing.T) {
	tests := []struct {
		name   string
		change []func(*Input)
		verb   Verb
		code   Code
	}{
		{"429 is retried", nil, Retry, ""},
		{"200 is a success", []func(*Input){answered(200)}, Success, ""},
		{"299 is still a success", []func(*Input){answered(299)}, Success, ""},
		{"300 is no success", []func(*Input){answered(300)}, Stop, CodeStatusNotRetryable},
		{"199 is no success", []func(*Input){answered(199)}, Stop, CodeStatusNotRetryable},
		{"404 is not retried", []func(*Input){answered(404)}, Stop, CodeStatusNotRetryable},
		{"501 is not among the default statuses", []func(*Input){answered(501)}, Stop, CodeStatusNotRetryable},
		{"200 is a success even when it is in retry_statuses", []func(*Input){answered(200),
			func(in *Input) { in.Policy.RetryStatuses = NewStatusSet(200) }}, Success, ""},
		{"404 is retried when the policy says so", []func(*Input){answered(404),
			func(in *Input) { in.Policy.RetryStatuses = NewStatusSet(404) }}, Retry, ""},
		{"an empty set retries nothing", []func(*Input){
			func(in *Input) { in.Policy.RetryStatuses = StatusSet{} }}, Stop, CodeStatusNotRetryable},
		{"the last call exhausts", []func(*Input){func(in *Input) { in.State.Attempts = 5 }}, Exhausted, CodeAttemptsExhausted},
		{"the call before the last does not", []func(*Input){func(in *Input) { in.State.Attempts = 4 }}, Retry, ""},
		{"past the last call exhausts", []func(*Input){func(in *Input) { in.State.Attempts = 6 }}, Exhausted, CodeAttemptsExhausted},
		{"the largest number of calls does not overflow", []func(*Input){func(in *Input) {
			in.State.Attempts, in.State.MaxAttempts = math.MaxInt64, math.MaxInt64
		}}, Exhausted, CodeAttemptsExhausted},
		{"a wait of just the budget fits", []func(*Input){floor(120)}, Retry, ""},
		{"a wait over the budget does not", []func(*Input){floor(120.001)}, Defer, CodeWaitBudgetExceeded},
		{"elapsed waits count", []func(*Input){floor(60), func(in *Input) { in.State.Elapsed = 60.5 }}, Defer, CodeWaitBudgetExceeded},
		{"elapsed over the budget leaves nothing", []func(*Input){func(in *Input) {
			in.State.Elapsed, in.Policy.Jitter = 121, JitterFull
		}}, Defer, CodeWaitBudgetExceeded},
		{"an endless wait without a deadline is over the budget", []func(*Input){floor(math.Inf(1))}, Defer, CodeWaitBudgetExceeded},
		{"a wait of just max_wait fits", []func(*Input){floor(7), func(in *Input) { in.Policy.MaxWait = 7 }}, Retry, ""},
		{"a wait over max_wait does not", []func(*Input){floor(8), func(in *Input) { in.Policy.MaxWait = 7 }}, Defer, CodeMaxWaitExceeded},
		{"a call at the deadline is too late", []func(*Input){floor(7), func(in *Input) { in.Policy.UntilDeadline = 7 }}, Defer, CodeDeadlineExceeded},
		{"a call before the deadline is not", []func(*Input){floor(7), func(in *Input) { in.Policy.UntilDeadline = 7.001 }}, Retry, ""},
		{"a deadline that is past", []func(*Input){func(in *Input) { in.Policy.UntilDeadline = -3 }}, Defer, CodeDeadlineExceeded},
		{"an endless wait with a deadline is past it", []func(*Input){floor(math.Inf(1)),
			func(in *Input) { in.Policy.UntilDeadline = 1e9 }}, Defer, CodeDeadlineExceeded},
		{"a quota that is used up", []func(*Input){func(in *Input) { in.Outcome.Class = QuotaExhausted }}, Defer, CodeQuotaExhausted},
		{"an invalid Retry-After", []func(*Input){func(in *Input) { in.Outcome.BadRetryAfter = true }}, Stop, CodeInvalidRetryAfter},
		{"a bad certificate", []func(*Input){failed(Permanent)}, Stop, CodeNetworkPermanent},
		{"a call that was cancelled", []func(*Input){failed(Cancelled)}, Stop, CodeCancelled},
		{"a time-out of a POST", []func(*Input){failed(Unknown), method("POST")}, Escalate, CodeUnknownOutcome},
		{"a 429 to a POST", []func(*Input){method("POST")}, Escalate, CodeRetryNotSafe},
		{"a provider's final refusal", []func(*Input){func(in *Input) { in.Outcome.Class = Refused }}, Stop, CodeStatusNotRetryable},
		{"a rate limit under another status counts as 429", []func(*Input){answered(403),
			func(in *Input) { in.Outcome.Class = RateLimited }}, Retry, ""},
		{"a rate limit is not retried without 429 in the set", []func(*Input){answered(403), func(in *Input) {
			in.Outcome.Class, in.Policy.RetryStatuses = RateLimited, NewStatusSet(503)
		}}, Stop, CodeStatusNotRetryable},
		{"an overload under another status counts as 503", []func(*Input){answered(529),
			func(in *Input) { in.Outcome.Class = Overloaded }}, Retry, ""},
		{"a rate limit that came with 200 is no success", []func(*Input){answered(200),
			func(in *Input) { in.Outcome.Class = RateLimited }}, Retry, ""},
		{"a response without a status is not retried", []func(*Input){answered(0)}, Stop, CodeStatusNotRetryable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := plan(tt.change...)
			assert.Equal(t, tt.verb, d.Verb)
			assert.Equal(t, tt.code, d.Code)
		})
	}
}

// The rules in the order in which the contract tries them. Where two apply, the
// first decides.
func TestPlanTriesTheRulesInOrder(t *testing.T) {
	type rule struct {
		code  Code
		apply func(*Input)
	}
	after := []rule{
		{CodeRetryNotSafe, func(in *Input) { in.Policy.Safety = SafetyForbidden }},
		{CodeInvalidRetryAfter, func(in *Input) { in.Outcome.BadRetryAfter = true }},
		{CodeAttemptsExhausted, func(in *Input) { in.State.Attempts = in.State.MaxAttempts }},
		{CodeMaxWaitExceeded, func(in *Input) { in.Policy.MaxWait = 0 }},
		{CodeDeadlineExceeded, func(in *Input) { in.Policy.UntilDeadline = 0 }},
		{CodeWaitBudgetExceeded, func(in *Input) { in.State.Budget = 0 }},
	}
	// These say what the outcome is, so only one of them can apply.
	first := []rule{
		{"", answered(204)},
		{CodeStatusNotRetryable, answered(404)},
		{CodeCancelled, failed(Cancelled)},
		{CodeNetworkPermanent, failed(Permanent)},
		{CodeQuotaExhausted, func(in *Input) { in.Outcome.Class = QuotaExhausted }},
	}
	for _, earlier := range first {
		for _, later := range after {
			t.Run(string(earlier.code+" before "+later.code), func(t *testing.T) {
				d := plan(earlier.apply, later.apply)
				assert.Equal(t, earlier.code, d.Code)
				assert.NotEqual(t, Retry, d.Verb)
			})
		}
	}
	for i, earlier := range after {
		for _, later := range after[i+1:] {
			t.Run(string(earlier.code+" before "+later.code), func(t *testing.T) {
				assert.Equal(t, earlier.code, plan(earlier.apply, later.apply).Code)
				assert.Equal(t, later.code, plan(later.apply).Code, "the later rule applies by itself")
			})
		}
	}
	t.Run("unknown_outcome before all that follows", func(t *testing.T) {
		changes := []func(*Input){failed(Unknown)}
		for _, later := range after[1:] {
			changes = append(changes, later.apply)
		}
		assert.Equal(t, CodeUnknownOutcome, plan(changes...).Code)
	})
}

func TestPlanCountsCallsAndWaits(t *testing.T) {
	t.Run("a retry names the next call and adds its wait", func(t *testing.T) {
		d := plan(floor(7), func(in *Input) { in.State.Attempts, in.State.Elapsed = 3, 10.5 })
		assert.EqualValues(t, 4, d.Attempts)
		assert.Equal(t, 7.0, d.Wait)
		assert.Equal(t, 17.5, d.ElapsedWait)
	})
	t.Run("a terminal decision names the call that has ended", func(t *testing.T) {
		for _, change := range []func(*Input){answered(200), answered(404), failed(Cancelled), failed(Permanent),
			failed(Unknown), floor(1e9), func(in *Input) { in.State.MaxAttempts = 3 }} {
			d := plan(change, func(in *Input) { in.State.Attempts = 3 })
			assert.NotEqual(t, Retry, d.Verb)
			assert.EqualValues(t, 3, d.Attempts)
		}
	})
	t.Run("rounding cannot lift the sum over the budget", func(t *testing.T) {
		// The difference rounds up to the wait, and the sum rounds up again.
		const ulp = 1.0 / (1 << 52)
		wait, elapsed, budget := 1+2*ulp, 1.5*ulp, 1+3*ulp
		assert.LessOrEqual(t, wait, budget-elapsed)
		assert.Greater(t, elapsed+wait, budget)
		d := plan(func(in *Input) { in.State.Base, in.State.Elapsed, in.State.Budget = wait, elapsed, budget })
		assert.Equal(t, CodeWaitBudgetExceeded, d.Code)
	})
}
