package envelope

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// batchAnswers gives the answers to a batch as the service does.
func batchAnswers(raw string, limit int) ([]string, error) {
	var out []string
	err := DecodeBatch(context.Background(), []byte(raw), limit, testNow, func(e *Element) error {
		out = append(out, string(e.Append(nil, appendAnswer)))
		return nil
	})
	return out, err
}

func TestBatchKeepsFormAndOrder(t *testing.T) {
	retry := strings.TrimSuffix(item(`"id":1`), "}") + setAtEnd
	success := `{"error_code":null,"attempts":1,"last_status":200,"decision":"success","next_request":false}`
	ok := `{"statusCode":200,` + state + `}`
	tests := []struct{ name, element, want string }{
		{"flat", item(`"id":1`), retry},
		{"an n8n item", `{"json":` + item(`"id":1`) + `}`, `{"json":` + retry + `}`},
		{"pairedItem and binary come back as they were",
			`{"binary":{"f":{"id":1.0}},"json":` + ok + `,"pairedItem":{"item":0},"index":1.0}`,
			`{"binary":{"f":{"id":1.0}},"json":` + success + `,"pairedItem":{"item":0},"index":1.0}`},
		{"n8n's own error beside json is not the item's", `{"json":` + ok + `,"error":{"message":"x"}}`, `{"json":` + success + `,"error":{"message":"x"}}`},
		{"json under an escaped name", `{"\u006ason":` + ok + `}`, `{"\u006ason":` + success + `}`},
		{"a flat item with a member json of its own", item(`"json":{"statusCode":200}`),
			strings.TrimSuffix(item(`"json":{"statusCode":200}`), "}") + setAtEnd},
	}
	var elements, want []string
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := batchAnswers("["+tt.element+"]", 10)
			require.NoError(t, err)
			assert.Equal(t, []string{tt.want}, got)
		})
		elements, want = append(elements, tt.element), append(want, tt.want)
	}
	t.Run("mixed freely", func(t *testing.T) {
		got, err := batchAnswers("[ "+strings.Join(elements, " ,\n")+" ]", len(elements))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})
	t.Run("empty", func(t *testing.T) {
		got, err := batchAnswers(" [ ] ", 10)
		require.NoError(t, err)
		assert.Empty(t, got)
	})
}

// An item that is not valid does not fail the others.
func TestInvalidItemsOfABatch(t *testing.T) {
	tests := []struct{ name, element, path, attempts, status, fields string }{
		{"nothing readable", `{}`, "", "1", "null", "statusCode max_attempts base exp_cap total_wait_budget"},
		{"attempts and status readable", `{"statusCode":503,"attempts":"4",` + state[:16] + `}`, "", "4", "503", "base exp_cap total_wait_budget"},
		{"inside an n8n item", `{"pairedItem":7,"json":{"statusCode":503,"base":1,"exp_cap":1,"total_wait_budget":1}}`, "json.", "1", "503", "max_attempts"},
		{"a flat item with a json of its own", `{"statusCode":503,"json":{"a":1},"base":1,"exp_cap":1,"total_wait_budget":1}`, "", "1", "503", "max_attempts"},
		{"json that is no object", `{"json":5,"pairedItem":7}`, "json.", "1", "null", "json"},
		{"a number", `5`, "", "1", "null", ""},
		{"null", `null`, "", "1", "null", ""},
		{"an array", `[[]]`, "", "1", "null", ""},
		{"a string", `"x"`, "", "1", "null", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := batchAnswers("["+item()+","+tt.element+","+item()+"]", 10)
			require.NoError(t, err)
			require.Len(t, got, 3)
			assert.Contains(t, got[0], `"decision":"retry"`)
			assert.Equal(t, got[0], got[2], "the others are answered")
			require.True(t, gjson.Valid(got[1]), got[1])
			body := got[1]
			if tt.path != "" {
				assert.Equal(t, "7", gjson.Get(body, "pairedItem").Raw)
				body = gjson.Get(body, "json").Raw
			}
			var names, fields []string
			gjson.Parse(body).ForEach(func(name, _ gjson.Result) bool { names = append(names, name.Str); return true })
			assert.Equal(t, []string{"error_code", "attempts", "last_status", "decision", "next_request", "errors"}, names)
			assert.Equal(t, `"invalid_state"`, gjson.Get(body, "error_code").Raw)
			assert.Equal(t, `"stop"`, gjson.Get(body, "decision").Raw)
			assert.Equal(t, `false`, gjson.Get(body, "next_request").Raw)
			assert.Equal(t, tt.attempts, gjson.Get(body, "attempts").Raw)
			assert.Equal(t, tt.status, gjson.Get(body, "last_status").Raw)
			for _, fault := range gjson.Get(body, "errors").Array() {
				fields = append(fields, fault.Get("field").Str)
				assert.NotEmpty(t, fault.Get("rule").Str)
				assert.NotEmpty(t, fault.Get("message").Str)
			}
			assert.ElementsMatch(t, strings.Split(tt.fields, " "), fields)
		})
	}
}

func TestMalformedBatches(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing": ``, "an object": item(), "a string": `"x"`, "null": `null`, "not closed": "[" + item(),
		"a trailing comma": "[" + item() + ",]", "no comma": "[" + item() + item() + "]", "something after it": "[]x",
		"two arrays": "[][]", "a broken item": "[" + item() + ",{]", "a key twice in an item": `[{"a":1,"a":2}]`,
		"a key twice in an n8n item's json": `[{"json":{"o":{"a":1,"a":2}}}]`, "invalid UTF-8": "[\"\xff\"]",
		"1001 levels": nested("[", "", "]", 1001), "a byte order mark": "\ufeff[]",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := batchAnswers(raw, 10)
			var malformed *MalformedError
			require.ErrorAs(t, err, &malformed)
		})
	}
}

func TestBatchLimit(t *testing.T) {
	raw := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("{},", n), ",") + "]" }
	got, err := batchAnswers(raw(3), 3)
	require.NoError(t, err)
	assert.Len(t, got, 3)
	_, err = batchAnswers(raw(4), 3)
	var tooLarge *BatchTooLargeError
	require.ErrorAs(t, err, &tooLarge)
	assert.Equal(t, 3, tooLarge.Limit)
	assert.ErrorContains(t, err, "more than 3 items")
	got, err = batchAnswers(raw(10_000), 10_000)
	require.NoError(t, err)
	assert.Len(t, got, 10_000)
}

// Items are pooled: what one item held must not show in the next.
func TestItemsOfABatchDoNotLeakIntoEachOther(t *testing.T) {
	full := item(`"headers":{"retry-after":"30"}`, `"policy":{"jitter":"full","spread":3,"safe_to_retry":false,"explain":true,"max_wait":1}`,
		`"task_id":"t"`, `"idempotency_key":"k"`, `"method":"POST"`, `"elapsed_wait":9`, `"attempts":3`, `"details":{"httpCode":"503"}`)
	failed := failedItem(`{"status":503,"headers":{"retry-after":"soon"}}`, `"method":"PUT"`)
	alone, err := batchAnswers("["+item()+"]", 1)
	require.NoError(t, err)
	for _, before := range []string{full, failed, `{"json":` + full + `}`, `{}`, `5`} {
		got, err := batchAnswers(fmt.Sprintf("[%s,%s,{\"json\":%s}]", before, item(), item()), 3)
		require.NoError(t, err)
		assert.Equal(t, alone[0], got[1])
		assert.Equal(t, `{"json":`+alone[0]+`}`, got[2])
	}
	_, err = Decode([]byte(`{"statusCode":1}`), testNow)
	assert.True(t, errors.As(err, new(*InvalidError)))
	assert.Equal(t, alone[0], answer(t, item()))
}

// A caller that has gone away must not cost the work of ten thousand items.
func TestBatchStopsWithItsCaller(t *testing.T) {
	ctx, goAway := context.WithCancel(context.Background())
	raw := "[" + strings.TrimSuffix(strings.Repeat(item()+",", 1000), ",") + "]"
	seen := 0
	err := DecodeBatch(ctx, []byte(raw), 1000, testNow, func(*Element) error {
		if seen++; seen == 10 {
			goAway()
		}
		return nil
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, seen, 100)
}

func TestBatchStopsWithAnErrorOfItsReader(t *testing.T) {
	full := errors.New("no room for the answer")
	seen := 0
	err := DecodeBatch(context.Background(), []byte("["+item()+","+item()+"]"), 10, testNow, func(*Element) error {
		seen++
		return full
	})
	assert.ErrorIs(t, err, full)
	assert.Equal(t, 1, seen)
}
