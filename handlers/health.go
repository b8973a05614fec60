package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// health answers GET /healthz: the process is alive.
func (s *server) health(c *gin.Context) { c.String(http.StatusOK, "ok\n") }

// ready answers GET /readyz: new calls may come. It is 503 while the service
// drains.
func (s *server) ready(c *gin.Context) {
	if !s.Ready() {
		c.String(http.StatusServiceUnavailable, "draining\n")
		return
	}
	c.String(http.StatusOK, "ready\n")
}
