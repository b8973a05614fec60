package gate

import (
	"math"

	"github.com/google/uuid"
)

const (
	// DefaultLease, in seconds, is the life of a permit whose item has no
	// in_flight part.
	DefaultLease = 120.0
	// MaxHold, in seconds, is the longest hold that is kept.
	MaxHold = 30 * 24 * 3600.0

	second      = 1_000_000
	maxSlack    = second / 4
	holdSpacing = second / 50
	minForget   = 60 * second
	maxSeconds  = 10 * 365 * 24 * 3600.0 // keeps every sum exact in Lua's float64
	maxCount    = 1_000_000_000
	maxWaiting  = 10_000
	budgetSteps = 64
	firstGuess  = second / 10  // least length of a call before any was reported
	minEstimate = second / 100 // shortest in-flight wait: no busy asking
)

// terms are a spec's numbers as both stores use them: microseconds and
// counts, 0 where a part is absent.
type terms struct {
	limit, window, spacing, slack     int64 // rate; spacing and slack also serve a hold without rate
	flights, lease, leaseSlack, guess int64
	threshold, reset, forget          int64
	ratio                             float64
	minRetries, budget, step          int64
}

// newTerms derives the numbers of the package comment from the item's.
func newTerms(s Spec) terms {
	t := terms{spacing: holdSpacing, slack: maxSlack, lease: micros(DefaultLease), forget: minForget}
	if r := s.Rate; r != nil {
		t.limit, t.slack = count(r.Limit), slack(micros(r.Window))
		t.window = micros(r.Window) + t.slack // a call starts a little after its go
		t.spacing = max((t.window+t.slack+t.limit-1)/t.limit, 1)
	}
	if f := s.InFlight; f != nil {
		t.flights, t.lease = count(f.Limit), micros(f.Lease)
	}
	t.leaseSlack = slack(t.lease)
	t.guess = min(firstGuess, t.lease)
	if b := s.Breaker; b != nil {
		t.threshold, t.reset = count(b.Threshold), micros(b.ResetAfter)
		t.forget = max(minForget, min(10*t.reset, micros(maxSeconds)))
	}
	if b := s.RetryBudget; b != nil {
		t.ratio, t.minRetries, t.budget = max(b.Ratio, 0), min(max(b.Min, 0), maxCount), micros(b.Window)
		if !(t.ratio <= maxCount) {
			t.ratio = maxCount
		}
		t.step = (t.budget + budgetSteps - 1) / budgetSteps
	}
	return t
}

// slack is how late a waiter may be and still find its place free.
func slack(span int64) int64 { return min(span/20, maxSlack) }

// count moves a limit to 1..1e9.
func count(n int64) int64 { return min(max(n, 1), maxCount) }

// micros turns seconds into microseconds, rounded up, 1 µs to ten years.
func micros(seconds float64) int64 {
	if !(seconds > 0) {
		return 1
	}
	return max(int64(math.Ceil(min(seconds, maxSeconds)*second)), 1)
}

// holdMicros is the length of an announced hold, 0 for none.
func holdMicros(seconds float64) int64 {
	if !(seconds > 0) {
		return 0
	}
	return micros(min(seconds, MaxHold))
}

// fitting is the longest wait in whole milliseconds that is not longer than
// the given seconds; -1 when not even a wait of 0 fits.
func fitting(seconds float64) int64 {
	switch {
	case !(seconds >= 0):
		return -1
	case seconds >= maxSeconds:
		return 1 << 52
	}
	ms := math.Floor(seconds*1000) + 1
	for ms/1000 > seconds {
		ms--
	}
	return int64(ms)
}

// millis rounds microseconds up to whole milliseconds, the form of a wait.
func millis(us int64) int64 { return (us + 999) / 1000 }

// permitFor keeps a UUID that the caller brought and makes one otherwise.
func permitFor(given string) string {
	if id := canonical(given); id != "" {
		return id
	}
	return uuid.NewString()
}

// canonical is the one spelling of a UUID (RFC 9562 section 4), "" for any
// other text.
func canonical(permit string) string {
	id, err := uuid.Parse(permit)
	if err != nil {
		return ""
	}
	return id.String()
}
