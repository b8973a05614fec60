package workflows_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// contractFields are the fields of an item that the service reads or writes (openapi.yaml).
var contractFields = []string{
	"statusCode", "headers", "body", "data", "statusMessage", "error",
	"attempts", "max_attempts", "base", "exp_cap", "total_wait_budget", "elapsed_wait",
	"method", "idempotency_key", "task_id", "policy", "gate", "permit", "gate_bypassed",
	"error_code", "last_status", "decision", "next_request", "wait_seconds", "explain", "errors",
}

var policyFields = []string{
	"retry_statuses", "safe_to_retry", "max_wait", "deadline", "jitter", "spread", "provider", "clock", "explain",
}

// gateFields are the parts of the gate object and the fields in them.
var gateFields = map[string][]string{
	"resource": nil, "tenant": nil, "rate": {"limit", "window"}, "in_flight": {"limit", "lease"},
	"breaker": {"threshold", "reset_after"}, "retry_budget": {"ratio", "min", "window"},
}

// failureFields are the parts of n8n's error item that hold the headers of the call, keys and all.
var failureFields = []string{"options", "config"}

// ownFields are the workflows' own: the service hands them back unchanged. A new one is written down here, so that
// a misspelt field of the contract is not taken for one.
var ownFields = []string{
	"url", "timeout", "context", "planner_url", "query", "on_failure", "defaults", "item", "index", "state",
	"park_for", "max_resumes", "resumes", "due_at", "note", "claim", "n8n_url", "execution", "execution_id", "id",
	"allowed_origins", "answer_within", "callback_url", "refusal", "status", "answer", "accepted",
}

var (
	readField   = regexp.MustCompile(`\bjson\??\.([A-Za-z_]\w*)`)
	policyField = regexp.MustCompile(`\bpolicy\??\.([A-Za-z_]\w*)`)
	objectKey   = regexp.MustCompile(`[{,]\s*([A-Za-z_]\w*)\s*:`)
	inline      = regexp.MustCompile(`\{\{.*?\}\}`)
)

// objectKeys returns the keys that an expression's object literals set.
func objectKeys(expression string) (keys []string) {
	for _, m := range objectKey.FindAllStringSubmatch(expression, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// fieldFaults finds the fields that an expression reads from an item, or that go into the state or to the service,
// and that nobody knows.
func fieldFaults(f file) (out []string) {
	unknown := func(n node, names, known []string) {
		for _, name := range names {
			if !slices.Contains(known, name) {
				out = append(out, fmt.Sprintf("%s: nobody knows the field %s", n.Name, name))
			}
		}
	}
	itemFields := slices.Concat(contractFields, failureFields, ownFields)
	for _, n := range f.Nodes {
		for _, expression := range expressions(n.Parameters, "") {
			unknown(n, captures(readField, expression), itemFields)
			unknown(n, captures(policyField, expression), policyFields)
			if n.callsPlanner() || n.kind() == "set" {
				unknown(n, objectKeys(inline.ReplaceAllStringFunc(expression, keepStringify)), itemFields)
			}
		}
		state, err := rawState(n)
		if err != nil {
			out = append(out, n.Name+": "+err.Error())
		}
		if defaults, ok := state["defaults"].(map[string]any); ok {
			maps.Copy(state, defaults)
		}
		for name, value := range state {
			unknown(n, []string{name}, itemFields)
			if gate, ok := value.(map[string]any); ok && name == "gate" {
				for part, fields := range gate {
					unknown(n, []string{part}, slices.Collect(maps.Keys(gateFields)))
					if fields, ok := fields.(map[string]any); ok {
						unknown(n, slices.Collect(maps.Keys(fields)), gateFields[part])
					}
				}
			}
			if policy, ok := value.(map[string]any); ok && name == "policy" {
				for rule := range policy {
					unknown(n, []string{rule}, policyFields)
				}
			}
		}
	}
	return out
}

func captures(re *regexp.Regexp, s string) (names []string) {
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		names = append(names, m[1])
	}
	return names
}

// keepStringify keeps the expressions that build an item.
func keepStringify(s string) string {
	if strings.Contains(s, "JSON.stringify(") {
		return s
	}
	return ""
}

// expressions returns every expression and every line of code in the parameters.
func expressions(v any, key string) (all []string) {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "={{") || key == "jsCode" {
			all = append(all, v)
		}
	case map[string]any:
		for k, value := range v {
			all = append(all, expressions(value, k)...)
		}
	case []any:
		for _, value := range v {
			all = append(all, expressions(value, "")...)
		}
	}
	return all
}

// rawState returns the object that a Set node in raw JSON gives, with "x" for the expressions inside its strings.
func rawState(n node) (map[string]any, error) {
	raw := n.text("jsonOutput")
	if n.kind() != "set" || raw == "" || strings.HasPrefix(raw, "={{") {
		return nil, nil
	}
	var state map[string]any
	err := json.Unmarshal([]byte(inline.ReplaceAllString(strings.TrimPrefix(raw, "="), "x")), &state)
	return state, err
}
