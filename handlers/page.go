package handlers

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// pageFiles holds the page for people: its text, its style and its scripts.
// They are put into one page, so that a browser fetches nothing else but the
// service's own answers.
//
//go:embed page
var pageFiles embed.FS

// page answers GET / with the page for people.
func (s *server) page() gin.HandlerFunc {
	body, policy, err := buildPage(s.needsKey())
	return func(c *gin.Context) {
		if err != nil {
			refuse(c, err)
			return
		}
		h := c.Writer.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache") // a new version of the service brings its own
		c.Data(http.StatusOK, "text/html; charset=utf-8", body)
	}
}

func (s *server) needsKey() string {
	switch {
	case len(s.APIKeys) == 0:
		return ""
	case s.Closed:
		return "all"
	}
	return "calls"
}

// buildPage gives the page and the Content-Security-Policy under which it
// runs: its own style and script, told by their hashes, and calls to this
// service alone. key tells what it must ask for a key for:
// "" nothing, "calls", or "all" of the service.
func buildPage(key string) (body []byte, policy string, err error) {
	html, err := fs.ReadFile(pageFiles, "page/page.html")
	if err != nil {
		return nil, "", err
	}
	style, err := fs.ReadFile(pageFiles, "page/page.css")
	if err != nil {
		return nil, "", err
	}
	names, err := fs.Glob(pageFiles, "page/*.js") // in the order of their names
	if err != nil {
		return nil, "", err
	}
	var script strings.Builder
	script.WriteString("'use strict';\n")
	for _, name := range names {
		part, err := fs.ReadFile(pageFiles, name)
		if err != nil {
			return nil, "", err
		}
		script.Write(part)
	}
	whole := strings.NewReplacer("{{key}}", key, "{{style}}", string(style), "{{script}}", script.String()).Replace(string(html))
	policy = "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"style-src " + sourceHash(string(style)) + "; script-src " + sourceHash(script.String())
	return []byte(whole), policy, nil
}

// sourceHash names an inline style or script in a Content-Security-Policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
