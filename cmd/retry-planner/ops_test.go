package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// expressions gives the PromQL of the dashboard, with Grafana's variables
// filled in.
func expressions(t *testing.T) []string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "ops", "grafana", "retry-planner.json"))
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(file, &dashboard))
	require.NotEmpty(t, dashboard.Panels)
	fill := strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h", "$instance", ".*")
	var list []string
	for _, panel := range dashboard.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			list = append(list, fill.Replace(target.Expr))
		}
	}
	return list
}

var (
	metricName = regexp.MustCompile(`\b(?:retry_planner|process|go)_[a-z_]+`)
	labelMatch = regexp.MustCompile(`([a-z_]+)(?:=~|!=|=)"`)
	sampleLine = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? `)
)

// TestDashboardAndAlertsAskForWhatIsServed holds every metric and label in ops
// against what the running service tells.
func TestDashboardAndAlertsAskForWhatIsServed(t *testing.T) {
	// A Redis that is not there: the gate's metrics of its failures as well.
	p := startProcess(t, "PLANNER_DRAIN_DELAY=0s", "PLANNER_REDIS_URL=redis://127.0.0.1:1/0")
	_, err := p.plan()
	require.NoError(t, err)
	gated := strings.Replace(limitedItem, "{", `{"gate":{"resource":"a","rate":{"limit":1,"window":60}},`, 1)
	response, err := http.Post("http://"+p.address+"/v1/admit", "application/json", strings.NewReader(gated))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	response, err = http.Get("http://" + p.address + "/metrics")
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	served, labels := map[string]bool{}, map[string]bool{"instance": true, "job": true} // Prometheus adds these two
	for _, sample := range sampleLine.FindAllStringSubmatch(string(text), -1) {
		served[sample[1]] = true
		for _, label := range labelMatch.FindAllStringSubmatch(sample[2], -1) {
			labels[label[1]] = true
		}
	}
	alerts, err := os.ReadFile(filepath.Join("..", "..", "ops", "prometheus", "alerts.yaml"))
	require.NoError(t, err)
	asked := append(expressions(t), string(alerts))
	for _, expression := range asked {
		for _, name := range metricName.FindAllString(expression, -1) {
			assert.True(t, served[name], "%s is not served", name)
		}
		for _, label := range labelMatch.FindAllStringSubmatch(expression, -1) {
			assert.True(t, labels[label[1]], "no series has the label %s: %s", label[1], expression)
		}
	}
	used := strings.Join(asked, " ")
	for name := range served {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if strings.HasPrefix(name, "retry_planner_") {
			assert.True(t, strings.Contains(used, base), "%s is served and nobody looks at it", name)
		}
	}
}

// TestPromtoolAcceptsRulesAndDashboard lets Prometheus's own tool read every
// expression and run the tests of the alerts.
func TestPromtoolAcceptsRulesAndDashboard(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	rules := filepath.Join(t.TempDir(), "dashboard.yaml")
	var text strings.Builder
	text.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for i, expression := range expressions(t) {
		fmt.Fprintf(&text, "      - record: panel:%d\n        expr: %q\n", i, expression)
	}
	require.NoError(t, os.WriteFile(rules, []byte(text.String()), 0o600))
	folder := filepath.Join("..", "..", "ops", "prometheus")
	for _, args := range [][]string{
		{"check", "rules", rules},
		{"check", "rules", filepath.Join(folder, "alerts.yaml")},
		{"test", "rules", filepath.Join(folder, "alerts_test.yaml")},
	} {
		output, err := exec.Command(promtool, args...).CombinedOutput()
		assert.NoError(t, err, "%s", output)
	}
}
