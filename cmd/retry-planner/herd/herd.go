// Package herd plays many executions at once against an API that breaks and
// comes back, on a simulated clock, so that policies can be compared before
// they are trusted. Every decision comes from planner.Plan and, with the gate,
// from the gate's own in-process store; nothing is decided here.
package herd

import (
	"context"
	"math"
	"math/rand/v2"

	"n8n-retry-planner/gate"
	"n8n-retry-planner/planner"
)

// World is what all policies are played against. Durations are seconds.
type World struct {
	Executions   int     // each has one call to get done; all start at 0
	Workers      int     // n8n workers
	Concurrency  int     // executions that one worker runs at once; one that waits holds no place
	ResponseTime float64 // that a call takes
	Upstream     Upstream
	Seed         uint64 // of the random draws
}

// Policy is one way to retry.
type Policy struct {
	Name   string
	State  planner.State // of the first call
	Policy planner.Policy
	Gate   *gate.Spec // asked before each call; nil for none
}

// Result is what a policy did to the API and to the executions.
type Result struct {
	Name       string
	PeakBack   int     // most calls that arrived in one second once the outage was over
	PeakOutage int     // and in the outage
	Calls      int     // calls made in all
	Wasted     int     // of them, those that did not succeed
	Limited    int     // of them, those answered 429
	Done       float64 // when the last execution ended
	Lost       int     // executions that ended without success
	Arrivals   []int   // calls that arrived in each second
}

// maxSeconds is how much of the clock Arrivals holds, a week: a call after it
// counts in the last second.
const maxSeconds = 7 * 86400

// Play plays the policy to the end. progress is called now and then with the
// number of executions that have ended since the last time. It gives ctx's
// error when that ends first.
func Play(ctx context.Context, w *World, p *Policy, progress func(ended int)) (Result, error) {
	h := &herd{
		world: w, policy: p, free: w.Workers * w.Concurrency,
		upstream: window{Upstream: w.Upstream},
		draws:    rand.New(rand.NewPCG(w.Seed, 0)),
		progress: progress, result: Result{Name: p.Name},
	}
	h.executions = make([]execution, w.Executions)
	for i := range h.executions {
		h.executions[i].state = p.State
		h.at(0, ready, i)
	}
	if p.Gate != nil {
		h.gate = newGatekeeper(p.Gate)
	}
	return h.play(ctx)
}

type execution struct {
	state  planner.State
	permit string // of the gate
	status int    // that its call is going to get
	floor  float64
}

type herd struct {
	world      *World
	policy     *Policy
	upstream   window
	gate       *gatekeeper
	draws      *rand.Rand
	executions []execution
	events     events
	waiting    []int // executions that want to call and have no place
	free       int   // places
	ended      int   // executions that have ended since the last progress
	progress   func(int)
	result     Result
}

func (h *herd) play(ctx context.Context) (Result, error) {
	for n := 0; !h.events.empty(); n++ {
		if n%eventsPerLook == 0 && ctx.Err() != nil {
			return h.result, ctx.Err()
		}
		e := h.events.next()
		var err error
		if e.kind == ready {
			err = h.ready(e.time, e.execution)
		} else {
			err = h.answered(e.time, e.execution)
		}
		if err != nil {
			return h.result, err
		}
	}
	h.progress(h.ended)
	return h.result, nil
}

// ready starts the execution's call when the gate lets it and a worker has a
// place for it.
func (h *herd) ready(now float64, i int) error {
	if h.gate != nil {
		wait, ok, err := h.gate.admit(now, i, &h.executions[i])
		if err != nil {
			return err
		}
		if !ok {
			h.end(now, false)
			return nil
		}
		if wait > 0 {
			h.at(now+wait, ready, i)
			return nil
		}
	}
	if h.free == 0 {
		h.waiting = append(h.waiting, i)
		return nil
	}
	h.free--
	h.call(now, i)
	return nil
}

func (h *herd) call(now float64, i int) {
	e := &h.executions[i]
	e.status, e.floor = h.upstream.answer(now)
	h.count(now, e.status)
	h.at(now+h.world.ResponseTime, answered, i)
}

// answered plans what comes after the execution's call.
func (h *herd) answered(now float64, i int) error {
	e := &h.executions[i]
	if len(h.waiting) > 0 {
		next := h.waiting[0]
		h.waiting = h.waiting[1:]
		h.call(now, next)
	} else {
		h.free++
	}
	if h.gate != nil {
		if err := h.gate.report(now, i, e); err != nil {
			return err
		}
	}
	d := planner.Plan(&planner.Input{
		Outcome: planner.Outcome{Class: planner.Answered, Status: e.status, Floor: e.floor},
		State:   e.state,
		Request: planner.Request{Method: "GET"},
		Policy:  h.policy.Policy,
		Draws:   planner.Draws{Jitter: h.draws.Float64(), Spread: h.draws.Float64()},
	})
	if d.Verb != planner.Retry {
		h.end(now, d.Verb == planner.Success)
		return nil
	}
	e.state = e.state.After(&d)
	h.at(now+d.Wait, ready, i)
	return nil
}

func (h *herd) count(now float64, status int) {
	r := &h.result
	r.Calls++
	if status != 200 {
		r.Wasted++
	}
	if status == 429 {
		r.Limited++
	}
	second := int(math.Min(now, maxSeconds-1))
	for len(r.Arrivals) <= second {
		r.Arrivals = append(r.Arrivals, 0)
	}
	r.Arrivals[second]++
	peak := &r.PeakBack
	if now < h.world.Upstream.Outage {
		peak = &r.PeakOutage
	}
	*peak = max(*peak, r.Arrivals[second])
}

// eventsPerLook is how many events pass between two looks at the context.
const eventsPerLook = 4096

// progressStep is how many executions end between two calls of progress.
const progressStep = 256

func (h *herd) end(now float64, success bool) {
	h.result.Done = now
	if !success {
		h.result.Lost++
	}
	if h.ended++; h.ended == progressStep {
		h.progress(h.ended)
		h.ended = 0
	}
}
