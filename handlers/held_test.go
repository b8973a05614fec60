package handlers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLargeBodiesShareTheirRoom holds one large call open, which has used the
// room up, and tries others beside it.
func TestLargeBodiesShareTheirRoom(t *testing.T) {
	server := httptest.NewServer(newTestService(func(o *Options) { o.MaxHeldBytes = 100_000; o.MaxBatchItems = 10_000 }))
	defer server.Close()
	send := func(path string, body io.Reader) (int, string) {
		response, err := http.Post(server.URL+path, "application/json", body)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		if response.StatusCode == http.StatusServiceUnavailable {
			assert.NotEmpty(t, response.Header.Get("Retry-After"))
			assert.Contains(t, string(text), `"overloaded"`)
		}
		return response.StatusCode, string(text)
	}
	item := `{"statusCode":429,"attempts":1,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300,"x":"` + strings.Repeat("y", 2000) + `"}`
	large := "[" + strings.Repeat(item+",", 99) + item + "]"
	short := "[" + strings.Repeat("0,", 1999) + "0]" // every answer tells what is wrong

	body, rest := io.Pipe()
	defer func() { _ = rest.Close() }() // or the server waits for it for ever
	first := make(chan int)
	go func() {
		status, _ := send("/v1/plan/batch", body)
		first <- status
	}()
	_, err := io.WriteString(rest, large[:len(large)/2])
	require.NoError(t, err)

	require.Eventually(t, func() bool {
		status, _ := send("/v1/plan/batch", strings.NewReader(large))
		return status == http.StatusServiceUnavailable
	}, 20*time.Second, time.Millisecond, "the first call's half body has not used the room up")

	tests := map[string]struct {
		path, body string
		want       int
	}{
		"another large body has no room":                  {"/v1/plan/batch", large, http.StatusServiceUnavailable},
		"a small body with a large answer has none":       {"/v1/plan/batch", short, http.StatusServiceUnavailable},
		"a usual call needs none":                         {"/v1/plan", item, http.StatusOK},
		"what is no JSON is refused for that reason":      {"/v1/plan", "{", http.StatusBadRequest},
		"a batch with a small body and answer needs none": {"/v1/plan/batch", "[" + item + "]", http.StatusOK},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			status, answer := send(tt.path, strings.NewReader(tt.body))
			assert.Equal(t, tt.want, status, answer)
		})
	}

	_, err = io.WriteString(rest, large[len(large)/2:])
	require.NoError(t, err)
	require.NoError(t, rest.Close())
	assert.Equal(t, http.StatusOK, <-first, "the first call comes through, whatever its size")
	for name, tt := range tests {
		if tt.want == http.StatusServiceUnavailable {
			status, _ := send(tt.path, strings.NewReader(tt.body))
			assert.Equal(t, http.StatusOK, status, "%s, until the first call has ended", name)
		}
	}
}
