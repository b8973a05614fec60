// Package workflows_test checks every workflow file here without n8n. What needs a running n8n is in e2e.
package workflows_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// file is a workflow as n8n imports it. A field that is not here is a field that no shipped file may have.
type file struct {
	ID          string                                     `json:"id"`
	Name        string                                     `json:"name"`
	Nodes       []node                                     `json:"nodes"`
	Connections map[string]map[string][][]connectionTarget `json:"connections"`
	Settings    map[string]any                             `json:"settings"`
	PinData     map[string]any                             `json:"pinData"`
	Meta        map[string]any                             `json:"meta"`
}

// node has no credentials, no id and no retryOnFail on purpose: a file that has them does not decode.
type node struct {
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	TypeVersion json.Number    `json:"typeVersion"`
	Position    [2]int         `json:"position"`
	Parameters  map[string]any `json:"parameters"`
	OnError     string         `json:"onError"`
	ExecuteOnce bool           `json:"executeOnce"`
	WebhookID   string         `json:"webhookId"`
	Notes       string         `json:"notes"`
	NotesInFlow bool           `json:"notesInFlow"`
	AlwaysOut   bool           `json:"alwaysOutputData"`
}

type connectionTarget struct {
	Node  string `json:"node"`
	Type  string `json:"type"`
	Index int    `json:"index"`
}

// decode reads a workflow file; an unknown field, such as a credential or an instance id, is an error.
func decode(b []byte) (file, error) {
	var f file
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	d.UseNumber()
	err := d.Decode(&f)
	return f, err
}

// find returns the named node.
func (f file) find(name string) (node, bool) {
	for _, n := range f.Nodes {
		if n.Name == name {
			return n, true
		}
	}
	return node{}, false
}

// at returns the parameter under the path, or nil.
func (n node) at(path ...string) any {
	var v any = n.Parameters
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// text returns the parameter under the path as a string, or "".
func (n node) text(path ...string) string {
	s, _ := n.at(path...).(string)
	return s
}

// rules are all that a shipped workflow must keep; each returns what is wrong, in words.
var rules = map[string]func(file) []string{
	"header":      headerFaults,
	"nodes":       nodeFaults,
	"connections": connectionFaults,
	"planner":     plannerFaults,
	"stop":        stopFaults,
	"wait":        waitFaults,
	"gate":        gateFaults,
	"fields":      fieldFaults,
	"notes":       noteFaults,
	"layout":      layoutFaults,
}

func faults(f file) []string {
	var all []string
	for name, rule := range rules {
		for _, fault := range rule(f) {
			all = append(all, name+": "+fault)
		}
	}
	return all
}

func TestWorkflowFiles(t *testing.T) {
	names, err := filepath.Glob("*.json")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	ids := map[string]string{}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			f, err := decode(b)
			require.NoError(t, err)
			assert.Empty(t, faults(f))
			assert.Empty(t, ids[f.ID], "two files have the id %s", f.ID)
			ids[f.ID] = name
		})
	}
}

func headerFaults(f file) (out []string) {
	if f.ID == "" || f.Name == "" {
		out = append(out, "id or name is missing")
	}
	for what, pair := range map[string][2]any{
		"settings": {f.Settings["executionOrder"], "v1"},
		"meta":     {f.Meta["templateCredsSetupCompleted"], false},
		"pinData":  {f.PinData != nil && len(f.PinData) == 0, true},
		"size":     {len(f.Settings) == 1 && len(f.Meta) == 1, true},
	} {
		if pair[0] != pair[1] {
			out = append(out, fmt.Sprintf("%s is %v, not %v", what, pair[0], pair[1]))
		}
	}
	return out
}
