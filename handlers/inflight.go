package handlers

import "github.com/gin-gonic/gin"

// limitInFlight refuses calls past MaxInFlight with 503, so that load beyond
// the machine's strength is told at once instead of piling up.
func (s *server) limitInFlight() gin.HandlerFunc {
	return func(c *gin.Context) {
		select {
		case s.places <- struct{}{}:
			defer func() { <-s.places }()
			defer s.holdBody(c)()
			c.Next()
		default:
			refuse(c, errBusy)
		}
	}
}
