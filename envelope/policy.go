package envelope

import (
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"n8n-retry-planner/planner"
)

// policyExtras are the policy fields that are about reading, not planning.
type policyExtras struct {
	dialect *Dialect
	clock   clock
	explain bool
}

// clock is policy.clock: what an absolute time is measured against. When it is
// not said it is the local clock, unless the dialect's provider documents
// another way.
type clock uint8

const (
	clockUnsaid clock = iota
	clockLocal
	clockServer
)

var jitterNames = map[string]planner.Jitter{
	"none": planner.JitterNone, "full": planner.JitterFull,
	"equal": planner.JitterEqual, "decorrelated": planner.JitterDecorrelated,
}

// readPolicy reads the members of the policy object; none give the default
// policy. A field that is not known is a fault: a misspelt limit must not be
// silently no limit.
func readPolicy(members []member, now time.Time, f *faults) (planner.Policy, policyExtras) {
	p := planner.DefaultPolicy()
	extras := policyExtras{dialect: DefaultDialect}
	for _, m := range members {
		name, value := text(m.rawName), m.value
		if isNull(value) && knownPolicyField(string(name)) {
			continue
		}
		switch string(name) {
		case "retry_statuses":
			p.RetryStatuses = readStatuses(value, "policy.retry_statuses", f)
		case "safe_to_retry":
			if f.boolean(value, "policy.safe_to_retry") {
				p.Safety = planner.SafetyVouched
			} else {
				p.Safety = planner.SafetyForbidden
			}
		case "max_wait":
			p.MaxWait = f.seconds(value, "policy.max_wait")
		case "spread":
			p.Spread = f.seconds(value, "policy.spread")
		case "deadline":
			p.UntilDeadline = readDeadline(value, "policy.deadline", now, f)
		case "jitter":
			jitter, ok := jitterNames[stringOrEmpty(value)]
			if !ok {
				f.add("policy.jitter", "one_of", `must be "none", "full", "equal" or "decorrelated"`)
			}
			p.Jitter = jitter
		case "provider":
			extras.dialect = LookupDialect(stringOrEmpty(value))
			if extras.dialect == nil {
				f.add("policy.provider", "one_of", "must be a name from GET /v1/providers")
				extras.dialect = DefaultDialect
			}
		case "clock":
			switch stringOrEmpty(value) {
			case "local":
				extras.clock = clockLocal
			case "server":
				extras.clock = clockServer
			default:
				f.add("policy.clock", "one_of", `must be "local" or "server"`)
			}
		case "explain":
			extras.explain = f.boolean(value, "policy.explain")
		default:
			f.add("policy."+shortened(string(name)), "unknown", "is not a policy field: correct its spelling or remove it")
		}
	}
	return p, extras
}

func knownPolicyField(name string) bool {
	switch name {
	case "retry_statuses", "safe_to_retry", "max_wait", "spread", "deadline", "jitter", "provider", "clock", "explain":
		return true
	}
	return false
}

// maxStatuses is the most entries of retry_statuses: there are no more statuses.
const maxStatuses = 500

func readStatuses(value []byte, path string, f *faults) planner.StatusSet {
	const rule = "must be an array of HTTP statuses, each an integer from 100 to 599"
	if !isArray(value) {
		f.add(path, "array", rule)
		return planner.StatusSet{}
	}
	var codes []int
	ok := true
	gjson.ParseBytes(value).ForEach(func(_, element gjson.Result) bool {
		status := httpStatus([]byte(element.Raw))
		ok = status != 0 && len(codes) < maxStatuses
		codes = append(codes, status)
		return ok
	})
	if !ok {
		f.add(path, "status", rule)
	}
	return planner.NewStatusSet(codes...)
}

// lastEpoch is the end of the year 9999, the last moment that RFC 3339 can
// name. An epoch past it is one in milliseconds, and would silently be no
// deadline at all.
const lastEpoch = 253402300799

// readDeadline gives the seconds from now to an RFC 3339 time or an epoch in
// seconds; negative when it is past.
func readDeadline(value []byte, path string, now time.Time, f *faults) float64 {
	if epoch, ok := number(value); ok {
		if math.Abs(epoch) > lastEpoch {
			f.add(path, "time", "must be epoch seconds, not milliseconds: divide it by 1000")
		}
		whole := math.Floor(epoch)
		return whole - float64(now.Unix()) + (epoch - whole) - float64(now.Nanosecond())/1e9
	}
	t, ok := parseRFC3339(stringOrEmpty(value))
	if !ok {
		f.add(path, "time", "must be an RFC 3339 time such as 2026-01-15T12:00:00Z, or epoch seconds")
		return math.Inf(1)
	}
	return float64(t.Unix()-now.Unix()) + float64(t.Nanosecond()-now.Nanosecond())/1e9
}

// rfc3339 is the form of RFC 3339 §5.6, in upper case. time.Parse checks the
// numbers, but takes other forms as well (a comma, one digit for the hour).
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// parseRFC3339 reads the date-time of RFC 3339 §5.6: T and Z in either case,
// second 60 legal.
func parseRFC3339(s string) (time.Time, bool) {
	s = strings.ToUpper(trimBlanks(s))
	if !rfc3339.MatchString(s) {
		return time.Time{}, false
	}
	leap := s[16:19] == ":60"
	if leap {
		s = s[:16] + ":59" + s[19:]
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, false
	}
	if leap {
		t = t.Add(time.Second)
	}
	return t, true
}

// stringOrEmpty gives what a JSON string says, "" for any other value.
func stringOrEmpty(value []byte) string {
	if !isString(value) {
		return ""
	}
	return string(text(value))
}

// shortened keeps a caller's own name from filling the answer.
func shortened(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "…"
	}
	return name
}
