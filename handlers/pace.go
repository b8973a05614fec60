package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
)

// pace answers POST /v1/pace: an allowance and a number of calls in, how to
// spread them out.
func (s *server) pace(c *gin.Context) {
	body, err := readBody(c, s.MaxBodyBytes)
	if err != nil {
		refuse(c, err)
		return
	}
	defer body.release()
	answer, err := envelope.Pace(body.text)
	if err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, answer)
}
