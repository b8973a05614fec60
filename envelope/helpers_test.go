package envelope

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"n8n-retry-planner/planner"
)

// testNow is the clock of all tests. Its fraction is there so that rounding
// shows.
var testNow = time.Date(2026, 1, 15, 12, 0, 0, 250_000_000, time.UTC)

// state is the attempt state that most items bring.
const state = `"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":120`

// item is a 429 with the state and further members.
func item(members ...string) string {
	return "{" + strings.Join(append([]string{`"statusCode":429`, state}, members...), ",") + "}"
}

// failedItem is an n8n error item with the state and further members.
func failedItem(errorValue string, members ...string) string {
	return "{" + strings.Join(append([]string{`"error":` + errorValue, state}, members...), ",") + "}"
}

func decode(t *testing.T, raw string) *Item {
	t.Helper()
	it, err := Decode([]byte(raw), testNow)
	require.NoError(t, err, raw)
	t.Cleanup(it.Release)
	return it
}

// answer does what the service does with one item that is valid.
func answer(t *testing.T, raw string) string {
	t.Helper()
	return string(appendAnswer(nil, decode(t, raw)))
}

func appendAnswer(dst []byte, it *Item) []byte {
	d := planOf(it)
	var explanation []byte
	if it.WantsExplanation {
		explanation = it.Explanation(&d)
	}
	return it.AppendAnswer(dst, &d, explanation)
}

func planOf(it *Item) planner.Decision {
	in := planner.Input{Outcome: it.Outcome, State: it.State, Request: it.Request, Policy: it.Policy}
	if it.TaskID != "" {
		in.Draws = planner.DrawsFor(it.TaskID, it.State.Attempts)
	}
	return planner.Plan(&in)
}

// verdict is the answer's error_code, or its wait_seconds for a retry, or its
// decision where it has neither.
func verdict(t *testing.T, raw string) string {
	t.Helper()
	out := gjson.Parse(answer(t, raw))
	if code := out.Get("error_code"); code.Type == gjson.String {
		return code.Str
	}
	if wait := out.Get("wait_seconds"); wait.Exists() {
		return wait.Raw
	}
	return out.Get("decision").Str
}

// faultsOf gives the faults of an item as "field rule".
func faultsOf(t *testing.T, raw string) []string {
	t.Helper()
	_, err := Decode([]byte(raw), testNow)
	if err == nil {
		return nil
	}
	var invalid *InvalidError
	require.ErrorAs(t, err, &invalid, raw)
	var out []string
	for _, fault := range invalid.Faults {
		require.NotEmpty(t, fault.Message)
		out = append(out, fault.Field+" "+fault.Rule)
	}
	return out
}
