package handlers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/planner"
)

// newTestService gives the routes with limits that tests can reach.
func newTestService(change func(*Options)) http.Handler {
	o := Options{
		MaxBodyBytes: 4096, MaxBatchBytes: 1 << 20, MaxBatchItems: 100, MaxInFlight: 8, MaxHeldBytes: 1 << 20, APIKeyHeader: "X-API-Key",
		Now:   func() time.Time { return time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC) },
		Draws: func() planner.Draws { return planner.Draws{Jitter: 0.5, Spread: 0.5} },
		Ready: func() bool { return true },
	}
	if change != nil {
		change(&o)
	}
	return New(o)
}

func TestWorkflowsAreServedWithTheCallersAddress(t *testing.T) {
	tests := map[string]struct {
		host, forwarded string
		want            string
	}{
		"name and port":                     {"planner:8080", "", "http://planner:8080"},
		"behind a proxy that speaks TLS":    {"planner.example.com", "https", "https://planner.example.com"},
		"IPv6":                              {"[::1]:8080", "", "http://[::1]:8080"},
		"a Host that would break the JSON":  {`a"b`, "", "http://127.0.0.1:8080"},
		"a Host that would break the URL":   {"a/b", "", "http://127.0.0.1:8080"},
		"a Host that would run in a script": {"<script>", "", "http://127.0.0.1:8080"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/workflows/retry-429.json", nil)
			r.Host = tt.host
			r.Header.Set("X-Forwarded-Proto", tt.forwarded)
			w := httptest.NewRecorder()
			newTestService(nil).ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code)
			assert.True(t, json.Valid(w.Body.Bytes()))
			assert.Contains(t, w.Body.String(), `\"planner_url\": \"`+tt.want+`\"`)
		})
	}
}

func TestWorkflowsListNamesEveryFile(t *testing.T) {
	w := httptest.NewRecorder()
	newTestService(nil).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://planner:1/workflows", nil))
	require.Equal(t, http.StatusOK, w.Code)
	var list struct{ Workflows []Workflow }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &list))
	require.NotEmpty(t, list.Workflows)
	for _, entry := range list.Workflows {
		assert.NotEmpty(t, entry.Title)
		assert.Equal(t, "http://planner:1/workflows/"+entry.Name, entry.URL)
		one := httptest.NewRecorder()
		newTestService(nil).ServeHTTP(one, httptest.NewRequest(http.MethodGet, "/workflows/"+entry.Name, nil))
		assert.Equal(t, http.StatusOK, one.Code)
	}
}

func TestWorkflowsRefuseNamesThatAreNoFile(t *testing.T) {
	for _, name := range []string{"nothing.json", "..%2fgo.mod", "%2e%2e", "workflows_test.go"} {
		w := httptest.NewRecorder()
		newTestService(nil).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/workflows/"+name, nil))
		assert.Equal(t, http.StatusNotFound, w.Code, name)
		assert.Contains(t, w.Body.String(), `"error_code":"not_found"`, name)
	}
}
