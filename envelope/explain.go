package envelope

import (
	"encoding/json"
	"math"

	"n8n-retry-planner/planner"
)

// Explanation is the explain object of an answer: why it was given.
type Explanation struct {
	Reason   string     `json:"reason"`            // one sentence
	Outcome  string     `json:"outcome"`           // the class that the call's outcome was given
	Provider string     `json:"provider"`          // the dialect that read the response
	Wait     *WaitParts `json:"wait,omitempty"`    // absent when no wait was worked out
	Limits   Limits     `json:"limits"`            // what the wait was held against
	Hint     *Hint      `json:"hint,omitempty"`    // what the response announced, where no wait was worked out from it
	Ignored  []Ignored  `json:"ignored,omitempty"` // hints that were there and did not decide
}

// Hint is an announcement from which no wait was worked out: of a quota that is
// used up, or one that cannot be read.
type Hint struct {
	Source   string   `json:"source"`   // the header or body field
	Seconds  *float64 `json:"seconds"`  // null for an endless wait and for one that cannot be read
	Readable bool     `json:"readable"` // false: it is there, and not in the provider's form
}

// WaitParts are the pieces of the wait, in seconds. null stands for endless.
type WaitParts struct {
	Exponential *float64 `json:"exponential"`
	JitterLow   *float64 `json:"jitter_low"`
	JitterHigh  *float64 `json:"jitter_high"`
	Local       *float64 `json:"local"`
	Floor       *float64 `json:"floor"`
	FloorSource *string  `json:"floor_source"` // the header or body field, null without a floor
	Spread      *float64 `json:"spread"`
	Total       *float64 `json:"total"`
}

// Limits are what the policy and the state left room for. null stands for no
// limit; seconds.
type Limits struct {
	AttemptsLeft  int64    `json:"attempts_left"`
	BudgetLeft    *float64 `json:"budget_left"`
	MaxWait       *float64 `json:"max_wait"`
	UntilDeadline *float64 `json:"until_deadline"`
}

// Explanation is what Explain tells, as JSON.
func (it *Item) Explanation(d *planner.Decision) []byte {
	out, err := json.Marshal(it.Explain(d))
	if err != nil { // no value in it can fail
		return []byte("{}")
	}
	return out
}

// Explain tells why d was decided. It names headers and body fields and never
// repeats what they hold beside the seconds that were read.
func (it *Item) Explain(d *planner.Decision) Explanation {
	e := Explanation{
		Reason:   d.Reason(),
		Outcome:  it.Outcome.Class.String(),
		Provider: it.dialect.Name,
		Limits: Limits{
			AttemptsLeft:  max(it.State.MaxAttempts-it.State.Attempts, 0),
			BudgetLeft:    orNull(it.State.Budget - it.State.Elapsed),
			MaxWait:       orNull(it.Policy.MaxWait),
			UntilDeadline: orNull(it.Policy.UntilDeadline),
		},
		Ignored: it.reading.ignored,
	}
	if d.Exponential > 0 {
		e.Wait = &WaitParts{
			Exponential: orNull(d.Exponential), JitterLow: orNull(d.JitterLow), JitterHigh: orNull(d.JitterHigh),
			Local: orNull(d.Local), Floor: orNull(d.Floor), Spread: orNull(d.Spread), Total: orNull(d.Wait),
		}
		if it.reading.source != "" {
			source := it.reading.source // the item is used again
			e.Wait.FloorSource = &source
		}
	}
	if source := it.reading.source; source != "" && e.Wait == nil {
		e.Hint = &Hint{Source: source, Readable: !it.reading.bad}
		if e.Hint.Readable {
			e.Hint.Seconds = orNull(it.reading.floor)
		}
	}
	return e
}

func orNull(f float64) *float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return &f
}
