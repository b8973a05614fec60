// Package preview plays an operation against a scripted upstream and tells
// what the planner would decide after each call. It decides nothing itself:
// every call is read as an item by package envelope and decided by
// planner.Plan. Calls take no time; the clock moves by the waits alone.
package preview

import (
	"math"
	"time"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/planner"
)

// MaxAttempts is the longest timeline, in calls.
const MaxAttempts = 1000

// Why a timeline ended.
const (
	EndedByDecision = "decision" // the planner ended the operation
	EndedByScript   = "script"   // the script tells of no further call
	EndedByLimit    = "limit"    // MaxAttempts calls
)

// Timeline is the answer of Of. Durations are seconds; null stands for
// endless or for none.
type Timeline struct {
	Attempts []Attempt `json:"attempts"`
	EndedBy  string    `json:"ended_by"`
	Total    Total     `json:"total"`
	Results  []Result  `json:"results"`
}

// Attempt is one call of the timeline.
type Attempt struct {
	Attempt     int64    `json:"attempt"`      // the call's number
	Entry       int      `json:"entry"`        // the script's entry that it got, 0 for the first
	Start       float64  `json:"start"`        // when it starts, after the first call
	Outcome     string   `json:"outcome"`      // the class, as explain.outcome
	LastStatus  *int     `json:"last_status"`  // null when no response was read
	Decision    string   `json:"decision"`     // as in the answer of /v1/plan
	ErrorCode   *string  `json:"error_code"`   // as in the answer of /v1/plan
	Reason      string   `json:"reason"`       // one sentence
	WaitSeconds *float64 `json:"wait_seconds"` // null when no wait was worked out; of a defer, the wait that did not fit
	WaitLow     *float64 `json:"wait_low"`     // the shortest wait that the draws can give
	WaitHigh    *float64 `json:"wait_high"`    // the longest
	ElapsedWait float64  `json:"elapsed_wait"` // waits planned so far, this one included when it is a retry

	Exponential *float64           `json:"exponential"`
	JitterLow   *float64           `json:"jitter_low"`
	JitterHigh  *float64           `json:"jitter_high"`
	Floor       *float64           `json:"floor"`
	FloorSource *string            `json:"floor_source"`
	Limits      envelope.Limits    `json:"limits"`
	Ignored     []envelope.Ignored `json:"ignored,omitempty"`
}

// Total is the sum of all waits that the operation plans.
type Total struct {
	Planned  float64 `json:"planned"`  // of the timeline
	Least    float64 `json:"least"`    // with the shortest draws
	Expected float64 `json:"expected"` // mean over Runs runs
	Worst    float64 `json:"worst"`    // with the longest draws that are still retried
	Runs     int     `json:"runs"`     // 1 when nothing is random: then all four are the same
}

// Result is one way in which the operation ends, and in what share of the
// runs it does.
type Result struct {
	Decision  *string `json:"decision"` // null when the script or the limit ends the timeline
	ErrorCode *string `json:"error_code"`
	Share     float64 `json:"share"` // 0 to 1
}

// Of gives the timeline of the script's operation, its first call ending at
// now. The random draws of an item without a task_id are the middle ones, so
// that the same request gets the same timeline.
func Of(s *envelope.Script, now time.Time) Timeline {
	var t Timeline
	middle := func() planner.Draws { return planner.Draws{Jitter: 0.5, Spread: 0.5} }
	p := player{script: s, start: now}
	random := false
	end := p.play(func(c *call) planner.Decision {
		in := c.item.Input(middle)
		d := planner.Plan(&in)
		random = random || in.Policy.Jitter != planner.JitterNone || in.Policy.Spread > 0
		t.Attempts = append(t.Attempts, attemptOf(c, &in, &d))
		return d
	})
	t.EndedBy = end.by
	t.Total = Total{Planned: end.total, Least: end.total, Expected: end.total, Worst: end.total, Runs: 1}
	t.Results = []Result{{Share: 1, Decision: textOrNull(string(end.verb)), ErrorCode: textOrNull(string(end.code))}}
	if random {
		t.Total.Least = p.play(least).total
		t.Total.Worst = p.play(longest).total
		p.sample(&t, len(t.Attempts))
	}
	return t
}

// attemptOf tells of one decision.
func attemptOf(c *call, in *planner.Input, d *planner.Decision) Attempt {
	e := c.item.Explain(d)
	a := Attempt{
		Attempt: in.State.Attempts, Entry: c.entry, Start: c.waited, Outcome: e.Outcome,
		Decision: string(d.Verb), ErrorCode: textOrNull(string(d.Code)), Reason: e.Reason,
		ElapsedWait: in.State.Elapsed, Limits: e.Limits, Ignored: e.Ignored,
	}
	if status := c.item.Outcome.Status; status != 0 {
		a.LastStatus = &status
	}
	if d.Verb == planner.Retry {
		a.ElapsedWait = d.ElapsedWait
	}
	if e.Wait == nil {
		return a
	}
	a.Exponential, a.JitterLow, a.JitterHigh = e.Wait.Exponential, e.Wait.JitterLow, e.Wait.JitterHigh
	a.Floor, a.FloorSource, a.WaitSeconds = e.Wait.Floor, e.Wait.FloorSource, e.Wait.Total
	low, high := *in, *in
	low.Draws, high.Draws = planner.Draws{}, planner.Draws{Jitter: almostOne, Spread: almostOne}
	a.WaitLow, a.WaitHigh = finiteOrNull(planner.Plan(&low).Wait), finiteOrNull(planner.Plan(&high).Wait)
	return a
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func finiteOrNull(f float64) *float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return &f
}
