package workflows_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const nodePrefix = "n8n-nodes-base."

// knownTypes are the node types and versions that a shipped workflow may use: all are in n8n 2.40.7.
// HTTP Request 4.5 is left out: its error output was broken in a release.
var knownTypes = map[string][]string{
	"stickyNote": {"1"}, "noOp": {"1"}, "manualTrigger": {"1"}, "errorTrigger": {"1"}, "stopAndError": {"1"},
	"httpRequest": {"4.2", "4.3", "4.4"}, "switch": {"3.2", "3.3", "3.4"}, "if": {"2.2", "2.3"},
	"filter": {"2.2", "2.3"}, "set": {"3.4", "3.5"}, "code": {"2"}, "wait": {"1.1"}, "merge": {"3.1", "3.2"},
	"splitInBatches": {"3"}, "splitOut": {"1"}, "aggregate": {"1"}, "sort": {"1"}, "limit": {"1"},
	"executeWorkflow": {"1.2", "1.3"}, "executeWorkflowTrigger": {"1.1", "1.2"},
	"webhook": {"2", "2.1"}, "respondToWebhook": {"1.4", "1.5"}, "scheduleTrigger": {"1.2", "1.3"},
	"dataTable": {"1", "1.1"},
}

// kind returns the type of the node without its package.
func (n node) kind() string { return strings.TrimPrefix(n.Type, nodePrefix) }

func nodeFaults(f file) (out []string) {
	seen := map[string]bool{}
	for _, n := range f.Nodes {
		if seen[n.Name] {
			out = append(out, "two nodes are named "+n.Name)
		}
		seen[n.Name] = true
		if !slices.Contains(knownTypes[n.kind()], n.TypeVersion.String()) {
			out = append(out, fmt.Sprintf("%s: %s version %s is not known", n.Name, n.Type, n.TypeVersion))
		}
	}
	return out
}

func connectionFaults(f file) (out []string) {
	reached := map[string]bool{}
	for from, kinds := range f.Connections {
		if _, ok := f.find(from); !ok {
			out = append(out, "a connection starts at "+from+", which is not there")
		}
		for kind, outputs := range kinds {
			if kind != "main" {
				out = append(out, from+": only main connections are used here, not "+kind)
			}
			for _, targets := range outputs {
				for _, target := range targets {
					reached[target.Node] = true
					if n, ok := f.find(target.Node); !ok || n.kind() == "stickyNote" || target.Type != "main" {
						out = append(out, fmt.Sprintf("%s: nothing to connect to at %s %s", from, target.Type, target.Node))
					}
				}
			}
		}
	}
	for _, n := range f.Nodes {
		trigger := strings.HasSuffix(n.kind(), "Trigger") || n.kind() == "webhook"
		if !trigger && n.kind() != "stickyNote" && !reached[n.Name] {
			out = append(out, n.Name+" is not connected")
		}
	}
	return out
}

// callsPlanner says whether the node asks the service for a plan.
func (n node) callsPlanner() bool {
	return n.kind() == "httpRequest" && strings.Contains(n.text("url"), "/v1/plan")
}

// asksGate says whether the node asks the service whether a call may start.
func (n node) asksGate() bool {
	return n.kind() == "httpRequest" && strings.Contains(n.text("url"), "/v1/admit")
}

// Without a plan there must be no next call: a planner that is down or refuses ends the execution there and then.
func plannerFaults(f file) (out []string) {
	for _, n := range f.Nodes {
		if !n.callsPlanner() && !n.asksGate() {
			continue
		}
		if n.OnError != "" || n.at("options", "response", "response", "neverError") != nil {
			out = append(out, n.Name+" goes on when the planner fails")
		}
		if n.text("method") != "POST" {
			out = append(out, n.Name+" does not POST")
		}
		if !strings.HasPrefix(n.text("jsonBody"), "={{ JSON.stringify(") {
			out = append(out, n.Name+": the body is not one JSON.stringify, so n8n may send [object Object]")
		}
		if n.asksGate() {
			continue // before the call there is no failed one
		}
		sent := n.text("jsonBody")
		for _, e := range f.edges() {
			if e.to == n.Name {
				sent += e.from.text("jsCode") // a batch is put together before it
			}
		}
		for _, field := range failureFields {
			if !strings.Contains(sent, field+": undefined") {
				out = append(out, n.Name+" sends the headers of a failed call, its keys too, in error."+field)
			}
		}
	}
	return out
}

var fiveFields = regexp.MustCompile(
	`^=\{\{ JSON\.stringify\(\{ error_code: .+, attempts: .+, last_status: .+, decision: .+, next_request: .+ \}\) \}\}$`)

// Stop And Error fails on an object: its error object must be a string of JSON, here of the five terminal fields.
func stopFaults(f file) (out []string) {
	for _, n := range f.Nodes {
		if n.kind() != "stopAndError" {
			continue
		}
		object := n.text("errorObject")
		if n.text("errorType") != "errorObject" || !fiveFields.MatchString(object) || len(objectKeys(object)) != 5 {
			out = append(out, n.Name+" does not stop with a JSON.stringify of the five fields in their order")
		}
	}
	return out
}
