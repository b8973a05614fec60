package envelope

import (
	"fmt"
	"strings"
)

// MalformedError says that the bytes are not one JSON value of the expected
// form (error_code malformed_json). Its text says what to change and never
// repeats what was sent.
type MalformedError struct {
	Problem string // what is wrong and what to do
	Offset  int64  // where, in bytes; -1 when no place can be named
}

func (e *MalformedError) Error() string {
	if e.Offset < 0 {
		return e.Problem
	}
	return fmt.Sprintf("%s (at byte %d)", e.Problem, e.Offset)
}

// Fault is one field that is missing or against its rule.
type Fault struct {
	Field   string `json:"field"`   // dotted path, such as policy.max_wait
	Rule    string `json:"rule"`    // the rule's name, such as required or min
	Message string `json:"message"` // a sentence that says what to change
}

// InvalidError lists everything that is wrong with an item (error_code
// invalid_state). Attempts and LastStatus are what could be read all the same.
type InvalidError struct {
	Faults     []Fault
	Attempts   int64 // 1 when it could not be read
	LastStatus int   // 0 when it could not be read
}

// toldFaults is how many faults stand in the one sentence that n8n shows.
const toldFaults = 4

func (e *InvalidError) Error() string {
	var out strings.Builder
	for i, fault := range e.Faults {
		if i == toldFaults {
			fmt.Fprintf(&out, " (and %d more)", len(e.Faults)-i)
			break
		}
		if i > 0 {
			out.WriteString("; ")
		}
		out.WriteString(fault.Message)
	}
	return out.String()
}
