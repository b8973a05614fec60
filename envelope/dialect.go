package envelope

import (
	"regexp"
	"time"

	"n8n-retry-planner/planner"
)

// response is what a dialect reads.
type response struct {
	status  int
	headers headers
	body    []byte    // the JSON value of data, or of body; nil when there is none
	now     time.Time // the clock that an absolute time is measured against

	content *content           // body as it was understood, nil until it is asked for
	byName  map[string]headers // many headers by their name in lower case, nil until they are asked for
}

// reading is what a dialect makes of a response.
type reading struct {
	class        planner.Class
	floor        float64 // seconds; 0 for none, +Inf for an endless one
	source       string  // the header or body field that decided, "" for none
	bad          bool    // the main hint is there and cannot be read
	notProcessed bool    // documented: a request refused like this one was not processed
	ignored      []Ignored
}

// Ignored is a hint that was there and did not decide.
type Ignored struct {
	Source string `json:"source"` // the header or body field
	Why    string `json:"why"`
}

// Dialect is how one provider announces its limits: a table, with places and
// forms as its words. Every field but Name may be left out.
type Dialect struct {
	Name    string
	aliases []string // other names it goes by in policy.provider
	title   string
	docs    []string // the provider's own pages

	limited    []int  // statuses that mean "too many calls"; 429 when nil
	overloaded []int  // statuses outside the usual ones that mean "not now"
	rules      []rule // what the reply says beyond its status; the first that holds decides
	hints      []hint // where a wait is announced
	more       func(*response) []hint
	moreLabel  string // for the list of providers: what more finds
	moreForm   form

	serverClock bool   // its manual measures times against the response's own Date
	bothClocks  bool   // the earlier of both clocks, so that no wait is too short
	vouch       string // the page that says a rate-limited request was not processed

	read func(*response) reading // reads it all; for standard alone
}

// rule gives a class to a reply that says something at a place.
type rule struct {
	at    place
	is    []string       // one of these, compared without case
	like  *regexp.Regexp // or a text of this form
	on    []int          // on these statuses; nil for any that is no 2xx
	in2xx bool           // also inside a reply with a 2xx status (GraphQL, batches)
	class planner.Class

	// wait is what the manual tells to wait for when such a reply announces
	// nothing itself.
	wait *manualWait
}

// manualWait is a wait that stands in the provider's manual, not in the reply.
type manualWait struct {
	name    string
	seconds func(now time.Time) float64
}

// hint is one way in which a wait is announced.
type hint struct {
	at     place
	form   form
	bucket string // the header with what is left; the hint counts only when that is 0
	rank   int    // a hint of a lower rank outranks it; of one rank the later decides

	main    bool // unreadable, it makes the reply one whose minimum is not known
	precise bool // a whole second above it in the same rank is only its rounding
	quota   bool // its bucket is a quota: once it is empty no retry helps soon
}

// retryAfterHint is the header of RFC 9110 §10.2.3 as a hint.
var retryAfterHint = hint{at: inHeader("retry-after"), form: rfc9110, main: true}

// DefaultDialect is what an item without policy.provider is read with:
// Retry-After and nothing else.
var DefaultDialect = &Dialect{
	Name: "standard", title: "Retry-After and nothing else",
	docs:  []string{"https://www.rfc-editor.org/rfc/rfc9110#field.retry-after"},
	hints: []hint{retryAfterHint},
	read:  retryAfter,
}

// dialects are all that are known, by every name they go by.
var dialects = register(
	[]*Dialect{DefaultDialect, autoDialect, ietfDialect},
	cloudProviders, aiProviders, developerProviders, graphQLProviders,
	businessProviders, socialProviders, otherProviders,
)

// register makes the index. A name that is taken twice is a fault of the table
// and a test finds it.
func register(groups ...[]*Dialect) map[string]*Dialect {
	all := map[string]*Dialect{}
	for _, group := range groups {
		for _, d := range group {
			all[d.Name] = d
			for _, alias := range d.aliases {
				all[alias] = d
			}
		}
	}
	return all
}

// LookupDialect finds a dialect by its name, nil when there is none.
func LookupDialect(name string) *Dialect { return dialects[name] }

// retryAfter reads the Retry-After header by RFC 9110 §10.2.3. Of several
// values the largest counts; one that is invalid makes the whole invalid,
// because the server's minimum is then not known.
func retryAfter(r *response) reading {
	const source = "header retry-after"
	var out reading
	for _, value := range r.headers.values("retry-after") {
		if trimBlanks(value) == "" {
			continue
		}
		seconds, ok := ParseRetryAfter(value, r.now)
		if !ok {
			return reading{bad: true, source: source}
		}
		out.source = source
		out.floor = max(out.floor, seconds)
	}
	return out
}
