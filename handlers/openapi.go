package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	retryplanner "n8n-retry-planner"
)

// openAPI answers GET /openapi.yaml with the file that clients are generated
// from.
func openAPI(c *gin.Context) {
	c.Data(http.StatusOK, "application/yaml", retryplanner.OpenAPI)
}
