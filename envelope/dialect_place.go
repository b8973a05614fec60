package envelope

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// place is where something stands in a response.
type place struct {
	label string // for people: "header retry-after", "body error.code"
	find  func(*response) []string
}

// inHeader is a response header: every value that is not blank.
func inHeader(name string) place {
	return place{"header " + name, func(r *response) []string { return r.named(name).filled(name) }}
}

// inBody is a member of a JSON body, by gjson paths; the values at all of them
// are found. null counts as absent. What is no text or number is found as it
// is written, so that no form takes it for one.
func inBody(paths ...string) place {
	return place{"body " + strings.Join(paths, " or "), func(r *response) []string {
		doc := r.doc()
		if !doc.Exists() {
			return nil
		}
		var out []string
		for _, path := range paths {
			out = appendTexts(out, doc.Get(path), strings.Contains(path, "#"))
		}
		return out
	}}
}

// saying narrows a place down to the part that the first group of pattern
// matches. A sentence is read only where its provider documents it, and whole.
func (p place) saying(pattern string) place {
	re := regexp.MustCompile(pattern)
	return place{p.label, func(r *response) []string {
		var out []string
		for _, text := range p.find(r) {
			if m := re.FindStringSubmatch(text); m != nil {
				out = append(out, m[1])
			}
		}
		return out
	}}
}

// when keeps a place empty unless other holds one of the words.
func (p place) when(other place, words ...string) place {
	condition := rule{at: other, is: words, in2xx: true}
	return place{p.label, func(r *response) []string {
		if !condition.holds(r) {
			return nil
		}
		return p.find(r)
	}}
}

// appendTexts appends the text of v, or of its elements when it is the result
// of a path that goes through a list.
func appendTexts(out []string, v gjson.Result, through bool) []string {
	switch {
	case !v.Exists() || v.Type == gjson.Null:
		return out
	case through && v.IsArray():
		v.ForEach(func(_, element gjson.Result) bool {
			out = appendTexts(out, element, true)
			return true
		})
		return out
	case v.Type == gjson.String:
		return append(out, strings.TrimSpace(v.Str))
	case v.Type == gjson.Number:
		return append(out, numberText(v))
	}
	return append(out, v.Raw)
}

// numberText writes a JSON number without an exponent; a number that is not
// finite stays as it was written and is then not readable.
func numberText(v gjson.Result) string {
	if !strings.ContainsAny(v.Raw, "eE") || math.IsInf(v.Num, 0) || math.Abs(v.Num) > 1e21 {
		return v.Raw
	}
	return strconv.FormatFloat(v.Num, 'f', -1, 64)
}

// splitList divides texts at commas. Node joins a header that is sent several
// times with one.
func splitList(texts []string) []string {
	plain := true
	for _, text := range texts {
		plain = plain && strings.IndexByte(text, ',') < 0
	}
	if plain {
		return texts
	}
	var out []string
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			out = append(out, trimBlanks(part))
		}
	}
	return out
}

// fewHeaders are looked through each time they are asked for.
const fewHeaders = 64

// named gives headers among which are all of that name, which is in lower case.
// Of many headers it keeps an index: a dialect that asks for each by its name
// must not look through all of them each time.
func (r *response) named(name string) headers {
	if len(r.headers) <= fewHeaders {
		return r.headers
	}
	if r.byName == nil {
		r.byName = make(map[string]headers, len(r.headers))
		for _, h := range r.headers {
			key := strings.ToLower(string(h.name))
			r.byName[key] = append(r.byName[key], h)
		}
	}
	return r.byName[name]
}

// filled gives the values of a header that are not blank, without the blanks
// around them.
func (h headers) filled(name string) []string {
	var out []string
	for _, value := range h.values(name) {
		if value = trimBlanks(value); value != "" {
			out = append(out, value)
		}
	}
	return out
}

var digitList = regexp.MustCompile(`^\d+(?:[ \t]*,[ \t]*\d+)+$`)

// parts divides a list of numbers at its commas, where a provider is known to
// send one under a name that takes a single value.
func (p place) parts() place {
	return place{p.label, func(r *response) []string {
		var out []string
		for _, text := range p.find(r) {
			if digitList.MatchString(text) {
				out = append(out, splitList([]string{text})...)
			} else {
				out = append(out, text)
			}
		}
		return out
	}}
}

// statusPlace is the status itself, for a rule about nothing else.
var statusPlace = place{"status", func(r *response) []string { return []string{strconv.Itoa(r.status)} }}
