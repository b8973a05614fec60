package envelope

import (
	"strconv"
	"strings"

	"github.com/dunglas/httpsfv"
)

// ietfDialect is the RateLimit header fields of the IETF draft: the structured
// fields of its current text, the dictionary of draft 07 and the three fields
// before it. Retry-After wins and what is malformed is ignored, as the draft
// says.
var ietfDialect = &Dialect{
	Name: "ietf", aliases: []string{"draft", "draft03", "draft04", "draft05", "draft06", "draft07", "draft08", "draft09", "draft10"},
	title: "IETF RateLimit header fields, all drafts",
	docs:  []string{"https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/"},
	hints: []hint{
		retryAfterHint,
		{at: inRateLimit("ratelimit"), form: seconds, rank: 1},
		{at: inHeader("ratelimit-reset"), form: seconds, bucket: "ratelimit-remaining", rank: 2},
	},
}

// inRateLimit is the RateLimit field: the seconds to the reset of every policy
// that has nothing left. Since draft 08 it is a list of items ("name";r=0;t=30);
// in draft 07 it was a dictionary (limit=100, remaining=0, reset=54). Several
// lines are one field (RFC 9651 §4.2). A field that is malformed is found as it
// stands, so that it reads as no number.
func inRateLimit(name string) place {
	return place{"header " + name, func(r *response) []string {
		lines := r.headers.filled(name)
		if len(lines) == 0 {
			return nil
		}
		if out, ok := exhaustedItems(lines); ok {
			return out
		}
		if out, ok := exhaustedDictionary(lines); ok {
			return out
		}
		return lines
	}}
}

func exhaustedItems(lines []string) (out []string, ok bool) {
	list, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		return nil, false
	}
	for _, member := range list {
		item, isItem := member.(httpsfv.Item)
		if !isItem {
			return nil, false
		}
		left, hasLeft := intParam(item.Params, "r")
		reset, hasReset := intParam(item.Params, "t")
		switch {
		case !hasLeft:
			return nil, false
		case left <= 0 && hasReset:
			out = append(out, strconv.FormatInt(reset, 10))
		}
	}
	return out, true
}

func intParam(p *httpsfv.Params, key string) (int64, bool) {
	value, ok := p.Get(key)
	if !ok {
		return 0, false
	}
	n, ok := value.(int64)
	return n, ok
}

func exhaustedDictionary(lines []string) (out []string, ok bool) {
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil, false
	}
	left, hasLeft := intMember(dictionary, "remaining")
	reset, hasReset := intMember(dictionary, "reset")
	if !hasLeft || !hasReset {
		return nil, false
	}
	if left <= 0 {
		out = append(out, strconv.FormatInt(reset, 10))
	}
	return out, true
}

func intMember(d *httpsfv.Dictionary, key string) (int64, bool) {
	member, ok := d.Get(key)
	if !ok {
		return 0, false
	}
	item, ok := member.(httpsfv.Item)
	if !ok {
		return 0, false
	}
	n, ok := item.Value.(int64)
	return n, ok
}

// settings reads "total=100; remaining=0; resets=41" for one key.
func settings(text, key string) string {
	for part := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(part, "="); ok && strings.EqualFold(strings.TrimSpace(name), key) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
