package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/envelope/preview"
)

// maxPreviewBytes is the largest body of a preview: each call of its timeline
// reads its part of it again.
const maxPreviewBytes = 32 << 10

// preview answers POST /v1/preview: an attempt state and a scripted upstream
// in, the whole timeline that the planner would give out.
func (s *server) preview(c *gin.Context) {
	body, err := readBody(c, min(s.MaxBodyBytes, maxPreviewBytes))
	if err != nil {
		refuse(c, err)
		return
	}
	defer body.release()
	now := s.Now()
	script, err := envelope.DecodeScript(body.text, now)
	if err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, preview.Of(script, now))
}
