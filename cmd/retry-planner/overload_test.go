package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// overloadTime is how long each test of an overload lasts: 3 s, or what the
// variable OVERLOAD says.
func overloadTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("OVERLOAD")
	if text == "" {
		return 3 * time.Second
	}
	length, err := time.ParseDuration(text)
	require.NoError(t, err, "OVERLOAD must be a time such as 30s")
	return length
}

// answers counts what callers got.
type answers struct {
	answered, refused, others atomic.Int64
	last                      atomic.Value // of the others, in words
}

// longBody is a body of which the service need not take in the rest once it is
// refused, in bytes: the connection may end before the caller has seen why.
const longBody = 1 << 20

// count takes one answer: a plan, or a refusal that says when to come again.
// Anything else is a fault.
func (a *answers) count(response *http.Response, err error, sent int) {
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
		err = errors.Join(err, response.Body.Close())
	}
	switch {
	case err == nil && response.StatusCode == http.StatusOK:
		a.answered.Add(1)
	case err == nil && response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") != "":
		a.refused.Add(1)
	case response == nil && sent > longBody && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)):
		a.refused.Add(1)
	case err == nil:
		err = errors.New(response.Status)
		fallthrough
	default:
		a.last.Store(err.Error())
		a.others.Add(1)
	}
}

// attack is what one sender does again and again.
type attack struct {
	senders int
	once    func(ctx context.Context, p *process, to *answers)
}

// TestOverloadIsRefusedAndPasses sends several times what the service takes at
// once, with slow senders among them. Health checks are answered all through,
// memory stays bounded, and afterwards calls are as quick as before.
func TestOverloadIsRefusedAndPasses(t *testing.T) {
	attacks := map[string]attack{
		"batches":      {32, post("/v1/plan/batch", "["+strings.Repeat(limitedItem+",", 200)+limitedItem+"]")},
		"slow senders": {16, hold(planHead + "Content-Length: 100\r\n\r\n{")},
	}
	settings := []string{"PLANNER_MAX_IN_FLIGHT=8", "PLANNER_READ_TIMEOUT=1s", "PLANNER_LOG_LEVEL=error"}
	t.Run("as it ships", func(t *testing.T) {
		got := endure(t, startProcess(t, settings...), false, attacks)["batches"]
		assert.Positive(t, got.answered.Load())
		assert.Positive(t, got.refused.Load())
	})
	t.Run("under the race detector", func(t *testing.T) {
		if _, err := exec.LookPath("gcc"); err != nil || testing.Short() {
			t.Skip("the race detector needs a C compiler")
		}
		path, err := buildBinary("retry-planner-race", "-race")
		require.NoError(t, err)
		p := startAt(t, path, "127.0.0.1:"+freePort(t), settings...)
		endure(t, p, true, attacks)
		require.NoError(t, p.Process.Signal(syscall.SIGTERM))
		require.NoError(t, p.Wait(), "a race ends it with another exit code: %s", p.log)
	})
}

// TestEveryAttackAtOnce is all that a caller can do wrong, at the same time and
// with the settings as they come.
func TestEveryAttackAtOnce(t *testing.T) {
	p := startProcess(t, "PLANNER_LOG_LEVEL=error")
	for range idleConnections(t) {
		p.dial(t, "")
	}
	batchHead := strings.Replace(planHead, "/v1/plan", "/v1/plan/batch", 1)
	attacks := map[string]attack{
		"four times the capacity": {4 * 256, post("/v1/plan", limitedItem)},
		"headers without an end":  {64, hold("POST /v1/plan HTTP/1.1\r\nHost: p\r\n" + strings.Repeat("X-A: "+strings.Repeat("b", 1000)+"\r\n", 30))},
		"headers past the limit":  {4, hold("GET /healthz HTTP/1.1\r\nHost: p\r\n" + strings.Repeat("X-A: "+strings.Repeat("b", 100)+"\r\n", 400) + "\r\n")},
		"bodies that never come":  {32, hold(batchHead + "Content-Length: 33000000\r\n\r\n[")},
		"chunks without an end":   {16, hold(batchHead + "Transfer-Encoding: chunked\r\n\r\n1000000\r\n" + strings.Repeat(" ", 100_000))},
		"compressed bodies":       {4, bomb(t)},
	}
	for name, body := range largeBatches() {
		attacks["batches of "+name] = attack{16, post("/v1/plan/batch", body)}
	}
	got := endure(t, p, false, attacks)
	assert.Positive(t, got["four times the capacity"].answered.Load())
}

// largeBatches are just under the limits of a batch.
func largeBatches() map[string]string {
	const limit = 32 << 20
	state := strings.TrimSuffix(limitedItem, "}")
	var keys strings.Builder
	for i := range 330 {
		fmt.Fprintf(&keys, `,"k%d":1`, i)
	}
	full := func(item string) string {
		n := min(10_000, (limit-2)/(len(item)+1))
		return "[" + strings.Repeat(item+",", n-1) + item + "]"
	}
	return map[string]string{
		"long texts":   full(state + `,"x":"` + strings.Repeat("y", 3000) + `"}`),
		"one text":     full(state + `,"x":"` + strings.Repeat("y", limit-500) + `"}`),
		"many keys":    full(state + keys.String() + `}`),
		"deep nesting": full(state + `,"x":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`),
		"faults":       full(`{"statusCode":"a","headers":1,"attempts":"x","max_attempts":"y","base":"z","policy":{"jitter":7,"zz":1}}`),
	}
}

// endure lets the attacks go on for overloadTime and holds the service to its
// promises: health checks are answered, no call is lost, memory stays under
// 200 MB (the race detector needs more), and afterwards calls are as quick as
// before.
func endure(t *testing.T, p *process, raced bool, attacks map[string]attack) map[string]*answers {
	t.Helper()
	before := p99(t, p)
	ctx, stop := context.WithTimeout(t.Context(), overloadTime(t))
	defer stop()
	var senders sync.WaitGroup
	got := make(map[string]*answers, len(attacks))
	for name, a := range attacks {
		to := new(answers)
		got[name] = to
		for range a.senders {
			senders.Go(func() {
				for ctx.Err() == nil {
					a.once(ctx, p, to)
				}
			})
		}
	}
	probes, slowest := 0, time.Duration(0)
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		start := time.Now()
		require.True(t, isReady("http://"+p.address), "a probe failed under overload")
		slowest = max(slowest, time.Since(start))
		probes++
	}
	senders.Wait()
	after := p99(t, p)
	for name, to := range got {
		if n := to.answered.Load() + to.refused.Load(); n > 0 {
			t.Logf("%s: %d answered, %d refused", name, to.answered.Load(), to.refused.Load())
		}
		assert.Zero(t, to.others.Load(), "%s: every call is answered or refused with Retry-After, not %s", name, to.last.Load())
	}
	t.Logf("%d probes, the slowest took %s; peak memory %d MB; p99 before %s and after %s",
		probes, slowest.Round(time.Millisecond), p.peakMemory(t), before, after)
	assert.Less(t, after, 4*before+50*time.Millisecond)
	// Most of it is spent in this process, whose senders take the CPU too.
	assert.Less(t, slowest, 5*time.Second, "the slowest probe")
	if !raced {
		assert.Less(t, p.peakMemory(t), 200, "MB")
	}
	return got
}

// post sends the body. A call that the end of the test cuts off is not counted.
func post(path, body string) func(context.Context, *process, *answers) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return func(_ context.Context, p *process, to *answers) {
		response, err := client.Post("http://"+p.address+path, "application/json", strings.NewReader(body))
		if err != nil && strings.Contains(err.Error(), "server closed idle connection") {
			return // the client had opened it before and not used it in time: nothing was sent
		}
		to.count(response, err, len(body))
	}
}

// hold opens a connection, sends the text and keeps it until it is cut off.
func hold(text string) func(context.Context, *process, *answers) {
	return func(ctx context.Context, p *process, _ *answers) {
		c, err := net.Dial("tcp", p.address)
		if err != nil {
			return
		}
		defer context.AfterFunc(ctx, func() { _ = c.Close() })()
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, c)
	}
}

// bomb sends a body that would be 100 MB when unpacked.
func bomb(t *testing.T) func(context.Context, *process, *answers) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.CopyN(z, zeros{}, 100<<20)
	require.NoError(t, errors.Join(err, z.Close()))
	return func(ctx context.Context, p *process, to *answers) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+"/v1/plan", bytes.NewReader(packed.Bytes()))
		if err != nil {
			to.others.Add(1)
			return
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Content-Encoding", "gzip")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return // the test's end, or the connection's: the answer need not wait for the body
		}
		_ = response.Body.Close()
		switch response.StatusCode {
		case http.StatusUnsupportedMediaType, http.StatusServiceUnavailable:
			to.refused.Add(1)
		default:
			to.last.Store(response.Status)
			to.others.Add(1)
		}
	}
}
