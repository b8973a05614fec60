package envelope

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A terminal answer is exactly five fields, whatever the item carries.
func TestTerminalAnswers(t *testing.T) {
	const own = `"url":"u","cursor":1,"wait_seconds":4,"elapsed_wait":1,"attempts":3`
	tests := []struct{ name, raw, want string }{
		{"success", `{"statusCode":200,` + own + `,` + state + `}`,
			`{"error_code":null,"attempts":3,"last_status":200,"decision":"success","next_request":false}`},
		{"exhausted", `{"statusCode":429,` + own + `,"max_attempts":"3","base":1,"exp_cap":1,"total_wait_budget":9}`,
			`{"error_code":"retry_attempts_exhausted","attempts":3,"last_status":429,"decision":"exhausted","next_request":false}`},
		{"over the budget", item(own, `"headers":{"retry-after":"120"}`),
			`{"error_code":"retry_wait_budget_exceeded","attempts":3,"last_status":429,"decision":"defer","next_request":false}`},
		{"over max_wait", item(own, `"policy":{"max_wait":3}`),
			`{"error_code":"retry_max_wait_exceeded","attempts":3,"last_status":429,"decision":"defer","next_request":false}`},
		{"past the deadline", item(own, `"policy":{"deadline":0}`),
			`{"error_code":"retry_deadline_exceeded","attempts":3,"last_status":429,"decision":"defer","next_request":false}`},
		{"not retryable", `{"statusCode":"404",` + own + `,` + state + `}`,
			`{"error_code":"status_not_retryable","attempts":3,"last_status":404,"decision":"stop","next_request":false}`},
		{"an invalid Retry-After", item(own, `"headers":{"retry-after":"soon"}`),
			`{"error_code":"invalid_retry_after","attempts":3,"last_status":429,"decision":"stop","next_request":false}`},
		{"a bad certificate", failedItem(`{"code":"CERT_HAS_EXPIRED"}`, own),
			`{"error_code":"network_permanent","attempts":3,"last_status":null,"decision":"stop","next_request":false}`},
		{"cancelled", failedItem(`{"name":"AbortError"}`, own),
			`{"error_code":"cancelled","attempts":3,"last_status":null,"decision":"stop","next_request":false}`},
		{"an unknown outcome", failedItem(`{"code":"ECONNRESET"}`, own),
			`{"error_code":"unknown_outcome","attempts":3,"last_status":null,"decision":"escalate","next_request":false}`},
		{"not safe", item(own, `"method":"POST"`),
			`{"error_code":"retry_not_safe","attempts":3,"last_status":429,"decision":"escalate","next_request":false}`},
		{"without attempts the first call has ended", `{"statusCode":204,` + state + `}`,
			`{"error_code":null,"attempts":1,"last_status":204,"decision":"success","next_request":false}`},
		{"attempts past 2^53 keeps its digits", item(`"attempts":9007199254740993`),
			`{"error_code":"retry_attempts_exhausted","attempts":9007199254740993,"last_status":429,"decision":"exhausted","next_request":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, answer(t, tt.raw)) })
	}
}
