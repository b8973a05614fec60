//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// execution is what n8n keeps of one run of a workflow.
type execution struct {
	Status   string // success, error, canceled, crashed
	LastNode string
	Error    *nodeError           // why it failed
	Runs     map[string][]nodeRun // by node name, in the order of the runs
}

// nodeRun is one run of one node.
type nodeRun struct {
	Started time.Time
	Took    time.Duration // by n8n's clock, in milliseconds
	Status  string
	Outputs [][]map[string]any // the `json` of each item, by output
	Binary  [][]map[string]any // the `binary` of each item, by output; nil where there is none
	Error   *nodeError
}

// nodeError is what n8n shows of a failed node: the message in bold, the description under it.
type nodeError struct {
	Message     string
	Description string
	HTTPCode    string
	Node        string
	Messages    string         // what the editor shows under "Error details"
	Metadata    map[string]any // the error object of Stop And Error
}

// only returns the single item that the last run of a node gave on the output.
func (e execution) only(node string, output int) (map[string]any, error) {
	runs := e.Runs[node]
	if len(runs) == 0 {
		return nil, fmt.Errorf("node %q did not run", node)
	}
	outputs := runs[len(runs)-1].Outputs
	if output >= len(outputs) || len(outputs[output]) != 1 {
		return nil, fmt.Errorf("node %q gave no single item on output %d: %v", node, output, outputs)
	}
	return outputs[output][0], nil
}

// rawExecution is an execution as n8n's API gives it: its data is a string of JSON in which every string within an
// array or object is the index of the real value in the outermost array (the "flatted" format).
type rawExecution struct {
	Status string
	Data   string
}

func (r rawExecution) read() (execution, error) {
	d := json.NewDecoder(strings.NewReader(r.Data))
	d.UseNumber()
	var values []any
	if err := d.Decode(&values); err != nil {
		return execution{}, fmt.Errorf("run data: %w", err)
	}
	if len(values) == 0 {
		return execution{}, fmt.Errorf("run data is empty")
	}
	f := flatted{values: values, done: make([]bool, len(values))}
	root, _ := f.at(0).(map[string]any)
	return newExecution(r.Status, root)
}

type flatted struct {
	values []any
	done   []bool // the value's own references are resolved, or being resolved
}

// at returns the value with this index, its references replaced by what they point at.
func (f flatted) at(i int) any {
	if f.done[i] {
		return f.values[i]
	}
	f.done[i] = true
	switch v := f.values[i].(type) {
	case map[string]any:
		for k, ref := range v {
			v[k] = f.deref(ref)
		}
	case []any:
		for k, ref := range v {
			v[k] = f.deref(ref)
		}
	}
	return f.values[i]
}

func (f flatted) deref(ref any) any {
	s, ok := ref.(string)
	if !ok {
		return ref
	}
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 || i >= len(f.values) {
		return nil
	}
	return f.at(i)
}

// newExecution reads the fields that tests look at out of n8n's run data.
func newExecution(status string, data map[string]any) (execution, error) {
	result, ok := data["resultData"].(map[string]any)
	if !ok {
		return execution{}, fmt.Errorf("run data has no resultData")
	}
	e := execution{Status: status, LastNode: text(result["lastNodeExecuted"]), Error: newNodeError(result["error"])}
	e.Runs = map[string][]nodeRun{}
	nodes, _ := result["runData"].(map[string]any)
	for name, runs := range nodes {
		list, _ := runs.([]any)
		for _, r := range list {
			run, _ := r.(map[string]any)
			e.Runs[name] = append(e.Runs[name], newNodeRun(run))
		}
	}
	return e, nil
}

func newNodeRun(run map[string]any) nodeRun {
	r := nodeRun{Status: text(run["executionStatus"]), Error: newNodeError(run["error"])}
	if ms, ok := run["startTime"].(json.Number); ok {
		n, _ := ms.Int64()
		r.Started = time.UnixMilli(n)
	}
	if ms, ok := run["executionTime"].(json.Number); ok {
		n, _ := ms.Int64()
		r.Took = time.Duration(n) * time.Millisecond
	}
	data, _ := run["data"].(map[string]any)
	outputs, _ := data["main"].([]any)
	for _, o := range outputs {
		var items, binaries []map[string]any
		list, _ := o.([]any)
		for _, i := range list {
			item, _ := i.(map[string]any)
			j, _ := item["json"].(map[string]any)
			b, _ := item["binary"].(map[string]any)
			items, binaries = append(items, j), append(binaries, b)
		}
		r.Outputs, r.Binary = append(r.Outputs, items), append(r.Binary, binaries)
	}
	return r
}

func newNodeError(v any) *nodeError {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	node, _ := m["node"].(map[string]any)
	context, _ := m["context"].(map[string]any)
	metadata, _ := context["metadata"].(map[string]any)
	return &nodeError{
		Message: text(m["message"]), Description: text(m["description"]), HTTPCode: text(m["httpCode"]),
		Node: text(node["name"]), Messages: fmt.Sprint(m["messages"]), Metadata: metadata,
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
