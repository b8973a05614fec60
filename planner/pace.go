package planner

import "math"

// Allowance is how often an API may be called, and what is to be done with it.
type Allowance struct {
	Limit        float64 // calls allowed in each window, > 0
	Window       float64 // seconds, > 0
	Share        float64 // the part of the allowance that may be used, 0 < share <= 1
	Calls        int64   // calls to be made, >= 1
	ResponseTime float64 // mean time that a call takes, seconds, >= 0
	Within       float64 // seconds in which all must have started; +Inf for no such limit
	DailyQuota   float64 // calls allowed in a day; +Inf for no such limit
}

// Pace is how to spread calls evenly over an allowance. Durations are seconds.
type Pace struct {
	Rate          float64 // calls a second
	Spacing       float64 // from the start of one call to that of the next, a whole millisecond, rounded up
	Total         float64 // until all calls have had their turn: calls / rate
	InFlight      int64   // calls out at once on average, by Little's law: rate · response time, rounded up
	BatchSize     int64   // n8n's Items per Batch
	BatchInterval int64   // n8n's Batch Interval, milliseconds
	Warnings      []Warning
}

// Warning is something that the pace cannot hold.
type Warning struct {
	Code WarningCode
	Fits float64 // calls that fit
	Need float64 // what would make all calls fit: a rate in calls a second, or a number of days
}

// WarningCode names a Warning.
type WarningCode string

// The warnings of PaceOf.
const (
	// WarnWithin: at this pace only Fits calls start in time; Need calls a
	// second would be needed, which the whole allowance has.
	WarnWithin WarningCode = "within_exceeded"
	// WarnWithinLimit: the same, and the whole allowance would not be enough.
	WarnWithinLimit WarningCode = "within_exceeds_limit"
	// WarnDailyQuota: only Fits calls of a day's worth at this pace are
	// allowed in a day, so that all of them take Need days.
	WarnDailyQuota WarningCode = "daily_quota_exceeded"
)

const (
	day = 86400.0

	// n8n starts the items of a batch together and then sleeps with a timer of
	// the Node event loop: an interval of a few milliseconds would drown in its
	// noise, so calls that follow more closely go out as small batches.
	leastInterval = 0.1
)

// PaceOf spreads the calls evenly over the allowance's share.
func PaceOf(a *Allowance) Pace {
	p := Pace{Rate: a.Limit * a.Share / a.Window}
	spacing := 1 / p.Rate
	p.Spacing = ceilMilli(spacing)
	p.Total = cleanMilli(float64(a.Calls) / p.Rate)
	p.InFlight = atLeastOne(p.Rate * a.ResponseTime)
	p.BatchSize = min(a.Calls, atLeastOne(leastInterval*p.Rate))
	p.BatchInterval = atLeastOne(ceilMilli(float64(p.BatchSize)*spacing) * 1000)
	p.Warnings = paceWarnings(a, &p)
	return p
}

func paceWarnings(a *Allowance, p *Pace) []Warning {
	var out []Warning
	calls := float64(a.Calls)
	if p.Total > a.Within {
		w := Warning{Code: WarnWithin, Fits: math.Floor(roundNoise(a.Within * p.Rate)), Need: calls / a.Within}
		if w.Need > a.Limit/a.Window {
			w.Code = WarnWithinLimit
		}
		out = append(out, w)
	}
	if math.Min(calls, p.Rate*day) > a.DailyQuota {
		out = append(out, Warning{Code: WarnDailyQuota, Fits: math.Floor(a.DailyQuota), Need: math.Ceil(calls / a.DailyQuota)})
	}
	return out
}

// atLeastOne rounds up to a whole number of 1 or more; what is whole but for
// float noise is that number.
func atLeastOne(f float64) int64 {
	f = math.Ceil(roundNoise(f))
	switch {
	case !(f > 1):
		return 1
	case f >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(f)
}

// roundNoise gives the whole number that f is but for float noise.
func roundNoise(f float64) float64 {
	if near := math.Round(f); math.Abs(f-near) <= math.Abs(near)*1e-12 {
		return near
	}
	return f
}
