package envelope

import (
	"slices"
	"strconv"
	"strings"

	"n8n-retry-planner/planner"
)

// Why a hint did not decide.
const (
	whyUnreadable = "it is not in a form that this provider documents"
	whyNotEmpty   = "its bucket is not used up"
	whyOutranked  = "another hint outranks it"
	whyShorter    = "another hint asks for a longer wait"
	whyRounded    = "another hint tells the same wait more exactly"
	whyPast       = "it asks for no wait"
)

// candidate is a hint that could be read.
type candidate struct {
	hint    *hint
	seconds float64
}

// readResponse makes a reading of r by the dialect's tables.
func (d *Dialect) readResponse(r *response) reading {
	if d.read != nil {
		return d.read(r)
	}
	var out reading
	matched := d.classify(r, &out)
	if out.class == planner.Answered && planner.Successful(r.status) {
		return out
	}
	candidates := d.gather(r, &out)
	if decide(candidates, &out); out.floor <= 0 && !out.bad && matched != nil && matched.wait != nil {
		out.floor, out.source = matched.wait.seconds(r.now), "the provider's manual, for "+matched.at.label
	}
	// The page speaks of refused requests: a batch that was taken in part is none.
	out.notProcessed = d.vouch != "" && out.class == planner.RateLimited && r.status == 429
	return out
}

// classify sets the class: what the reply says outranks its status. It gives
// the rule that decided, nil when the status did.
func (d *Dialect) classify(r *response, out *reading) *rule {
	for i := range d.rules {
		if rule := &d.rules[i]; rule.holds(r) {
			out.class = rule.class
			return rule
		}
	}
	switch {
	case slices.Contains(d.limited, r.status), d.limited == nil && r.status == 429:
		out.class = planner.RateLimited
	case slices.Contains(d.overloaded, r.status):
		out.class = planner.Overloaded
	}
	return nil
}

func (ru *rule) holds(r *response) bool {
	success := planner.Successful(r.status)
	if success && !ru.in2xx || ru.on != nil && !slices.Contains(ru.on, r.status) {
		return false
	}
	for _, text := range ru.at.find(r) {
		if ru.like != nil && ru.like.MatchString(text) {
			return true
		}
		for _, word := range ru.is {
			if strings.EqualFold(word, text) {
				return true
			}
		}
	}
	return false
}

// gather reads every hint that counts for this response.
func (d *Dialect) gather(r *response, out *reading) []candidate {
	hints := d.hints
	if d.more != nil {
		hints = append(slices.Clip(hints), d.more(r)...)
	}
	var found []candidate
	for i := range hints {
		h := &hints[i]
		texts := h.form.divide(h.at.find(r), r.now)
		left := h.bucketTexts(r)
		for j, text := range texts {
			switch h.bucketState(left, j, len(texts)) {
			case bucketUnknown:
				// Limits ride on every reply: alone they say nothing about this one.
				if h.bucket != "" && !limitReply(out.class) {
					continue
				}
			case bucketOpen:
				out.ignore(h, whyNotEmpty)
				continue
			case bucketEmpty:
				if h.quota && out.class == planner.RateLimited {
					out.class = planner.QuotaExhausted
				}
			}
			seconds, ok := h.form.parse(text, r.now)
			if ok {
				found = append(found, candidate{h, seconds})
			} else if h.main {
				out.bad, out.source = true, h.at.label
			} else {
				out.ignore(h, whyUnreadable)
			}
		}
	}
	return found
}

func limitReply(c planner.Class) bool {
	return c == planner.RateLimited || c == planner.QuotaExhausted
}

type bucketState uint8

const (
	bucketUnknown bucketState = iota
	bucketOpen
	bucketEmpty
)

// bucketTexts are what the header with what is left says.
func (h *hint) bucketTexts(r *response) []string {
	if h.bucket == "" {
		return nil
	}
	return splitList(r.named(h.bucket).values(h.bucket))
}

// bucketState tells whether the bucket of the hint's text at index is used up,
// by its bucketTexts. Parallel lists ("0, 40" beside "1, 9") belong together by
// position.
func (h *hint) bucketState(left []string, index, texts int) bucketState {
	switch {
	case len(left) == 0:
		return bucketUnknown
	case len(left) == 1:
		index = 0
	case len(left) != texts:
		return bucketUnknown
	}
	n, err := strconv.ParseFloat(left[index], 64)
	switch {
	case err != nil || n != n:
		return bucketUnknown
	case n >= 1: // with less than one no call can be made (Reddit counts in fractions)
		return bucketOpen
	}
	return bucketEmpty
}

// decide takes the hint that counts: the lowest rank that asks for a wait, the
// latest in it. What is over never outranks what is still to come.
func decide(found []candidate, out *reading) {
	if out.bad {
		return
	}
	best := -1
	for i, c := range found {
		if best < 0 || c.outranks(found[best]) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	// A whole second is the rounding of a more exact hint beside it: of several
	// such, the latest.
	rounded, exact := found[best], best
	for i, c := range found {
		if c.hint.precise && !rounded.hint.precise && c.hint.rank == rounded.hint.rank && c.seconds > 0 &&
			rounded.seconds-c.seconds < 1 && (exact == best || c.seconds > found[exact].seconds) {
			exact = i
		}
	}
	best = exact
	winner := found[best]
	out.floor, out.source = winner.seconds, winner.hint.at.label
	for i, c := range found {
		if i == best || c.hint.at.label == out.source {
			continue
		}
		switch {
		case c.seconds <= 0:
			out.ignore(c.hint, whyPast)
		case c.hint.rank > winner.hint.rank:
			out.ignore(c.hint, whyOutranked)
		case c.seconds > winner.seconds:
			out.ignore(c.hint, whyRounded)
		default:
			out.ignore(c.hint, whyShorter)
		}
	}
}

func (c candidate) outranks(other candidate) bool {
	switch {
	case c.seconds <= 0 || other.seconds <= 0:
		return c.seconds > other.seconds
	case c.hint.rank != other.hint.rank:
		return c.hint.rank < other.hint.rank
	}
	return c.seconds > other.seconds
}

func (out *reading) ignore(h *hint, why string) {
	out.ignored = append(out.ignored, Ignored{Source: h.at.label, Why: why})
}
