package planner

// reasons has one sentence for each error code.
var reasons = map[Code]string{
	CodeAttemptsExhausted:  "The call that has just ended was the last one that max_attempts allows.",
	CodeWaitBudgetExceeded: "The wait is longer than what is left of total_wait_budget.",
	CodeMaxWaitExceeded:    "The wait is longer than policy.max_wait.",
	CodeDeadlineExceeded:   "After the wait, policy.deadline would have passed.",
	CodeQuotaExhausted:     "The provider says that the quota, not the rate, is used up, so that no retry helps soon.",
	CodeStatusNotRetryable: "The response does not belong to those that may be retried.",
	CodeInvalidRetryAfter:  "The server sent a minimum wait that cannot be read; it is not guessed at.",
	CodeNetworkPermanent:   "The call fails the same way each time: bad certificate, bad URL or unsupported protocol.",
	CodeCancelled:          "The caller cancelled the call.",
	CodeUnknownOutcome:     "The call may have been processed, and repeating it is not known to be safe.",
	CodeRetryNotSafe:       "The call could be repeated, but repeating this operation is not known to be safe.",
}

// Reason tells in one sentence why the decision was taken.
func (d *Decision) Reason() string {
	switch d.Verb {
	case Success:
		return "The call succeeded."
	case Retry:
		if d.Floor > d.Local {
			return "The call may be repeated; the wait is the server's minimum."
		}
		return "The call may be repeated; the wait is the local backoff."
	}
	return reasons[d.Code]
}
