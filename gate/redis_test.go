package gate_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

// shared is the Redis of the tests that do not harm it; nil without a binary.
var shared *redisServer

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		fmt.Fprintln(os.Stderr, "note: no redis-server found: the gate is tested with the in-process store only")
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "gate-redis-")
	if err == nil {
		shared, err = startRedis(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "redis-server does not start:", err)
		os.Exit(1)
	}
	code := m.Run()
	shared.kill()
	os.RemoveAll(dir)
	os.Exit(code)
}

// redisServer is a real Redis on a free port.
type redisServer struct {
	dir  string
	port int
	cmd  *exec.Cmd
}

func startRedis(dir string) (*redisServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &redisServer{dir: dir, port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	return s, s.start()
}

// start runs the server and waits until it answers.
func (s *redisServer) start() error {
	s.cmd = exec.Command("redis-server", "--port", strconv.Itoa(s.port), "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--dir", s.dir, "--loglevel", "warning")
	if err := s.cmd.Start(); err != nil {
		return err
	}
	c := redis.NewClient(&redis.Options{Addr: s.addr()})
	defer c.Close()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c.Ping(context.Background()).Err() == nil {
			return nil
		}
	}
	s.kill()
	return fmt.Errorf("no answer on port %d", s.port)
}

func (s *redisServer) addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// kill ends the server as a power cut would.
func (s *redisServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// pause stops the server's process: it keeps its connections and says nothing.
func (s *redisServer) pause()  { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }
func (s *redisServer) resume() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

// client opens a client as the service does.
func (s *redisServer) client(t testing.TB, timeout time.Duration) *redis.Client {
	c, err := gate.RedisClient("redis://"+s.addr()+"/0", timeout)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// ownRedis is a server that the test may kill, pause or slow.
func ownRedis(t testing.TB) *redisServer {
	needRedis(t)
	s, err := startRedis(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { s.resume(); s.kill() })
	return s
}

func needRedis(t testing.TB) {
	if shared == nil {
		t.Skip("no redis-server")
	}
}

// slow makes the server answer nobody for the given time.
func (s *redisServer) slow(t testing.TB, d time.Duration) {
	c := redis.NewClient(&redis.Options{Addr: s.addr()})
	defer c.Close()
	require.NoError(t, c.ClientPause(context.Background(), d).Err())
}
