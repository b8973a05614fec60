package envelope

import (
	"strings"

	"github.com/tidwall/gjson"

	"n8n-retry-planner/planner"
)

// failure is what an n8n error item says.
type failure struct {
	class   planner.Class
	status  int     // 0 unless the error carries an HTTP status: then it is a response
	method  string  // from the request options that n8n and axios add; "" when absent
	headers headers // of the response, where the error carries them
	body    []byte  // of the response, where the error carries it
}

// Where an error item may carry an HTTP status, in the order they are tried.
// error.httpCode is a NodeApiError's; details comes with HTTP Request 4.5.
var errorStatusPaths = []string{"status", "statusCode", "httpCode", "response.status", "response.statusCode"}

// Where it may carry the name of the fault. An AggregateError (several
// addresses tried) and undici keep it in the cause.
var errorCodePaths = []string{"code", "httpCode", "errno", "cause.code", "errors.0.code"}

// readFailure reads the members error and details of an item.
func readFailure(errorValue, details []byte) failure {
	e := gjson.ParseBytes(errorValue) // of a text, every Get below finds nothing
	f := failure{method: e.Get("options.method").String()}
	if f.method == "" {
		f.method = e.Get("config.method").String()
	}
	for _, path := range errorStatusPaths {
		if f.status = httpStatus([]byte(e.Get(path).Raw)); f.status != 0 {
			break
		}
	}
	if f.status == 0 && isObject(details) {
		f.status = httpStatus([]byte(gjson.GetBytes(details, "httpCode").Raw))
	}
	if f.status != 0 {
		f.class = planner.Answered
		f.headers = append(looseHeaders(e.Get("response.headers")), looseHeaders(e.Get("headers"))...)
		for _, path := range []string{"response.body", "response.data"} {
			if body := e.Get(path); body.Exists() {
				f.body = []byte(body.Raw)
				break
			}
		}
		return f
	}
	if isString(errorValue) {
		f.class = classOfMessage(e.Str)
	} else {
		f.class = classOfError(e)
	}
	return f
}

// httpStatus gives a status that stands as a number or a numeric string, 0 for
// anything else.
func httpStatus(value []byte) int {
	n, ok := integer(value)
	if !ok || n < 100 || n > 599 {
		return 0
	}
	return int(n)
}

// looseHeaders takes headers as they are: an error's headers are no part of the
// contract's envelope, and their form is not checked.
func looseHeaders(v gjson.Result) headers {
	if !v.IsObject() {
		return nil
	}
	var out headers
	v.ForEach(func(name, value gjson.Result) bool {
		out = append(out, header{name: []byte(name.Str), value: []byte(value.Raw)})
		return len(out) < maxHeaders
	})
	return out
}

// classOfError tells what an error that carries no status says. A code that is
// not known may mean anything: the call may have been processed.
func classOfError(e gjson.Result) planner.Class {
	switch e.Get("name").String() {
	case "AbortError", "CanceledError":
		return planner.Cancelled
	}
	for _, path := range errorCodePaths {
		if class, known := classOfCode(e.Get(path).String()); known {
			return class
		}
	}
	return classOfMessage(e.Get("message").String())
}

// classOfMessage tells a bad URL, for which n8n gives a sentence and no code.
// Nothing else is read from prose.
func classOfMessage(message string) planner.Class {
	for _, start := range []string{"Invalid URL", "URL parameter must be a string", "Unsupported protocol"} {
		if strings.HasPrefix(message, start) {
			return planner.Permanent
		}
	}
	return planner.Unknown
}
