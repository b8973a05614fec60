package planner

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The planner is pure: its dependencies are the standard library alone, and
// none of them reads a clock, a network or random numbers for it.
func TestPlannerUsesTheStandardLibraryAlone(t *testing.T) {
	const format = `{{if not .Standard}}{{.ImportPath}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", format, ".").Output()
	require.NoError(t, err)
	require.Equal(t, []string{"n8n-retry-planner/planner"}, strings.Fields(string(out)))

	direct, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	require.NoError(t, err)
	for _, name := range strings.Fields(string(direct)) {
		require.NotContains(t, []string{"time", "os", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog"}, name)
	}
}
