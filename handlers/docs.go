package handlers

import (
	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
)

// docsPath is where the page of documentation stands; its script and style
// stand below.
const docsPath = "/docs"

// docsRules keep the page from asking any other host, whatever openapi.yaml
// says. Swagger UI starts itself with a script inside the page and shows its
// icons as data URLs.
const docsRules = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// docs answers GET /docs with a page for people, made from /openapi.yaml by
// Swagger UI, which the service carries whole.
func docs() gin.HandlerFunc {
	page := v5emb.NewWithConfig(swgui.Config{
		SettingsUI: map[string]string{
			"defaultModelsExpandDepth": "1",
			"showExtensions":           "false", // x-request is for the tests
		},
	})("n8n Retry Planner", "/openapi.yaml", docsPath)
	return func(c *gin.Context) {
		c.Header("Content-Security-Policy", docsRules)
		page.ServeHTTP(c.Writer, c.Request)
	}
}
