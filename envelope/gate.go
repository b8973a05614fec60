package envelope

import (
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"n8n-retry-planner/gate"
)

// maxGateName is the most characters of gate.resource and gate.tenant.
const maxGateName = 200

// readGate reads the gate object and the permit. An unknown field is a fault,
// as in the policy: a misspelt limit must not be silently no limit.
func (it *Item) readGate(f *faults) {
	value, ok := it.get(fGate)
	if !ok {
		return
	}
	if !isObject(value) {
		f.add("gate", "object", "must be an object")
		return
	}
	g := gateReader{faults: f}
	it.Gate = g.spec(gjson.ParseBytes(value))
	if value, ok := it.get(fPermit); ok {
		if !isString(value) {
			f.add("permit", "string", "must be the permit of an earlier answer, or be left out")
		}
		// What is no permit of ours is an unknown one, which is no error.
		if id, err := uuid.Parse(stringOrEmpty(value)); err == nil {
			it.Permit = id.String()
		}
	}
}

var gateParts = []string{"resource", "tenant", "rate", "in_flight", "breaker", "retry_budget"}

// gateReader reads the parts of a gate object.
type gateReader struct{ *faults }

// gatePart is one number of a part: a count, or seconds.
type gatePart struct {
	name    string
	count   *int64
	least   int64 // of a count
	number  *float64
	isRatio bool // a number without a unit, which may be 0
	present bool
}

func (g gateReader) spec(o gjson.Result) *gate.Spec {
	s := new(gate.Spec)
	hasResource := false
	g.members(o, "gate", gateParts, func(name, path string, v gjson.Result) {
		switch name {
		case "resource":
			hasResource = true
			s.Resource = g.name(v, path)
		case "tenant":
			s.Tenant = g.name(v, path)
		case "rate":
			s.Rate = new(gate.Rate)
			g.part(v, path, gatePart{name: "limit", count: &s.Rate.Limit, least: 1},
				gatePart{name: "window", number: &s.Rate.Window})
		case "in_flight":
			s.InFlight = new(gate.InFlight)
			g.part(v, path, gatePart{name: "limit", count: &s.InFlight.Limit, least: 1},
				gatePart{name: "lease", number: &s.InFlight.Lease})
		case "breaker":
			s.Breaker = new(gate.Breaker)
			g.part(v, path, gatePart{name: "threshold", count: &s.Breaker.Threshold, least: 1},
				gatePart{name: "reset_after", number: &s.Breaker.ResetAfter})
		case "retry_budget":
			s.RetryBudget = new(gate.RetryBudget)
			g.part(v, path, gatePart{name: "ratio", number: &s.RetryBudget.Ratio, isRatio: true},
				gatePart{name: "min", count: &s.RetryBudget.Min},
				gatePart{name: "window", number: &s.RetryBudget.Window})
		}
	})
	if !hasResource {
		g.add("gate.resource", "required", "is missing: name what shares the limits, such as a host or an account")
	}
	return s
}

// members calls f with each member that is not null. Null is as good as
// absent, but not under a name that is not known.
func (g gateReader) members(o gjson.Result, path string, known []string, f func(name, path string, v gjson.Result)) {
	o.ForEach(func(key, v gjson.Result) bool {
		if !slices.Contains(known, key.Str) {
			g.add(path+"."+shortened(key.Str), "unknown", "is not a field of the gate: correct its spelling or remove it")
		} else if v.Type != gjson.Null {
			f(key.Str, path+"."+key.Str, v)
		}
		return true
	})
}

// part reads an object of numbers, all of which must be there.
func (g gateReader) part(v gjson.Result, path string, fields ...gatePart) {
	if !v.IsObject() {
		g.add(path, "object", "must be an object")
		return
	}
	known := make([]string, len(fields))
	for i := range fields {
		known[i] = fields[i].name
	}
	g.members(v, path, known, func(name, path string, v gjson.Result) {
		p := &fields[slices.Index(known, name)]
		p.present = true
		g.partNumber(v, path, p)
	})
	for _, p := range fields {
		if !p.present {
			g.add(path+"."+p.name, "required", "is missing")
		}
	}
}

func (g gateReader) partNumber(v gjson.Result, path string, p *gatePart) {
	switch {
	case p.count != nil:
		*p.count = g.integerFrom([]byte(v.Raw), path, p.least)
	case p.isRatio:
		*p.number = g.ratio([]byte(v.Raw), path)
	default:
		*p.number = g.positiveSeconds([]byte(v.Raw), path)
	}
}

func (g gateReader) name(v gjson.Result, path string) string {
	if n := utf8.RuneCountInString(v.Str); v.Type != gjson.String || n < 1 || n > maxGateName {
		g.add(path, "string", "must be a string of 1 to 200 characters")
	}
	return v.Str
}
