package gate

import "context"

// Report implements [Store]. It never fails. It has the steps of report.lua
// in the same order.
func (m *Memory) Report(_ context.Context, r ReportRequest) (Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, t, k, now := canonical(r.Permit), newTerms(r.Spec), newKeys(r.Spec), m.clock().UnixMicro()
	m.sweep(now)
	res := m.resources.touch(k.of(""), now, now+1)
	if res.openEnds <= now {
		res.open = 0
	}
	if res.failsEnd <= now {
		res.fails = 0
	}
	p := m.permits.get(k.permit(id), now)
	if p == nil {
		return res.receipt(t, now), nil
	}
	was := *p
	m.permits.drop(k.permit(id))
	if owner := m.tasks.get(k.task(r.TaskID), now); owner != nil && *owner == id {
		m.tasks.drop(k.task(r.TaskID))
	}
	if !was.out {
		m.withdraw(k, t, res, id, now)
		receipt := res.receipt(t, now)
		receipt.Known = true
		return receipt, nil
	}
	res.out.remove(id)
	if t.flights > 0 {
		res.measure(now-was.start, t, now)
	}
	if announced := holdMicros(r.Hold); announced > 0 {
		res.hold = max(res.hold, now+announced)
	}
	changed := res.learn(was.probe, r.Outcome, t, now)
	m.resources.touch(k.of(""), now, max(res.hold, res.openEnds, res.failsEnd, res.lengthEnds))
	receipt := res.receipt(t, now)
	receipt.Known, receipt.Changed = true, changed
	return receipt, nil
}

// withdraw gives back what a waiting permit had reserved.
func (m *Memory) withdraw(k keys, t terms, res *resource, id string, now int64) {
	m.tenants.touch(k.tenant(""), now, now+1).places.remove(id)
	m.budgets.touch(k.budget("", t.budget), now, now+1).retries.remove(id)
	res.queue.remove(id)
	res.overdue.remove(id)
}

// receipt tells the hold's rest and the breaker's state.
func (r *resource) receipt(t terms, now int64) Receipt {
	out := Receipt{Hold: seconds(millis(max(r.hold-now, 0)))}
	switch {
	case t.threshold == 0:
	case r.open == 0:
		out.Breaker = Closed
	case r.open > now:
		out.Breaker = Open
	default:
		out.Breaker = HalfOpen
	}
	return out
}

// measure takes the length of a call into the average, with a weight of 1/8.
func (r *resource) measure(took int64, t terms, now int64) {
	if r.lengthEnds > now {
		took = r.length + (took-r.length)>>3 // rounds down, as the script does
	}
	r.length, r.lengthEnds = took, now+t.lease+t.forget
}

// learn tells the breaker and says whether that opened or closed it.
func (r *resource) learn(probe bool, o Outcome, t terms, now int64) bool {
	switch {
	case probe:
		r.probe = ""
		switch {
		case t.threshold > 0 && o == Failure:
			r.trip(t, now)
			return true
		case t.threshold > 0 && o == Success:
			r.open, r.fails = 0, 0
			return true
		}
	case t.threshold == 0 || r.open > 0:
	case o == Failure && r.fails+1 >= t.threshold:
		r.trip(t, now)
		return true
	case o == Failure:
		r.fails, r.failsEnd = r.fails+1, now+t.forget
	case o == Success:
		r.fails = 0
	}
	return false
}

// trip opens the breaker for the reset time.
func (r *resource) trip(t terms, now int64) {
	r.open, r.openEnds = now+t.reset, now+t.reset+t.forget
	r.fails, r.probe = 0, ""
}
