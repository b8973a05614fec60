package handlers

import (
	"context"
	"io"
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
// from ending.
type held struct {
	mu     sync.Mutex
	room   int64 // bytes that may still be taken
	first  *share
	change chan struct{} // closed when a share is given back
}

func newHeld(room int64) *held { return &held{room: room, change: make(chan struct{})} }

// share is one call's part of what is held.
type share struct {
	of    *held
	bytes int64
	until time.Time // when it has waited long enough, zero when it has not waited
}

// take adds n bytes to the share. It waits for room until ctx ends, but no
// longer than a call may wait, and gives errBusy when there is none.
func (s *share) take(ctx context.Context, n int64) error {
	ok, change := s.tryTake(n)
	if ok {
		return nil
	}
	if s.until.IsZero() {
		s.until = time.Now().Add(roomWait)
	}
	ctx, cancel := context.WithDeadline(ctx, s.until)
	defer cancel()
	for !ok {
		select {
		case <-change:
			ok, change = s.tryTake(n)
		case <-ctx.Done():
			return errBusy
		}
	}
	return nil
}

// tryTake takes n bytes if it can. change is closed when it may be worth while
// to try again.
func (s *share) tryTake(n int64) (ok bool, change <-chan struct{}) {
	h := s.of
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.first == s:
	case n <= h.room:
		h.room -= n
		s.bytes += n
	case h.first == nil:
		h.first = s
	default:
		return false, h.change
	}
	return true, nil
}

// release gives the share back. It may be called again.
func (s *share) release() {
	h := s.of
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first == s {
		h.first = nil
	} else if s.bytes == 0 {
		return
	}
	h.room += s.bytes
	s.bytes = 0
	close(h.change)
	h.change = make(chan struct{})
}

// heldBody is a body that takes its share as it arrives, since its announced
// length is the caller's word alone: every byte twice, once for the answer.
type heldBody struct {
	io.ReadCloser
	ctx     context.Context
	share   share
	refused bool
}

// Read gives errBusy once there is no room. What comes after that is not
// counted: it is thrown away.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.refused {
		return n, err
	}
	if refusal := b.share.take(b.ctx, 2*int64(n)); refusal != nil {
		b.refused = true
		b.share.release()
		return 0, refusal
	}
	return n, err
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
