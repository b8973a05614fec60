//go:build e2e

package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var notInID = regexp.MustCompile(`[^A-Za-z0-9]+`)

// workflowID makes an id for a workflow out of the test's name.
func workflowID(t *testing.T) string {
	return strings.Trim(notInID.ReplaceAllString(t.Name(), "-"), "-")
}

// requireJSON compares a value with the JSON text that it should be.
func requireJSON(t *testing.T, want string, got any) {
	t.Helper()
	require.JSONEq(t, want, mustJSON(t, got))
}

// requireFields compares the fields that the JSON text names; the item may have others.
func requireFields(t *testing.T, want string, item map[string]any) {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(want), &fields))
	for name, value := range fields {
		got, ok := item[name]
		require.True(t, ok, "no field %s in %v", name, item)
		require.JSONEq(t, mustJSON(t, value), mustJSON(t, got), "field %s", name)
	}
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
