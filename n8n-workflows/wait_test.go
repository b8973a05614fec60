package workflows_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// edge is one connection: from a node's output to a node.
type edge struct {
	from   node
	output int
	to     string
}

func (f file) edges() (all []edge) {
	for name, kinds := range f.Connections {
		from, _ := f.find(name)
		for output, targets := range kinds["main"] {
			for _, target := range targets {
				all = append(all, edge{from: from, output: output, to: target.Node})
			}
		}
	}
	return all
}

// passes are the nodes that only hand on, sort or count what they get. Whatever else stands before a Wait, such as
// a call or a trigger, brings in something new that a gate must have let through.
var passes = map[string]bool{
	"noOp": true, "set": true, "switch": true, "if": true, "filter": true, "code": true, "aggregate": true,
	"sort": true, "limit": true, "splitOut": true, "merge": true, "respondToWebhook": true,
}

// waitFaults walks back from each Wait: every way must come through an output that tests decision = retry.
func waitFaults(f file) (out []string) {
	edges := f.edges()
	for _, n := range f.Nodes {
		if n.kind() != "wait" {
			continue
		}
		if n.text("resume") != "timeInterval" || n.text("unit") != "seconds" || !strings.Contains(n.text("amount"), "wait_seconds") {
			out = append(out, n.Name+" does not wait for wait_seconds in seconds")
		}
		seen := map[string]bool{n.Name: true}
		for todo := []string{n.Name}; len(todo) > 0; todo = todo[1:] {
			for _, e := range edges {
				if e.to != todo[0] || isRetryGate(e) || seen[e.from.Name] {
					continue
				}
				if !passes[e.from.kind()] {
					out = append(out, fmt.Sprintf("%s can be reached from %s without decision = retry", n.Name, e.from.Name))
				}
				seen[e.from.Name] = true
				todo = append(todo, e.from.Name)
			}
		}
	}
	return out
}

// retryTernary is how a Switch in expression mode lets only a retry through its first output named; what follows may
// sort the other decisions, each to another output.
var retryTernary = regexp.MustCompile(`^=\{\{ \$json\.decision === 'retry' \? (\d+) :((?: \$json\.decision === '\w+' \? \d+ :)* \d+) \}\}$`)

// isRetryGate says whether only items with decision = retry leave by this output.
func isRetryGate(e edge) bool {
	switch e.from.kind() {
	case "if", "filter":
		return e.output == 0 && testsRetry(e.from.at("conditions"))
	case "switch":
		if e.from.text("mode") == "expression" {
			m := retryTernary.FindStringSubmatch(e.from.text("output"))
			return m != nil && m[1] == strconv.Itoa(e.output) && !slices.Contains(strings.Fields(m[2]), m[1])
		}
		values, _ := e.from.at("rules", "values").([]any)
		if e.output >= len(values) {
			return false
		}
		value, _ := values[e.output].(map[string]any)
		return testsRetry(value["conditions"])
	}
	return false
}

// testsRetry says whether a condition of If, Filter or Switch is no other than decision = retry.
func testsRetry(v any) bool {
	m, _ := v.(map[string]any)
	list, _ := m["conditions"].([]any)
	if len(list) != 1 {
		return false
	}
	c, _ := list[0].(map[string]any)
	operator, _ := c["operator"].(map[string]any)
	return c["leftValue"] == "={{ $json.decision }}" && c["rightValue"] == "retry" && operator["operation"] == "equals"
}
