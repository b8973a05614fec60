package handlers

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Step by step: who gets room, and who does not.
func TestSharesOfTheRoom(t *testing.T) {
	h := newHeld(100)
	a, b, c := &share{of: h}, &share{of: h}, &share{of: h}
	over, end := context.WithCancel(t.Context())
	end() // who finds no room does not wait for it

	require.NoError(t, a.take(over, 60), "there is room")
	require.NoError(t, b.take(over, 60), "the first call without room needs none")
	require.NoError(t, b.take(over, 1000), "and stays the first")
	require.ErrorIs(t, c.take(over, 60), errBusy)
	require.NoError(t, c.take(over, 40), "b has taken nothing of the room")
	require.ErrorIs(t, a.take(over, 1), errBusy)
	b.release()
	b.release()
	require.NoError(t, a.take(over, 1), "nobody is the first any more")
	require.ErrorIs(t, c.take(over, 1), errBusy)
	a.release()
	require.NoError(t, c.take(over, 60), "all that a had is back")
	c.release()
	assert.EqualValues(t, 100, h.room)
	assert.Nil(t, h.first)
}

// A call that waits becomes the first when the first has ended, though no room
// has come free: it holds all of it itself.
func TestWhoWaitsComesToBeTheFirst(t *testing.T) {
	h := newHeld(100)
	first, waiting := &share{of: h}, &share{of: h}
	require.NoError(t, first.take(t.Context(), 1000))
	require.NoError(t, waiting.take(t.Context(), 100))
	w := h.ask(waiting, 1)
	require.NotNil(t, w)
	first.release()
	<-w.ready
	assert.NoError(t, waiting.take(t.Context(), 1000))
}

// Room goes to those who wait in the order in which they came, and a newcomer
// does not slip past them.
func TestRoomIsGivenInTurn(t *testing.T) {
	h := newHeld(100)
	first, holder, second, third, newcomer := &share{of: h}, &share{of: h}, &share{of: h}, &share{of: h}, &share{of: h}
	require.NoError(t, holder.take(t.Context(), 100))
	require.NoError(t, first.take(t.Context(), 1))
	waits := []*waiter{h.ask(second, 60), h.ask(third, 60), h.ask(newcomer, 10)}
	has := func(n int) bool {
		select {
		case <-waits[n].ready:
			return true
		default:
			return false
		}
	}
	holder.release()
	assert.True(t, has(0), "there is room for the second")
	assert.False(t, has(1), "not for the third")
	assert.False(t, has(2), "who would fit waits behind him")
	assert.False(t, h.leave(waits[1]), "he gives up and has got nothing")
	second.release()
	assert.True(t, has(2))
	assert.True(t, h.leave(waits[2]), "he has got it before he could give up")
	newcomer.release()
	first.release()
	assert.EqualValues(t, 100, h.room)
	assert.Empty(t, h.waiters)
}

// halfBody is a body whose second half waits until it may come.
type halfBody struct {
	io.Reader
	halfRead, goOn chan struct{}
}

func newHalfBody(text string) *halfBody {
	b := &halfBody{halfRead: make(chan struct{}), goOn: make(chan struct{})}
	half := len(text) / 2
	b.Reader = io.MultiReader(strings.NewReader(text[:half]), b.turn(), strings.NewReader(text[half:]))
	return b
}

func (b *halfBody) turn() io.Reader {
	return readerFunc(func([]byte) (int, error) {
		close(b.halfRead)
		<-b.goOn
		return 0, io.EOF
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestLargeBodiesShareTheirRoom holds one large call open, which has used the
// room up, and tries others beside it.
func TestLargeBodiesShareTheirRoom(t *testing.T) {
	service := newTestService(func(o *Options) { o.MaxHeldBytes = 100_000; o.MaxBatchItems = 10_000 })
	send := func(ctx context.Context, path string, body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		service.ServeHTTP(w, r)
		return w
	}
	item := `{"statusCode":429,"attempts":1,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300,"x":"` + strings.Repeat("y", 2000) + `"}`
	large := "[" + strings.Repeat(item+",", 99) + item + "]"
	short := "[" + strings.Repeat("0,", 1999) + "0]" // every answer tells what is wrong

	body := newHalfBody(large)
	first := make(chan int)
	go func() { first <- send(t.Context(), "/v1/plan/batch", body).Code }()
	<-body.halfRead

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
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // room does not come
			defer cancel()
			w := send(ctx, tt.path, strings.NewReader(tt.body))
			assert.Equal(t, tt.want, w.Code, w.Body.String())
			if tt.want == http.StatusServiceUnavailable {
				assert.NotEmpty(t, w.Header().Get("Retry-After"))
				assert.True(t, bytes.Contains(w.Body.Bytes(), []byte(`"overloaded"`)))
			}
		})
	}

	close(body.goOn)
	assert.Equal(t, http.StatusOK, <-first, "the first call comes through, whatever its size")
	for name, tt := range tests {
		if tt.want == http.StatusServiceUnavailable {
			assert.Equal(t, http.StatusOK, send(t.Context(), tt.path, strings.NewReader(tt.body)).Code, "%s, until the first call has ended", name)
		}
	}
}
