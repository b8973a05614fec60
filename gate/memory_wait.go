package gate

import "strconv"

// forget drops the starts before the longest window.
func (t *tenant) forget(now int64) {
	t.starts.dropUpTo(now - t.longest)
	if len(t.starts.items) == 0 {
		t.longest = 0
	}
}

// began notes a start.
func (t *tenant) began(now, window int64) {
	t.longest = max(t.longest, window)
	t.named++
	t.starts.add(strconv.FormatInt(t.named, 10), now)
}

// place is hold and rate. It settles the admit when the earliest place is in
// the future: as a wait, or as a refusal when that does not fit.
func (a *admission) place() (Verdict, bool) {
	places := &a.ten.places
	places.dropUpTo(a.now - a.t.slack - 1)
	held := a.res.hold > a.now
	if held && len(places.items) > 0 && places.items[0].score < a.res.hold {
		places.shift(a.res.hold - places.items[0].score)
		last, _ := places.fromEnd(1)
		a.keepTenant(last - a.now + maxSlack + 1)
	}
	if a.t.limit > 0 {
		a.ten.forget(a.now)
	}
	mine, placed := places.scores[a.id]
	placed = placed && a.known
	var t int64
	switch {
	case placed && mine > a.now:
		t = mine
	case a.known && !held:
		t = a.nextOpening(placed)
	default:
		t = a.lastPlace()
	}
	if t <= a.now {
		return Verdict{}, false
	}
	ms := millis(t - a.now)
	if ms > fitting(a.r.MaxWait) {
		return a.refuse(DoesNotFit, ms), true
	}
	if !placed && len(places.items) >= maxWaiting {
		return a.refuse(DoesNotFit, -1), true
	}
	places.add(a.id, t)
	a.keepTenant(t - a.now + maxSlack + 1)
	a.res.queue.remove(a.id)
	a.res.overdue.remove(a.id)
	a.record(permit{due: t}, t+a.t.lease)
	a.spend(t)
	why := RateWindowFull
	if held || a.t.limit == 0 {
		why = ResourceOnHold
	}
	return Verdict{Decision: Wait, Reason: why, Wait: seconds(ms), Breaker: a.breaker}, true
}

// nextOpening is the time from which a waiter that has come back may start:
// now when the window has room; otherwise when it opens next, behind those
// whose places are before that.
func (a *admission) nextOpening(placed bool) int64 {
	if a.t.limit == 0 {
		return a.now
	}
	start, full := a.ten.starts.fromEnd(int(a.t.limit))
	if !full || start+a.t.window <= a.now {
		return a.now
	}
	before := int64(a.ten.places.countUpTo(start + a.t.window))
	if placed {
		before--
	}
	if before >= a.t.limit {
		return a.lastPlace()
	}
	start, _ = a.ten.starts.fromEnd(int(a.t.limit - before))
	return start + a.t.window
}

// lastPlace is the first place after all others.
func (a *admission) lastPlace() int64 {
	t := max(a.now, a.res.hold)
	if a.t.limit == 0 && a.res.hold <= a.now {
		return t
	}
	taken := int64(len(a.ten.places.items))
	if last, ok := a.ten.places.fromEnd(1); ok {
		t = max(t, last+a.t.spacing)
	}
	if a.t.limit == 0 {
		return t
	}
	if place, ok := a.ten.places.fromEnd(int(a.t.limit)); ok {
		t = max(t, place+a.t.window+a.t.slack)
	} else if start, ok := a.ten.starts.fromEnd(int(a.t.limit - taken)); ok {
		t = max(t, start+a.t.window)
	}
	return t
}

// slot is the in-flight limit. It settles the admit when no slot is free that
// an earlier waiter is not due to take; otherwise it takes one.
func (a *admission) slot() (Verdict, bool) {
	if a.t.flights == 0 {
		return Verdict{}, false
	}
	res := a.res
	res.out.dropUpTo(a.now)
	for _, late := range res.overdue.dropUpTo(a.now) {
		res.queue.remove(late.member)
	}
	turn := a.order
	if turn == 0 {
		turn = a.due
	}
	if turn == 0 {
		turn = max(a.now, res.order+1)
	}
	out := int64(len(res.out.items))
	free, ahead := a.t.flights-out, int64(res.queue.countBelow(turn))
	if ahead < free {
		res.out.add(a.id, a.now+a.t.lease)
		a.keepResource(a.t.lease)
		return Verdict{}, false
	}
	at := a.now + a.estimate(ahead-free+1)
	if a.order > 0 && a.due > a.now {
		at = a.due
	}
	ms := millis(at - a.now)
	if ms > fitting(a.r.MaxWait) {
		return a.refuse(DoesNotFit, ms), true
	}
	if a.order == 0 && len(res.queue.items) >= maxWaiting {
		return a.refuse(DoesNotFit, -1), true
	}
	res.queue.add(a.id, turn)
	res.overdue.add(a.id, at+a.t.leaseSlack)
	res.order = max(res.order, turn)
	a.keepResource(max(at-a.now+a.t.leaseSlack, a.t.lease))
	a.ten.places.remove(a.id)
	a.record(permit{order: turn, due: at}, at+a.t.lease)
	a.spend(at)
	return Verdict{Decision: Wait, Reason: InFlightFull, Wait: seconds(ms), Breaker: a.breaker}, true
}

// estimate is how long it takes until that many slots become free, by the
// average length of a call, and at the latest when the leases end. Before the
// first report the oldest call is taken to be half over. Three quarters of
// that are told: a waiter that asks once more costs less than an idle slot.
func (a *admission) estimate(missing int64) int64 {
	first, nth := a.now+a.t.lease, a.now+a.t.lease
	if out := a.res.out.items; len(out) > 0 {
		first, nth = out[0].score, out[min(int(missing), len(out))-1].score
	}
	length := a.res.length
	if a.res.lengthEnds <= a.now {
		length = max(a.t.guess, a.now+a.t.lease-first)
	}
	return min(max(length*3*missing/(4*a.t.flights), minEstimate), nth-a.now)
}
