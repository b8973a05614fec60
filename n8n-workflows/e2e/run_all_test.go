//go:build e2e

package e2e

import (
	"errors"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRunAll starts Redis, the planner and n8n with the script that stands for compose.yaml, finds the workflows there
// as a new user would, lets one retry, and ends all three with one signal.
func TestRunAll(t *testing.T) {
	for _, program := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	t.Parallel()
	var env []string
	address := map[string]string{}
	for _, variable := range []string{"PLANNER_PORT", "N8N_PORT", "REDIS_PORT", "N8N_RUNNERS_BROKER_PORT"} {
		free, err := freeAddress()
		require.NoError(t, err)
		address[variable] = free
		_, port, err := net.SplitHostPort(free)
		require.NoError(t, err)
		env = append(env, variable+"="+port)
	}
	home := t.TempDir()
	p, err := startProcess(filepath.Join(home, "run-all.log"), append(env, "RUN_HOME="+home), "../../ops/run-all")
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) })
	ready := func() bool { return strings.Contains(p.log(), "Editor is now accessible") }
	require.NoError(t, p.waitUntil(5*time.Minute, ready))

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	n := &n8n{process: p, url: "http://" + address["N8N_PORT"], client: &http.Client{Jar: jar, Timeout: time.Minute}}
	require.NoError(t, n.setUpOwner())
	var list []struct{ ID, Name string }
	require.NoError(t, n.call(http.MethodGet, "/rest/workflows", nil, &list))
	files, err := filepath.Glob("../*.json")
	require.NoError(t, err)
	require.Len(t, list, len(files))

	plannerURL := "http://" + address["PLANNER_PORT"]
	e := n.run(t, workflow{"id": "retry429plain"}, "Start")
	require.Equal(t, "success", e.Status, "%+v", e.Error)
	request, err := e.only("Request", 0)
	require.NoError(t, err)
	assert.Equal(t, plannerURL, request["planner_url"], "the planner has put its own address into the workflow")

	u := startUpstream(t, reply(http.StatusTooManyRequests, "", "Retry-After", "1"), replyJSON(http.StatusOK, `{}`))
	w := retry429(t, u, plannerURL, nil)
	n.add(t, w)
	e = n.run(t, w, "Start")
	require.Equal(t, "success", e.Status, "%+v", e.Error)
	require.Len(t, u.all(), 2)

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		require.Fail(t, "it did not end after SIGTERM", tail(p.log(), 2000))
	}
	assert.True(t, errors.Is(syscall.Kill(-p.cmd.Process.Pid, 0), syscall.ESRCH), "a process is left behind")
}
