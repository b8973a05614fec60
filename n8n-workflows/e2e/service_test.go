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

// startService builds the binary into dir, starts it with the settings on a free port and waits until it is healthy.
func startService(dir string, settings ...string) (*service, error) {
	binary := filepath.Join(dir, "retry-planner")
	if out, err := exec.Command("go", "build", "-o", binary, "n8n-retry-planner/cmd/retry-planner").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the service: %w: %s", err, out)
	}
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
