package envelope

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/gate"
	"n8n-retry-planner/planner"
)

const wholeGate = `{"resource":"billing-api","tenant":"acme","rate":{"limit":120,"window":60},"in_flight":{"limit":8,"lease":120},` +
	`"breaker":{"threshold":5,"reset_after":30},"retry_budget":{"ratio":0.2,"min":10,"window":60}}`

const somePermit = "0b6a4f2e-8c0d-4b52-9d7e-2f1a3c5b7d90"

func TestGateIsRead(t *testing.T) {
	whole := &gate.Spec{Resource: "billing-api", Tenant: "acme", Rate: &gate.Rate{Limit: 120, Window: 60},
		InFlight: &gate.InFlight{Limit: 8, Lease: 120}, Breaker: &gate.Breaker{Threshold: 5, ResetAfter: 30},
		RetryBudget: &gate.RetryBudget{Ratio: 0.2, Min: 10, Window: 60}}
	for name, row := range map[string]struct {
		gate string
		want *gate.Spec
	}{
		"all parts":                {wholeGate, whole},
		"numbers as strings":       {strings.NewReplacer(":120", `:"120"`, ":0.2", `:" 0.2 "`, ":60", `:"60.0"`).Replace(wholeGate), whole},
		"no part":                  {`{"resource":"r"}`, &gate.Spec{Resource: "r"}},
		"null parts count as none": {`{"resource":"r","tenant":null,"rate":null,"in_flight":null,"breaker":null,"retry_budget":null}`, &gate.Spec{Resource: "r"}},
		"null is no gate":          {`null`, nil},
		"200 characters, not bytes": {`{"resource":"` + strings.Repeat("ä", 200) + `"}`,
			&gate.Spec{Resource: strings.Repeat("ä", 200)}},
		"an escaped name":     {`{"resource":"a\u0062\n"}`, &gate.Spec{Resource: "ab\n"}},
		"an escaped field":    {`{"re\u0073ource":"r"}`, &gate.Spec{Resource: "r"}},
		"a budget of nothing": {`{"resource":"r","retry_budget":{"ratio":0,"min":0,"window":0.5}}`, &gate.Spec{Resource: "r", RetryBudget: &gate.RetryBudget{Window: 0.5}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, decode(t, item(`"gate":`+row.gate)).Gate)
		})
	}
}

// Every bad or unknown field of every part is told, all at once.
func TestGateFaults(t *testing.T) {
	for name, row := range map[string]struct{ gate, want string }{
		"no object":                       {`"billing"`, "gate object"},
		"an array":                        {`[]`, "gate object"},
		"no resource":                     {`{}`, "gate.resource required"},
		"a null resource":                 {`{"resource":null}`, "gate.resource required"},
		"an empty resource":               {`{"resource":""}`, "gate.resource string"},
		"a resource that is a number":     {`{"resource":5}`, "gate.resource string"},
		"a resource of 201 characters":    {`{"resource":"` + strings.Repeat("ä", 201) + `"}`, "gate.resource string"},
		"an empty tenant":                 {`{"resource":"r","tenant":""}`, "gate.tenant string"},
		"a tenant of 201 characters":      {`{"resource":"r","tenant":"` + strings.Repeat("t", 201) + `"}`, "gate.tenant string"},
		"an unknown part":                 {`{"resource":"r","rates":{}}`, "gate.rates unknown"},
		"an unknown part that is null":    {`{"resource":"r","rates":null}`, "gate.rates unknown"},
		"another case":                    {`{"resource":"r","Rate":{}}`, "gate.Rate unknown"},
		"a rate that is no object":        {`{"resource":"r","rate":120}`, "gate.rate object"},
		"an empty rate":                   {`{"resource":"r","rate":{}}`, "gate.rate.limit required, gate.rate.window required"},
		"an unknown field of rate":        {`{"resource":"r","rate":{"limit":1,"window":1,"burst":2}}`, "gate.rate.burst unknown"},
		"an unknown null field of rate":   {`{"resource":"r","rate":{"limit":1,"window":1,"burst":null}}`, "gate.rate.burst unknown"},
		"a limit of 0":                    {`{"resource":"r","rate":{"limit":0,"window":1}}`, "gate.rate.limit min"},
		"half a call":                     {`{"resource":"r","rate":{"limit":1.5,"window":1}}`, "gate.rate.limit integer"},
		"a window of 0":                   {`{"resource":"r","rate":{"limit":1,"window":0}}`, "gate.rate.window greater_than"},
		"a window that is text":           {`{"resource":"r","rate":{"limit":1,"window":"1m"}}`, "gate.rate.window number"},
		"a lease of 0":                    {`{"resource":"r","in_flight":{"limit":0,"lease":0}}`, "gate.in_flight.limit min, gate.in_flight.lease greater_than"},
		"an unknown field of in_flight":   {`{"resource":"r","in_flight":{"limit":1,"lease":1,"ttl":1}}`, "gate.in_flight.ttl unknown"},
		"a breaker without its reset":     {`{"resource":"r","breaker":{"threshold":1,"reset":1}}`, "gate.breaker.reset unknown, gate.breaker.reset_after required"},
		"a breaker that is never reset":   {`{"resource":"r","breaker":{"threshold":"0","reset_after":-1}}`, "gate.breaker.threshold min, gate.breaker.reset_after greater_than"},
		"a negative ratio":                {`{"resource":"r","retry_budget":{"ratio":-0.1,"min":-1,"window":0}}`, "gate.retry_budget.ratio min, gate.retry_budget.min min, gate.retry_budget.window greater_than"},
		"a ratio that is no number":       {`{"resource":"r","retry_budget":{"ratio":"20%","min":1,"window":1}}`, "gate.retry_budget.ratio number"},
		"a null number is missing":        {`{"resource":"r","retry_budget":{"ratio":null,"min":1,"window":1}}`, "gate.retry_budget.ratio required"},
		"an unknown field of the budget":  {`{"resource":"r","retry_budget":{"ratio":1,"min":1,"window":1,"max":1}}`, "gate.retry_budget.max unknown"},
		"faults in several parts at once": {`{"rate":{"limit":0,"window":1},"breaker":5}`, "gate.rate.limit min, gate.breaker object, gate.resource required"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, strings.Join(faultsOf(t, item(`"gate":`+row.gate)), ", "))
		})
	}
	assert.Equal(t, []string{"permit string"}, faultsOf(t, item(`"gate":{"resource":"r"}`, `"permit":5`)))
	_, err := Decode([]byte(item(`"gate":{"resource":"r","resource":"s"}`)), testNow)
	var malformed *MalformedError
	require.ErrorAs(t, err, &malformed, "a part twice is no JSON of ours")
}

func TestPermitIsRead(t *testing.T) {
	const withGate = `"gate":{"resource":"r"}`
	assert.Equal(t, somePermit, decode(t, item(withGate, `"permit":"`+somePermit+`"`)).Permit)
	assert.Equal(t, somePermit, decode(t, item(withGate, `"permit":"`+strings.ToUpper(somePermit)+`"`)).Permit, "one spelling")
	assert.Empty(t, decode(t, item(withGate, `"permit":"mine"`)).Permit, "no permit of ours is an unknown one")
	assert.Empty(t, decode(t, item(withGate, `"permit":""`)).Permit)
	assert.Empty(t, decode(t, item(withGate, `"permit":null`)).Permit)
	assert.Empty(t, decode(t, item(`"permit":"`+somePermit+`"`)).Permit, "without a gate it is the caller's own field")
}

// The retry state carries no permit, so that the next admit is a new one; a
// caller without a gate keeps fields of these names.
func TestRetryStateHasNoPermit(t *testing.T) {
	const set = `"error_code":null,"attempts":2,"last_status":429,"decision":"retry","next_request":true,"wait_seconds":1,"elapsed_wait":1`
	own := `"permit":"` + somePermit + `","gate_bypassed":true`
	assert.Equal(t, `{"statusCode":429,`+state+`,"gate":{"resource":"r"},`+set+`}`, answer(t, item(`"gate":{"resource":"r"}`, own)))
	assert.Equal(t, `{"statusCode":429,`+state+`,`+own+`,`+set+`}`, answer(t, item(own)))
	assert.Equal(t, `{"statusCode":429,`+state+`,"gate":null,`+own+`,`+set+`}`, answer(t, item(`"gate":null`, own)))
}

func TestAdmitTakesAnItemWithoutAnOutcome(t *testing.T) {
	const gated = `"gate":{"resource":"r"}`
	for name, row := range map[string]struct{ raw, want string }{
		"no gate":                         {`{` + state + `}`, "gate required"},
		"a null gate":                     {`{"gate":null,` + state + `}`, "gate required"},
		"a gate that is no object":        {`{"gate":5,` + state + `}`, "gate object"},
		"nothing":                         {`{}`, "max_attempts required, base required, exp_cap required, total_wait_budget required, gate required"},
		"the first call":                  {`{` + gated + `,` + state + `}`, ""},
		"an outcome is not looked at":     {`{"statusCode":"x","headers":5,"error":7,` + gated + `,` + state + `}`, ""},
		"the state and the policy are":    {`{"attempts":0,"policy":{"max_wiat":1},` + gated + `,` + state + `}`, "attempts min, policy.max_wiat unknown"},
		"a last_status of the workflow's": {`{"last_status":"none",` + gated + `,` + state + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			it, err := DecodeAdmit([]byte(row.raw), testNow)
			if row.want == "" {
				require.NoError(t, err)
				it.Release()
				return
			}
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid)
			var got []string
			for _, f := range invalid.Faults {
				got = append(got, f.Field+" "+f.Rule)
			}
			assert.Equal(t, row.want, strings.Join(got, ", "))
		})
	}
}

// The whole item comes back to the byte; set fields keep their place and new
// ones follow in the contract's order.
func TestAdmissionAnswers(t *testing.T) {
	const own = `"big":12345678901234567890,"one":1.0,"esc":"\u00e4\/","n":{"b": [1, 2],"a":null}`
	const gated = state + `,"gate":{"resource":"r"}`
	for name, row := range map[string]struct {
		raw  string
		a    Admission
		want string
	}{
		"a first go": {`{` + own + `,` + gated + `}`, Admission{Verb: Go, Permit: somePermit},
			`{` + own + `,` + gated + `,"decision":"go","next_request":true,"wait_seconds":0,"permit":"` + somePermit + `"}`},
		"a first wait": {`{` + gated + `}`, Admission{Verb: Wait, Code: "rate_window_full", Wait: 2.5, Permit: somePermit},
			`{` + gated + `,"error_code":"rate_window_full","decision":"wait","next_request":false,"wait_seconds":2.5,"elapsed_wait":2.5,"permit":"` + somePermit + `"}`},
		"a go after a wait clears the code": {
			`{"permit":"` + somePermit + `","error_code":"in_flight_full","elapsed_wait":1.5,` + gated + `,"next_request":false,"decision":"wait","wait_seconds":1.5}`,
			Admission{Verb: Go, Permit: somePermit},
			`{"permit":"` + somePermit + `","error_code":null,"elapsed_wait":1.5,` + gated + `,"next_request":true,"decision":"go","wait_seconds":0}`},
		"a wait after a wait adds up": {
			`{"elapsed_wait":"1.5",` + gated + `,"error_code":"rate_window_full"}`, Admission{Verb: Wait, Code: "resource_on_hold", Wait: 1, Permit: somePermit},
			`{"elapsed_wait":2.5,` + gated + `,"error_code":"resource_on_hold","decision":"wait","next_request":false,"wait_seconds":1,"permit":"` + somePermit + `"}`},
		"a go that the gate let pass": {`{` + gated + `}`, Admission{Verb: Go, Permit: somePermit, Bypassed: true},
			`{` + gated + `,"decision":"go","next_request":true,"wait_seconds":0,"permit":"` + somePermit + `","gate_bypassed":true}`},
		"the mark of an earlier pass goes": {`{"gate_bypassed":true,` + gated + `}`, Admission{Verb: Go, Permit: somePermit},
			`{` + gated + `,"decision":"go","next_request":true,"wait_seconds":0,"permit":"` + somePermit + `"}`},
		"the earlier response stays": {`{"statusCode":503,"headers":{},"body":1,"attempts":2,"last_status":503,` + gated + `}`, Admission{Verb: Go, Permit: somePermit},
			`{"statusCode":503,"headers":{},"body":1,"attempts":2,"last_status":503,` + gated + `,"decision":"go","next_request":true,"wait_seconds":0,"permit":"` + somePermit + `"}`},
		"a terminal answer has five fields": {`{"attempts":3,"last_status":503,"permit":"` + somePermit + `","gate_bypassed":true,"mine":1,` + gated + `}`,
			Admission{Verb: planner.Defer, Code: "circuit_open"},
			`{"error_code":"circuit_open","attempts":3,"last_status":503,"decision":"defer","next_request":false}`},
		"no last status before the first call": {`{` + gated + `}`, Admission{Verb: planner.Stop, Code: "already_active"},
			`{"error_code":"already_active","attempts":1,"last_status":null,"decision":"stop","next_request":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			it, err := DecodeAdmit([]byte(row.raw), testNow)
			require.NoError(t, err)
			defer it.Release()
			assert.Equal(t, row.want, string(it.AppendAdmission(nil, &row.a)))
		})
	}
}
