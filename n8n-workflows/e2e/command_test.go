//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImportAndExecuteByCommand takes a shipped file in through n8n's command line, as the README shows, instead of
// through the editor's calls. Nothing but the planner's address is changed.
func TestImportAndExecuteByCommand(t *testing.T) {
	t.Parallel()
	w := loadWorkflow(t, "retry-429.json", "by-command")
	w.set(t, "Request", map[string]any{"url": theService.url + "/healthz", "planner_url": theService.url})
	file := filepath.Join(t.TempDir(), "workflow.json")
	b, err := json.Marshal(w)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, b, 0o600))

	_, err = theN8n.command("import:workflow", "--input="+file)
	require.NoError(t, err)
	e, err := theN8n.executeByCommand(w.id())
	require.NoError(t, err)
	require.Equal(t, "success", e.Status)
	item, err := e.only("Success", 0)
	require.NoError(t, err)
	requireJSON(t, `200`, item["statusCode"])
	request, err := e.only("Request", 0)
	require.NoError(t, err)
	assert.Regexp(t, `^retry-429-\d+$`, request["task_id"], "the execution's id makes the task_id")
}
