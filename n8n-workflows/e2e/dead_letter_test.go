//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// step returns a node as n8n takes it.
func step(name, kind string, version float64, parameters map[string]any) map[string]any {
	return map[string]any{
		"name": name, "type": "n8n-nodes-base." + kind, "typeVersion": version, "position": []int{0, 0}, "parameters": parameters,
	}
}

// inLine connects the nodes one after the other.
func inLine(id string, settings map[string]any, nodes ...map[string]any) workflow {
	connections := map[string]any{}
	list := []any{}
	for i, n := range nodes {
		list = append(list, n)
		if i > 0 {
			connections[nodes[i-1]["name"].(string)] = map[string]any{"main": [][]map[string]any{{
				{"node": n["name"], "type": "main", "index": 0},
			}}}
		}
	}
	return workflow{"id": id, "name": id, "settings": settings, "nodes": list, "connections": connections}
}

// deadLetterRow is a row of the table.
type deadLetterRow struct {
	WorkflowID  string `json:"workflow_id"`
	ExecutionID string `json:"execution_id"`
	ErrorCode   string `json:"error_code"`
	Decision    string
	State       string
	DueAt       *time.Time `json:"due_at"`
	Resumes     int
	Note        string
}

// deadLetters has the dead letter workflow published, and reads the table through a workflow of its own.
type deadLetters struct{ reader workflow }

func startDeadLetters(t *testing.T) deadLetters {
	t.Helper()
	w := loadWorkflow(t, "dead-letter.json", "dead-letter")
	w.set(t, "Settings", map[string]any{"park_for": 1, "max_resumes": 2})
	theN8n.add(t, w)
	theN8n.publish(t, w)
	require.Equal(t, "success", theN8n.run(t, w, "Set Up").Status)
	require.Equal(t, "success", theN8n.run(t, w, "Set Up").Status, "a second click leaves the table as it is")

	reader := inLine("dead-letter-reader", map[string]any{},
		step("Start", "manualTrigger", 1, map[string]any{}),
		step("Rows", "dataTable", 1.1, map[string]any{
			"resource": "row", "operation": "get", "returnAll": true, "filters": map[string]any{},
			"dataTableId": map[string]any{"__rl": true, "mode": "name", "value": "retry_dead_letters"},
		}))
	theN8n.add(t, reader)
	return deadLetters{reader}
}

// rows waits until the workflow has this many rows, and returns them, the oldest first.
func (d deadLetters) rows(t *testing.T, workflowID string, n int) (rows []deadLetterRow) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) {
		rows = nil
		e := theN8n.run(t, d.reader, "Start")
		require.Equal(t, "success", e.Status, "%+v", e.Error)
		for _, item := range e.Runs["Rows"][0].Outputs[0] {
			var row deadLetterRow
			require.NoError(t, json.Unmarshal([]byte(mustJSON(t, item)), &row))
			if row.WorkflowID == workflowID {
				rows = append(rows, row)
			}
		}
		if len(rows) >= n || time.Now().After(deadline) {
			require.Len(t, rows, n, workflowID)
			return rows
		}
	}
}

// publishFailing publishes a workflow that is started by a webhook, calls the sub-workflow for the URL and then
// calls after, and whose error workflow is the dead letter.
func publishFailing(t *testing.T, id, plannerURL, url, method, after string) {
	t.Helper()
	sub := subWorkflow(t, id+"-sub", plannerURL)
	theN8n.publish(t, sub)
	hook := step("Start", "webhook", 2, map[string]any{"httpMethod": "POST", "path": id, "options": map[string]any{}})
	hook["webhookId"] = id
	schema := []any{}
	for _, name := range []string{"url", "method"} {
		schema = append(schema, map[string]any{"id": name, "displayName": name, "display": true, "type": "string"})
	}
	w := inLine(id, map[string]any{"executionOrder": "v1", "errorWorkflow": "dead-letter"}, hook,
		step("Call", "executeWorkflow", 1.3, map[string]any{
			"workflowId": map[string]any{"__rl": true, "mode": "id", "value": sub.id()},
			"workflowInputs": map[string]any{
				"mappingMode": "defineBelow", "value": map[string]any{"url": url, "method": method}, "schema": schema, "matchingColumns": []any{},
			},
			"mode": "once", "options": map[string]any{},
		}),
		step("After", "httpRequest", 4.2, map[string]any{"url": after, "options": map[string]any{}}))
	theN8n.add(t, w)
	theN8n.publish(t, w)
	status, answer := theN8n.webhook(t, id, `{}`)
	require.Equal(t, http.StatusOK, status, answer)
}

// TestDeadLetter: failed executions are told apart, and deferred ones are resumed when they are due, each once.
func TestDeadLetter(t *testing.T) {
	t.Parallel()
	letters := startDeadLetters(t)
	for _, row := range []struct {
		name, method    string
		script          []http.HandlerFunc
		planner         string
		code, decision  string
		state, noteHint string
	}{
		{"stop", "GET", []http.HandlerFunc{reply(404, "")}, "", "status_not_retryable", "stop", "dropped", "cannot help"},
		{"escalate", "POST", []http.HandlerFunc{drop}, "", "unknown_outcome", "escalate", "needs a person", "look before"},
		{"exhausted", "GET", []http.HandlerFunc{drop, drop, drop, drop}, "", "retry_attempts_exhausted", "exhausted", "needs a person", "every attempt"},
		{"no planner", "GET", []http.HandlerFunc{reply(429, "")}, "/nowhere", "", "", "needs a person", ""},
	} {
		u := startUpstream(t, row.script...)
		id := "dead-" + row.name
		publishFailing(t, id, theService.url+row.planner, u.at("/"), row.method, u.at("/after"))
		got := letters.rows(t, id, 1)[0]
		assert.Equal(t, row.code, got.ErrorCode, row.name)
		assert.Equal(t, row.decision, got.Decision, row.name)
		assert.Equal(t, row.state, got.State, row.name)
		assert.Contains(t, got.Note, row.noteHint, row.name)
		assert.Nil(t, got.DueAt, row.name)
		assert.NotEmpty(t, got.ExecutionID)
		assert.Len(t, u.all(), len(row.script), row.name)
	}

	// Deferred twice, then it works: the workflow goes on behind the call, and ends once.
	u := startUpstream(t, reply(429, "", "Retry-After", "3600"), reply(429, "", "Retry-After", "3600"), replyJSON(200, `{}`), replyJSON(200, `{"after": 1}`))
	const id = "dead-defer"
	publishFailing(t, id, theService.url, u.at("/call"), "GET", u.at("/after"))
	first := letters.rows(t, id, 1)[0]
	assert.Equal(t, "parked", first.State)
	assert.Equal(t, "retry_wait_budget_exceeded", first.ErrorCode)
	require.NotNil(t, first.DueAt)

	resume := resumeWorkflow(t)
	waitUntil(*first.DueAt)
	runTogether(t, resume, 2)
	require.Len(t, u.all(), 2, "two runs at the same time resume the row once")
	rows := letters.rows(t, id, 2)
	assert.Equal(t, "resumed", rows[0].State)
	assert.Equal(t, "parked", rows[1].State)
	assert.Equal(t, 1, rows[1].Resumes)

	waitUntil(*rows[1].DueAt)
	runTogether(t, resume, 1)
	runTogether(t, resume, 1)
	rows = letters.rows(t, id, 2)
	assert.Equal(t, "resumed", rows[1].State)
	paths := []string{}
	for _, c := range u.all() {
		paths = append(paths, c.Path)
	}
	assert.Equal(t, []string{"/call", "/call", "/call", "/after"}, paths)
}

func waitUntil(due time.Time) { time.Sleep(time.Until(due) + 50*time.Millisecond) }

// resumeWorkflow adds resume-deferred.json with a key of this n8n, as its note says.
func resumeWorkflow(t *testing.T) workflow {
	t.Helper()
	var key struct{ RawAPIKey string }
	require.NoError(t, theN8n.call(http.MethodPost, "/rest/api-keys", map[string]any{
		"label": "resume", "expiresAt": nil, "scopes": []string{"execution:retry", "execution:read"},
	}, &key))
	require.NotEmpty(t, key.RawAPIKey)
	var credential struct{ ID string }
	require.NoError(t, theN8n.call(http.MethodPost, "/rest/credentials", map[string]any{
		"name": "n8n API", "type": "httpHeaderAuth", "data": map[string]any{"name": "X-N8N-API-KEY", "value": key.RawAPIKey},
	}, &credential))
	w := loadWorkflow(t, "resume-deferred.json", "resume-deferred")
	w.set(t, "Settings", map[string]any{"n8n_url": theN8n.url})
	for _, n := range w["nodes"].([]any) {
		if node := n.(map[string]any); node["name"] == "Retry Execution" {
			node["credentials"] = map[string]any{"httpHeaderAuth": map[string]any{"id": credential.ID, "name": "n8n API"}}
			parameters := node["parameters"].(map[string]any)
			parameters["authentication"], parameters["genericAuthType"] = "genericCredentialType", "httpHeaderAuth"
		}
	}
	theN8n.add(t, w)
	return w
}

// runTogether runs the workflow so many times at once and waits for all of them.
func runTogether(t *testing.T, w workflow, times int) {
	t.Helper()
	var ids []string
	for range times {
		var started struct{ ExecutionID string }
		body := map[string]any{"triggerToStartFrom": map[string]string{"name": "Every Five Minutes"}}
		require.NoError(t, theN8n.call(http.MethodPost, "/rest/workflows/"+w.id()+"/run", body, &started))
		ids = append(ids, started.ExecutionID)
	}
	for _, id := range ids {
		e := theN8n.await(t, id, time.Minute)
		require.Equal(t, "success", e.Status, fmt.Sprintf("%+v", e.Error))
	}
}
