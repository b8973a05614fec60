package envelope

import (
	"fmt"
	"time"

	"n8n-retry-planner/planner"
)

// interpret makes typed values of the members. All faults are found before it
// gives up.
func (it *Item) interpret(now time.Time) error {
	var f faults
	var failed failure
	errorValue, isFailure := it.get(fError)
	if isFailure {
		it.failed = true
		failed = it.failureOf(errorValue, &f)
		it.Outcome.Class, it.Outcome.Status = failed.class, failed.status
	} else {
		it.readResponse(&f)
	}
	extras := it.readRest(&failed, now, &f)
	if err := it.invalid(&f); err != nil {
		return err
	}
	if it.Outcome.Status != 0 {
		it.applyDialect(&failed, extras.clock, now)
	}
	return nil
}

// interpretAdmit is interpret for a call that is still to come.
func (it *Item) interpretAdmit(now time.Time) error {
	var f faults
	it.readRest(&failure{}, now, &f)
	if _, ok := it.get(fGate); !ok {
		f.add("gate", "required", "is missing: set what the call shares with others, or call without asking")
	}
	// The status of the last response, which a state carries along.
	if value, ok := it.get(fLastStatus); ok {
		it.Outcome.Status = httpStatus(value)
	}
	return it.invalid(&f)
}

// readRest reads everything but the outcome.
func (it *Item) readRest(failed *failure, now time.Time, f *faults) policyExtras {
	it.readState(f)
	it.readRequest(failed, f)
	if value, ok := it.get(fPolicy); ok && !isObject(value) {
		f.add("policy", "object", "must be an object")
	}
	var extras policyExtras
	it.Policy, extras = readPolicy(it.policy, now, f)
	it.WantsExplanation, it.dialect = extras.explain, extras.dialect
	if it.Policy.Jitter == planner.JitterDecorrelated {
		it.State.LastWait = it.optionalSeconds(fWaitSeconds, "wait_seconds", f)
	}
	it.readGate(f)
	return extras
}

// invalid gives the error for an item with faults, nil for one without.
func (it *Item) invalid(f *faults) error {
	if len(f.list) == 0 {
		return nil
	}
	return &InvalidError{Faults: f.list, Attempts: max(it.State.Attempts, 1), LastStatus: it.Outcome.Status}
}

func (it *Item) failureOf(value []byte, f *faults) failure {
	if !isString(value) && !isObject(value) {
		f.add("error", "object", "must be the error object or text of an n8n error item")
		return failure{}
	}
	details, _ := it.get(fDetails)
	return readFailure(value, details)
}

func (it *Item) readResponse(f *faults) {
	if value, ok := it.get(fStatusCode); !ok {
		f.add("statusCode", "required", "is missing: send the response's status, or error for a call that failed")
	} else if it.Outcome.Status = httpStatus(value); it.Outcome.Status == 0 {
		f.add("statusCode", "status", "must be an integer from 100 to 599")
	}
	if value, ok := it.get(fHeaders); ok && !isObject(value) {
		f.add("headers", "object", "must be an object of header names and values")
	}
	if len(it.headers) > maxHeaders {
		f.add("headers", "max", fmt.Sprintf("must have at most %d members", maxHeaders))
		return
	}
	for _, h := range it.headers {
		if !validHeaderValue(h.value) {
			f.add("headers."+shortened(string(h.name)), "header_value", headerValueRule)
		}
	}
}

func (it *Item) readState(f *faults) {
	s := &it.State
	s.Attempts = 1
	if value, ok := it.get(fAttempts); ok {
		s.Attempts = f.integerFrom(value, "attempts", 1)
	}
	if value, ok := it.required(fMaxAttempts, "max_attempts", f); ok {
		s.MaxAttempts = f.integerFrom(value, "max_attempts", 1)
	}
	s.Base = it.positiveSeconds(fBase, "base", f)
	s.ExpCap = it.positiveSeconds(fExpCap, "exp_cap", f)
	if value, ok := it.required(fTotalWaitBudget, "total_wait_budget", f); ok {
		s.Budget = f.seconds(value, "total_wait_budget")
	}
	s.Elapsed = it.optionalSeconds(fElapsedWait, "elapsed_wait", f)
}

func (it *Item) readRequest(failed *failure, f *faults) {
	it.Request.Method = it.nonEmptyString(fMethod, "method", f)
	if it.Request.Method == "" {
		it.Request.Method = failed.method
	}
	it.Request.IdempotencyKey = it.nonEmptyString(fIdempotencyKey, "idempotency_key", f) != ""
	it.TaskID = it.nonEmptyString(fTaskID, "task_id", f)
}

// applyDialect reads what the server says about its limits.
func (it *Item) applyDialect(failed *failure, said clock, now time.Time) {
	r := &it.response
	r.status, r.headers = it.Outcome.Status, it.headers
	if it.failed {
		r.headers, r.body = failed.headers, failed.body
	} else if data, ok := it.get(fData); ok {
		// A data that is there is fresh: a body beside it was merged in from
		// the state, and belongs to an earlier response.
		r.body = data
	} else {
		r.body, _ = it.get(fBody)
	}
	r.now = it.dialect.timeFor(r, said, now)
	it.reading = it.dialect.readResponse(r)
	o := &it.Outcome
	o.Class, o.Floor = it.reading.class, it.reading.floor
	o.BadRetryAfter, o.NotProcessed = it.reading.bad, it.reading.notProcessed
}

// timeFor is the moment that an absolute time is measured against.
func (d *Dialect) timeFor(r *response, said clock, local time.Time) time.Time {
	switch {
	case said == clockServer, said == clockUnsaid && d.serverClock:
		return r.serverTime(local)
	case said == clockUnsaid && d.bothClocks:
		if server := r.serverTime(local); server.Before(local) {
			return server
		}
	}
	return local
}

// serverTime gives the response's own Date, where there is exactly one that
// can be read and no Age (RFC 9111 §5.1: a reply from a cache is older than
// its Date says); otherwise the local clock.
func (r *response) serverTime(local time.Time) time.Time {
	value, ok := r.headers.only("date")
	if !ok || r.headers.has("age") {
		return local
	}
	date, ok := ParseHTTPDate(value, local)
	if !ok {
		return local
	}
	return date
}

func (it *Item) required(at field, name string, f *faults) ([]byte, bool) {
	value, ok := it.get(at)
	if !ok {
		f.add(name, "required", "is missing: set it in the workflow's Request node")
	}
	return value, ok
}

func (it *Item) positiveSeconds(at field, name string, f *faults) float64 {
	value, ok := it.required(at, name, f)
	if !ok {
		return 0
	}
	return f.positiveSeconds(value, name)
}

func (it *Item) optionalSeconds(at field, name string, f *faults) float64 {
	value, ok := it.get(at)
	if !ok {
		return 0
	}
	return f.seconds(value, name)
}

func (it *Item) nonEmptyString(at field, name string, f *faults) string {
	value, ok := it.get(at)
	if !ok {
		return ""
	}
	s := stringOrEmpty(value)
	if s == "" {
		f.add(name, "string", "must be a non-empty string, or be left out")
	}
	return s
}
