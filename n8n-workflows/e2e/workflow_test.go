//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// workflow is one workflow file as n8n imports it.
type workflow map[string]any

// loadWorkflow reads a shipped workflow and gives the copy its own id, so that each scenario runs its own.
func loadWorkflow(t *testing.T, file, id string) workflow {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", file))
	require.NoError(t, err)
	var w workflow
	require.NoError(t, json.Unmarshal(b, &w))
	w["id"], w["name"] = id, id
	return w
}

func (w workflow) id() string { return w["id"].(string) }

// find returns the named node, to be changed in place.
func (w workflow) find(t *testing.T, name string) map[string]any {
	t.Helper()
	for _, n := range w["nodes"].([]any) {
		if node := n.(map[string]any); node["name"] == name {
			return node
		}
	}
	require.Failf(t, "no such node", "%q", name)
	return nil
}

// node returns the parameters of the named node, to be changed in place.
func (w workflow) node(t *testing.T, name string) map[string]any {
	t.Helper()
	return w.find(t, name)["parameters"].(map[string]any)
}

// chooseHeaderAuth does in the named HTTP Request node what a user does: Authentication, Generic Credential Type;
// Generic Auth Type, Header Auth; and then the credential from the list.
func (w workflow) chooseHeaderAuth(t *testing.T, node, credentialID, credentialName string) {
	t.Helper()
	parameters := w.node(t, node)
	parameters["authentication"], parameters["genericAuthType"] = "genericCredentialType", "httpHeaderAuth"
	w.find(t, node)["credentials"] = map[string]any{
		"httpHeaderAuth": map[string]string{"id": credentialID, "name": credentialName},
	}
}

// set overrides fields of the raw JSON in the named Set node, as a user would edit them; nil takes a field out.
// Expressions in the node stay as they are when they stand inside a string.
func (w workflow) set(t *testing.T, name string, fields map[string]any) {
	t.Helper()
	parameters := w.node(t, name)
	raw, expression := strings.CutPrefix(parameters["jsonOutput"].(string), "=")
	var state map[string]any
	require.NoError(t, json.Unmarshal([]byte(raw), &state))
	maps.Copy(state, fields)
	maps.DeleteFunc(state, func(_ string, v any) bool { return v == nil })
	b, err := json.Marshal(state)
	require.NoError(t, err)
	raw = string(b)
	if expression {
		raw = "=" + raw
	}
	parameters["jsonOutput"] = raw
}

// startByWebhook puts a webhook beside the trigger by hand and connects it to the named node, as a user does who
// wants to publish the workflow. The path is the workflow's id.
func (w workflow) startByWebhook(first string) {
	w["nodes"] = append(w["nodes"].([]any), map[string]any{
		"name": "Webhook", "type": "n8n-nodes-base.webhook", "typeVersion": 2.1, "position": []int{-40, 300},
		"webhookId":  w.id(),
		"parameters": map[string]any{"httpMethod": "POST", "path": w.id(), "responseMode": "onReceived"},
	})
	w["connections"].(map[string]any)["Webhook"] = map[string]any{
		"main": []any{[]any{map[string]any{"node": first, "type": "main", "index": 0}}},
	}
}
