package handlers

import (
	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
)

// admit answers POST /v1/admit: may the call start now, when, or not at all?
func (s *server) admit(c *gin.Context) {
	body, err := readBody(c, s.MaxBodyBytes)
	if err != nil {
		refuse(c, err)
		return
	}
	defer body.release()
	it, err := envelope.DecodeAdmit(body.text, s.Now())
	if err != nil {
		refuse(c, err)
		return
	}
	defer it.Release()
	a, err := s.askGate(c.Request.Context(), it)
	if err != nil {
		refuse(c, err)
		return
	}
	s.metrics.admission(&a)
	recorderOf(c).admit(it, &a)
	answer := newBuffer()
	defer answer.release()
	answer.text = it.AppendAdmission(answer.text, &a)
	writeJSON(c, answer.text)
}
