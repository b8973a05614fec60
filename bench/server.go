package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// serverCPU and clientCPU keep the two from taking each other's time.
const serverCPU, clientCPU = "0", "1"

// server is one of the services, a process of its own that has one CPU.
type server struct {
	name string
	url  string
	cmd  *exec.Cmd
}

// startServer starts the command on a free port, which it is told as PORT and
// as PLANNER_LISTEN, and waits until it takes connections.
func startServer(name string, args ...string) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	_ = listener.Close()

	s := &server{name: name, url: "http://" + address, cmd: exec.Command("taskset", append([]string{"-c", serverCPU}, args...)...)}
	s.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "NODE_ENV=production", "PORT="+port, "PLANNER_LISTEN="+address)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	for range 200 {
		if c, err := net.Dial("tcp", address); err == nil {
			return s, c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("%s does not take connections", name)
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// answer posts the body once and gives the answer's JSON.
func (s *server) answer(path string, body []byte) (any, error) {
	resp, err := http.Post(s.url+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d: %.300s", s.name, resp.StatusCode, text)
	}
	var value any
	return value, json.Unmarshal(text, &value)
}

// cpuTime is the time that the process has had of its CPU, from proc(5)'s stat:
// fields 14 and 15, in ticks of 10 ms.
func (s *server) cpuTime() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, err
}

// peakMemory is the most memory that the process has held at once, bytes.
func (s *server) peakMemory() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("no VmHWM for %s", s.name)
	}
	kilobytes, err := strconv.Atoi(fields[0])
	return kilobytes << 10, err
}
