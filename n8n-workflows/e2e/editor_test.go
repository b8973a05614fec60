//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// editorJob is what editor.mjs is to do with one workflow.
type editorJob struct {
	URL     string            `json:"url"`
	Choose  map[string]string `json:"choose,omitempty"`
	Run     bool              `json:"run,omitempty"`
	Picture string            `json:"picture,omitempty"`
}

// TestImportFromURL imports every workflow into the editor of a fresh n8n straight from the running service, and does
// no more than the notes say: no warning appears, and what can be run at once runs at once. With PICTURES it also
// takes the README's pictures.
func TestImportFromURL(t *testing.T) {
	t.Parallel()
	fresh, err := newN8n(t.TempDir())
	require.NoError(t, err)
	defer fresh.kill()

	// The sub-workflow comes first: others choose it from the list. On import it gets an id of its own.
	jobs := []editorJob{{URL: "http-request-with-retry.json"}, {URL: "retry-429.json", Run: true}, {URL: "retry-many-items.json", Run: true},
		{URL: "call-for-each-item.json", Run: true, Choose: map[string]string{
			"node": "Call with Retry", "workflow": "Send an HTTP request with planned retries",
		}},
		{URL: "webhook-retry-proxy.json"}, {URL: "gated-http-request.json"}, {URL: "dead-letter.json"}, {URL: "resume-deferred.json"},
	}
	files, err := filepath.Glob("../*.json")
	require.NoError(t, err)
	require.Len(t, jobs, len(files), "every workflow file is imported here")
	for i := range jobs {
		if os.Getenv("PICTURES") != "" {
			jobs[i].Picture = filepath.Join("..", "pictures", jobs[i].URL[:len(jobs[i].URL)-len(".json")]+".png")
		}
		jobs[i].URL = theService.url + "/workflows/" + jobs[i].URL
	}

	cmd := exec.Command(filepath.Join(fresh.bin, "node"), "editor.mjs", filepath.Dir(fresh.bin), fresh.url, ownerEmail, ownerPassword, mustJSON(t, jobs))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var results []struct {
		ID       string
		Problems []string
		Ran      *string
	}
	require.NoError(t, json.Unmarshal(out, &results))
	require.Len(t, results, len(jobs))
	for i, got := range results {
		assert.Empty(t, got.Problems, jobs[i].URL)
		if jobs[i].Run && assert.NotNil(t, got.Ran, jobs[i].URL) {
			assert.Equal(t, "success", *got.Ran, jobs[i].URL)
		}
	}
	each := fresh.await(t, fresh.latest(t, workflow{"id": results[3].ID}), time.Minute)
	require.Contains(t, each.Runs, "Done", "%v", each.Runs["Failed"])
	require.Len(t, each.Runs["Done"][0].Outputs[0], 2)
	require.Len(t, each.Runs["Failed"][0].Outputs[0], 1)
}
