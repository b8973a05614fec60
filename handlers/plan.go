package handlers

import (
	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
)

// plan answers POST /v1/plan: one item in, one decision out.
func (s *server) plan(c *gin.Context) {
	body, err := readBody(c, s.MaxBodyBytes)
	if err != nil {
		refuse(c, err)
		return
	}
	defer body.release()
	it, err := envelope.Decode(body.text, s.Now())
	if err != nil {
		refuse(c, err)
		return
	}
	defer it.Release()
	s.reportToGate(c.Request.Context(), it)
	answer := newBuffer()
	defer answer.release()
	answer.text = s.appendAnswer(answer.text, it, recorderOf(c))
	writeJSON(c, answer.text)
}
