//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// subWorkflow adds a copy of http-request-with-retry.json whose limits are short.
func subWorkflow(t *testing.T, id, plannerURL string) workflow {
	t.Helper()
	w := httpRequestWithRetry(t, id, plannerURL)
	theN8n.add(t, w)
	return w
}

func httpRequestWithRetry(t *testing.T, id, plannerURL string) workflow {
	t.Helper()
	w := loadWorkflow(t, "http-request-with-retry.json", id)
	w.set(t, "Defaults", map[string]any{"defaults": map[string]any{
		"method": "GET", "timeout": 5, "max_attempts": 4, "base": 0.2, "exp_cap": 2, "total_wait_budget": 10,
		"policy": map[string]any{"jitter": "none"}, "on_failure": "fail", "planner_url": plannerURL,
	}})
	return w
}

// caller is a workflow that calls the sub-workflow once with all items, as a user's own does. A field that an item
// has not is given as null, which is what n8n does with an input that is left empty.
func caller(t *testing.T, sub workflow, items ...map[string]any) workflow {
	t.Helper()
	var inputs []any
	for _, input := range sub.node(t, "When Called")["workflowInputs"].(map[string]any)["values"].([]any) {
		inputs = append(inputs, input)
	}
	require.NotEmpty(t, inputs)
	values, schema := map[string]any{}, []any{}
	for _, input := range inputs {
		field := input.(map[string]any)
		name := field["name"].(string)
		values[name] = "={{ $json." + name + " }}"
		entry := map[string]any{"id": name, "displayName": name, "display": true, "required": false, "defaultMatch": false}
		if kind, ok := field["type"]; ok {
			entry["type"] = kind
		}
		schema = append(schema, entry)
	}
	code := "return " + mustJSON(t, items) + ".map(json => ({ json }));"
	node := func(name, kind string, version float64, parameters map[string]any) map[string]any {
		return map[string]any{
			"name": name, "type": "n8n-nodes-base." + kind, "typeVersion": version, "position": []int{0, 0}, "parameters": parameters,
		}
	}
	to := func(name string) map[string]any {
		return map[string]any{"main": [][]map[string]any{{{"node": name, "type": "main", "index": 0}}}}
	}
	return workflow{
		"id": sub.id() + "-caller", "name": sub.id() + "-caller", "settings": map[string]any{"executionOrder": "v1"},
		"nodes": []any{
			node("Start", "manualTrigger", 1, map[string]any{}),
			node("Items", "code", 2, map[string]any{"jsCode": code}),
			node("Call", "executeWorkflow", 1.3, map[string]any{
				"workflowId": map[string]any{"__rl": true, "mode": "id", "value": sub.id()},
				"workflowInputs": map[string]any{
					"mappingMode": "defineBelow", "value": values, "schema": schema, "matchingColumns": []any{},
				},
				"mode": "once", "options": map[string]any{},
			}),
			node("End", "noOp", 1, map[string]any{}),
		},
		"connections": map[string]any{"Start": to("Items"), "Items": to("Call"), "Call": to("End")},
	}
}

// callOnce runs the sub-workflow for the items through a caller and returns the caller's execution.
func callOnce(t *testing.T, tap *plannerTap, items ...map[string]any) execution {
	t.Helper()
	sub := subWorkflow(t, workflowID(t), tap.url)
	w := caller(t, sub, items...)
	theN8n.add(t, w)
	return theN8n.run(t, w, "Start")
}
