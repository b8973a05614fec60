package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// command runs the command line and gives what it wrote and its exit code.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	err := run(context.Background(), args, nil, &out, &errs)
	code = exitCode(err, &errs)
	return out.String(), errs.String(), code
}

func TestPlanTellsTheDecisionByItsExitCode(t *testing.T) {
	const state = `"max_attempts":5,"base":2,"exp_cap":60,"total_wait_budget":300,"x":1.0`
	tests := map[string]struct {
		item string
		code int
		want string
	}{
		"success":   {`{"statusCode":200,` + state + `}`, 0, `"decision":"success"`},
		"retry":     {`{"statusCode":429,"headers":{"retry-after":"40"},` + state + `}`, 10, `"x":1.0,"error_code":null,"attempts":2,"last_status":429,"decision":"retry","next_request":true,"wait_seconds":40,"elapsed_wait":40`},
		"defer":     {`{"statusCode":429,"headers":{"retry-after":"400"},` + state + `}`, 11, `"decision":"defer"`},
		"exhausted": {`{"statusCode":503,"attempts":5,` + state + `}`, 12, `"decision":"exhausted"`},
		"stop":      {`{"statusCode":404,` + state + `}`, 13, `"decision":"stop"`},
		"escalate":  {`{"error":"socket hang up",` + state + `}`, 14, `"decision":"escalate"`},
		"faults":    {`{"statusCode":99}`, 2, `"error_code":"invalid_state","errors":[`},
		"malformed": {`{`, 2, `"error_code":"malformed_json"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "item.json")
			require.NoError(t, os.WriteFile(file, []byte(tt.item), 0o600))
			stdout, stderr, code := command(t, "plan", file)
			assert.Equal(t, tt.code, code)
			assert.Contains(t, stdout, tt.want)
			assert.Empty(t, stderr)
			assert.NotContains(t, stdout, `"explain"`)

			stdout, _, code = command(t, "plan", "--explain", file)
			assert.Equal(t, tt.code, code)
			if code != 2 {
				assert.Contains(t, stdout, `"explain":{"reason":"`)
			}
		})
	}
}

func TestPlanOfAFileThatIsNotThere(t *testing.T) {
	_, stderr, code := command(t, "plan", filepath.Join(t.TempDir(), "none.json"))
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "none.json")
}

func TestPace(t *testing.T) {
	stdout, _, code := command(t, "pace", "--limit", "120", "--share", "75%", "--calls", "600", "--response-time", "2s")
	assert.Zero(t, code)
	for _, want := range []string{"667 ms", "400 s", "3 calls at once", "Items per Batch 1, Batch Interval (ms) 667"} {
		assert.Contains(t, stdout, want)
	}
	assert.NotContains(t, stdout, "warning")

	stdout, _, code = command(t, "pace", "--limit", "90", "--calls", "600", "--response-time", "2s", "--within", "5m", "--json")
	assert.Zero(t, code)
	assert.Contains(t, stdout, `"spacing":0.667,"total":400,"in_flight":3`)
	assert.Contains(t, stdout, `"within_exceeds_limit"`)

	for _, args := range [][]string{{"--limit", "0", "--calls", "1"}, {"--limit", "1", "--calls", "0"}, {"--limit", "1", "--calls", "1", "--share", "x"},
		{"--limit", "1", "--calls", "1", "--share", "x%"}, {"--limit", "1", "--calls", "1", "--share", "75"}, {"--calls", "1"}} {
		_, stderr, code := command(t, append([]string{"pace"}, args...)...)
		assert.Equal(t, exitUsage, code, args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %q", stderr)
	}
}

func TestSimulatePrintsTheTableAndDrawsThePicture(t *testing.T) {
	for _, kind := range []string{"svg", "png"} {
		picture := filepath.Join(t.TempDir(), "herd."+kind)
		stdout, _, code := command(t, "simulate", "--executions", "300", "--outage", "20s", "--recovery", "5s", "--picture", picture)
		require.Zero(t, code)
		for _, want := range []string{"peak arrivals/s", "fixed interval", "exponential", "full jitter", "full jitter, spread", "full jitter, gate"} {
			assert.Contains(t, stdout, want)
		}
		drawn, err := os.ReadFile(picture)
		require.NoError(t, err)
		head := map[string]string{"svg": "<svg", "png": "\x89PNG"}[kind]
		assert.True(t, strings.HasPrefix(string(drawn), head), "%.20q", drawn)

		again, _, _ := command(t, "simulate", "--executions", "300", "--outage", "20s", "--recovery", "5s", "--picture", picture)
		assert.Equal(t, stdout, again, "the same seed gives the same numbers")
	}
}

func TestSimulateRefusesWhatMakesNoSense(t *testing.T) {
	for flag, value := range map[string]string{"executions": "0", "workers": "0", "concurrency": "0", "response-time": "0s", "outage": "-1s",
		"limit": "0", "window": "0s", "base": "0s", "cap": "0s", "interval": "0s", "max-attempts": "0", "picture": "herd.gif", "policies": "hope"} {
		_, stderr, code := command(t, "simulate", "--"+flag+"="+value)
		assert.Equal(t, exitUsage, code, flag)
		assert.Contains(t, stderr, "--"+flag)
	}
}

func TestScaleOfAPicture(t *testing.T) {
	for _, seconds := range []int{1, 7, 61, 300, 1509, 10000, maxPictureSeconds} {
		axis := scaleOf(seconds)
		assert.GreaterOrEqual(t, (axis.points-1)*axis.step, seconds-1, "%d: all of it is drawn", seconds)
		assert.LessOrEqual(t, axis.points, 4*panelPoints, "%d", seconds)
		assert.Zero(t, (axis.points-1)%(axis.ticks-1), "%d: labels fall on points", seconds)
	}
}

// maxPictureSeconds is a week, the longest time that a simulation tells apart.
const maxPictureSeconds = 7 * 86400
