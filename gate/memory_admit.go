package gate

import "math"

// admission is one admit on its way through the checks. It has the steps of
// admit.lua in the same order.
type admission struct {
	m                  *Memory
	r                  AdmitRequest
	t                  terms
	k                  keys
	id                 string
	now                int64
	res                *resource
	ten                *tenant
	bud                *budget
	known              bool // the permit waits already
	order, due         int64
	owner              string
	probing            bool
	breaker            BreakerState
	permitKey, taskKey string
}

func (m *Memory) begin(r AdmitRequest) *admission {
	a := &admission{m: m, r: r, t: newTerms(r.Spec), k: newKeys(r.Spec), id: permitFor(r.Permit), now: m.clock().UnixMicro()}
	m.sweep(a.now)
	a.permitKey, a.taskKey = a.k.permit(a.id), a.k.task(r.TaskID)
	life := a.now + 1
	a.res = m.resources.touch(a.k.of(""), a.now, life)
	a.ten = m.tenants.touch(a.k.tenant(""), a.now, life)
	a.bud = m.budgets.touch(a.k.budget("", a.t.budget), a.now, life)
	return a
}

// Each keep lengthens a life to at least the given microseconds from now.
func (a *admission) keepResource(us int64) {
	a.m.resources.touch(a.k.of(""), a.now, a.now+us)
}
func (a *admission) keepTenant(us int64) {
	a.m.tenants.touch(a.k.tenant(""), a.now, a.now+us)
}
func (a *admission) keepBudget(us int64) {
	a.m.budgets.touch(a.k.budget("", a.t.budget), a.now, a.now+us)
}

func (a *admission) decide() Verdict {
	if p := a.m.permits.get(a.permitKey, a.now); p != nil {
		if p.out {
			return Verdict{Decision: Go, Probe: p.probe}
		}
		a.known, a.order, a.due = true, p.order, p.due
	}
	if a.r.TaskID != "" {
		if owner := a.m.tasks.get(a.taskKey, a.now); owner != nil {
			a.owner = *owner
		}
	}
	if a.owner != "" && a.owner != a.id {
		return a.refuse(AlreadyActive, 0)
	}
	if a.broken() {
		return a.refuse(CircuitOpen, 0)
	}
	if a.overspent() {
		return a.refuse(RetryBudgetSpent, 0)
	}
	if v, settled := a.place(); settled {
		return v
	}
	if v, settled := a.slot(); settled {
		return v
	}
	return a.start()
}

// refuse gives back what the permit had reserved.
func (a *admission) refuse(why Reason, ms int64) Verdict {
	if a.known {
		a.m.permits.drop(a.permitKey)
		a.ten.places.remove(a.id)
		a.res.queue.remove(a.id)
		a.res.overdue.remove(a.id)
		a.bud.retries.remove(a.id)
		if a.owner == a.id {
			a.m.tasks.drop(a.taskKey)
		}
	}
	return Verdict{Decision: Refused, Reason: why, Wait: seconds(ms), Breaker: a.breaker}
}

// broken is the breaker: open, or half-open with a probe out.
func (a *admission) broken() bool {
	if a.t.threshold == 0 {
		return false
	}
	if a.res.open == 0 || a.res.openEnds <= a.now {
		a.breaker = Closed
		return false
	}
	if a.res.open > a.now {
		a.breaker = Open
		return true
	}
	a.breaker = HalfOpen
	a.probing = a.res.probe == "" || a.res.probeEnds <= a.now
	return !a.probing
}

// overspent is the retry budget.
func (a *admission) overspent() bool {
	if !a.r.Retry || a.t.budget == 0 || a.known {
		return false
	}
	a.bud.retries.dropUpTo(a.now - a.t.budget)
	used := int64(len(a.bud.retries.items)) + 1
	if used <= a.t.minRetries {
		return false
	}
	calls, oldest := int64(1), a.oldestStep()
	for step, n := range a.bud.calls {
		if step >= oldest {
			calls += n
		}
	}
	return float64(used) > a.t.ratio*float64(calls)
}

// oldestStep is the first step that lies wholly inside the budget's window.
func (a *admission) oldestStep() int64 {
	return int64(math.Ceil(float64(a.now-a.t.budget) / float64(a.t.step)))
}

// spend counts a retry at the time of its start.
func (a *admission) spend(at int64) {
	if a.r.Retry && a.t.budget > 0 {
		a.bud.retries.add(a.id, at)
		a.keepBudget(at - a.now + a.t.budget)
	}
}

// record writes the permit and the task's claim; both live until ends.
func (a *admission) record(p permit, ends int64) {
	a.m.permits.set(a.permitKey, p, ends)
	if a.r.TaskID != "" {
		a.m.tasks.set(a.taskKey, a.id, ends)
	}
}

// start lets the call go.
func (a *admission) start() Verdict {
	if a.known {
		a.ten.places.remove(a.id)
		a.res.queue.remove(a.id)
		a.res.overdue.remove(a.id)
	}
	if a.t.limit > 0 {
		a.ten.began(a.now, a.t.window)
		a.keepTenant(a.ten.longest)
	}
	if a.probing {
		a.res.probe, a.res.probeEnds = a.id, a.now+a.t.lease
		a.keepResource(a.t.lease)
	}
	if a.t.budget > 0 {
		a.count()
	}
	a.spend(a.now)
	a.record(permit{out: true, start: a.now, probe: a.probing}, a.now+a.t.lease)
	return Verdict{Decision: Go, Breaker: a.breaker, Probe: a.probing}
}

// count counts a call in its step of the retry budget.
func (a *admission) count() {
	if a.bud.calls == nil {
		a.bud.calls = map[int64]int64{}
	}
	step := a.now / a.t.step
	a.bud.calls[step]++
	if a.bud.calls[step] == 1 {
		oldest := a.oldestStep()
		for old := range a.bud.calls {
			if old < oldest {
				delete(a.bud.calls, old)
			}
		}
	}
	a.keepBudget(a.t.budget + a.t.step)
}
