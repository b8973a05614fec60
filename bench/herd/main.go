// Herd draws what the gate is for. A crowd of workers calls an API that allows
// so many calls in a window, each with planned retries: once without the gate,
// once with it. The arrivals of both runs, as the API saw them, go into one SVG.
//
//	go run ./bench/herd -planner bin/retry-planner -out docs/gate.svg
//
// It needs redis-server. The numbers under the picture are those of the run.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"n8n-retry-planner/gate/gatetest"
)

const (
	workers  = 300
	replicas = 3
	limit    = 60
	window   = 3 * time.Second
)

func main() {
	planner := flag.String("planner", "bin/retry-planner", "the service's binary")
	out := flag.String("out", "docs/gate.svg", "the picture to write")
	flag.Parse()
	if err := run(*planner, *out); err != nil {
		fmt.Fprintln(os.Stderr, "herd:", err)
		os.Exit(1)
	}
}

func run(planner, out string) error {
	dir, err := os.MkdirTemp("", "herd-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := gatetest.StartRedis(dir)
	if err != nil {
		return err
	}
	defer server.Kill()
	var addresses []string
	for range replicas {
		address, stop, err := start(planner, server.URL())
		if err != nil {
			return err
		}
		defer stop()
		addresses = append(addresses, address)
	}
	var runs []measured
	for _, gate := range []string{"", fmt.Sprintf(`{"resource":"api","rate":{"limit":%d,"window":%v}}`, limit, window.Seconds())} {
		runs = append(runs, measure(addresses, gate))
	}
	for i, name := range []string{"without the gate", "with the gate"} {
		fmt.Println(name+":", runs[i].text())
	}
	return os.WriteFile(out, draw(runs[0], runs[1]), 0o644)
}

// start runs one replica of the service and waits until it is ready.
func start(planner, redisURL string) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	host := l.Addr().String()
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	p := exec.Command(planner)
	p.Env = append(os.Environ(), "PLANNER_LISTEN="+host, "PLANNER_REDIS_URL="+redisURL, "PLANNER_REDIS_TIMEOUT=10s", "PLANNER_LOG_LEVEL=error")
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _ = p.Process.Kill(); _ = p.Wait() }
	for range 1000 {
		w, err := http.Get("http://" + host + "/readyz")
		if err == nil {
			_ = w.Body.Close()
			return "http://" + host, stop, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("%s does not answer", planner)
}

// measured is one run.
type measured struct {
	arrivals []time.Duration // from the first call
	refused  int             // calls that got a 429
	ended    map[string]int
}

// measure lets the crowd call an API that counts in fixed windows, as most do,
// and answers 429 with a Retry-After for the rest of the window when it is full.
func measure(addresses []string, gate string) measured {
	var from time.Time
	inWindow := 0
	api := &gatetest.Upstream{
		Takes: func() time.Duration { return time.Duration(20+rand.IntN(20)) * time.Millisecond },
		Answer: func(_ int, now time.Time) (int, int) {
			if now.Sub(from) >= window {
				from, inWindow = now, 0
			}
			inWindow++
			if inWindow > limit {
				return http.StatusTooManyRequests, int((window - now.Sub(from) + time.Second - 1) / time.Second)
			}
			return http.StatusOK, 0
		},
	}
	api.Start()
	defer api.Close()
	crowd := &gatetest.Crowd{
		Replicas: addresses, API: api.URL(), Workers: workers,
		Task:  func(n int) string { return fmt.Sprintf("task-%d", n) },
		State: map[string]any{"max_attempts": 10, "base": 1, "exp_cap": 5, "total_wait_budget": 300, "method": "GET"},
	}
	if gate != "" {
		crowd.Gate = json.RawMessage(gate)
	}
	_, ended := crowd.Run()
	m := measured{ended: ended}
	var first time.Time
	for _, c := range api.Calls() {
		if first.IsZero() || c.Arrived.Before(first) {
			first = c.Arrived
		}
	}
	for _, c := range api.Calls() {
		m.arrivals = append(m.arrivals, c.Arrived.Sub(first))
		if c.Status == http.StatusTooManyRequests {
			m.refused++
		}
	}
	return m
}
