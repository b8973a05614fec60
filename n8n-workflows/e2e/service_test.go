//go:build e2e

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// service is the real retry planner: the built binary as a process of its own.
type service struct {
	*process
	url string
}

// buildService builds the binary into dir and gives its path.
func buildService(dir string) (binary string, err error) {
	binary = filepath.Join(dir, "retry-planner")
	if out, err := exec.Command("go", "build", "-o", binary, "n8n-retry-planner/cmd/retry-planner").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the service: %w: %s", err, out)
	}
	return binary, nil
}

// startService starts the binary with the settings on a free port, with its log in dir, and waits until it is healthy.
func startService(binary, dir string, settings ...string) (*service, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(filepath.Join(dir, "service.log"), append(settings, "PLANNER_LISTEN="+address), binary)
	if err != nil {
		return nil, err
	}
	s := &service{process: p, url: "http://" + address}
	if err := p.waitUntil(10*time.Second, func() bool { return answers(s.url + "/healthz") }); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *service) stop() { s.signal(syscall.SIGTERM) }
