//go:build e2e

package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withItems puts the items in the place of the sample ones.
func (w workflow) withItems(t *testing.T, items []map[string]any) {
	t.Helper()
	w.node(t, "Items")["jsCode"] = "return " + mustJSON(t, items) + ".map(json => ({ json }));"
}

// requireOutcomes checks the two lists at the end: every item is in one of them, once, in order, with its own outcome.
func requireOutcomes(t *testing.T, e execution, n int) {
	t.Helper()
	require.Equal(t, "success", e.Status, "%+v", e.Error)
	seen := map[string]bool{}
	for _, list := range []string{"Done", "Failed"} {
		require.Len(t, e.Runs[list], 1, "%s ran once", list)
		run := e.Runs[list][0]
		last := int64(-1)
		for i, got := range run.Outputs[0] {
			require.Empty(t, outcomeFault(got, run.Binary[0][i]))
			require.Equal(t, list == "Done", got["decision"] == "success")
			number := got["item"].(map[string]any)["number"].(json.Number)
			require.False(t, seen[number.String()], "item %s twice", number)
			seen[number.String()] = true
			position, err := number.Int64()
			require.NoError(t, err)
			require.Greater(t, position, last, "%s is out of order", list)
			last = position
		}
	}
	require.Len(t, seen, n, "the lengths of both lists add up")
}

// TestCallForEachItem: one item after the other goes through the sub-workflow; what fails is collected.
func TestCallForEachItem(t *testing.T) {
	prepare := func(t *testing.T, plannerURL string, items []map[string]any) workflow {
		sub := loadWorkflow(t, "http-request-with-retry.json", workflowID(t)+"-sub")
		sub.set(t, "Defaults", map[string]any{"defaults": surpriseLimits(plannerURL)})
		theN8n.add(t, sub)
		w := loadWorkflow(t, "call-for-each-item.json", workflowID(t))
		w.withItems(t, items)
		w.node(t, "Call with Retry")["workflowId"].(map[string]any)["value"] = sub.id()
		theN8n.add(t, w)
		return w
	}

	t.Run("every surprise once", func(t *testing.T) {
		t.Parallel()
		n := len(surprises)
		u := startSurprises(t)
		w := prepare(t, tapPlanner(t, nil).url, u.items(n))
		e := theN8n.run(t, w, "Start")
		requireOutcomes(t, e, n)
		require.Empty(t, u.faults(n))
		order := -1
		for _, c := range u.all() {
			var at int
			require.NoError(t, json.Unmarshal([]byte(c.Path[1:]), &at))
			require.GreaterOrEqual(t, at, order, "the next item began before this one was through")
			order = at
		}
	})

	t.Run("a planner that is down fails its items and no more", func(t *testing.T) {
		t.Parallel()
		u := startUpstream(t, replyJSON(200, `{}`), reply(429, ""), replyJSON(200, `{}`))
		tap := tapPlanner(t, nil)
		var items []map[string]any
		for i, path := range []string{"/0", "/1", "/2"} {
			items = append(items, map[string]any{"url": u.at(path), "number": i})
		}
		e := theN8n.run(t, prepare(t, tap.url+"/nowhere", items), "Start")
		require.Equal(t, "success", e.Status, "%+v", e.Error)
		require.Len(t, e.Runs["Done"][0].Outputs[0], 2)
		failed, err := e.only("Failed", 0)
		require.NoError(t, err)
		requireJSON(t, mustJSON(t, items[1]), failed["item"])
		assert.NotEmpty(t, failed["error"])
		assert.Equal(t, "escalate", failed["decision"])
		require.Len(t, u.all(), 3)
	})
}

// TestRetryManyItems: 500 items of mixed outcome in one execution.
func TestRetryManyItems(t *testing.T) {
	const n = 500
	u, tap := startSurprises(t), tapPlanner(t, nil)
	w := loadWorkflow(t, "retry-many-items.json", workflowID(t))
	w.set(t, "Defaults", map[string]any{"defaults": surpriseLimits(tap.url)})
	w.node(t, "HTTP Request")["options"].(map[string]any)["timeout"] = surpriseTimeout.Milliseconds()
	w.withItems(t, u.items(n))
	theN8n.add(t, w)
	e := theN8n.run(t, w, "Start")
	requireOutcomes(t, e, n)
	require.Empty(t, u.faults(n))

	// All that went round again waited together for the longest of their waits, and know it.
	plans := tap.all()
	require.Len(t, plans, 3, "one plan a round")
	require.Len(t, e.Runs["Wait"], 2)
	elapsed := 0.0
	for round, plan := range plans {
		var asked []struct {
			Attempts    int
			ElapsedWait float64 `json:"elapsed_wait"`
			Body        any
		}
		require.NoError(t, json.Unmarshal([]byte(plan.Body), &asked))
		for _, a := range asked {
			require.Equal(t, round+1, a.Attempts)
			require.InDelta(t, elapsed, a.ElapsedWait, 1e-9)
			require.Nil(t, a.Body, "without a provider the planner needs no bodies")
		}
		if round == len(plans)-1 {
			break
		}
		var answered []struct {
			Decision    string
			WaitSeconds float64 `json:"wait_seconds"`
		}
		require.NoError(t, json.Unmarshal([]byte(plan.Answer), &answered))
		longest := 0.0
		for _, a := range answered {
			longest = max(longest, a.WaitSeconds)
		}
		elapsed += longest
		started := e.Runs["Round"][round+1].Started
		require.GreaterOrEqual(t, started.Sub(plan.Answered), time.Duration(longest*float64(time.Second))-clockGrain)
	}
}
