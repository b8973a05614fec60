package handlers

import (
	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
)

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
	answer.Grow(body.Len())
	out := append(answer.AvailableBuffer(), '[')
	first, gateAnswers := true, true
	r := recorderOf(c)
	r.batch = true
	err = envelope.DecodeBatch(body.Bytes(), s.MaxBatchItems, s.Now(), func(e *envelope.Element) {
		if !first {
			out = append(out, ',')
		}
		first = false
		if e.Invalid != nil {
			r.tally.addInvalid(e.Invalid)
		} else if gateAnswers {
			// A gate that is down is asked once, not ten thousand times.
			gateAnswers = s.reportToGate(c.Request.Context(), e.Item)
		}
		out = e.Append(out, func(dst []byte) []byte { return s.appendAnswer(dst, e.Item, r.tally.add) })
	})
	if err != nil {
		refuse(c, err)
		return
	}
	answer.set(append(out, ']'))
	writeJSON(c, answer.Bytes())
}
