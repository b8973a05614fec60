package envelope

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"n8n-retry-planner/planner"
)

// PaceAnswer is the answer of POST /v1/pace. Durations are seconds but for
// n8n's own batch interval.
type PaceAnswer struct {
	Rate     float64       `json:"rate"`      // calls a second
	Spacing  float64       `json:"spacing"`   // from the start of one call to that of the next
	Total    float64       `json:"total"`     // until all calls have had their turn
	InFlight int64         `json:"in_flight"` // calls out at once, by Little's law
	Batching Batching      `json:"batching"`
	Warnings []PaceWarning `json:"warnings"`
}

// Batching is what to type into n8n's HTTP Request node, Options → Batching.
type Batching struct {
	ItemsPerBatch   int64 `json:"items_per_batch"`
	BatchIntervalMS int64 `json:"batch_interval_ms"`
}

// PaceWarning is something that the pace cannot hold.
type PaceWarning struct {
	Code    planner.WarningCode `json:"code"`
	Message string              `json:"message"` // says what to change
}

// Pace reads the body of POST /v1/pace and answers it. The fields, durations
// in seconds: limit (calls in each window, required), window (60), share (of
// the limit that may be used, 1), calls (required), response_time (mean of a
// call, 0), within (all must have started by then), daily_quota (calls a day).
//
// It gives a *MalformedError, or an *InvalidError with all faults.
func Pace(raw []byte) (PaceAnswer, error) {
	o, err := DecodeObject(raw)
	if err != nil {
		return PaceAnswer{}, err
	}
	o.Require("limit", "calls")
	a := planner.Allowance{
		Limit:        o.Positive("limit", 1),
		Window:       o.Positive("window", 60),
		Share:        o.Share("share", 1),
		Calls:        o.Count("calls"),
		ResponseTime: o.NotNegative("response_time", 0),
		Within:       o.Positive("within", math.Inf(1)),
		DailyQuota:   o.Positive("daily_quota", math.Inf(1)),
	}
	if err := o.Err(); err != nil {
		return PaceAnswer{}, err
	}
	if rate := a.Limit * a.Share / a.Window; rate < leastRate || rate > mostRate {
		o.fault("limit", "range", "is too small or too large for its window: send between one call in 100 years and 1e9 calls a second")
		return PaceAnswer{}, o.Err()
	}
	return NewPaceAnswer(&a), nil
}

// Rates outside of these are slips of the pen, and would not fit into numbers.
const (
	leastRate = 1.0 / (100 * 365 * 86400)
	mostRate  = 1e9
)

// NewPaceAnswer works out the pace and words it.
func NewPaceAnswer(a *planner.Allowance) PaceAnswer {
	p := planner.PaceOf(a)
	out := PaceAnswer{Rate: p.Rate, Spacing: p.Spacing, Total: p.Total, InFlight: p.InFlight,
		Batching: Batching{p.BatchSize, p.BatchInterval}, Warnings: []PaceWarning{}}
	for _, w := range p.Warnings {
		out.Warnings = append(out.Warnings, PaceWarning{w.Code, warningText(a, &p, w)})
	}
	return out
}

func warningText(a *planner.Allowance, p *planner.Pace, w planner.Warning) string {
	fits := strconv.FormatFloat(w.Fits, 'f', -1, 64)
	switch w.Code {
	case planner.WarnWithin:
		return fmt.Sprintf("only %s of %d calls start within %s: use a larger share, at least %.0f %%",
			fits, a.Calls, Worded(a.Within), math.Ceil(100*w.Need*a.Window/a.Limit))
	case planner.WarnWithinLimit:
		return fmt.Sprintf("only %s of %d calls start within %s, and the whole limit would not be enough: make fewer calls, allow %s, or ask for a higher limit",
			fits, a.Calls, Worded(a.Within), Worded(p.Total))
	}
	return fmt.Sprintf("the daily quota of %s calls is used up before the day is over: spread the %d calls over %.0f days",
		fits, a.Calls, w.Need)
}

// Worded gives seconds for people.
func Worded(s float64) string {
	if s > 200*365*86400 {
		return "more than 200 years"
	}
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}
