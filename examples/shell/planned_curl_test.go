// Package shell holds the test of planned-curl.
package shell

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/handlers"
	"n8n-retry-planner/planner"
)

const state = `{"method":"GET","max_attempts":3,"base":0.001,"exp_cap":1,"total_wait_budget":60,"cursor":"7"}`

// command gives planned-curl against a real planner.
func command(t *testing.T, state, url string) (c *exec.Cmd, stdout, stderr *bytes.Buffer) {
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	service := httptest.NewServer(handlers.New(handlers.Options{
		MaxBodyBytes: 1 << 20, MaxBatchBytes: 1 << 20, MaxBatchItems: 10, MaxInFlight: 10, MaxHeldBytes: 1 << 20, APIKeyHeader: "X-API-Key",
		Now: time.Now, Draws: func() planner.Draws { return planner.Draws{} }, Ready: func() bool { return true },
	}))
	t.Cleanup(service.Close)
	c = exec.Command("./planned-curl", service.URL, state, url)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	c.Stdout, c.Stderr = stdout, stderr
	return c, stdout, stderr
}

func newAPI(t *testing.T, retryAfter string, statuses ...int) (url string, calls *atomic.Int32) {
	calls = new(atomic.Int32)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := int(calls.Add(1))
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(statuses[min(n, len(statuses))-1])
		_, _ = w.Write([]byte("answer"))
	}))
	t.Cleanup(api.Close)
	return api.URL, calls
}

func TestPlannedCurl(t *testing.T) {
	tests := map[string]struct {
		state          string
		retryAfter     string
		statuses       []int
		exit           int
		calls          int32
		stdout, stderr string
	}{
		"a whole loop":             {state, "0", []int{429, 429, 200}, 0, 3, "answer", ""},
		"exhausted":                {state, "0", []int{429}, 1, 3, "", "retry_attempts_exhausted"},
		"a wait over the budget":   {state, "61", []int{429}, 1, 1, "", "retry_wait_budget_exceeded"},
		"a refusal of the planner": {`{"max_attempts":3}`, "0", []int{429}, 2, 1, "", "base is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			url, calls := newAPI(t, test.retryAfter, test.statuses...)
			c, stdout, stderr := command(t, test.state, url)
			_ = c.Run() // the exit code is looked at below
			assert.Equal(t, test.exit, c.ProcessState.ExitCode(), stderr)
			assert.Equal(t, test.calls, calls.Load())
			assert.Equal(t, test.stdout, stdout.String())
			assert.Contains(t, stderr.String(), test.stderr)
		})
	}
}

func TestARefusedConnectionIsRepeated(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	c, _, stderr := command(t, state, gone.URL)
	assert.Error(t, c.Run())
	assert.Contains(t, stderr.String(), `"attempts":3`)
}

func TestASignalEndsTheWait(t *testing.T) {
	url, calls := newAPI(t, "50", 429)
	c, _, _ := command(t, state, url)
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool { return calls.Load() == 1 }, 10*time.Second, 10*time.Millisecond)
	began := time.Now()
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	assert.Error(t, c.Wait())
	assert.Less(t, time.Since(began), 10*time.Second)
	assert.EqualValues(t, 1, calls.Load())
}
