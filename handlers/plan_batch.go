package handlers

import (
	"context"
	"errors"
	"slices"
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
	// A large answer that outgrows its buffer is held twice for a moment.
	answer.text = append(slices.Grow(answer.text, len(body.text)/16*17), '[')
	first, gateAnswers := true, true
	reports, cancel := context.WithTimeout(c.Request.Context(), maxReports)
	defer cancel()
	r := recorderOf(c)
	r.batch = true
	appendAnswer := func(dst []byte, it *envelope.Item) []byte { return s.appendAnswer(dst, it, r) }
	// What the answer is longer than the body is held as well.
	share, room := s.shareOf(c), len(body.text)+smallBody
	defer share.release()
	ctx := c.Request.Context()
	err = envelope.DecodeBatch(ctx, body.text, s.MaxBatchItems, s.Now(), func(e *envelope.Element) error {
		if !first {
			answer.text = append(answer.text, ',')
		}
		first = false
		if e.Invalid != nil {
			r.tally.addInvalid(e.Invalid)
		} else if gateAnswers {
			// A gate that is down is asked once, not ten thousand times.
			gateAnswers = s.reportToGate(reports, e.Item)
		}
		answer.text = e.Append(answer.text, appendAnswer)
		more := len(answer.text) - room
		if more <= 0 {
			return nil
		}
		room += more + smallBody
		return share.take(ctx, int64(more+smallBody))
	})
	if errors.Is(err, context.Canceled) {
		c.Abort() // nobody is there to read an answer
		return
	}
	if err != nil {
		refuse(c, err)
		return
	}
	answer.text = append(answer.text, ']')
	writeJSON(c, answer.text)
}
