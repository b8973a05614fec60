package envelope

import (
	"time"

	"n8n-retry-planner/planner"
)

// response is what a dialect reads.
type response struct {
	status  int
	headers headers
	body    []byte    // the JSON value of body, or of data; nil when there is none
	now     time.Time // the clock that an absolute time is measured against
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

// Dialect is how one provider announces its limits.
type Dialect struct {
	Name string
	read func(*response) reading
}

// DefaultDialect is what an item without policy.provider is read with:
// Retry-After and nothing else.
var DefaultDialect = &Dialect{Name: "standard", read: readStandard}

var dialects = map[string]*Dialect{DefaultDialect.Name: DefaultDialect}

// LookupDialect finds a dialect by its name, nil when there is none.
func LookupDialect(name string) *Dialect { return dialects[name] }

func readStandard(r *response) reading {
	return retryAfter(r)
}

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
