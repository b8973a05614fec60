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

// waitFaults walks back from each Wait: every way must come through an output that tests decision = retry, or
// decision = wait, the gate's answer.
func waitFaults(f file) (out []string) {
	for _, n := range f.Nodes {
		if n.kind() != "wait" {
			continue
		}
		if n.text("resume") != "timeInterval" || n.text("unit") != "seconds" || !strings.Contains(n.text("amount"), "wait_seconds") {
			out = append(out, n.Name+" does not wait for wait_seconds in seconds")
		}
		for _, from := range f.waysWithout(n, "retry", "wait") {
			out = append(out, fmt.Sprintf("%s can be reached from %s without decision = retry or wait", n.Name, from))
		}
	}
	return out
}

// gateFaults: a workflow that asks the gate makes no call without decision = go.
func gateFaults(f file) (out []string) {
	if !slices.ContainsFunc(f.Nodes, node.asksGate) {
		return nil
	}
	for _, n := range f.Nodes {
		if n.kind() != "httpRequest" || n.callsPlanner() || n.asksGate() {
			continue
		}
		for _, from := range f.waysWithout(n, "go") {
			out = append(out, fmt.Sprintf("%s can be reached from %s without decision = go", n.Name, from))
		}
	}
	return out
}

// waysWithout walks back from a node and names those from which it can be reached without passing an output that is
// for these decisions only.
func (f file) waysWithout(n node, decisions ...string) (out []string) {
	edges := f.edges()
	seen := map[string]bool{n.Name: true}
	for todo := []string{n.Name}; len(todo) > 0; todo = todo[1:] {
		for _, e := range edges {
			if e.to != todo[0] || e.isFor(decisions) || seen[e.from.Name] {
				continue
			}
			if !passes[e.from.kind()] {
				out = append(out, e.from.Name)
			}
			seen[e.from.Name] = true
			todo = append(todo, e.from.Name)
		}
	}
	return out
}

// decisionChain is how a Switch in expression mode sorts items by their decision; each case is one part of it.
var (
	decisionChain = regexp.MustCompile(`^=\{\{ ((?:\$json\.decision === '\w+' \? \d+ : )+)(\d+) \}\}$`)
	decisionCase  = regexp.MustCompile(`'(\w+)' \? (\d+) :`)
)

// isFor says whether only items with one of the decisions leave by this output.
func (e edge) isFor(decisions []string) bool {
	switch e.from.kind() {
	case "if", "filter":
		return e.output == 0 && slices.Contains(decisions, testedDecision(e.from.at("conditions")))
	case "switch":
		if e.from.text("mode") == "expression" {
			return chainIsFor(e.from.text("output"), strconv.Itoa(e.output), decisions)
		}
		values, _ := e.from.at("rules", "values").([]any)
		if e.output >= len(values) {
			return false
		}
		value, _ := values[e.output].(map[string]any)
		return slices.Contains(decisions, testedDecision(value["conditions"]))
	}
	return false
}

func chainIsFor(expression, output string, decisions []string) bool {
	m := decisionChain.FindStringSubmatch(expression)
	if m == nil || m[2] == output {
		return false
	}
	leads := false
	for _, c := range decisionCase.FindAllStringSubmatch(m[1], -1) {
		if c[2] == output {
			if !slices.Contains(decisions, c[1]) {
				return false
			}
			leads = true
		}
	}
	return leads
}

// testedDecision returns the decision that a condition of If, Filter or Switch lets through, "" when it tests
// anything else.
func testedDecision(v any) string {
	m, _ := v.(map[string]any)
	list, _ := m["conditions"].([]any)
	if len(list) != 1 {
		return ""
	}
	c, _ := list[0].(map[string]any)
	operator, _ := c["operator"].(map[string]any)
	if c["leftValue"] != "={{ $json.decision }}" || operator["operation"] != "equals" {
		return ""
	}
	decision, _ := c["rightValue"].(string)
	return decision
}
