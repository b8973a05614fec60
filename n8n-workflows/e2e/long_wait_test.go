//go:build e2e

package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLongWaitSurvivesKill: a wait of 65 s and more is in n8n's database, so a published workflow goes on after n8n
// was killed and started again in the middle of it, at the planned time, with its state whole. It has an n8n of its
// own to kill, and takes a good minute.
func TestLongWaitSurvivesKill(t *testing.T) {
	if testing.Short() {
		t.Skip("waits 70 s")
	}
	t.Parallel()
	own, err := newN8n(t.TempDir())
	require.NoError(t, err)
	defer own.kill()

	u := startUpstream(t, reply(429, "", "Retry-After", "70"), replyJSON(200, `{"late": true}`))
	tap := tapPlanner(t, nil)
	w := retry429(t, u, tap.url, map[string]any{"total_wait_budget": 100})
	w.startByWebhook("Request")
	own.add(t, w)
	own.publish(t, w)
	status, answer := own.webhook(t, w.id(), `{}`)
	require.Equal(t, http.StatusOK, status, answer)

	id := own.latest(t, w)
	own.awaitStatus(t, id, 30*time.Second, "waiting")
	own.kill()
	require.NoError(t, own.start())
	ready := time.Now()
	run := own.await(t, id, 3*time.Minute)

	s := scenario{upstream: u, planner: tap, run: run}
	item := s.requireSuccess(t, 2)
	requireJSON(t, `{"late": true}`, item["body"])
	due := u.all()[0].Answered.Add(70 * time.Second)
	latest := due.Add(30 * time.Second)
	if due.Before(ready) {
		latest = ready.Add(30 * time.Second)
	}
	assert.WithinRange(t, u.all()[1].Arrived, due.Add(-clockGrain), latest)
}
