package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// subject is one thing that is measured: a body that is posted to a server.
type subject struct {
	name        string
	server      *server
	path        string
	body        []byte
	bodyFile    string
	items       int // in one call
	connections int

	runs []run
}

// run is what one run of wrk gives.
type run struct {
	perSecond float64       // calls a second
	cpu       time.Duration // of the server, for one call
	p50, p99  time.Duration
}

// enoughCalls is how many calls a run must have for its figures to count.
const enoughCalls = 8

// measure posts for so many seconds, and longer where a call takes long.
func (s *subject) measure(seconds int) error {
	for {
		calls, r, err := s.post(seconds)
		if err != nil {
			return err
		}
		if calls >= enoughCalls || seconds > 10 {
			s.runs = append(s.runs, r)
			return nil
		}
		seconds *= 2
	}
}

func (s *subject) post(seconds int) (calls int, r run, err error) {
	before, err := s.server.cpuTime()
	if err != nil {
		return 0, run{}, err
	}
	out, err := exec.Command("taskset", "-c", clientCPU, "wrk", "-t1", fmt.Sprintf("-c%d", s.connections), fmt.Sprintf("-d%ds", seconds),
		"-s", "bench/post.lua", s.server.url+s.path, "--", s.bodyFile).Output()
	if err != nil {
		return 0, run{}, fmt.Errorf("wrk against %s: %w: %s", s.name, err, out)
	}
	after, err := s.server.cpuTime()
	if err != nil {
		return 0, run{}, err
	}
	var got struct{ Requests, Microseconds, P50, P99, Failed int }
	if err := json.Unmarshal(out[max(0, bytes.LastIndexByte(out, '{')):], &got); err != nil {
		return 0, run{}, fmt.Errorf("wrk's answer about %s: %w", s.name, err)
	}
	if got.Failed > 0 {
		return 0, run{}, fmt.Errorf("%s: %d of %d calls failed", s.name, got.Failed, got.Requests)
	}
	return got.Requests, run{
		perSecond: float64(got.Requests) / (float64(got.Microseconds) / 1e6),
		cpu:       (after - before) / time.Duration(max(1, got.Requests)),
		p50:       time.Duration(got.P50) * time.Microsecond,
		p99:       time.Duration(got.P99) * time.Microsecond,
	}, nil
}

// median is the middle run, for each figure by itself.
func (s *subject) median() run {
	return run{
		perSecond: medianOf(s.runs, func(r run) float64 { return r.perSecond }),
		cpu:       medianOf(s.runs, func(r run) time.Duration { return r.cpu }),
		p50:       medianOf(s.runs, func(r run) time.Duration { return r.p50 }),
		p99:       medianOf(s.runs, func(r run) time.Duration { return r.p99 }),
	}
}

func medianOf[T float64 | time.Duration](runs []run, of func(run) T) T {
	values := make([]T, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// ratioTo is the median of the ratios to another subject, each of one round:
// what slows the machine down for a while slows both.
func (s *subject) ratioTo(other *subject, of func(run) float64) float64 {
	ratios := make([]float64, len(s.runs))
	for i := range s.runs {
		ratios[i] = of(s.runs[i]) / of(other.runs[i])
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}
