package handlers

import (
	"encoding/json"

	"github.com/gin-gonic/gin"

	"n8n-retry-planner/envelope"
)

// providers answers GET /v1/providers: the names that policy.provider takes,
// and what each reads. The list does not change while the service runs.
func providers() gin.HandlerFunc {
	body, err := json.Marshal(map[string]any{"providers": envelope.Providers()})
	return func(c *gin.Context) {
		if err != nil {
			refuse(c, err)
			return
		}
		writeJSON(c, body)
	}
}
