package plannedhttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/handlers"
	"n8n-retry-planner/planner"
)

// newClient gives a client that asks a real planner.
func newClient(t *testing.T, change map[string]any) *http.Client {
	service := httptest.NewServer(handlers.New(handlers.Options{
		MaxBodyBytes: 1 << 20, MaxBatchBytes: 1 << 20, MaxBatchItems: 10, MaxInFlight: 10, MaxHeldBytes: 1 << 20, APIKeyHeader: "X-API-Key",
		Now: time.Now, Draws: func() planner.Draws { return planner.Draws{} }, Ready: func() bool { return true },
	}))
	t.Cleanup(service.Close)
	state := map[string]any{"max_attempts": 3, "base": 0.001, "exp_cap": 1, "total_wait_budget": 60}
	for name, value := range change {
		state[name] = value
	}
	return &http.Client{Transport: &Transport{Planner: service.URL, State: state}}
}

// newAPI answers with one status after the other and keeps the bodies it got.
func newAPI(t *testing.T, retryAfter string, statuses ...int) (url string, bodies *[]string) {
	bodies = new([]string)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*bodies = append(*bodies, string(body))
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(statuses[min(len(*bodies), len(statuses))-1])
		_, _ = io.WriteString(w, "answer "+string(rune('0'+len(*bodies))))
	}))
	t.Cleanup(api.Close)
	return api.URL, bodies
}

func send(t *testing.T, client *http.Client, method, url, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}

func TestTheCallIsRepeatedUntilItSucceeds(t *testing.T) {
	url, bodies := newAPI(t, "0", 429, 503, 200)
	response, text := send(t, newClient(t, nil), http.MethodPut, url, "hello")
	assert.Equal(t, 200, response.StatusCode)
	assert.Equal(t, "answer 3", text)
	assert.Equal(t, []string{"hello", "hello", "hello"}, *bodies, "each call carries the whole body")
}

func TestATerminalDecisionGivesTheLastResponseWhole(t *testing.T) {
	tests := map[string]struct {
		method     string
		retryAfter string
		status     int
		calls      int
	}{
		"exhausted":                    {http.MethodGet, "0", 429, 3},
		"a wait over the budget":       {http.MethodGet, "61", 429, 1},
		"a status that is not retried": {http.MethodGet, "", 404, 1},
		"an unsafe method":             {http.MethodPost, "0", 503, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			url, bodies := newAPI(t, test.retryAfter, test.status)
			response, text := send(t, newClient(t, nil), test.method, url, "")
			assert.Equal(t, test.status, response.StatusCode)
			assert.Contains(t, text, "answer")
			assert.Len(t, *bodies, test.calls)
		})
	}
}

func TestAnIdempotencyKeyMakesAPostSafe(t *testing.T) {
	url, bodies := newAPI(t, "0", 503, 201)
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader("order"))
	require.NoError(t, err)
	r.Header.Set("Idempotency-Key", "order-1")
	response, err := newClient(t, nil).Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 201, response.StatusCode)
	assert.Equal(t, []string{"order", "order"}, *bodies)
}

func TestARefusedConnectionIsRepeatedAndTold(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	_, err = newClient(t, nil).Post("http://"+closed.Addr().String(), "text/plain", nil)
	assert.ErrorContains(t, err, "connection refused")
}

func TestTheWaitEndsWithTheContext(t *testing.T) {
	url, bodies := newAPI(t, "30", 429)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // enough for the call, too short for the wait
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	began := time.Now()
	_, err = newClient(t, nil).Do(r)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(began), 10*time.Second)
	assert.Len(t, *bodies, 1)
}

func TestThePlannersRefusalIsTold(t *testing.T) {
	url, _ := newAPI(t, "0", 429)
	_, err := newClient(t, map[string]any{"base": 0}).Get(url)
	assert.ErrorContains(t, err, "base must be more than 0 seconds")
}
