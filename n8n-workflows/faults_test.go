package workflows_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type faultRow struct{ name, old, new, want string }

// findFaults breaks a good file in one place at a time and expects to be told.
func findFaults(t *testing.T, good []byte, rows []faultRow) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			require.Contains(t, string(good), row.old)
			f, err := decode([]byte(strings.Replace(string(good), row.old, row.new, 1)))
			found := faults(f)
			if err != nil {
				found = append(found, err.Error())
			}
			assert.Contains(t, strings.Join(found, "\n"), row.want)
		})
	}
}

// A workflow that asks the gate has rules of its own.
func TestGateRulesFindFaults(t *testing.T) {
	good, err := os.ReadFile("gated-http-request.json")
	require.NoError(t, err)
	const chain = `$json.decision === 'wait' ? 1 : $json.decision === 'go' ? 0 : 2`
	findFaults(t, good, []faultRow{
		{"a call on any answer", chain, `$json.decision === 'wait' ? 1 : 0`, "HTTP Request can be reached from Ask Gate without decision = go"},
		{"a call on a wait", chain, `$json.decision === 'wait' ? 0 : $json.decision === 'go' ? 0 : 2`, "HTTP Request can be reached from Ask Gate without decision = go"},
		{"a wait on a go", chain, `$json.decision === 'wait' ? 1 : $json.decision === 'go' ? 1 : 2`, "Wait For Turn can be reached from Ask Gate without"},
		{"a wait on a defer", chain, `$json.decision === 'defer' ? 1 : $json.decision === 'go' ? 0 : 2`, "Wait For Turn can be reached from Ask Gate without"},
		{"a call without asking", `"node": "Ask Gate"`, `"node": "HTTP Request"`, "without decision = go"},
		{"a gate that is asked by GET", `"method": "POST"`, `"method": "GET"`, "Ask Gate does not POST"},
		{"a gate whose failure lets pass", `"name": "Ask Gate",`, `"name": "Ask Gate", "onError": "continueRegularOutput",`, "Ask Gate goes on when the planner fails"},
		{"a misspelt part of the gate", `\"in_flight\"`, `\"in_fligth\"`, "nobody knows the field in_fligth"},
		{"a misspelt field of a part", `\"lease\"`, `\"leese\"`, "nobody knows the field leese"},
	})
}

// TestRulesFindFaults breaks a good file in one place at a time: each rule must say so.
func TestRulesFindFaults(t *testing.T) {
	good, err := os.ReadFile("retry-429.json")
	require.NoError(t, err)
	findFaults(t, good, []faultRow{
		{"retry on fail", `"name": "HTTP Request",`, `"name": "HTTP Request", "retryOnFail": true,`, "retryOnFail"},
		{"a credential", `"name": "HTTP Request",`, `"name": "HTTP Request", "credentials": {},`, "credentials"},
		{"an instance id", `"templateCredsSetupCompleted": false`, `"templateCredsSetupCompleted": false, "instanceId": "x"`, "size"},
		{"an old execution order", `"executionOrder": "v1"`, `"executionOrder": "v0"`, "settings is v0"},
		{"pinned data", `"pinData": {}`, `"pinData": {"Start": []}`, "pinData"},
		{"an unknown type", `"type": "n8n-nodes-base.noOp"`, `"type": "n8n-nodes-base.noop"`, "not known"},
		{"the broken HTTP Request", `"typeVersion": 4.2`, `"typeVersion": 4.5`, "4.5 is not known"},
		{"two of a name", `"name": "Start"`, `"name": "Request"`, "two nodes are named Request"},
		{"a connection to nowhere", `"node": "Plan Retry"`, `"node": "Plan"`, "nothing to connect to"},
		{"a planner failure that goes on", `"name": "Plan Retry",`, `"name": "Plan Retry", "onError": "continueRegularOutput",`, "goes on when the planner fails"},
		{"a planner that never errors", `"responseFormat": "json"`, `"responseFormat": "json", "neverError": true`, "goes on when the planner fails"},
		{"an object for a body", `={{ JSON.stringify({ ...$('Retry State').item.json,`, `={{ ({ ...$('Retry State').item.json,`, "[object Object]"},
		{"keys that go to the planner", `options: undefined, `, ``, "sends the headers of a failed call"},
		{"an error object that is no string", `={{ JSON.stringify({ error_code: $json.error_code`, `={{ ({ error_code: $json.error_code`, "five fields"},
		{"a sixth field", `next_request: $json.next_request }`, `next_request: $json.next_request, body: 1 }`, "five fields"},
		{"a wait in hours", `"unit": "seconds"`, `"unit": "hours"`, "in seconds"},
		{"the wrong output to the wait", `'retry' ? 0 : $json.decision === 'success' ? 1`, `'retry' ? 1 : $json.decision === 'success' ? 0`, "without decision = retry"},
		{"a gate that tests something else", `$json.decision === 'retry' ? 0`, `$json.next_request ? 0`, "without decision = retry"},
		{"another decision to the wait", `'success' ? 1 : 2`, `'success' ? 0 : 2`, "without decision = retry"},
		{"a way round the gate", `"node": "Success"`, `"node": "Wait"`, "without decision = retry"},
		{"a misspelt field in the state", `\"max_attempts\"`, `\"max_attempt\"`, "nobody knows the field max_attempt"},
		{"a misspelt field that is read", `$json.wait_seconds`, `$json.wait_second + $json.wait_seconds`, "nobody knows the field wait_second"},
		{"a misspelt rule of the policy", `\"jitter\"`, `\"jiter\"`, "nobody knows the field jiter"},
		{"a misspelt key sent to the planner", `body: undefined`, `boddy: undefined`, "nobody knows the field boddy"},
		{"an overview without setup", `### Setup`, `### And then`, "Setup"},
		{"a coloured note", `"color": 7`, `"color": 4`, "neither yellow nor white"},
	})

	t.Run("nodes on top of each other, or an arrow to the left", func(t *testing.T) {
		f, err := decode(good)
		require.NoError(t, err)
		for i, n := range f.Nodes {
			switch n.Name {
			case "Success":
				f.Nodes[i].Position = [2]int{-200, -900}
			case "Request":
				f.Nodes[i].Position = [2]int{360, 0}
			case "Plan Retry":
				f.Nodes[i].Position = [2]int{960, 300}
			}
		}
		got := strings.Join(layoutFaults(f), "\n")
		assert.Contains(t, got, "Request covers Retry State")
		assert.Contains(t, got, "Status Switch to Success points left")
		assert.Contains(t, got, "from Wait to Retry State runs through Plan Retry")
		assert.Contains(t, got, "Overview is not at the top left")
	})
}
