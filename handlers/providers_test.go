package handlers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/envelope"
)

func TestEveryProviderThatIsListedIsTaken(t *testing.T) {
	service := newTestService(nil)
	w := httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/providers", nil))
	require.Equal(t, http.StatusOK, w.Code)
	var list struct{ Providers []envelope.Provider }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &list))
	require.Greater(t, len(list.Providers), 40)
	for _, p := range list.Providers {
		r := httptest.NewRequest(http.MethodPost, "/v1/plan", strings.NewReader(
			`{"statusCode":503,"max_attempts":2,"base":1,"exp_cap":1,"total_wait_budget":9,"policy":{"provider":"`+p.Name+`"}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		service.ServeHTTP(w, r)
		assert.Equal(t, http.StatusOK, w.Code, p.Name)
	}
}
