package gate_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
)

// world is a store, its clock and a resource of its own.
type world struct {
	testing.TB
	store gate.Store
	now   time.Time
	spec  gate.Spec
}

// stores are the makers of every store that has to conform.
func stores(t *testing.T) map[string]func(clock func() time.Time) gate.Store {
	all := map[string]func(func() time.Time) gate.Store{
		"memory": func(c func() time.Time) gate.Store { return gate.NewMemory(c) },
	}
	if shared != nil {
		all["redis"] = func(c func() time.Time) gate.Store {
			return gate.NewRedisAt(clientOf(t, shared, 5*time.Second), c)
		}
	}
	return all
}

// eachStore runs a scenario against every store.
func eachStore(t *testing.T, name string, spec gate.Spec, scenario func(w *world)) {
	for kind, make := range stores(t) {
		t.Run(name+"/"+kind, func(t *testing.T) {
			w := &world{TB: t, now: time.Unix(1_800_000_000, 0), spec: spec}
			w.spec.Resource = uuid.NewString()
			w.store = make(func() time.Time { return w.now })
			scenario(w)
		})
	}
}

// sleep moves the clock.
func (w *world) sleep(seconds float64) {
	w.now = w.now.Add(time.Duration(math.Round(seconds*1e6)) * time.Microsecond)
}

// ask admits with the world's spec; the changes come last.
func (w *world) ask(changes ...func(*gate.AdmitRequest)) gate.Verdict {
	w.Helper()
	r := gate.AdmitRequest{Spec: w.spec, MaxWait: math.Inf(1)}
	for _, c := range changes {
		c(&r)
	}
	v, err := w.store.Admit(context.Background(), r)
	require.NoError(w, err)
	assert.False(w, v.Bypassed)
	assert.Equal(w, v.Decision == gate.Refused, v.Permit == "", "a permit comes with go and wait only")
	assert.Equal(w, v.Decision == gate.Go, v.Reason == "")
	return v
}

func permit(id string) func(*gate.AdmitRequest) { return func(r *gate.AdmitRequest) { r.Permit = id } }
func task(id string) func(*gate.AdmitRequest)   { return func(r *gate.AdmitRequest) { r.TaskID = id } }
func tenant(id string) func(*gate.AdmitRequest) { return func(r *gate.AdmitRequest) { r.Tenant = id } }
func atMost(s float64) func(*gate.AdmitRequest) { return func(r *gate.AdmitRequest) { r.MaxWait = s } }
func retry(r *gate.AdmitRequest)                { r.Retry = true }

// report tells the outcome of a permit.
func (w *world) report(id string, o gate.Outcome, changes ...func(*gate.ReportRequest)) gate.Receipt {
	w.Helper()
	r := gate.ReportRequest{Spec: w.spec, Permit: id, Outcome: o}
	for _, c := range changes {
		c(&r)
	}
	got, err := w.store.Report(context.Background(), r)
	require.NoError(w, err)
	return got
}

func hold(s float64) func(*gate.ReportRequest) { return func(r *gate.ReportRequest) { r.Hold = s } }
func ofTask(id string) func(*gate.ReportRequest) {
	return func(r *gate.ReportRequest) { r.TaskID = id }
}

// goes asks and demands go; the permit is returned.
func (w *world) goes(changes ...func(*gate.AdmitRequest)) string {
	w.Helper()
	v := w.ask(changes...)
	require.Equal(w, gate.Go, v.Decision, "want go, got %+v", v)
	assert.Zero(w, v.Wait)
	return v.Permit
}

// waits asks and demands a wait of that reason and length; negative for any.
func (w *world) waits(why gate.Reason, seconds float64, changes ...func(*gate.AdmitRequest)) gate.Verdict {
	w.Helper()
	v := w.ask(changes...)
	require.Equal(w, gate.Wait, v.Decision, "want wait, got %+v", v)
	require.Equal(w, why, v.Reason)
	require.Positive(w, v.Wait)
	if seconds >= 0 {
		require.Equal(w, seconds, v.Wait)
	}
	return v
}

// refuses asks and demands a refusal of that reason.
func (w *world) refuses(why gate.Reason, changes ...func(*gate.AdmitRequest)) gate.Verdict {
	w.Helper()
	v := w.ask(changes...)
	require.Equal(w, gate.Refused, v.Decision, "want a refusal, got %+v", v)
	require.Equal(w, why, v.Reason)
	return v
}
