package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// balancer sends calls to the replicas that say they are ready. Like a real
// one it asks from time to time, so it notices late.
type balancer struct {
	replicas []string
	ready    []atomic.Bool
	turn     atomic.Int64
}

const probeEvery = 50 * time.Millisecond

func newBalancer(t *testing.T, replicas ...string) *balancer {
	b := &balancer{replicas: replicas, ready: make([]atomic.Bool, len(replicas))}
	var probes sync.WaitGroup
	t.Cleanup(probes.Wait)
	for i := range replicas {
		b.ready[i].Store(true)
		probes.Go(func() {
			for t.Context().Err() == nil {
				b.ready[i].Store(isReady("http://" + replicas[i]))
				time.Sleep(probeEvery)
			}
		})
	}
	return b
}

func (b *balancer) pick() string {
	for {
		i := int(b.turn.Add(1)) % len(b.replicas)
		if b.ready[i].Load() {
			return b.replicas[i]
		}
	}
}

// TestRollingRestartLosesNoCall restarts two replicas one after the other
// under load, and counts: every call that was sent is answered with its plan.
func TestRollingRestartLosesNoCall(t *testing.T) {
	settings := []string{"PLANNER_DRAIN_DELAY=500ms", "PLANNER_LOG_LEVEL=error"}
	one, two := startProcess(t, settings...), startProcess(t, settings...)
	b := newBalancer(t, one.address, two.address)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(client.CloseIdleConnections)

	var over atomic.Bool
	var sent, answered atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for !over.Load() {
				sent.Add(1)
				// Without GetBody the client cannot send a call again by itself.
				body := io.NopCloser(strings.NewReader(limitedItem))
				response, err := client.Post("http://"+b.pick()+"/v1/plan", "application/json", body)
				if err != nil {
					t.Errorf("lost: %v", err)
					continue
				}
				text, err := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(text), `"decision":"retry"`) {
					answered.Add(1)
				} else {
					t.Errorf("lost: status %d, %v", response.StatusCode, err)
				}
			}
		})
	}
	for _, p := range []*process{one, two} {
		time.Sleep(200 * time.Millisecond)
		before := sent.Load()
		require.NoError(t, p.Process.Signal(syscall.SIGTERM))
		require.NoError(t, p.Wait(), "SIGTERM must end it with exit code 0: %s", p.log)
		assert.Greater(t, sent.Load(), before, "calls went on meanwhile")
		startAt(t, p.Path, p.address, settings...)
		time.Sleep(2 * probeEvery)
	}
	over.Store(true)
	callers.Wait()
	t.Logf("%d calls sent, %d answered", sent.Load(), answered.Load())
	assert.Equal(t, sent.Load(), answered.Load())
}

// TestACallInFlightIsAnsweredAtTheEnd sends half a call, the signal, and then
// the rest.
func TestACallInFlightIsAnsweredAtTheEnd(t *testing.T) {
	p := startProcess(t, "PLANNER_DRAIN_DELAY=200ms")
	c := p.dial(t, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", planHead, len(limitedItem), limitedItem[:20]))
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { return !isReady("http://" + p.address) }, time.Second, 5*time.Millisecond, "not ready while it drains")
	time.Sleep(400 * time.Millisecond) // past the delay: nothing new is taken any more
	_, err := io.WriteString(c, limitedItem[20:])
	require.NoError(t, err)
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	assert.Contains(t, string(answer), `"decision":"retry"`)
	require.NoError(t, p.Wait())
}

// TestTheGraceTimeEnds keeps a caller that never finishes from holding the
// service open.
func TestTheGraceTimeEnds(t *testing.T) {
	p := startProcess(t, "PLANNER_DRAIN_DELAY=0s", "PLANNER_SHUTDOWN_GRACE=500ms")
	p.dial(t, planHead+"Content-Length: 100\r\n\r\n{")
	require.Eventually(t, func() bool { return inFlight(t, p) == "1" }, 10*time.Second, 5*time.Millisecond)
	start := time.Now()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Error(t, p.Wait())
	assert.Less(t, time.Since(start), 3*time.Second)
	assert.Contains(t, p.log.String(), "still in flight after the grace time")
}

// TestASecondSignalEndsItAtOnce is for the operator who will not wait for it.
func TestASecondSignalEndsItAtOnce(t *testing.T) {
	p := startProcess(t, "PLANNER_DRAIN_DELAY=0s", "PLANNER_SHUTDOWN_GRACE=30s")
	p.dial(t, planHead+"Content-Length: 100\r\n\r\n{")
	require.Eventually(t, func() bool { return inFlight(t, p) == "1" }, 10*time.Second, 5*time.Millisecond)
	start := time.Now()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), `"draining"`) }, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Error(t, p.Wait())
	assert.Less(t, time.Since(start), 10*time.Second)
}

// inFlight reads the gauge.
func inFlight(t *testing.T, p *process) string {
	t.Helper()
	response, err := http.Get("http://" + p.address + "/metrics")
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	_, rest, _ := strings.Cut(string(text), "\nretry_planner_in_flight ")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}
