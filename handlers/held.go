package handlers

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// smallBody is the largest body, and the largest answer of a batch, that
// MaxInFlight alone bounds, in bytes. A usual call never waits for room.
const smallBody = 16 << 10

// roomWait is how long a call waits for others to make room, all in all: its
// time to be read goes on meanwhile.
const roomWait = 5 * time.Second

// held is the room for the bytes that all calls hold at once. One call at a
// time, the first that finds none, needs none: so the largest batch always
// comes through, and calls that have all come halfway do not keep each other
// from ending. The others get room in the order in which they asked.
type held struct {
	mu      sync.Mutex
	room    int64 // bytes that may still be taken
	first   *share
	waiters []*waiter
}

func newHeld(room int64) *held { return &held{room: room} }

// share is one call's part of what is held.
type share struct {
	of     *held
	bytes  int64
	waited time.Duration
}

// waiter is a share that waits for n bytes.
type waiter struct {
	share *share
	n     int64
	ready chan struct{} // closed when it has got them
}

// take adds n bytes to the share. It waits for room until ctx ends, but no
// longer than a call may wait, and gives errBusy when there is none.
func (s *share) take(ctx context.Context, n int64) error {
	w := s.of.ask(s, n)
	if w == nil {
		return nil
	}
	began := time.Now()
	defer func() { s.waited += time.Since(began) }()
	patience := time.NewTimer(roomWait - s.waited)
	defer patience.Stop()
	select {
	case <-w.ready:
		return nil
	case <-patience.C:
	case <-ctx.Done():
	}
	if s.of.leave(w) {
		return nil // it came at the last moment
	}
	return errBusy
}

// release gives the share back. It may be called again.
func (s *share) release() {
	h := s.of
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first == s {
		h.first = nil
	}
	h.room += s.bytes
	s.bytes = 0
	for len(h.waiters) > 0 && h.give(h.waiters[0].share, h.waiters[0].n) {
		close(h.waiters[0].ready)
		h.waiters = h.waiters[1:]
	}
}

// ask gives nil when the share has got the bytes, or else its place in the queue.
func (h *held) ask(s *share, n int64) *waiter {
	h.mu.Lock()
	defer h.mu.Unlock()
	if (len(h.waiters) == 0 || h.first == s) && h.give(s, n) {
		return nil
	}
	w := &waiter{share: s, n: n, ready: make(chan struct{})}
	h.waiters = append(h.waiters, w)
	return w
}

// give gives the share the bytes, if it can.
func (h *held) give(s *share, n int64) bool {
	switch {
	case h.first == s:
	case n <= h.room:
		h.room -= n
		s.bytes += n
	case h.first == nil:
		h.first = s
	default:
		return false
	}
	return true
}

// leave takes a waiter out of the queue. It tells whether it has got its bytes.
func (h *held) leave(w *waiter) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.waiters, w)
	if i < 0 {
		return true
	}
	h.waiters = slices.Delete(h.waiters, i, i+1)
	return false
}

// heldBody is a body that takes its share as it arrives, since its announced
// length is the caller's word alone: every byte twice, once for the answer.
type heldBody struct {
	io.ReadCloser
	ctx     context.Context
	share   share
	refused bool
}

// Read gives errBusy once there is no room.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.refused {
		return n, err
	}
	if refusal := b.share.take(b.ctx, 2*int64(n)); refusal != nil {
		b.refuse()
		return 0, refusal
	}
	return n, err
}

// refuse gives the room back. What still comes of the body is thrown away, and
// takes none.
func (b *heldBody) refuse() {
	b.refused = true
	b.share.release()
}

// holdBody makes a call count that is not small, until the call has ended.
func (s *server) holdBody(c *gin.Context) (release func()) {
	if n := c.Request.ContentLength; n >= 0 && n <= smallBody {
		return func() {}
	}
	body := &heldBody{ReadCloser: c.Request.Body, ctx: c.Request.Context(), share: share{of: s.held}}
	c.Request.Body = body
	return body.share.release
}

// shareOf gives the call's share, a new one when its body is small.
func (s *server) shareOf(c *gin.Context) *share {
	if body, ok := c.Request.Body.(*heldBody); ok {
		return &body.share
	}
	return &share{of: s.held}
}
