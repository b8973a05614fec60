package handlers

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
)

// maxReports is how long the reports of one batch may take. What a slow gate
// has not been told by then frees itself at the end of its lease; the answer
// must go out before the connection's write timeout.
const maxReports = 10 * time.Second

// planBatch answers POST /v1/plan/batch: an array of items in, an array of
// answers of the same length, order and forms out.
func (s *server) planBatch(c *gin.Context) {
	body, err := readBody(c, s.MaxBatchBytes)
	if err != nil {
		refuse(c, err)
		return
	}
	defer body.release()
	answer := newBuffer()
	defer answer.release()
	answer.Grow(body.Len() / 16 * 17) // a large answer that outgrows its buffer is held twice
	out := append(answer.AvailableBuffer(), '[')
	first, gateAnswers := true, true
	reports, cancel := context.WithTimeout(c.Request.Context(), maxReports)
	defer cancel()
	r := recorderOf(c)
	r.batch = true
	record := r.tally.add
	appendAnswer := func(dst []byte, it *envelope.Item) []byte { return s.appendAnswer(dst, it, record) }
	// What the answer is longer than the body is held as well.
	share, room := s.shareOf(c), body.Len()+smallBody
	defer share.release()
	ctx, stop := context.WithCancelCause(c.Request.Context())
	defer stop(nil)
	err = envelope.DecodeBatch(ctx, body.Bytes(), s.MaxBatchItems, s.Now(), func(e *envelope.Element) {
		if !first {
			out = append(out, ',')
		}
		first = false
		if e.Invalid != nil {
			r.tally.addInvalid(e.Invalid)
		} else if gateAnswers {
			// A gate that is down is asked once, not ten thousand times.
			gateAnswers = s.reportToGate(reports, e.Item)
		}
		out = e.Append(out, appendAnswer)
		if more := len(out) - room; more > 0 && ctx.Err() == nil {
			room += more + smallBody
			if err := share.take(ctx, int64(more+smallBody)); err != nil {
				stop(err)
			}
		}
	})
	if refusal := context.Cause(ctx); errors.Is(refusal, errBusy) {
		refuse(c, refusal)
		return
	}
	if errors.Is(err, context.Canceled) {
		c.Abort() // nobody is there to read an answer
		return
	}
	if err != nil {
		refuse(c, err)
		return
	}
	answer.set(append(out, ']'))
	writeJSON(c, answer.Bytes())
}
