package handlers

import (
	"context"
	"fmt"
	"math"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/gate"
	"n8n-retry-planner/planner"
)

// askGate asks the gate for the item's call. The error means that the store
// failed and nothing guards it.
func (s *server) askGate(ctx context.Context, it *envelope.Item) (envelope.Admission, error) {
	// A deadline that has passed lets no call start, waited for or not. What
	// the permit has reserved is given back, as with every refusal.
	if code := planner.Misfit(0, &it.State, &it.Policy); code == planner.CodeDeadlineExceeded {
		if it.Permit != "" {
			r := gate.ReportRequest{Spec: *it.Gate, TaskID: it.TaskID, Permit: it.Permit, Outcome: gate.Neutral}
			if _, err := s.Gate.Report(ctx, r); err != nil {
				return envelope.Admission{}, fmt.Errorf("give a place back to the gate: %w", err)
			}
		}
		return envelope.Admission{Verb: planner.Defer, Code: code}, nil
	}
	began := s.breakers.begin()
	v, err := s.Gate.Admit(ctx, gate.AdmitRequest{
		Spec: *it.Gate, TaskID: it.TaskID, Permit: it.Permit, Retry: it.State.Attempts > 1,
		MaxWait: math.Max(0, planner.LongestWait(&it.State, &it.Policy)),
	})
	if err != nil {
		return envelope.Admission{}, fmt.Errorf("ask the gate: %w", err)
	}
	s.breakers.note(began, it.Gate, v.Breaker)
	return admissionOf(v, it), nil
}

// admissionOf puts a verdict into the words of the wire.
func admissionOf(v gate.Verdict, it *envelope.Item) envelope.Admission {
	switch {
	case v.Decision == gate.Go:
		return envelope.Admission{Verb: envelope.Go, Permit: v.Permit, Bypassed: v.Bypassed}
	case v.Decision == gate.Wait:
		return envelope.Admission{Verb: envelope.Wait, Code: planner.Code(v.Reason), Wait: v.Wait, Permit: v.Permit}
	case v.Reason == gate.AlreadyActive:
		return envelope.Admission{Verb: planner.Stop, Code: planner.Code(v.Reason)}
	case v.Reason == gate.DoesNotFit:
		code := planner.Misfit(v.Wait, &it.State, &it.Policy)
		if code == "" { // the millisecond that is kept before a deadline
			code = planner.CodeDeadlineExceeded
		}
		return envelope.Admission{Verb: planner.Defer, Code: code}
	}
	return envelope.Admission{Verb: planner.Defer, Code: planner.Code(v.Reason)}
}

// reportToGate frees the item's permit and tells how its call ended, before it
// is planned. A hold that another worker's server announced becomes a floor of
// this item as well. It tells whether the gate could be asked; planning goes on
// either way.
func (s *server) reportToGate(ctx context.Context, it *envelope.Item) bool {
	if it.Gate == nil || it.Permit == "" {
		return true
	}
	began := s.breakers.begin()
	receipt, err := s.Gate.Report(ctx, gate.ReportRequest{
		Spec: *it.Gate, TaskID: it.TaskID, Permit: it.Permit,
		Outcome: gateOutcome(&it.Outcome), Hold: announced(&it.Outcome),
	})
	if err != nil || receipt.Bypassed {
		return false
	}
	s.breakers.note(began, it.Gate, receipt.Breaker)
	// The hold may be this item's own floor, rounded up to a millisecond.
	if receipt.Hold > it.Outcome.Floor+0.001 {
		it.RaiseFloor(receipt.Hold, "hold of the gate")
	}
	return true
}

// gateOutcome is what the breaker learns: a failure is no response, or a
// status of 500 and above. A call that its caller cancelled says nothing.
func gateOutcome(o *planner.Outcome) gate.Outcome {
	switch {
	case o.Class == planner.Cancelled:
		return gate.Neutral
	case o.Status == 0, o.Status >= 500:
		return gate.Failure
	}
	return gate.Success
}

// announced is the minimum wait that the server gave, in seconds. What rides
// on a success is no demand.
func announced(o *planner.Outcome) float64 {
	if o.Class == planner.Answered && planner.Successful(o.Status) {
		return 0
	}
	return o.Floor
}
