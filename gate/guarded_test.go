package gate_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"n8n-retry-planner/gate"
)

// flaky is a store that does what a test tells it.
type flaky struct {
	fail func(ctx context.Context) error
}

func (f *flaky) Admit(ctx context.Context, r gate.AdmitRequest) (gate.Verdict, error) {
	return gate.Verdict{Decision: gate.Go, Permit: r.Permit}, f.fail(ctx)
}
func (f *flaky) Report(ctx context.Context, _ gate.ReportRequest) (gate.Receipt, error) {
	return gate.Receipt{Known: true}, f.fail(ctx)
}

func TestGuarded(t *testing.T) {
	works := func(context.Context) error { return nil }
	breaks := func(context.Context) error { return errors.New("connection refused") }
	ctx := context.Background()
	for _, open := range []bool{true, false} {
		store := &flaky{fail: works}
		var lines bytes.Buffer
		var changes []bool
		failed := map[string]int{}
		g := gate.NewGuarded(store, gate.GuardOptions{Open: open, Timeout: 50 * time.Millisecond,
			Logger: slog.New(slog.NewTextHandler(&lines, nil)),
			Failed: func(op string) { failed[op]++ }, Changed: func(up bool) { changes = append(changes, up) }})
		mine := uuid.NewString()
		for range 2 {
			store.fail = works
			v, err := g.Admit(ctx, gate.AdmitRequest{Permit: mine})
			assert.NoError(t, err)
			assert.Equal(t, gate.Verdict{Decision: gate.Go, Permit: mine}, v)
			store.fail = breaks
			for range 3 {
				v, err = g.Admit(ctx, gate.AdmitRequest{Permit: mine})
				assert.NoError(t, err)
				if open {
					assert.Equal(t, gate.Verdict{Decision: gate.Go, Permit: mine, Bypassed: true}, v)
				} else {
					assert.Equal(t, gate.Verdict{Decision: gate.Refused, Reason: gate.Unavailable}, v)
				}
				receipt, err := g.Report(ctx, gate.ReportRequest{Permit: mine})
				assert.NoError(t, err)
				assert.Equal(t, gate.Receipt{Bypassed: true}, receipt)
			}
			assert.False(t, changes[len(changes)-1])
		}
		assert.Equal(t, []bool{false, true, false}, changes, "one call for each change")
		assert.Equal(t, 3, strings.Count(lines.String(), "\n"), "one line for each change")
		assert.Equal(t, map[string]int{"admit": 6, "report": 6}, failed)
	}
}

func TestGuardedTimeout(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	store := &flaky{fail: hangs}
	var changes []bool
	g := gate.NewGuarded(store, gate.GuardOptions{Open: true, Timeout: 20 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		Changed: func(up bool) { changes = append(changes, up) }})
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = g.Admit(gone, gate.AdmitRequest{})
	assert.Empty(t, changes, "a caller that went away says nothing about the store")

	v, _ := g.Admit(context.Background(), gate.AdmitRequest{})
	assert.True(t, v.Bypassed)
	assert.NoError(t, uuid.Validate(v.Permit), "a call that goes has a permit")
	assert.Equal(t, []bool{false}, changes)

	// A call that began before the store came back must not say down again.
	began, release := make(chan bool), make(chan bool)
	store.fail = func(context.Context) error { close(began); <-release; return errors.New("timeout") }
	done := make(chan bool)
	go func() { _, _ = g.Admit(context.Background(), gate.AdmitRequest{}); close(done) }()
	<-began
	store.fail = func(context.Context) error { return nil }
	_, _ = g.Admit(context.Background(), gate.AdmitRequest{})
	assert.Equal(t, []bool{false, true}, changes)
	close(release)
	<-done
	assert.Equal(t, []bool{false, true}, changes)
}

// A store that is down must not hold up hundreds of calls for its timeout: a
// few try it, the others get their answer at once.
func TestGuardedDoesNotPileUp(t *testing.T) {
	store := &flaky{fail: func(ctx context.Context) error { return errors.New("connection refused") }}
	g := gate.NewGuarded(store, gate.GuardOptions{Open: true, Timeout: time.Minute, Logger: slog.New(slog.DiscardHandler)})
	_, _ = g.Admit(context.Background(), gate.AdmitRequest{})

	release := make(chan bool)
	var trying, answered atomic.Int64
	store.fail = func(context.Context) error { trying.Add(1); <-release; return nil }
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			v, _ := g.Admit(context.Background(), gate.AdmitRequest{})
			if v.Bypassed {
				answered.Add(1)
			}
		})
	}
	assert.Eventually(t, func() bool { return trying.Load()+answered.Load() == 100 }, 10*time.Second, time.Millisecond)
	assert.Equal(t, int64(16), trying.Load())
	close(release)
	all.Wait()
	v, _ := g.Admit(context.Background(), gate.AdmitRequest{})
	assert.False(t, v.Bypassed, "it came back by itself")
}
