// Package gatetest has what tests and measurements of the gate share: a real
// Redis that can be harmed, an API that keeps a log of its calls, a crowd of
// workers that goes through the service's HTTP routes as an n8n workflow does,
// and the checks of what the crowd did.
package gatetest

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is a real Redis server on a free port. It keeps nothing on disk.
type Redis struct {
	dir  string
	port int
	cmd  *exec.Cmd
}

// HasRedis tells whether there is a redis-server to start.
func HasRedis() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil
}

// StartRedis starts a server whose working folder is dir.
func StartRedis(dir string) (*Redis, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Redis{dir: dir, port: l.Addr().(*net.TCPAddr).Port}
	if err := l.Close(); err != nil {
		return nil, err
	}
	return s, s.Start()
}

// Start runs the server, also after a kill, and waits until it answers.
func (s *Redis) Start() error {
	s.cmd = exec.Command("redis-server", "--port", strconv.Itoa(s.port), "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--dir", s.dir, "--loglevel", "warning")
	if err := s.cmd.Start(); err != nil {
		return err
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	defer func() { _ = c.Close() }()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c.Ping(context.Background()).Err() == nil {
			return nil
		}
	}
	s.Kill()
	return fmt.Errorf("no answer on port %d", s.port)
}

// Addr is the server's host and port.
func (s *Redis) Addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// URL is what PLANNER_REDIS_URL takes.
func (s *Redis) URL() string { return "redis://" + s.Addr() + "/0" }

// Kill ends the server as a power cut would.
func (s *Redis) Kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// Pause stops the server's process: it keeps its connections and says nothing
// until Resume.
func (s *Redis) Pause() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *Redis) Resume() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

// Slow makes the server answer nobody for the given time.
func (s *Redis) Slow(d time.Duration) error {
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	defer func() { _ = c.Close() }()
	return c.ClientPause(context.Background(), d).Err()
}
