package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/handlers"
	"n8n-retry-planner/planner"
)

// planCommand answers what POST /v1/plan answers, without a service.
type planCommand struct {
	File    string `arg:"" optional:"" default:"-" help:"File with the item as JSON; - reads standard input."`
	Explain bool   `help:"Add why the decision was taken, as policy.explain does."`
}

// Help tells the exit codes.
func (planCommand) Help() string {
	return `Exit codes:

  0   success: the call did what it should
  10  retry: call again after wait_seconds
  11  defer: worth trying later
  12  exhausted: no calls are left
  13  stop: repeating cannot help
  14  escalate: a person must look first
  2   the item is refused; the answer says what to change
  1   anything else went wrong`
}

// planExit is the exit code of a decision that has been printed.
type planExit int

func (e planExit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

var planExits = map[planner.Verb]planExit{
	planner.Retry: 10, planner.Defer: 11, planner.Exhausted: 12, planner.Stop: 13, planner.Escalate: 14,
}

// Run prints the answer. It gives nil for a success and a planExit for
// everything else that was answered.
func (c *planCommand) Run(to streams, settings *Settings) error {
	raw, err := readInput(c.File, settings.MaxBodyBytes)
	if err != nil {
		return err
	}
	it, err := envelope.Decode(raw, time.Now())
	if err != nil {
		return refused(to, err)
	}
	defer it.Release()
	in := it.Input(randomDraws)
	d := planner.Plan(&in)
	var explanation []byte
	if c.Explain || it.WantsExplanation {
		explanation = it.Explanation(&d)
	}
	if _, err := fmt.Fprintf(to.out, "%s\n", it.AppendAnswer(nil, &d, explanation)); err != nil {
		return err
	}
	if code, ok := planExits[d.Verb]; ok {
		return code
	}
	return nil
}

// refused prints the problem that the service would answer.
func refused(to streams, err error) error {
	problem, marshalErr := json.Marshal(handlers.ProblemOf(err))
	if marshalErr != nil {
		return marshalErr
	}
	if _, err := fmt.Fprintf(to.out, "%s\n", problem); err != nil {
		return err
	}
	return planExit(exitUsage)
}

// readInput reads a file, or standard input for "-", of at most limit bytes.
func readInput(name string, limit int64) ([]byte, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &usageError{err}
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the item: %w", err)
	}
	if int64(len(raw)) > limit {
		return nil, &usageError{fmt.Errorf("the item is larger than %d bytes; send less, or raise --max-body-bytes", limit)}
	}
	return raw, nil
}

// randomDraws are the draws of an item without a task_id.
func randomDraws() planner.Draws {
	return planner.Draws{Jitter: rand.Float64(), Spread: rand.Float64()}
}
