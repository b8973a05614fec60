//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// surprise is how the upstream treats one item: its replies in order (the last one again and again), and what must
// come of it under the limits of surpriseLimits.
type surprise struct {
	name      string
	replies   []func(n int) http.HandlerFunc
	calls     int
	errorCode string        // "" is a success
	floor     time.Duration // least time between an answer and the next call
}

// surpriseTimeout is the calls' time-out. n8n counts it while it is busy with other items too, so a shorter one would
// end calls that were answered at once.
const surpriseTimeout = 6 * time.Second

// surpriseLimits are the limits that the surprises are made for.
func surpriseLimits(plannerURL string) map[string]any {
	return map[string]any{
		"method": "GET", "timeout": surpriseTimeout.Seconds(), "max_attempts": 3, "base": 0.2, "exp_cap": 2, "total_wait_budget": 10,
		"policy": map[string]any{"jitter": "none"}, "planner_url": plannerURL,
	}
}

func always(h http.HandlerFunc) func(int) http.HandlerFunc {
	return func(int) http.HandlerFunc { return h }
}

// ok replies with the item's number in JSON.
func ok(n int) http.HandlerFunc { return replyJSON(200, fmt.Sprintf(`{"n": %d}`, n)) }

var surprises = []surprise{
	{"JSON", []func(int) http.HandlerFunc{ok}, 1, "", 0},
	{"429", []func(int) http.HandlerFunc{always(replyJSON(429, `{"slow": true}`)), ok}, 2, "", 200 * time.Millisecond},
	{"text", []func(int) http.HandlerFunc{func(n int) http.HandlerFunc { return replyText(200, strconv.Itoa(n)) }}, 1, "", 0},
	{"429 with Retry-After", []func(int) http.HandlerFunc{always(reply(429, "", "Retry-After", "1")), ok}, 2, "", time.Second},
	{"empty", []func(int) http.HandlerFunc{always(reply(204, ""))}, 1, "", 0},
	{"dropped", []func(int) http.HandlerFunc{always(drop), ok}, 2, "", 200 * time.Millisecond},
	{"gone", []func(int) http.HandlerFunc{always(reply(404, "<h1>no</h1>", "Content-Type", "text/html"))}, 1, "status_not_retryable", 0},
	{"HTML", []func(int) http.HandlerFunc{func(n int) http.HandlerFunc {
		return reply(200, fmt.Sprintf("<p>%d</p>", n), "Content-Type", "text/html")
	}}, 1, "", 0},
	{"always 500", []func(int) http.HandlerFunc{always(reply(500, "oops"))}, 3, "retry_attempts_exhausted", 200 * time.Millisecond},
	{"image", []func(int) http.HandlerFunc{always(reply(200, string(onePixel), "Content-Type", "image/gif"))}, 1, "", 0},
	{"too long a wait", []func(int) http.HandlerFunc{always(reply(503, "", "Retry-After", "3600"))}, 1, "retry_wait_budget_exceeded", 0},
	{"two 429s, then text", []func(int) http.HandlerFunc{
		always(replyText(429, "first")), always(reply(429, "", "Retry-After", "2")),
		func(n int) http.HandlerFunc { return replyText(200, strconv.Itoa(n)) },
	}, 3, "", 200 * time.Millisecond},
	{"timed out", []func(int) http.HandlerFunc{always(hang), ok}, 2, "", 200 * time.Millisecond},
	{"a Retry-After that is none", []func(int) http.HandlerFunc{always(reply(429, "", "Retry-After", "soon"))}, 1, "invalid_retry_after", 0},
	{"broken JSON", []func(int) http.HandlerFunc{always(replyJSON(200, `{"n": `))}, 1, "", 0},
}

// surpriseUpstream answers /N, the item number N, with the surprise N modulo their number.
type surpriseUpstream struct {
	transcript
	url string
	mu  sync.Mutex
}

func surpriseOf(n int) surprise { return surprises[n%len(surprises)] }

func startSurprises(t *testing.T) *surpriseUpstream {
	u := &surpriseUpstream{}
	seen := map[int]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.record(w, r, func(w http.ResponseWriter, r *http.Request, _ int) {
			n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
			if err != nil {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			u.mu.Lock()
			call := seen[n]
			seen[n]++
			u.mu.Unlock()
			replies := surpriseOf(n).replies
			replies[min(call, len(replies)-1)](n)(w, r)
		})
	}))
	t.Cleanup(server.Close)
	u.url = server.URL
	return u
}

// items returns the items 0 to n-1 for the workflow.
func (u *surpriseUpstream) items(n int) (items []map[string]any) {
	for i := range n {
		items = append(items, map[string]any{"url": fmt.Sprintf("%s/%d", u.url, i), "number": i})
	}
	return items
}

// faults says what is wrong with the calls: one too many or too few for an item, or one before its time.
func (u *surpriseUpstream) faults(n int) (out []string) {
	byItem := map[string][]call{}
	for _, c := range u.all() {
		byItem[c.Path] = append(byItem[c.Path], c)
	}
	for i := range n {
		s, calls := surpriseOf(i), byItem[fmt.Sprintf("/%d", i)]
		if len(calls) != s.calls {
			out = append(out, fmt.Sprintf("item %d (%s): %d calls, not %d", i, s.name, len(calls), s.calls))
		}
		for k := 1; k < len(calls); k++ {
			if gap := calls[k].Arrived.Sub(calls[k-1].Answered); gap < s.floor-clockGrain {
				out = append(out, fmt.Sprintf("item %d (%s): call %d after %s, before %s", i, s.name, k+1, gap, s.floor))
			}
		}
	}
	if len(byItem) != n {
		out = append(out, fmt.Sprintf("calls for %d items, not %d", len(byItem), n))
	}
	return out
}

// outcomeFault says what is wrong with the outcome of an item, or "".
func outcomeFault(got map[string]any, binary map[string]any) string {
	item, _ := got["item"].(map[string]any)
	n, err := strconv.Atoi(fmt.Sprint(item["number"]))
	if err != nil {
		return fmt.Sprintf("no item in %v", got)
	}
	s := surpriseOf(n)
	fault := func(what string) string { return fmt.Sprintf("item %d (%s): %s: %v", n, s.name, what, got) }
	if fmt.Sprint(got["attempts"]) != strconv.Itoa(s.calls) {
		return fault("attempts")
	}
	if s.errorCode != "" {
		if got["error_code"] != s.errorCode || got["decision"] == "success" || got["statusCode"] != nil {
			return fault("error_code")
		}
		return ""
	}
	if got["decision"] != "success" || got["error_code"] != nil {
		return fault("decision")
	}
	switch s.name {
	case "empty", "broken JSON":
	case "image":
		if binary == nil {
			return fault("the image is lost")
		}
	default: // the reply names its item
		body, _ := got["body"].(map[string]any)
		reply := fmt.Sprint(body["n"])
		if data, ok := got["data"].(string); ok {
			reply = strings.Trim(data, "<p>/")
		}
		if reply != strconv.Itoa(n) {
			return fault("another item's reply")
		}
	}
	return ""
}
