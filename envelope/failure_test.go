package envelope

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"
)

// Error items as n8n 2.40.7 really emits them. POST, so that safety shows: a
// call that never arrived is retried, a lost one is not.
func TestFailuresAsN8nEmitsThem(t *testing.T) {
	const post = `"method":"POST"`
	tests := []struct{ name, errorValue, want string }{
		{"refused", `{"message":"connect ECONNREFUSED 127.0.0.1:9","name":"Error","code":"ECONNREFUSED","options":{"method":"get"}}`, "1"},
		{"DNS", `{"message":"getaddrinfo ENOTFOUND no.invalid","name":"Error","code":"ENOTFOUND"}`, "1"},
		{"DNS for now", `{"code":"EAI_AGAIN"}`, "1"},
		{"no route", `{"code":"EHOSTUNREACH"}`, "1"},
		{"no network", `{"code":"ENETUNREACH"}`, "1"},
		{"undici's connect time-out", `{"name":"TypeError","message":"fetch failed","cause":{"code":"UND_ERR_CONNECT_TIMEOUT"}}`, "1"},
		{"several addresses tried", `{"name":"AggregateError","errors":[{"code":"ECONNREFUSED"},{"code":"ECONNREFUSED"}]}`, "1"},
		{"a code as httpCode", `{"httpCode":"ECONNREFUSED"}`, "1"},
		{"n8n's time-out", `{"name":"AxiosError","code":"ECONNABORTED","message":"timeout of 2000ms exceeded"}`, "unknown_outcome"},
		{"reset", `{"code":"ECONNRESET","message":"socket hang up"}`, "unknown_outcome"},
		{"ETIMEDOUT", `{"code":"ETIMEDOUT"}`, "unknown_outcome"},
		{"EPIPE", `{"code":"EPIPE"}`, "unknown_outcome"},
		{"hang up without a code", `{"message":"socket hang up"}`, "unknown_outcome"},
		{"undici's socket", `{"cause":{"code":"UND_ERR_SOCKET"}}`, "unknown_outcome"},
		{"undici's headers time-out", `{"code":"UND_ERR_HEADERS_TIMEOUT"}`, "unknown_outcome"},
		{"undici's body time-out", `{"code":"UND_ERR_BODY_TIMEOUT"}`, "unknown_outcome"},
		{"a plain string", `"connection was lost"`, "unknown_outcome"},
		{"a plain string that names a code", `"connect ECONNREFUSED 127.0.0.1:9"`, "unknown_outcome"},
		{"an empty string", `""`, "unknown_outcome"},
		{"an empty object", `{}`, "unknown_outcome"},
		{"a code nobody knows", `{"code":"EWEIRD"}`, "unknown_outcome"},
		{"a code that is no string", `{"code":["ECONNREFUSED"]}`, "unknown_outcome"},
		{"axios' cancel", `{"name":"CanceledError","code":"ERR_CANCELED","message":"canceled"}`, "cancelled"},
		{"AbortError", `{"name":"AbortError","message":"This operation was aborted"}`, "cancelled"},
		{"AbortError whatever its code", `{"name":"AbortError","code":"ETIMEDOUT"}`, "cancelled"},
		{"an expired certificate", `{"code":"CERT_HAS_EXPIRED"}`, "network_permanent"},
		{"a self-signed certificate", `{"code":"DEPTH_ZERO_SELF_SIGNED_CERT"}`, "network_permanent"},
		{"another host's certificate", `{"code":"ERR_TLS_CERT_ALTNAME_INVALID"}`, "network_permanent"},
		{"a chain that cannot be verified", `{"code":"UNABLE_TO_VERIFY_LEAF_SIGNATURE"}`, "network_permanent"},
		{"a TLS that does not fit", `{"code":"EPROTO"}`, "network_permanent"},
		{"OpenSSL", `{"code":"ERR_SSL_WRONG_VERSION_NUMBER"}`, "network_permanent"},
		{"a bad URL, with a code", `{"code":"ERR_INVALID_URL"}`, "network_permanent"},
		{"a bad URL, n8n's plain string", `"Invalid URL: htp:/x. URL must start with \"http\" or \"https\"."`, "network_permanent"},
		{"a protocol", `{"code":"ERR_INVALID_PROTOCOL"}`, "network_permanent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := failedItem(tt.errorValue, post)
			assert.Equal(t, tt.want, verdict(t, raw))
			assert.Equal(t, gjson.Null, gjson.Get(answer(t, raw), "last_status").Type, "no response was read")
		})
	}
}

// An error that carries an HTTP status is a response with that status.
func TestStatusInsideAnError(t *testing.T) {
	tests := []struct {
		name, errorValue, details, want string
		status                          int64
	}{
		{"status", `{"status":429}`, ``, "1", 429},
		{"without Never Error", `{"code":"ERR_BAD_REQUEST","status":429,"message":"Request failed"}`, ``, "1", 429},
		{"statusCode", `{"statusCode":503}`, ``, "1", 503},
		{"httpCode as a string", `{"httpCode":"429"}`, ``, "1", 429},
		{"response.status", `{"response":{"status":502}}`, ``, "1", 502},
		{"details.httpCode", `{"code":"ERR_BAD_REQUEST"}`, `{"httpCode":"429"}`, "1", 429},
		{"details.httpCode beside a text", `"Too many requests"`, `{"httpCode":"429"}`, "1", 429},
		{"details.httpCode that is a code", `{"code":"ECONNREFUSED"}`, `{"httpCode":"ECONNREFUSED"}`, "1", 0},
		{"details.httpCode of no status", `{"code":"ECONNREFUSED"}`, `{"httpCode":"999"}`, "1", 0},
		{"details that is no object", `{"code":"ECONNREFUSED"}`, `"httpCode"`, "1", 0},
		{"the status wins over the code", `{"status":404,"code":"ECONNREFUSED"}`, ``, "status_not_retryable", 404},
		{"the status wins over the name", `{"status":429,"name":"AbortError"}`, ``, "1", 429},
		{"one that is none is passed over", `{"status":0,"statusCode":"x","httpCode":429}`, ``, "1", 429},
		{"a fraction is none", `{"status":429.5,"code":"ECONNREFUSED"}`, ``, "1", 0},
		{"a status of success", `{"status":200}`, ``, "success", 200},
		{"blanks round the string", `{"status":" 429 "}`, ``, "1", 429},
		{"its own headers", `{"status":429,"headers":{"Retry-After":"7"}}`, ``, "7", 429},
		{"the headers of its response", `{"status":429,"response":{"headers":{"retry-after":"7"}}}`, ``, "7", 429},
		{"both count like two spellings", `{"status":429,"headers":{"retry-after":"7"},"response":{"headers":{"retry-after":"9"}}}`, ``, "9", 429},
		{"its invalid Retry-After", `{"status":429,"headers":{"retry-after":"soon"}}`, ``, "invalid_retry_after", 429},
		{"its Retry-After of an odd kind", `{"status":429,"headers":{"retry-after":true}}`, ``, "invalid_retry_after", 429},
		{"headers that are none", `{"status":429,"headers":"retry-after: 7"}`, ``, "1", 429},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// The item's own headers belong to an earlier response.
			members := []string{`"headers":{"retry-after":"99"}`}
			if tt.details != "" {
				members = append(members, `"details":`+tt.details)
			}
			raw := failedItem(tt.errorValue, members...)
			if tt.status == 0 {
				raw = failedItem(tt.errorValue, append(members, `"method":"GET"`)...)
			}
			assert.Equal(t, tt.want, verdict(t, raw))
			assert.Equal(t, tt.status, gjson.Get(answer(t, raw), "last_status").Int())
		})
	}
}

// The method of the call is read from the error when the item does not say it.
func TestMethodOfAnError(t *testing.T) {
	const lost = `"code":"ECONNRESET"`
	tests := []struct{ name, raw, want string }{
		{"none known", failedItem(`{` + lost + `}`), "unknown_outcome"},
		{"options.method", failedItem(`{` + lost + `,"options":{"method":"get"}}`), "1"},
		{"config.method", failedItem(`{` + lost + `,"config":{"method":"put"}}`), "1"},
		{"options before config", failedItem(`{` + lost + `,"options":{"method":"post"},"config":{"method":"get"}}`), "unknown_outcome"},
		{"the item's own first", failedItem(`{`+lost+`,"options":{"method":"get"}}`, `"method":"POST"`), "unknown_outcome"},
		{"the item's null is absent", failedItem(`{`+lost+`,"options":{"method":"get"}}`, `"method":null`), "1"},
		{"of an error with a status too", failedItem(`{"status":429,"options":{"method":"POST"}}`), "retry_not_safe"},
		{"forbidden though it never arrived", failedItem(`{"code":"ECONNREFUSED"}`, `"policy":{"safe_to_retry":false}`), "retry_not_safe"},
		{"forbidden and unknown", failedItem(`{`+lost+`}`, `"method":"GET"`, `"policy":{"safe_to_retry":false}`), "unknown_outcome"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, verdict(t, tt.raw)) })
	}
}
