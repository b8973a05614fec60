package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const limitedItem = `{"statusCode":429,"headers":{"retry-after":"7"},"attempts":1,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300}`

// process is the service as a process of its own, so that its memory can be
// read and signals reach it alone.
type process struct {
	*exec.Cmd
	address string // host:port
	log     *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// binary builds the service once for all tests.
var binary = sync.OnceValues(func() (string, error) { return buildBinary("retry-planner") })

// binaries is the folder of what is built, "" before the first.
var binaries string

// buildTags are those of the Makefile and the Dockerfile.
const buildTags = "nomsgpack,nethttpomithttp2"

func buildBinary(name string, flags ...string) (string, error) {
	if binaries == "" {
		folder, err := os.MkdirTemp("", "retry-planner")
		if err != nil {
			return "", err
		}
		binaries = folder
	}
	path := filepath.Join(binaries, name)
	build := exec.Command("go", append(append([]string{"build", "-tags", buildTags, "-o", path}, flags...), ".")...)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return path, nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(binaries)
	os.Exit(code)
}

func startProcess(t *testing.T, variables ...string) *process {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the binary")
	}
	path, err := binary()
	require.NoError(t, err)
	return startAt(t, path, "127.0.0.1:"+freePort(t), variables...)
}

func startAt(t *testing.T, path, address string, variables ...string) *process {
	t.Helper()
	p := &process{address: address, log: new(lockedBuffer)}
	p.Cmd = exec.Command(path)
	p.Env = append(os.Environ(), append(variables, "PLANNER_LISTEN="+p.address)...)
	p.Stdout, p.Stderr = p.log, p.log
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	require.Eventually(t, func() bool { return isReady("http://" + p.address) }, 10*time.Second, 2*time.Millisecond, "%s", p.log)
	return p
}

// peakMemory gives the most memory that the process has held, in MB.
func (p *process) peakMemory(t *testing.T) int { return p.memory(t, "VmHWM:") }

// memory gives a line of /proc/PID/status in MB.
func (p *process) memory(t *testing.T, line string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), line)
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	return kB / 1024
}

// dial opens a connection and sends text on it.
func (p *process) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	return c
}

// plan sends one item and gives the answer's status.
func (p *process) plan() (int, error) {
	response, err := http.Post("http://"+p.address+"/v1/plan", "application/json", strings.NewReader(limitedItem))
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}

const planHead = "POST /v1/plan HTTP/1.1\r\nHost: p\r\nContent-Type: application/json\r\n"

// cutOff tells what came back on a connection that the service has to end.
func cutOff(t *testing.T, c net.Conn, within time.Duration) string {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(within)))
	answer, err := io.ReadAll(c)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("the connection is still open after %s", within)
	}
	return string(answer)
}

func TestBadSendersAreRefusedOrCutOff(t *testing.T) {
	p := startProcess(t, "PLANNER_READ_TIMEOUT=1s", "PLANNER_MAX_BODY_BYTES=1000")
	tests := map[string]struct {
		sent string
		want string // in what comes back, "" for nothing but the end
	}{
		"a body that never comes":          {planHead + "Content-Length: 100\r\n\r\n{", "400 Bad Request"},
		"a body shorter than it says":      {planHead + "Content-Length: 900\r\n\r\n{}", "400 Bad Request"},
		"a length over the limit, no body": {planHead + "Content-Length: 5000\r\n\r\n", "413 Request Entity Too Large"},
		"a length that is no number":       {planHead + "Content-Length: many\r\n\r\n", "400 Bad Request"},
		"a length of 20 digits":            {planHead + "Content-Length: 99999999999999999999\r\n\r\n", "400 Bad Request"},
		"two lengths that differ":          {planHead + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400 Bad Request"},
		"chunks without an end":            {planHead + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", "400 Bad Request"},
		"chunks over the limit":            {planHead + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5DC\r\n" + strings.Repeat(" ", 1500) + "\r\n0\r\n\r\n", "413 Request Entity Too Large"},
		"a chunk that says it is huge":     {planHead + "Transfer-Encoding: chunked\r\n\r\n7FFFFFFFFFFFFFFF\r\n{", "400 Bad Request"},
		"a header that never ends":         {"POST /v1/plan HTTP/1.1\r\nHost: p\r\nX-A: ", ""},
		"a flood of headers":               {"GET /healthz HTTP/1.1\r\nHost: p\r\n" + strings.Repeat("X-A: "+strings.Repeat("b", 100)+"\r\n", 400) + "\r\n", "431 Request Header Fields Too Large"},
		"no HTTP at all":                   {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400 Bad Request"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := cutOff(t, p.dial(t, tt.sent), 8*time.Second)
			if tt.want == "" {
				return
			}
			status, _, _ := strings.Cut(answer, "\r\n")
			assert.Contains(t, status, tt.want)
		})
	}
}

// n8n ends its connections ("Connection: close"). One that is closed while the
// caller still sends is reset, and n8n would show ECONNRESET, not the refusal.
func TestARefusalArrivesThoughTheCallerStillSends(t *testing.T) {
	p := startProcess(t, "PLANNER_API_KEYS=a-key-of-some-length")
	body := bytes.Repeat([]byte{' '}, 16<<20)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	tests := map[string]struct {
		path, key, media string
		unsized          bool
		want             int
	}{
		"too large":              {"/v1/plan", "a-key-of-some-length", "application/json", false, http.StatusRequestEntityTooLarge},
		"too large, in chunks":   {"/v1/plan", "a-key-of-some-length", "application/json", true, http.StatusRequestEntityTooLarge},
		"no key":                 {"/v1/plan/batch", "", "application/json", false, http.StatusUnauthorized},
		"no JSON":                {"/v1/plan/batch", "a-key-of-some-length", "text/plain", false, http.StatusUnsupportedMediaType},
		"nothing at this path":   {"/v1/batch", "", "application/json", false, http.StatusNotFound},
		"no such method, chunks": {"/healthz", "", "application/json", true, http.StatusMethodNotAllowed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				var content io.Reader = bytes.NewReader(body)
				if tt.unsized {
					content = io.MultiReader(content)
				}
				r, err := http.NewRequest(http.MethodPost, "http://"+p.address+tt.path, content)
				require.NoError(t, err)
				r.Header.Set("Content-Type", tt.media)
				r.Header.Set("X-API-Key", tt.key)
				response, err := client.Do(r)
				require.NoError(t, err)
				_, err = io.Copy(io.Discard, response.Body)
				require.NoError(t, errors.Join(err, response.Body.Close()))
				assert.Equal(t, tt.want, response.StatusCode)
			}
			if tt.unsized {
				return
			}
			// A simple client looks for the answer after its whole body, on a
			// connection that it keeps.
			c := p.dial(t, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: p\r\nContent-Type: %s\r\nX-API-Key: %s\r\nContent-Length: %d\r\n\r\n",
				tt.path, tt.media, tt.key, len(body)))
			_, err := c.Write(body)
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, tt.want, response.StatusCode)
		})
	}
}

func TestCompressedBodiesAreNotUnpacked(t *testing.T) {
	p := startProcess(t)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := io.CopyN(z, zeros{}, 100<<20)
	require.NoError(t, errors.Join(err, z.Close()))
	for _, encoding := range []string{"gzip", "deflate", "br", "zstd", "GZIP", "identity, gzip"} {
		r, err := http.NewRequest(http.MethodPost, "http://"+p.address+"/v1/plan", bytes.NewReader(bomb.Bytes()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Content-Encoding", encoding)
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusUnsupportedMediaType, response.StatusCode, encoding)
	}
	assert.Less(t, p.peakMemory(t), 60, "MB")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// idleConnections is how many connections can be open beside all else, up to
// 10 000.
func idleConnections(t *testing.T) int {
	t.Helper()
	var files syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	n := min(10_000, int(files.Max)-3000)
	if n < 1000 {
		t.Skipf("only %d files may be open", files.Max)
	}
	return n
}

// TestIdleAndHalfOpenConnectionsLeaveRoom opens as many connections as the
// machine lets it, up to 10 000, a third each idle, in the middle of a header
// and in the middle of a body.
func TestIdleAndHalfOpenConnectionsLeaveRoom(t *testing.T) {
	n := idleConnections(t)
	p := startProcess(t, "PLANNER_MAX_IN_FLIGHT=64", "PLANNER_READ_TIMEOUT=5s")
	texts := []string{"", "POST /v1/plan HTTP/1.1\r\nHost: p\r\n", "GET /healthz HTTP/1.1\r\nHost: p\r\n\r\n"}
	for i := range n {
		p.dial(t, texts[i%len(texts)])
	}
	var slowest time.Duration
	for range 50 {
		start := time.Now()
		status, err := p.plan()
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		slowest = max(slowest, time.Since(start))
	}
	assert.True(t, isReady("http://"+p.address))
	t.Logf("%d connections: peak memory %d MB, slowest call %s", n, p.peakMemory(t), slowest.Round(time.Millisecond))
	assert.Less(t, p.peakMemory(t), 200, "MB")
}

func p99(t *testing.T, p *process) time.Duration {
	t.Helper()
	took := make([]time.Duration, 300)
	for i := range took {
		start := time.Now()
		status, err := p.plan()
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// TestTheServiceIsReadyAtOnce takes the best of some starts: the machine may be
// busy with other tests.
func TestTheServiceIsReadyAtOnce(t *testing.T) {
	const limit = 100 * time.Millisecond
	path, err := binary()
	require.NoError(t, err)
	best := time.Hour
	for i := 0; i < 20 && best >= limit; i++ {
		start := time.Now()
		startAt(t, path, "127.0.0.1:"+freePort(t))
		best = min(best, time.Since(start))
	}
	t.Logf("ready after %s", best)
	assert.Less(t, best, limit)
}

// TestIdleServiceIsSmall keeps what an idle service may hold.
func TestIdleServiceIsSmall(t *testing.T) {
	p := startProcess(t)
	assert.Less(t, p.memory(t, "VmRSS:"), 40, "MB")
}
