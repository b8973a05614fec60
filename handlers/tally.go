package handlers

import (
	"log/slog"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/planner"
)

// outcome is what the metrics tell apart about a planned item.
type outcome struct {
	decision planner.Verb
	code     planner.Code
	class    string // of the status, see statusClass
	retried  bool   // the operation had been retried before
}

// codeInvalid is the error code of an item of a batch that is not valid.
const codeInvalid planner.Code = "invalid_state"

// counts counts by a key of which a call has few different values, so that a
// walk over them is quicker than hashing each item's.
type counts[K comparable] []counted[K]

type counted[K comparable] struct {
	key K
	n   int
}

func (c *counts[K]) add(key K, n int) {
	for i := range *c {
		if (*c)[i].key == key {
			(*c)[i].n += n
			return
		}
	}
	*c = append(*c, counted[K]{key, n})
}

// tally is what one call planned. The metrics get it once, when the call ends:
// ten thousand items of a batch must not go for shared counters one by one.
type tally struct {
	outcomes     counts[outcome]
	floors       counts[string]
	firstRetries int
	waits        []float64
	attempts     []float64
}

// add counts the decision about one item.
func (t *tally) add(it *envelope.Item, d *planner.Decision) {
	t.outcomes.add(outcome{d.Verb, d.Code, statusClass(it.Outcome.Status), it.State.Attempts > 1}, 1)
	if source := it.FloorSource(); source != "" && it.Outcome.Floor > 0 {
		t.floors.add(source, 1)
	}
	if d.Verb != planner.Retry {
		t.attempts = append(t.attempts, float64(d.Attempts))
		return
	}
	t.waits = append(t.waits, d.Wait)
	if it.State.Attempts == 1 {
		t.firstRetries++
	}
}

// addInvalid counts an item of a batch that is not valid.
func (t *tally) addInvalid(e *envelope.InvalidError) {
	t.outcomes.add(outcome{planner.Stop, codeInvalid, statusClass(e.LastStatus), e.Attempts > 1}, 1)
}

func (t *tally) reset() {
	t.outcomes, t.floors, t.firstRetries = t.outcomes[:0], t.floors[:0], 0
	t.waits, t.attempts = t.waits[:0], t.attempts[:0]
}

// byDecision gives the counts that the log tells of a batch. Items that are not
// valid stand beside the decisions.
func (t *tally) byDecision() []slog.Attr {
	var sums counts[string]
	for _, o := range t.outcomes {
		name := string(o.key.decision)
		if o.key.code == codeInvalid {
			name = string(codeInvalid)
		}
		sums.add(name, o.n)
	}
	attrs := make([]slog.Attr, len(sums))
	for i, sum := range sums {
		attrs[i] = slog.Int(sum.key, sum.n)
	}
	return attrs
}

// statusClass gives 1xx to 5xx, and "none" where no response was read.
func statusClass(status int) string {
	if status < 100 || status > 599 {
		return statusClasses[0]
	}
	return statusClasses[status/100]
}

var statusClasses = [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}
