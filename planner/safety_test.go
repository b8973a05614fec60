package planner

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIdempotent(t *testing.T) {
	for _, name := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "get", "Head", "oPTIONS", "pUt"} {
		assert.True(t, Idempotent(name), name)
	}
	for _, name := range []string{"", "POST", "PATCH", "CONNECT", "QUERY", "GETS", "GE", " GET", "GET ", "OPTION\u017f", "DELETES"} {
		assert.False(t, Idempotent(name), name)
	}
}

// The safety rules of section 2 of the contract: which outcome may be repeated
// for which request.
func TestPlanKeepsToSafety(t *testing.T) {
	const (
		ok      = Code("")
		notSafe = CodeRetryNotSafe
		unknown = CodeUnknownOutcome
	)
	type row struct {
		method string
		key    bool
		safety Safety
		// what a response, a call that never arrived and an unknown outcome get
		response, unreached, lost Code
	}
	tests := map[string]row{
		"no method":                       {"", false, SafetyUnsaid, ok, ok, unknown},
		"no method, with a key":           {"", true, SafetyUnsaid, ok, ok, ok},
		"no method, vouched for":          {"", false, SafetyVouched, ok, ok, ok},
		"no method, forbidden":            {"", false, SafetyForbidden, notSafe, notSafe, unknown},
		"GET":                             {"GET", false, SafetyUnsaid, ok, ok, ok},
		"delete in lower case":            {"delete", false, SafetyUnsaid, ok, ok, ok},
		"GET, forbidden":                  {"GET", false, SafetyForbidden, notSafe, notSafe, unknown},
		"POST":                            {"POST", false, SafetyUnsaid, notSafe, ok, unknown},
		"POST with a key":                 {"POST", true, SafetyUnsaid, ok, ok, ok},
		"POST, vouched for":               {"POST", false, SafetyVouched, ok, ok, ok},
		"POST with a key, forbidden":      {"POST", true, SafetyForbidden, notSafe, notSafe, unknown},
		"patch in lower case":             {"patch", false, SafetyUnsaid, notSafe, ok, unknown},
		"a method nobody knows":           {"BREW", false, SafetyUnsaid, notSafe, ok, unknown},
		"a method nobody knows, with key": {"BREW", true, SafetyUnsaid, ok, ok, ok},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			request := func(in *Input) {
				in.Request = Request{Method: tt.method, IdempotencyKey: tt.key}
				in.Policy.Safety = tt.safety
			}
			assert.Equal(t, tt.response, plan(request).Code, "a response")
			assert.Equal(t, tt.unreached, plan(request, failed(Unreached)).Code, "never reached the server")
			assert.Equal(t, tt.lost, plan(request, failed(Unknown)).Code, "an unknown outcome")
		})
	}
	t.Run("a provider may vouch for its rate limit", func(t *testing.T) {
		vouched := func(in *Input) { in.Outcome.Class, in.Outcome.NotProcessed = RateLimited, true }
		assert.Equal(t, Retry, plan(method("POST"), vouched).Verb)
		forbidden := func(in *Input) { in.Policy.Safety = SafetyForbidden }
		assert.Equal(t, notSafe, plan(method("POST"), vouched, forbidden).Code, "safe_to_retry false wins")
	})
}

func TestStatusSet(t *testing.T) {
	s := NewStatusSet(0, 63, 64, 429, 639, -1, 640, 1<<40)
	for code := range 700 {
		want := code == 0 || code == 63 || code == 64 || code == 429 || code == 639
		assert.Equal(t, want, s.Has(code), code)
	}
	assert.False(t, s.Has(-1))
	assert.False(t, s.Has(-64))
	assert.False(t, new(StatusSet).Has(200))

	p := DefaultPolicy()
	var defaults []int
	for code := range 600 {
		if p.RetryStatuses.Has(code) {
			defaults = append(defaults, code)
		}
	}
	assert.Equal(t, []int{408, 425, 429, 500, 502, 503, 504}, defaults, "the contract's list")
}

func TestEveryCodeHasAReason(t *testing.T) {
	for code := range reasons {
		d := Decision{Verb: Stop, Code: code}
		assert.NotEmpty(t, d.Reason(), code)
	}
	assert.Len(t, reasons, 11, "the contract's error codes of decisions")
	assert.Contains(t, (&Decision{Verb: Success}).Reason(), "succeeded")
	local, server := plan(floor(0)), plan(floor(9))
	assert.Contains(t, local.Reason(), "local backoff")
	assert.Contains(t, server.Reason(), "server's minimum")
	for c := Answered; c <= Cancelled; c++ {
		assert.NotEmpty(t, c.String())
	}
	assert.Equal(t, "response", Class(200).String(), "a class nobody knows does not panic")
}
