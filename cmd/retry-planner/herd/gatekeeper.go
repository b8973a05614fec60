package herd

import (
	"context"
	"math"
	"strconv"
	"time"

	"n8n-retry-planner/gate"
)

// gatekeeper asks the gate's in-process store, on the simulated clock.
type gatekeeper struct {
	store gate.Store
	spec  gate.Spec
	now   time.Time
}

// epoch is when the simulated clock starts. Any time will do.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newGatekeeper(spec *gate.Spec) *gatekeeper {
	k := &gatekeeper{spec: *spec}
	k.store = gate.NewMemory(func() time.Time { return k.now })
	return k
}

func (k *gatekeeper) set(now float64) {
	k.now = epoch.Add(time.Duration(math.Round(now*1e6)) * time.Microsecond)
}

// admit asks whether the execution may call now. A wait is added to what it
// has waited; ok is false when it is refused.
func (k *gatekeeper) admit(now float64, i int, e *execution) (wait float64, ok bool, err error) {
	k.set(now)
	verdict, err := k.store.Admit(context.Background(), gate.AdmitRequest{
		Spec: k.spec, TaskID: strconv.Itoa(i), Permit: e.permit, Retry: e.state.Attempts > 1,
		MaxWait: e.state.Budget - e.state.Elapsed,
	})
	if err != nil || verdict.Decision == gate.Refused {
		return 0, false, err
	}
	e.permit = verdict.Permit
	if verdict.Decision == gate.Go {
		return 0, true, nil
	}
	e.state.Elapsed += verdict.Wait
	return verdict.Wait, true, nil
}

// report tells the gate how the execution's call ended.
func (k *gatekeeper) report(now float64, i int, e *execution) error {
	k.set(now)
	outcome := gate.Success
	if e.status >= 500 {
		outcome = gate.Failure
	}
	_, err := k.store.Report(context.Background(), gate.ReportRequest{
		Spec: k.spec, TaskID: strconv.Itoa(i), Permit: e.permit, Outcome: outcome, Hold: e.floor})
	e.permit = ""
	return err
}
