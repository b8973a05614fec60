//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a child process with its output in a file. It leads its own process group, so that a kill reaches the
// children that it started (n8n starts task runners).
type process struct {
	cmd     *exec.Cmd
	logFile string
	done    chan struct{}
}

// startProcess starts the command and sends its output to logFile, after what is there already.
func startProcess(logFile string, env []string, name string, args ...string) (*process, error) {
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		_ = out.Close()
		return nil, err
	}
	p := &process{cmd: cmd, logFile: logFile, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		_ = out.Close()
		close(p.done)
	}()
	return p, nil
}

// signal sends sig to the process and its children and waits until the process has ended.
func (p *process) signal(sig syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, sig)
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	}
}

// log returns all that the process has written.
func (p *process) log() string {
	b, _ := os.ReadFile(p.logFile)
	return string(b)
}

// waitUntil asks again every 50 ms until ready says yes. It gives up when the process ends or the time is over, and
// then returns the end of its log.
func (p *process) waitUntil(timeout time.Duration, ready func() bool) error {
	deadline := time.After(timeout)
	for {
		if ready() {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended before it was ready: …%s", p.cmd.Path, tail(p.log(), 3000))
		case <-deadline:
			return fmt.Errorf("%s was not ready after %s: …%s", p.cmd.Path, timeout, tail(p.log(), 3000))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func tail(s string, n int) string {
	return strings.ToValidUTF8(s[max(0, len(s)-n):], "")
}

// answers says whether a GET on url gives a 200.
func answers(url string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// freeAddress returns a loopback address with a port that nobody listens on now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
