package handlers

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// logged sends a call and gives its log line and its answer.
func logged(t *testing.T, change func(*Options), r *http.Request) (map[string]any, *httptest.ResponseRecorder) {
	t.Helper()
	var log bytes.Buffer
	h := newTestService(func(o *Options) {
		o.Log = slog.New(slog.NewJSONHandler(&log, nil))
		if change != nil {
			change(o)
		}
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, 1, strings.Count(log.String(), "\n"), "one line a call: %s", &log)
	var line map[string]any
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	return line, w
}

func post(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

const limited = `"attempts":2,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300,"task_id":"order-7"`

func TestRequestLogTellsWhatWasDecided(t *testing.T) {
	tests := map[string]struct {
		path, body string
		change     func(*Options)
		want       map[string]any
		absent     []string
	}{
		"a retry": {"/v1/plan", `{"statusCode":429,"headers":{"retry-after":"7"},` + limited + `}`, nil,
			map[string]any{"route": "/v1/plan", "status": 200.0, "decision": "retry", "last_status": 429.0, "attempts": 3.0,
				"wait_seconds": 7.0, "floor_source": "header retry-after", "level": "INFO"}, []string{"error_code", "task_id", "key"}},
		"a defer": {"/v1/plan", `{"statusCode":503,"headers":{"retry-after":"700"},` + limited + `}`, nil,
			map[string]any{"decision": "defer", "error_code": "retry_wait_budget_exceeded", "attempts": 2.0, "wait_seconds": 700.0}, nil},
		"an endless wait has no number in JSON": {"/v1/plan", `{"statusCode":503,"headers":{"retry-after":"99999999999999999999"},` + limited + `}`, nil,
			map[string]any{"decision": "defer"}, []string{"wait_seconds"}},
		"a success": {"/v1/plan", `{"statusCode":200,` + limited + `}`, nil,
			map[string]any{"decision": "success"}, []string{"error_code", "wait_seconds", "floor_source"}},
		"a failure has no status": {"/v1/plan", `{"error":"socket hang up",` + limited + `}`, nil,
			map[string]any{"decision": "escalate", "error_code": "unknown_outcome"}, []string{"last_status"}},
		"a task id that may be logged": {"/v1/plan", `{"statusCode":200,` + limited + `}`, func(o *Options) { o.LogTaskID = true },
			map[string]any{"task_id": "order-7"}, nil},
		"a batch is counted": {"/v1/plan/batch", `[{"statusCode":200,` + limited + `},{"statusCode":404,` + limited + `},{},{"json":{"statusCode":200,` + limited + `}}]`, nil,
			map[string]any{"decisions": map[string]any{"success": 2.0, "stop": 1.0, "invalid_state": 1.0}}, []string{"decision", "task_id"}},
		"a refusal": {"/v1/plan", `{`, nil,
			map[string]any{"status": 400.0, "error_code": "malformed_json"}, []string{"decision"}},
		"a path that is no route": {"/secret/of?the=caller", ``, nil,
			map[string]any{"route": "none", "status": 404.0, "error_code": "not_found"}, nil},
		"a key that is not known": {"/v1/plan", `{}`, func(o *Options) { o.APIKeys = []APIKey{{"main", "k"}} },
			map[string]any{"status": 401.0, "error_code": "unauthorized"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			line, _ := logged(t, tt.change, post(tt.path, tt.body))
			for field, want := range tt.want {
				assert.Equal(t, want, line[field], field)
			}
			for _, field := range tt.absent {
				assert.NotContains(t, line, field)
			}
			assert.Contains(t, line, "duration_us")
			assert.NotContains(t, line, "body")
		})
	}
}

func TestRequestIDIsTakenWhenSane(t *testing.T) {
	tests := map[string]struct {
		sent string
		kept bool
	}{
		"a plain id":               {"abc-123_x.y:z", true},
		"none":                     {"", false},
		"one that breaks the line": {"a\nb", false},
		"one with blanks":          {"a b", false},
		"one that is a script":     {"<b>", false},
		"one that fills the log":   {strings.Repeat("a", 129), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := post("/v1/plan", `{}`)
			r.Header["X-Request-Id"] = []string{tt.sent}
			line, w := logged(t, nil, r)
			given := w.Header().Get("X-Request-ID")
			assert.Equal(t, given, line["request_id"], "the log and the answer tell the same id")
			if tt.kept {
				assert.Equal(t, tt.sent, given)
				return
			}
			assert.NoError(t, uuid.Validate(given))
		})
	}
}

// TestProbesStayOutOfTheUsualLog keeps a probe each second from burying the
// calls.
func TestProbesStayOutOfTheUsualLog(t *testing.T) {
	var log bytes.Buffer
	h := newTestService(func(o *Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	for _, path := range []string{"/healthz", "/readyz"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	assert.Empty(t, log.String())
}
