package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	retryplanner "n8n-retry-planner"
)

// workflowFolder is where the workflow files stand in the embedded file system.
const workflowFolder = "n8n-workflows"

// Workflow is one entry of GET /workflows.
type Workflow struct {
	Name  string `json:"name"`  // the file's name, with .json
	Title string `json:"title"` // the workflow's name in n8n
	URL   string `json:"url"`   // for Import from URL
}

// hostName is what a Host header may be to be put into a workflow: a name or
// an address and a port, and nothing that JSON or a URL reads otherwise.
var hostName = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?$`)

// ownAddress gives the service's address as the caller reached it, the one
// that the workflow files name when it cannot be told.
func ownAddress(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	if !hostName.MatchString(r.Host) {
		return retryplanner.WorkflowAddress
	}
	return scheme + "://" + r.Host
}

// listWorkflows answers GET /workflows: what there is to import.
func listWorkflows(c *gin.Context) {
	files, err := fs.ReadDir(retryplanner.Workflows, workflowFolder)
	if err != nil {
		refuse(c, fmt.Errorf("list the workflows: %w", err))
		return
	}
	list := make([]Workflow, 0, len(files))
	for _, file := range files {
		content, err := readWorkflow(file.Name())
		if err != nil {
			refuse(c, err)
			return
		}
		var named struct{ Name string }
		if err := json.Unmarshal(content, &named); err != nil {
			refuse(c, fmt.Errorf("read %s: %w", file.Name(), err))
			return
		}
		list = append(list, Workflow{Name: file.Name(), Title: named.Name, URL: ownAddress(c.Request) + "/workflows/" + file.Name()})
	}
	c.JSON(http.StatusOK, gin.H{"workflows": list})
}

// workflow answers GET /workflows/NAME.json: a workflow that works at once,
// since the address that it asks for plans is the one it was fetched from.
func workflow(c *gin.Context) {
	content, err := readWorkflow(c.Param("name"))
	if err != nil {
		refuse(c, errNotFound)
		return
	}
	content = bytes.ReplaceAll(content, []byte(retryplanner.WorkflowAddress), []byte(ownAddress(c.Request)))
	writeJSON(c, content)
}

func readWorkflow(name string) ([]byte, error) {
	return retryplanner.Workflows.ReadFile(path.Join(workflowFolder, path.Base(name)))
}
