//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// n8n is a running n8n with its own user folder. Workflows are created and run through the calls that its editor
// makes, so that a run here is what a click on "Execute workflow" gives.
type n8n struct {
	*process
	bin    string   // folder of the n8n and node binaries
	env    []string // settings of every n8n process on this user folder
	home   string
	url    string
	client *http.Client
}

// The user of every n8n here.
const (
	ownerEmail    = "owner@example.com"
	ownerPassword = "Not-a-secret-1"
)

// newN8n installs n8n if it is not in the cache yet, starts it on an empty user folder below dir and logs in.
func newN8n(dir string) (*n8n, error) {
	install := exec.Command("./install-n8n.sh")
	install.Stderr = os.Stderr
	out, err := install.Output()
	if err != nil {
		return nil, fmt.Errorf("install n8n: %w", err)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	n := &n8n{
		bin:  filepath.Join(strings.TrimSpace(string(out)), "bin"),
		home: filepath.Join(dir, "n8n"),
		url:  "http://" + address,
		// n8n runs its executions in the process that answers here: a large one can keep it busy for a while.
		client: &http.Client{Jar: jar, Timeout: 2 * time.Minute},
	}
	if err := os.Mkdir(n.home, 0o700); err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(address, ":")
	n.env = []string{
		"PATH=" + n.bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"N8N_USER_FOLDER=" + n.home,
		"N8N_LISTEN_ADDRESS=127.0.0.1",
		"N8N_PORT=" + port,
		"N8N_SECURE_COOKIE=false",
		"N8N_DIAGNOSTICS_ENABLED=false",
		"N8N_VERSION_NOTIFICATIONS_ENABLED=false",
		"N8N_TEMPLATES_ENABLED=false",
		"N8N_PERSONALIZATION_ENABLED=false",
		"N8N_LOG_LEVEL=info",
	}
	if err := n.start(); err != nil {
		return nil, err
	}
	if err := n.setUpOwner(); err != nil {
		n.kill()
		return nil, err
	}
	return n, nil
}

// setUpOwner makes the first user, as n8n's first page does, and logs in.
func (n *n8n) setUpOwner() error {
	return n.call(http.MethodPost, "/rest/owner/setup", map[string]string{
		"email": ownerEmail, "firstName": "Test", "lastName": "Owner", "password": ownerPassword,
	}, nil)
}

// start starts n8n on its user folder, also after a kill, and waits until it takes webhooks and editor calls.
// The login survives a restart.
func (n *n8n) start() error {
	broker, err := brokerPort()
	if err != nil {
		return err
	}
	logFile := filepath.Join(n.home, fmt.Sprintf("n8n-%d.log", time.Now().UnixNano()))
	p, err := startProcess(logFile, append(n.env, broker), filepath.Join(n.bin, "n8n"), "start")
	if err != nil {
		return err
	}
	n.process = p
	// Until the log says so, /healthz answers but webhooks give 404.
	ready := func() bool { return strings.Contains(p.log(), "Editor is now accessible") }
	if err := p.waitUntil(5*time.Minute, ready); err != nil {
		n.kill()
		return err
	}
	return nil
}

// kill ends n8n as a crash would, with no time to save anything.
func (n *n8n) kill() { n.signal(syscall.SIGKILL) }

// brokerPort gives each n8n process its own port for task runners: two with the same port do not start.
func brokerPort() (string, error) {
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	_, port, _ := strings.Cut(address, ":")
	return "N8N_RUNNERS_BROKER_PORT=" + port, nil
}

// command runs an n8n command, such as import:workflow, on the same user folder and returns its standard output.
func (n *n8n) command(args ...string) (string, error) {
	broker, err := brokerPort()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(filepath.Join(n.bin, "n8n"), args...)
	cmd.Env = append(append(os.Environ(), n.env...), broker)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("n8n %s: %w: %s", args[0], err, tail(stderr.String(), 2000))
	}
	return stdout.String(), nil
}

// call makes one call as the editor does; answer, when not nil, gets what is under "data".
func (n *n8n) call(method, path string, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, n.url+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := n.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("n8n answered %d to %s %s: %s", resp.StatusCode, method, path, got)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(got, &struct{ Data any }{answer})
}

// add creates the workflow, as the editor's import does.
func (n *n8n) add(t testing.TB, w workflow) {
	t.Helper()
	var saved struct{ VersionID string }
	require.NoError(t, n.call(http.MethodPost, "/rest/workflows", w, &saved))
	w["versionId"] = saved.VersionID
}

// publish makes an added workflow live: its webhooks and schedules start it from now on.
func (n *n8n) publish(t *testing.T, w workflow) {
	t.Helper()
	version := map[string]any{"versionId": w["versionId"]}
	require.NoError(t, n.call(http.MethodPost, "/rest/workflows/"+w.id()+"/activate", version, nil))
}

// webhook POSTs to a published workflow's webhook and returns the status of the answer and its body. n8n says that a
// workflow is published a little before it takes calls, so a 404 is asked again for a while.
func (n *n8n) webhook(t *testing.T, path, body string) (int, string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		resp, err := n.client.Post(n.url+"/webhook/"+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		if resp.StatusCode != http.StatusNotFound || time.Now().After(deadline) {
			return resp.StatusCode, string(got)
		}
	}
}

// latest returns the id of the newest execution of the workflow.
func (n *n8n) latest(t *testing.T, w workflow) string {
	t.Helper()
	var found struct{ Results []struct{ ID string } }
	filter := url.QueryEscape(mustJSON(t, map[string]string{"workflowId": w.id()}))
	require.NoError(t, n.call(http.MethodGet, "/rest/executions?filter="+filter, nil, &found))
	require.NotEmpty(t, found.Results, "%s was never executed", w.id())
	return found.Results[0].ID
}

// run starts the workflow at the named trigger node and waits until the execution has ended.
func (n *n8n) run(t testing.TB, w workflow, trigger string) execution {
	t.Helper()
	var started struct{ ExecutionID string }
	body := map[string]any{"triggerToStartFrom": map[string]string{"name": trigger}}
	require.NoError(t, n.call(http.MethodPost, "/rest/workflows/"+w.id()+"/run", body, &started))
	require.NotEmpty(t, started.ExecutionID)
	return n.await(t, started.ExecutionID, 2*time.Minute)
}

// await waits until the execution has ended, well or not, and returns it.
func (n *n8n) await(t testing.TB, id string, timeout time.Duration) execution {
	t.Helper()
	got := n.awaitStatus(t, id, timeout, "success", "error", "canceled", "crashed")
	e, err := got.read()
	require.NoError(t, err)
	return e
}

// awaitStatus waits until the execution has one of the statuses; "waiting" is a long wait, saved in the database.
func (n *n8n) awaitStatus(t testing.TB, id string, timeout time.Duration, statuses ...string) rawExecution {
	t.Helper()
	for deadline := time.Now().Add(timeout); ; time.Sleep(50 * time.Millisecond) {
		var got rawExecution
		require.NoError(t, n.call(http.MethodGet, "/rest/executions/"+id, nil, &got))
		if slices.Contains(statuses, got.Status) {
			return got
		}
		require.True(t, time.Now().Before(deadline), "execution %s is still %s after %s", id, got.Status, timeout)
	}
}

var errNoJSON = errors.New("no JSON in the output")

// executeByCommand runs the workflow with `n8n execute`. Its output is the execution, between lines of log.
func (n *n8n) executeByCommand(id string) (execution, error) {
	out, runErr := n.command("execute", "--id="+id, "--rawOutput")
	_, object, found := strings.Cut("\n"+out, "\n{\n")
	if !found {
		return execution{}, errors.Join(errNoJSON, runErr)
	}
	var got struct {
		Status string
		Data   map[string]any
	}
	d := json.NewDecoder(strings.NewReader("{\n" + object))
	d.UseNumber()
	if err := d.Decode(&got); err != nil {
		return execution{}, err
	}
	return newExecution(got.Status, got.Data)
}
