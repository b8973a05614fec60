package envelope

import (
	"strconv"

	"n8n-retry-planner/planner"
)

// The decisions of POST /v1/admit that give the whole item back.
const (
	Go   planner.Verb = "go"   // the call may start now
	Wait planner.Verb = "wait" // ask again with the permit after the wait
)

// Admission is the answer to POST /v1/admit.
type Admission struct {
	Verb     planner.Verb // Go, Wait, or a terminal decision
	Code     planner.Code // why not; empty for Go
	Wait     float64      // seconds, for Wait
	Permit   string       // for Go and Wait
	Bypassed bool         // the gate could not be asked and lets the call pass
}

// AppendAdmission appends the JSON answer: the whole item for Go and Wait, the
// five fields for a terminal decision (gate contract, POST /v1/admit).
func (it *Item) AppendAdmission(dst []byte, a *Admission) []byte {
	if a.Verb != Go && a.Verb != Wait {
		return appendTerminal(dst, a.Verb, a.Code, it.State.Attempts, it.Outcome.Status, nil)
	}
	return appendState(dst, it, admissionState{it, a})
}

type admissionState struct {
	it *Item
	a  *Admission
}

var admissionFields = []field{fErrorCode, fDecision, fNextRequest, fWaitSeconds, fElapsedWait, fPermit, fGateBypassed}

func (s admissionState) fields() []field { return admissionFields }

// fateOf: a go clears the code of the wait before it, and adds none; the mark of
// an earlier answer that was let pass does not come back.
func (s admissionState) fateOf(f field) fate {
	switch f {
	case fDecision, fNextRequest, fWaitSeconds, fPermit:
		return isSet
	case fErrorCode:
		return isSet.when(s.a.Verb == Wait || s.it.place[fErrorCode] != 0)
	case fElapsedWait:
		return isSet.when(s.a.Verb == Wait)
	case fGateBypassed:
		if s.a.Bypassed {
			return isSet
		}
		return goes
	}
	return stays
}

func (s admissionState) appendValue(dst []byte, f field) []byte {
	switch f {
	case fErrorCode:
		return appendCode(dst, s.a.Code)
	case fDecision:
		return append(append(append(dst, '"'), s.a.Verb...), '"')
	case fNextRequest:
		return strconv.AppendBool(dst, s.a.Verb != Wait)
	case fWaitSeconds:
		return appendNumber(dst, s.a.Wait)
	case fElapsedWait:
		return appendNumber(dst, s.it.State.Elapsed+s.a.Wait)
	case fPermit:
		return append(append(append(dst, '"'), s.a.Permit...), '"')
	}
	return append(dst, "true"...) // fGateBypassed
}
