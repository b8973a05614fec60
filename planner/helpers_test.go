package planner

import "math"

// retryInput is a 429 without a hint, after the first of five calls: the
// planner answers with a retry after 1 s. Tests change what they are about.
func retryInput() Input {
	return Input{
		Outcome: Outcome{Class: Answered, Status: 429},
		State:   State{Attempts: 1, MaxAttempts: 5, Base: 1, ExpCap: 60, Budget: 120},
		Policy:  DefaultPolicy(),
	}
}

// lastDraw is the largest number that a draw can be.
var lastDraw = math.Nextafter(1, 0)

// plan is Plan on a changed retryInput.
func plan(changes ...func(*Input)) Decision {
	in := retryInput()
	for _, change := range changes {
		change(&in)
	}
	return Plan(&in)
}

func failed(class Class) func(*Input) {
	return func(in *Input) { in.Outcome = Outcome{Class: class} }
}

func answered(status int) func(*Input) {
	return func(in *Input) { in.Outcome = Outcome{Class: Answered, Status: status} }
}

func method(name string) func(*Input) {
	return func(in *Input) { in.Request.Method = name }
}

func floor(seconds float64) func(*Input) {
	return func(in *Input) { in.Outcome.Floor = seconds }
}
