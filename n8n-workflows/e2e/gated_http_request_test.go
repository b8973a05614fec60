//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting is an upstream that counts how many calls it has at once.
type counting struct {
	transcript
	url    string
	active atomic.Int64
	most   atomic.Int64
}

func startCounting(t *testing.T, takes time.Duration, answer func(number int) http.HandlerFunc) *counting {
	t.Helper()
	u := &counting{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.record(w, r, func(w http.ResponseWriter, r *http.Request, number int) {
			now := u.active.Add(1)
			for most := u.most.Load(); now > most && !u.most.CompareAndSwap(most, now); most = u.most.Load() {
			}
			time.Sleep(takes)
			u.active.Add(-1)
			answer(number)(w, r)
		})
	}))
	t.Cleanup(server.Close)
	u.url = server.URL
	return u
}

func gatedRequest(t *testing.T, u *counting, plannerURL string, gate, state map[string]any) workflow {
	t.Helper()
	w := loadWorkflow(t, "gated-http-request.json", workflowID(t))
	gate["resource"] = w.id()
	w.set(t, "Request", map[string]any{
		"url": u.url + "/items", "gate": gate, "base": 0.2, "exp_cap": 2, "total_wait_budget": 60,
		"policy": map[string]any{"jitter": "none"}, "context": map[string]any{"cursor": "c-17"}, "planner_url": plannerURL,
	})
	w.set(t, "Request", state)
	theN8n.add(t, w)
	return w
}

// runAtOnce starts the workflow several times in one moment and waits for all.
func runAtOnce(t *testing.T, w workflow, times int) []execution {
	t.Helper()
	ids := make([]string, times)
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() {
			var started struct{ ExecutionID string }
			body := map[string]any{"triggerToStartFrom": map[string]string{"name": "Start"}}
			assert.NoError(t, theN8n.call(http.MethodPost, "/rest/workflows/"+w.id()+"/run", body, &started))
			ids[i] = started.ExecutionID
		})
	}
	all.Wait()
	var out []execution
	for _, id := range ids {
		require.NotEmpty(t, id)
		out = append(out, theN8n.await(t, id, 2*time.Minute))
	}
	return out
}

// Ten executions at once share one limit: the upstream never sees more calls in
// a window or at once than the gate lets through, a Retry-After given to one
// holds all of them, and all ten end well.
func TestGatedHTTPRequestTenAtOnce(t *testing.T) {
	const limit, window, flights, hold = 4, 3 * time.Second, 3, 2 * time.Second
	u := startCounting(t, 300*time.Millisecond, func(number int) http.HandlerFunc {
		switch number {
		case 4:
			return reply(429, "", "Retry-After", "2")
		case 6:
			return replyJSON(503, `{"error": "busy"}`)
		}
		return replyJSON(200, `{"items": [7]}`)
	})
	tap := tapPlanner(t, nil)
	w := gatedRequest(t, u, tap.url, map[string]any{
		"rate":      map[string]any{"limit": limit, "window": window.Seconds()},
		"in_flight": map[string]any{"limit": flights, "lease": 30},
		"breaker":   map[string]any{"threshold": 5, "reset_after": 30},
	}, nil)
	runs := runAtOnce(t, w, 10)

	turns, retries := 0, 0
	for _, run := range runs {
		require.Equal(t, "success", run.Status, "%+v", run.Error)
		item, err := run.only("Success", 0)
		require.NoError(t, err)
		requireFields(t, `{"error_code": null, "last_status": 200, "decision": "success", "next_request": false}`, item)
		requireJSON(t, `{"items": [7]}`, item["body"])
		requireJSON(t, `{"cursor": "c-17"}`, item["context"])
		turns += len(run.Runs["Wait For Turn"])
		retries += len(run.Runs["Wait"])
		for _, state := range run.Runs["Retry State"] {
			from := state.Outputs[0][0]
			assert.Equal(t, from["decision"] == "wait", from["permit"] != nil, "only a wait brings a permit: %v", from)
		}
	}
	assert.Equal(t, 2, retries)
	assert.Positive(t, turns)

	calls := u.all()
	require.Len(t, calls, 12)
	slices.SortFunc(calls, func(a, b call) int { return a.Arrived.Compare(b.Arrived) })
	goes := requireGoes(t, tap)
	require.Len(t, goes, len(calls))
	var late time.Duration // the longest from a question that got go to its call
	for i, c := range calls {
		late = max(late, c.Arrived.Sub(goes[i].Arrived))
	}
	// The gate decided after a question arrived and before its answer; it counts with a twentieth of the window
	// more, so that the calls keep the limit as long as none is later than that.
	const counted = window + window/20
	for i := limit; i < len(calls); i++ {
		assert.GreaterOrEqual(t, goes[i].Answered.Sub(goes[i-limit].Arrived), counted, "go %d is one too many in its window", i+1)
		assert.GreaterOrEqual(t, calls[i].Arrived.Sub(calls[i-limit].Arrived), min(window, counted-late), "call %d is one too many in its window", i+1)
	}
	assert.LessOrEqual(t, u.most.Load(), int64(flights), "calls at once")
	for _, held := range calls {
		if held.Status != 429 {
			continue
		}
		for _, c := range calls {
			// What was let through before the answer was reported may still arrive.
			early := c.Arrived.Sub(held.Answered)
			assert.False(t, early > 500*time.Millisecond && early < hold, "a call %s after a Retry-After of %s", early, hold)
		}
	}
	t.Logf("%d calls in %s, at most %d at once, %d waits for a turn, latest call %s after its question", len(calls),
		calls[len(calls)-1].Arrived.Sub(calls[0].Arrived).Round(time.Millisecond), u.most.Load(), turns, late.Round(time.Millisecond))
}

// requireGoes returns the questions at /v1/admit that got go, in the order of their arrival.
func requireGoes(t *testing.T, tap *plannerTap) (goes []call) {
	t.Helper()
	for _, c := range tap.all() {
		if c.Path == "/v1/admit" {
			require.Equal(t, http.StatusOK, c.Status, c.Answer)
			if strings.Contains(c.Answer, `"decision":"go"`) {
				goes = append(goes, c)
			}
		}
	}
	return goes
}

// A broken API is left alone: after the threshold nobody calls it, and the
// executions stop at once with circuit_open.
func TestGatedHTTPRequestOpensTheCircuit(t *testing.T) {
	u := startCounting(t, 0, func(int) http.HandlerFunc { return replyText(500, "broken") })
	w := gatedRequest(t, u, theService.url, map[string]any{"breaker": map[string]any{"threshold": 3, "reset_after": 600}}, map[string]any{"max_attempts": 2})
	first := theN8n.run(t, w, "Start")
	require.Equal(t, "Stop And Error", first.Error.Node)
	second := theN8n.run(t, w, "Start")
	require.Equal(t, "Not Admitted", second.Error.Node)
	requireJSON(t, `{"error_code": "circuit_open", "attempts": 2, "last_status": 500, "decision": "defer", "next_request": false}`, second.Error.Metadata)
	third := theN8n.run(t, w, "Start")
	requireFailedIn(t, third, "Not Admitted")
	requireJSON(t, `{"error_code": "circuit_open", "attempts": 1, "last_status": null, "decision": "defer", "next_request": false}`, third.Error.Metadata)
	require.Len(t, u.all(), 3)

	resp, err := http.Get(theService.url + "/metrics")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	metrics, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(metrics), `retry_planner_gate_admits_total{decision="defer",error_code="circuit_open"} `), "an alert state of its own")
}

// A gate object that is wrong fails the run before any call, and says what to mend.
func TestGatedHTTPRequestBadGate(t *testing.T) {
	u := startCounting(t, 0, func(int) http.HandlerFunc { return reply(200, "") })
	w := gatedRequest(t, u, theService.url, map[string]any{"rate": map[string]any{"limit": 0, "window": 60}}, nil)
	run := theN8n.run(t, w, "Start")
	requireFailedIn(t, run, "Ask Gate")
	assert.Contains(t, run.Error.Description, "gate.rate.limit must be 1 or more")
	require.Empty(t, u.all())
}
