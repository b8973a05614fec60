package envelope

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No error text and no explanation repeats what an item holds.
func TestNoSecretInAnErrorText(t *testing.T) {
	const secret = "hunter2"
	tests := map[string]string{
		"a header value of the wrong kind": item(`"headers":{"authorization":{"Bearer":"hunter2"}}`),
		"headers":                          item(`"headers":"Bearer hunter2"`),
		"a status":                         `{"statusCode":"hunter2",` + state + `}`,
		"state numbers":                    `{"statusCode":429,"attempts":"hunter2","max_attempts":"hunter2","base":"hunter2","exp_cap":"hunter2","total_wait_budget":"hunter2","elapsed_wait":"hunter2"}`,
		"the request":                      item(`"method":["hunter2"]`, `"idempotency_key":["hunter2"]`, `"task_id":{"a":"hunter2"}`),
		"policy values": item(`"policy":{"max_wait":"hunter2","spread":"hunter2","deadline":"hunter2","jitter":"hunter2",
			"clock":"hunter2","provider":"hunter2","explain":"hunter2","safe_to_retry":"hunter2","retry_statuses":["hunter2"]}`),
		"a policy that is none":     item(`"policy":"hunter2"`),
		"an error that is none":     failedItem(`["hunter2"]`),
		"broken JSON in a string":   item("\"body\":\"hunter2\n\""),
		"broken JSON after a value": item(`"body":"hunter2" oops`),
		"a key twice":               item(`"body":{"hunter2":1,"hunter2":2}`),
		"something after the value": item() + `"hunter2"`,
		"cut off":                   `{"body":"hunter2`,
		"invalid UTF-8":             "{\"body\":\"hunter2\xff\"}",
	}
	for name, raw := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(raw), testNow)
			require.Error(t, err)
			assert.NotContains(t, err.Error(), secret)
			var invalid *InvalidError
			if errors.As(err, &invalid) {
				list, err := json.Marshal(invalid.Faults)
				require.NoError(t, err)
				assert.NotContains(t, string(list), secret)
			}
		})
	}
	t.Run("an explanation", func(t *testing.T) {
		got := answer(t, `{"statusCode":404,"headers":{"retry-after":"hunter2","x":"hunter2"},"body":"hunter2","policy":{"explain":true},`+state+`}`)
		assert.NotContains(t, got, secret)
		got = answer(t, item(`"headers":{"retry-after":"hunter2"}`, `"body":"hunter2"`, `"policy":{"explain":true}`))
		assert.Contains(t, got, "invalid_retry_after")
		assert.NotContains(t, got, secret)
	})
	t.Run("a name nobody knows is cut", func(t *testing.T) {
		long := make([]byte, 10_000)
		for i := range long {
			long[i] = 'k'
		}
		_, err := Decode([]byte(item(`"policy":{"`+string(long)+`":1}`)), testNow)
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 300)
	})
}
