//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkThousandItems measures how long n8n's nodes take to plan 1 000 items: a Code node with the plan in
// JavaScript, an HTTP Request node that calls the planner for each item, and one that sends all of them as a batch.
// The three take turns; the figures are medians of the node's own time. `make bench` runs it.
func BenchmarkThousandItems(b *testing.B) {
	const items = 1000
	ways := []struct {
		unit string
		node map[string]any
		took []time.Duration
	}{
		{unit: "code-ms", node: codeNode("Plan", planInJavaScript(b))},
		{unit: "single-ms", node: postNode(theService.url+"/v1/plan", "={{ JSON.stringify($json) }}", false)},
		{unit: "batch-ms", node: postNode(theService.url+"/v1/plan/batch", "={{ JSON.stringify($input.all().map(item => item.json)) }}", true)},
	}
	workflows := make([]workflow, len(ways))
	for i, way := range ways {
		workflows[i] = thousandItems("bench-"+way.unit, way.node)
		theN8n.add(b, workflows[i])
		theN8n.run(b, workflows[i], "Start") // the first run warms n8n up
	}
	for b.Loop() {
		for i := range ways {
			e := theN8n.run(b, workflows[i], "Start")
			require.Equal(b, "success", e.Status, "%+v", e.Error)
			run := e.Runs["Plan"][0]
			require.Len(b, run.Outputs[0], items)
			for _, planned := range run.Outputs[0] {
				require.Equal(b, "retry", planned["decision"])
				require.Equal(b, "7", mustJSON(b, planned["wait_seconds"]))
			}
			ways[i].took = append(ways[i].took, run.Took)
		}
	}
	for _, way := range ways {
		slices.Sort(way.took)
		b.ReportMetric(float64(way.took[len(way.took)/2].Milliseconds()), way.unit)
	}
}

// planInJavaScript is the plan that the bench's JavaScript services run, as the code of a Code node.
func planInJavaScript(b *testing.B) string {
	b.Helper()
	source, err := os.ReadFile("../../bench/javascript/plan.js")
	require.NoError(b, err)
	return strings.Replace(string(source), "export function", "function", 1) +
		"\nreturn $input.all().map(item => ({ json: plan(item.json, Date.now()) }));"
}

func codeNode(name, code string) map[string]any {
	return map[string]any{
		"name": name, "type": "n8n-nodes-base.code", "typeVersion": 2, "position": []int{0, 0},
		"parameters": map[string]any{"jsCode": code},
	}
}

// postNode is an HTTP Request node that posts JSON; once for all items, or once for each.
func postNode(url, body string, once bool) map[string]any {
	return map[string]any{
		"name": "Plan", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": []int{0, 0}, "executeOnce": once,
		"parameters": map[string]any{
			"method": "POST", "url": url, "sendBody": true, "contentType": "raw", "rawContentType": "application/json", "body": body,
			"options": map[string]any{},
		},
	}
}

// thousandItems makes 1 000 items of about 400 bytes and gives them to the node.
func thousandItems(id string, plan map[string]any) workflow {
	const items = `return Array.from({ length: 1000 }, (_, n) => ({ json: {
  url: 'https://api.example.com/v1/orders?page=' + n, method: 'GET', cursor: 'page-' + n, page: n,
  attempts: 2, max_attempts: 5, base: 1, exp_cap: 60, total_wait_budget: 300, elapsed_wait: 1, statusCode: 429,
  headers: { 'content-type': 'application/json', 'retry-after': '7', date: 'Thu, 15 Jan 2026 12:00:00 GMT' },
  body: { error: { code: 'rate_limited', message: 'slow down' } }, policy: { max_wait: 60 },
} }));`
	to := func(node string) map[string]any {
		return map[string]any{"main": []any{[]any{map[string]any{"node": node, "type": "main", "index": 0}}}}
	}
	return workflow{
		"id": id, "name": id, "settings": map[string]any{"executionOrder": "v1"},
		"nodes": []any{
			map[string]any{"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": []int{-400, 0}, "parameters": map[string]any{}},
			codeNode("Items", items), plan,
		},
		"connections": map[string]any{"Start": to("Items"), "Items": to("Plan")},
	}
}
