package gate_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
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
				assert.Zero(t, receipt)
			}
			assert.False(t, g.Up())
		}
		assert.Equal(t, []bool{false, true, false}, changes, "one call for each change")
		assert.Equal(t, 3, strings.Count(lines.String(), "\n"), "one line for each change")
		assert.Equal(t, map[string]int{"admit": 6, "report": 6}, failed)
	}
}

func TestGuardedTimeout(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	store := &flaky{fail: hangs}
	g := gate.NewGuarded(store, gate.GuardOptions{Open: true, Timeout: 20 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = g.Admit(gone, gate.AdmitRequest{})
	assert.True(t, g.Up(), "a caller that went away says nothing about the store")

	v, _ := g.Admit(context.Background(), gate.AdmitRequest{})
	assert.True(t, v.Bypassed)
	assert.NoError(t, uuid.Validate(v.Permit), "a call that goes has a permit")
	assert.False(t, g.Up())

	// A call that began before the store came back must not say down again.
	began, release := make(chan bool), make(chan bool)
	store.fail = func(context.Context) error { close(began); <-release; return errors.New("timeout") }
	done := make(chan bool)
	go func() { _, _ = g.Admit(context.Background(), gate.AdmitRequest{}); close(done) }()
	<-began
	store.fail = func(context.Context) error { return nil }
	_, _ = g.Admit(context.Background(), gate.AdmitRequest{})
	assert.True(t, g.Up())
	close(release)
	<-done
	assert.True(t, g.Up())
}
