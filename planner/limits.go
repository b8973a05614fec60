package planner

import "math"

// Misfit tells which limit a wait of so many seconds would break, "" when it
// fits: policy.max_wait, the deadline and the budget are tried in that order.
func Misfit(wait float64, s *State, p *Policy) Code {
	switch {
	case wait > p.MaxWait:
		return CodeMaxWaitExceeded
	// No deadline is no limit, for an endless wait neither.
	case wait >= p.UntilDeadline && !math.IsInf(p.UntilDeadline, 1):
		return CodeDeadlineExceeded
	// The sum is looked at too: rounding can lift it above a budget whose
	// difference still had room.
	case wait > s.Budget-s.Elapsed || s.Elapsed+wait > s.Budget:
		return CodeWaitBudgetExceeded
	}
	return ""
}

// LongestWait is the longest wait, in seconds, for which nothing breaks; it is
// negative when no wait fits, not even none.
func LongestWait(s *State, p *Policy) float64 {
	// The deadline itself is already too late, so a millisecond is kept.
	return min(p.MaxWait, s.Budget-s.Elapsed, p.UntilDeadline-0.001)
}
