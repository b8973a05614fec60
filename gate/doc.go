// Package gate holds what workers must know together before they call an
// API: how many calls the rate still allows, who is in flight, whether the
// API is broken, and until when a server asked to be left alone.
//
// A [Store] has two operations. [Store.Admit] is asked before every call and
// answers go, wait or refused. [Store.Report] tells how an admitted call
// ended. [NewMemory] keeps the state in this process, [NewRedis] in a Redis
// that any number of replicas share; both pass one conformance suite.
// [NewGuarded] wraps a store with a timeout and decides what happens when the
// store is down. All numbers of time in the API are seconds; inside, times
// are whole microseconds, so that Go and Lua count alike.
//
// # Order of the checks
//
// Admit tries, in this order:
//
//  1. The permit. A permit that is out already gets go again, whatever else
//     has changed: its call has been allowed. A permit that is not known any
//     more is treated as a first admit under the same name.
//  2. The task. Another live permit of the same task refuses ([AlreadyActive]).
//  3. The breaker. Open, or half-open with a probe out, refuses ([CircuitOpen]).
//  4. The retry budget, only for a permit not seen before ([RetryBudgetSpent]).
//  5. Hold and rate: the earliest place. In the future, it is a wait.
//  6. In flight: a free slot that no earlier waiter is due to take. None is a
//     wait with an estimate.
//
// A wait longer than the caller accepts refuses ([DoesNotFit]). Every refusal
// gives back whatever the permit had reserved.
//
// # Rate: places, and why the window stays exact
//
// The starts of the last window are kept one by one. Nothing starts unless
// fewer than limit starts lie in the window that ends now; this is checked
// again whenever a waiter comes back, so no lateness, hold, lost caller or
// change of limits can overfill a window.
//
// Slack is a twentieth of the window, at most 250 milliseconds. It is used
// twice. A call starts a little after the go that allowed it, one later than
// another; so that the calls themselves, not only the gos, keep to the limit,
// the window counted is longer by the slack. And a waiter may return late by
// the slack without costing anybody else time.
//
// A wait reserves a place: a time after every place given before, at least
// (window + 2 slack) / limit later. A waiter that returns later still goes at
// once when the window has room, and a waiter behind it whose place that took
// gets the short rest as a further wait. A place that nobody takes stops
// counting after the slack, so a lost caller blocks no one. Whoever comes too
// early keeps the place and gets the rest of the wait.
//
// # In flight: slots and the queue
//
// A permit occupies a slot until its report or the end of its lease. Waiters
// queue; a free slot goes to the first of them that is not overdue. A waiter
// overdue by more than a twentieth of the lease (at most 250 milliseconds)
// is passed over but not forgotten: on its return it is first again. The wait
// is an estimate from the average length of recent calls, never longer than
// the lease that ends first.
//
// # Leases
//
// A reservation is remembered for one lease beyond the time it was given.
// When an item has no in_flight part, [DefaultLease] applies: to its task, to
// its permit and, above all, to a probe, so that a probe whose worker died
// frees the half-open breaker after that time.
//
// # Breaker
//
// Only the probe's own report closes or opens a breaker again; reports of
// calls that began before it opened are ignored. Failures count as in a row
// while no more than ten reset times (at least a minute) lie between them; an
// open breaker that nobody asks for as long after its reset time is closed.
//
// # Hold
//
// A hold is for the whole resource, all tenants. Places that it makes
// impossible all move by the same amount, so order and distance stay. Without
// a rate the waiters return 20 milliseconds apart. No hold lasts longer than
// 30 days ([MaxHold]).
//
// # What is counted for whom
//
// Tenants have windows of their own for rate and retry budget; breaker, hold,
// in flight and tasks belong to the resource. Each part counts the items that
// carry it. The retry budget counts every call, first or repeated, the asking
// one included; its retries are exact, its calls are counted in 64 steps of
// the window and the oldest, partial step is left out, which errs on the
// strict side.
//
// # Memory
//
// Starts are bounded by the rate, slots by the in-flight limit, retries by
// their budget, waiters by 10,000 a tenant (a further one does not fit). All
// of it expires by itself.
package gate
