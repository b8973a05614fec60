package envelope

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A retry's answer is the item, with the set fields at the end when they were
// not there.
const setAtEnd = `,"error_code":null,"attempts":2,"last_status":429,"decision":"retry","next_request":true,"wait_seconds":1,"elapsed_wait":1}`

// What is the caller's own comes back to the byte.
func TestCallersMembersComeBackToTheByte(t *testing.T) {
	tests := map[string]string{
		"a number past 2^53":            `"cursor":12345678901234567890`,
		"a number of 60 digits":         `"n":123456789012345678901234567890123456789012345678901234567890`,
		"1.0":                           `"v":1.0`,
		"1e5":                           `"v":1e5`,
		"1E+5":                          `"v":1E+5`,
		"-0":                            `"v":-0`,
		"a number over the float range": `"v":1e999`,
		"key order":                     `"z":1,"a":2,"m":{"z":1,"a":2}`,
		"unicode escapes":               `"s":"\u00e9\u0041\u2028\/"`,
		"the same in plain letters":     `"s":"éA/"`,
		"a surrogate pair":              `"s":"\ud83d\ude00"`,
		"an emoji in UTF-8":             `"s":"😀"`,
		"a lone high surrogate":         `"s":"\ud83d"`,
		"a lone low surrogate":          `"s":"x\udc00y"`,
		"a lone surrogate in a key":     `"\ud83d":1`,
		"the escape of NUL":             `"s":"\u0000"`,
		"DEL and noncharacters":         "\"s\":\"\x7f\uffff\"",
		"an escaped key":                `"\u0075rl":"x"`,
		"an empty key":                  `"":1`,
		"__proto__":                     `"__proto__":{"a":1},"constructor":{"prototype":null}`,
		"nested blanks":                 "\"o\":{ \"a\" :\t[ 1 ,\r\n 2 ] }",
		"nested nulls":                  `"o":[null,{"a":null}]`,
		"empty containers":              `"o":{},"p":[]`,
		"HTML":                          `"s":"<a href=\"x\">&amp;</a>"`,
		"a contract name in other case": `"Attempts":7,"STATUSCODE":1,"Error":"x","Data":1`,
		"a contract name below the top": `"o":{"attempts":7,"error":"x","data":1,"policy":{"x":1}}`,
		"a template of n8n":             `"s":"={{ $json.x }}"`,
		"explain that nobody asked for": `"explain":"mine"`,
		"json":                          `"json":{"a":1}`,
		"pairedItem":                    `"pairedItem":{"item":0}`,
		"details of the caller's own":   `"details":{"httpCode":"429"}`,
		"the request":                   `"method":"GET","idempotency_key":"k\u0031","task_id":"t"`,
		"the body as it came":           `"body":{"n":1.50,"z":[1,2]}`,
		"the headers as they came":      `"headers":{"X-B":"1","x-a":[ "2" ],"n":1.0}`,
		"the policy as it came":         `"policy":{ "max_wait" : "30.0" , "jitter":null}`,
		"the state as it came":          `"retry_count":1.0`,
	}
	for name, members := range tests {
		t.Run(name, func(t *testing.T) {
			raw := item(members)
			assert.Equal(t, strings.TrimSuffix(raw, "}")+setAtEnd, answer(t, raw))
		})
	}
}

func TestBlanksBetweenMembersAreNotKept(t *testing.T) {
	raw := " {\n\t\"statusCode\" : 429 ,\r\n" + `"max_attempts":5, "base":1, "exp_cap":60, "total_wait_budget":120, "o" : { "a" : 1 } } ` + "\n"
	assert.Equal(t, item(`"o":{ "a" : 1 }`)[:len(item(`"o":{ "a" : 1 }`))-1]+setAtEnd, answer(t, raw))
}

// Set fields keep their place and their spelling; new ones follow at the end,
// in the contract's order.
func TestSetFields(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"all are there, in any order",
			`{"elapsed_wait":1,"wait_seconds":1,"a":1,"next_request":false,"decision":"x","last_status":503,"attempts":2,"error_code":"x","statusCode":429,` + state + `}`,
			`{"elapsed_wait":3,"wait_seconds":2,"a":1,"next_request":true,"decision":"retry","last_status":429,"attempts":3,"error_code":null,"statusCode":429,` + state + `}`},
		{"some are there",
			`{"wait_seconds":null,"statusCode":429,"attempts":1,` + state + `}`,
			`{"wait_seconds":1,"statusCode":429,"attempts":2,` + state + `,"error_code":null,"last_status":429,"decision":"retry","next_request":true,"elapsed_wait":1}`},
		{"an escaped name is the field and keeps its spelling",
			`{"\u0061ttempts":2,"statusCode":429,` + state + `}`,
			`{"\u0061ttempts":3,"statusCode":429,` + state + `,"error_code":null,"last_status":429,"decision":"retry","next_request":true,"wait_seconds":2,"elapsed_wait":2}`},
		{"objects and arrays under their names are replaced whole",
			`{"decision":{"a":[1]},"error_code":["x"],"statusCode":429,` + state + `}`,
			`{"decision":"retry","error_code":null,"statusCode":429,` + state + `,"attempts":2,"last_status":429,"next_request":true,"wait_seconds":1,"elapsed_wait":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, answer(t, tt.in)) })
	}
}

// data, statusMessage and error never come back; after an error, nothing of an
// earlier response does.
func TestConsumedFields(t *testing.T) {
	const retried = `,"error_code":null,"attempts":2,"last_status":null,"decision":"retry","next_request":true,"wait_seconds":1,"elapsed_wait":1}`
	response := "{" + `"statusCode":429,` + state + setAtEnd
	tests := []struct{ name, in, want string }{
		{"data", item(`"data":"<html>"`), response},
		{"data null", item(`"data":null`), response},
		{"data under an escaped name", item(`"d\u0061ta":"x"`), response},
		{"statusMessage", item(`"statusMessage":"Too Many Requests"`), response},
		{"error null", item(`"error":null`), response},
		{"at the front", `{"data":1,"error":null,"statusCode":429,` + state + `}`, response},
		{"an error drops the earlier response",
			`{"error":{"code":"ECONNREFUSED"},"statusCode":503,"headers":{"a":"b"},"body":{"x":1},"data":"y","statusMessage":"z","url":"u",` + state + `}`,
			`{"url":"u",` + state + retried},
		{"n8n's details with httpCode", failedItem(`{"code":"ECONNREFUSED"}`, `"details":{"message":"m","httpCode":"ECONNREFUSED"}`), `{` + state + retried},
		{"n8n's details with context", failedItem(`{"code":"ECONNREFUSED"}`, `"details":{"context":{}}`), `{` + state + retried},
		{"n8n's details, its name escaped", failedItem(`{"code":"ECONNREFUSED"}`, `"details":{"\u0063ontext":{}}`), `{` + state + retried},
		{"details of the caller's own", failedItem(`{"code":"ECONNREFUSED"}`, `"details":{"order":1}`), `{` + state + `,"details":{"order":1}` + retried},
		{"details that is a string", failedItem(`{"code":"ECONNREFUSED"}`, `"details":"context"`), `{` + state + `,"details":"context"` + retried},
		{"an error with a status names it", failedItem(`{"status":503}`, `"body":1`),
			`{` + state + strings.Replace(retried, `"last_status":null`, `"last_status":503`, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, answer(t, tt.in)) })
	}
}

// Waits and sums are written without float decoration.
func TestNumbersOfAnAnswer(t *testing.T) {
	tests := []struct{ name, raw, wait, elapsed string }{
		{"a whole number", `"base":2,"elapsed_wait":0`, `2`, `2`},
		{"a fraction", `"base":0.5,"elapsed_wait":"0.25"`, `0.5`, `0.75`},
		{"a float sum is the float's", `"base":0.2,"elapsed_wait":0.1`, `0.2`, `0.30000000000000004`},
		{"elapsed 2.0 is written 3", `"base":1,"elapsed_wait":2.0`, `1`, `3`},
		{"a large number has no exponent", `"base":1e15,"elapsed_wait":0`, `1000000000000000`, `1000000000000000`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, `{"statusCode":429,"max_attempts":5,"exp_cap":1e16,"total_wait_budget":1e16,`+tt.raw+`}`)
			assert.Contains(t, got, `"wait_seconds":`+tt.wait+`}`)
			assert.Contains(t, got, `"elapsed_wait":`+tt.elapsed+`,`)
		})
	}
}
