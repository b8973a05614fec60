package preview

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/planner"
)

// almostOne is the largest draw.
const almostOne = 1 - 1.0/(1<<53)

const (
	maxRuns = 500
	// maxRead bounds the text that the runs of one preview read, in bytes, and
	// with it their time.
	maxRead = 4 << 20
)

// player plays the operation from its first call to its end.
type player struct {
	script *envelope.Script
	start  time.Time
}

// call is one call that has ended.
type call struct {
	item   *envelope.Item // with the state that the loop has reached
	entry  int
	waited float64 // seconds since the first call
}

// ending is how an operation ended.
type ending struct {
	by    string
	verb  planner.Verb // "" unless a decision ended it
	code  planner.Code
	total float64 // waits planned, seconds
}

// play asks decide after each call.
func (p *player) play(decide func(*call) planner.Decision) ending {
	var state planner.State
	before, total := 0.0, 0.0 // waits planned before the first call, and since
	for n := int64(1); n <= MaxAttempts; n++ {
		item, entry, ok := p.script.Item(n, p.start.Add(seconds(total)))
		if !ok {
			return ending{by: EndedByScript, total: total}
		}
		if n == 1 {
			state, before = item.State, item.State.Elapsed
		}
		item.State = state
		c := call{item: item, entry: entry, waited: total}
		d := decide(&c)
		item.Release()
		if d.Verb != planner.Retry {
			return ending{by: EndedByDecision, verb: d.Verb, code: d.Code, total: total}
		}
		state = state.After(&d)
		total = state.Elapsed - before
	}
	return ending{by: EndedByLimit, total: total}
}

// least takes the shortest draws.
func least(c *call) planner.Decision { return planWith(c, 0) }

// longest takes the longest wait that is still retried: the longest draw, or,
// where that does not fit, the one that just fits. The wait grows with the
// draw, so that it is found by halving.
func longest(c *call) planner.Decision {
	d := planWith(c, almostOne)
	if d.Verb == planner.Retry {
		return d
	}
	fits := planWith(c, 0)
	if fits.Verb != planner.Retry {
		return d
	}
	low, high := 0.0, almostOne
	for range 53 {
		middle := (low + high) / 2
		if try := planWith(c, middle); try.Verb == planner.Retry {
			low, fits = middle, try
		} else {
			high = middle
		}
	}
	return fits
}

func planWith(c *call, jitter float64) planner.Decision {
	spread := almostOne
	if jitter == 0 {
		spread = 0
	}
	return planAt(c, planner.Draws{Jitter: jitter, Spread: spread})
}

func planAt(c *call, draws planner.Draws) planner.Decision {
	in := c.item.Input(func() planner.Draws { return draws })
	in.Draws = draws // a task's own draws are one run of many
	return planner.Plan(&in)
}

// sample plays the operation many times with draws from a fixed seed, so that
// the same request gets the same answer. The runs go in pairs whose draws are
// each other's mirror image: their mean is much nearer to the expected value
// than that of as many runs on their own.
func (p *player) sample(t *Timeline, attempts int) {
	runs := 2 * min(maxRuns/2, max(1, maxRead/(2*p.script.Size()*attempts)))
	var draws *rand.Rand
	mirror := false
	draw := func() float64 {
		if u := draws.Float64(); mirror {
			return almostOne - u
		} else {
			return u
		}
	}
	decide := func(c *call) planner.Decision {
		return planAt(c, planner.Draws{Jitter: draw(), Spread: draw()})
	}
	type result struct {
		verb planner.Verb
		code planner.Code
	}
	counts := map[result]int{}
	mean := 0.0
	for n := range runs {
		mirror = n%2 == 1
		draws = rand.New(rand.NewPCG(1, uint64(n/2)))
		end := p.play(decide)
		mean += (end.total - mean) / float64(n+1) // the sum could overflow
		counts[result{end.verb, end.code}]++
	}
	t.Total.Runs = runs
	t.Total.Expected = milli(mean)
	t.Total.Worst = max(t.Total.Worst, t.Total.Planned)
	t.Results = t.Results[:0]
	for r, n := range counts {
		t.Results = append(t.Results, Result{Decision: textOrNull(string(r.verb)), ErrorCode: textOrNull(string(r.code)),
			Share: float64(n) / float64(runs)})
	}
	slices.SortFunc(t.Results, func(a, b Result) int {
		switch {
		case a.Share > b.Share:
			return -1
		case a.Share < b.Share:
			return 1
		case text(a.Decision)+text(a.ErrorCode) < text(b.Decision)+text(b.ErrorCode):
			return -1
		}
		return 1
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func milli(f float64) float64 {
	if f >= 1<<42 { // a float64 no longer tells milliseconds apart
		return f
	}
	return math.Round(f*1000) / 1000
}

// seconds gives a time.Duration, at most 200 years.
func seconds(s float64) time.Duration {
	const longest = 200 * 365 * 24 * time.Hour
	if s >= longest.Seconds() {
		return longest
	}
	return time.Duration(s * float64(time.Second))
}
