package handlers

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
)

// smallBody is the largest body, and the largest answer of a batch, that
// MaxInFlight alone bounds, in bytes. A usual call never waits for room.
const smallBody = 16 << 10

// How long a call waits for others to make room, and how often it looks.
const (
	roomWait = time.Second
	roomLook = 5 * time.Millisecond
)

// held is the room for the bytes that all calls hold at once. One call at a
// time, the first, needs none: so the largest batch always comes through, and
// calls that have all come halfway do not keep each other from ending.
type held struct {
	limit int64
	bytes atomic.Int64
	first atomic.Pointer[share]
}

// share is one call's part of what is held.
type share struct {
	of    *held
	bytes int64
}

// take adds n bytes to the share and gives errBusy when there is no room for
// them in time.
func (s *share) take(ctx context.Context, n int64) error {
	if s.try(n) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, roomWait)
	defer cancel()
	look := time.NewTicker(roomLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if s.try(n) {
				return nil
			}
		case <-ctx.Done():
			return errBusy
		}
	}
}

func (s *share) try(n int64) bool {
	if s.of.first.Load() == s {
		return true
	}
	if s.of.bytes.Add(n) <= s.of.limit {
		s.bytes += n
		return true
	}
	s.of.bytes.Add(-n)
	return s.of.first.CompareAndSwap(nil, s)
}

// release gives the room back. It may be called again.
func (s *share) release() {
	s.of.first.CompareAndSwap(s, nil)
	s.of.bytes.Add(-s.bytes)
	s.bytes = 0
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
	body := &heldBody{ReadCloser: c.Request.Body, ctx: c.Request.Context(), share: share{of: &s.held}}
	c.Request.Body = body
	return body.share.release
}

// shareOf gives the call's share, a new one when its body is small.
func (s *server) shareOf(c *gin.Context) *share {
	if body, ok := c.Request.Body.(*heldBody); ok {
		return &body.share
	}
	return &share{of: &s.held}
}
