package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// image is what the Dockerfile says about its last stage.
type image struct {
	base        string
	buildLine   string // the go build of the first stage
	copied      []string
	uid, gid    uint32
	env         []string
	entrypoint  []string
	healthcheck []string
}

var userLine = regexp.MustCompile(`^(\d+):(\d+)$`)

func readDockerfile(t *testing.T) image {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	require.NoError(t, err)
	var im image
	for line := range strings.Lines(string(file)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "FROM":
			im = image{base: rest, buildLine: im.buildLine}
		case "RUN":
			if strings.Contains(rest, "go build") {
				im.buildLine = rest
			}
		case "COPY":
			words := strings.Fields(rest)
			im.copied = append(im.copied, words[len(words)-1])
		case "USER":
			ids := userLine.FindStringSubmatch(rest)
			require.NotNil(t, ids, "USER must be numbers: an empty image has no /etc/passwd")
			uid, _ := strconv.ParseUint(ids[1], 10, 32)
			gid, _ := strconv.ParseUint(ids[2], 10, 32)
			im.uid, im.gid = uint32(uid), uint32(gid)
		case "ENV":
			im.env = append(im.env, rest)
		case "ENTRYPOINT":
			require.NoError(t, json.Unmarshal([]byte(rest), &im.entrypoint), "no shell is there for the shell form")
		case "HEALTHCHECK":
			_, command, ok := strings.Cut(rest, "CMD ")
			require.True(t, ok)
			require.NoError(t, json.Unmarshal([]byte(command), &im.healthcheck), "no shell is there for the shell form")
		}
	}
	return im
}

// TestImageRunsInAnEmptyRoot does what a container engine would do with the
// Dockerfile: builds with its line, puts the binary alone into an empty root,
// takes root's rights away and starts the entry point with its environment.
func TestImageRunsInAnEmptyRoot(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary")
	}
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	im := readDockerfile(t)
	assert.Equal(t, "scratch", im.base)
	assert.NotZero(t, im.uid, "the service must not run as root")
	assert.Contains(t, im.env, "PLANNER_LISTEN=:8080")
	require.Contains(t, im.copied, "/retry-planner")

	root := t.TempDir()
	openToOthers(t, root)
	binary := filepath.Join(root, "retry-planner")
	build := exec.Command("sh", "-c", strings.ReplaceAll(im.buildLine, "/out/retry-planner", binary))
	build.Dir = filepath.Join("..", "..")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	size, err := os.Stat(binary)
	require.NoError(t, err)
	assert.Less(t, size.Size(), int64(25<<20), "the binary must stay under 25 MiB")

	port := freePort(t)
	environ := append(im.env, "PLANNER_LISTEN=:"+port) // the last one wins
	command := func(args []string) *exec.Cmd {
		c := exec.Command(args[0], args[1:]...)
		c.Dir, c.Env = "/", environ
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: im.uid, Gid: im.gid}}
		return c
	}

	output, err = command(im.healthcheck).CombinedOutput()
	require.Error(t, err, "the health check must fail while nothing runs")
	assert.Contains(t, string(output), "does not answer")

	service := command(im.entrypoint)
	var log bytes.Buffer
	service.Stdout, service.Stderr = &log, &log
	started := time.Now()
	require.NoError(t, service.Start())
	t.Cleanup(func() { _ = service.Process.Kill() })
	require.Eventually(t, func() bool { return isReady("http://127.0.0.1:" + port) }, 5*time.Second, time.Millisecond)
	t.Logf("ready after %s, %d bytes", time.Since(started).Round(time.Millisecond), size.Size())

	output, err = command(im.healthcheck).CombinedOutput()
	require.NoError(t, err, "%s", output)

	answer, err := http.Post("http://127.0.0.1:"+port+"/v1/plan", "application/json", strings.NewReader(
		`{"statusCode":429,"headers":{"retry-after":"7"},"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300}`))
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), `"wait_seconds":7`)

	require.NoError(t, service.Process.Signal(syscall.SIGTERM))
	require.NoError(t, service.Wait(), "SIGTERM must end it with exit code 0: %s", &log)
}

// openToOthers lets another user reach a folder that the test made.
func openToOthers(t *testing.T, folder string) {
	t.Helper()
	for ; len(folder) > len(os.TempDir()); folder = filepath.Dir(folder) {
		require.NoError(t, os.Chmod(folder, 0o755))
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

// isReady tells whether the service at the address takes calls.
func isReady(address string) bool {
	response, err := http.Get(address + "/readyz")
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
