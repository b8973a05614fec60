package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestABadSettingEndsTheStartWithOneLine checks that the line names the flag
// and the variable, whichever of them was used.
func TestABadSettingEndsTheStartWithOneLine(t *testing.T) {
	tests := map[string]struct {
		variable, value string
		want            string
	}{
		"an unknown variable":              {"PLANNER_LISTN", ":1", "PLANNER_LISTN is not a setting"},
		"an address without a port":        {"PLANNER_LISTEN", "localhost", "--listen (PLANNER_LISTEN) must be host:port"},
		"a port that is too large":         {"PLANNER_LISTEN", ":99999", "--listen (PLANNER_LISTEN) must be host:port"},
		"a number that is none":            {"PLANNER_MAX_IN_FLIGHT", "many", "--max-in-flight (PLANNER_MAX_IN_FLIGHT)"},
		"a number past the machine's":      {"PLANNER_MAX_BODY_BYTES", "99999999999999999999", "--max-body-bytes (PLANNER_MAX_BODY_BYTES)"},
		"no body at all":                   {"PLANNER_MAX_BODY_BYTES", "0", "--max-body-bytes (PLANNER_MAX_BODY_BYTES) must be more than 0"},
		"a negative batch":                 {"PLANNER_MAX_BATCH_ITEMS", "-1", "--max-batch-items (PLANNER_MAX_BATCH_ITEMS)"},
		"a time without a unit":            {"PLANNER_SHUTDOWN_GRACE", "15", "--shutdown-grace (PLANNER_SHUTDOWN_GRACE)"},
		"a Redis that is none":             {"PLANNER_REDIS_URL", "http://redis", "--redis-url (PLANNER_REDIS_URL) is not a Redis URL such as"},
		"no room for any large body":       {"PLANNER_MAX_HELD_BYTES", "0", "--max-held-bytes (PLANNER_MAX_HELD_BYTES) must be more than 0"},
		"no grace":                         {"PLANNER_SHUTDOWN_GRACE", "0s", "--shutdown-grace (PLANNER_SHUTDOWN_GRACE) must be more than 0"},
		"a log level that does not exist":  {"PLANNER_LOG_LEVEL", "loud", "--log-level (PLANNER_LOG_LEVEL) must be one of"},
		"a log format that does not exist": {"PLANNER_LOG_FORMAT", "xml", "--log-format (PLANNER_LOG_FORMAT) must be one of"},
		"a header name with a blank":       {"PLANNER_API_KEY_HEADER", "X Key", "--api-key-header (PLANNER_API_KEY_HEADER) must be a header name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(tt.variable, tt.value)
			err := run(t.Context(), nil, []string{tt.variable + "=" + tt.value}, io.Discard, io.Discard)
			var stderr bytes.Buffer
			assert.Equal(t, exitUsage, exitCode(err, &stderr))
			assert.Contains(t, stderr.String(), tt.want)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line: %s", &stderr)
		})
	}
}

// TestABadFlagEndsTheStartWithOneLine is the same for what was typed.
func TestABadFlagEndsTheStartWithOneLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	tests := map[string]struct {
		flag string
		code int
		want string
	}{
		"an unknown flag":        {"--listne=:1", exitUsage, "unknown flag --listne"},
		"a number that is none":  {"--max-in-flight=many", exitUsage, "--max-in-flight (PLANNER_MAX_IN_FLIGHT)"},
		"a number out of range":  {"--max-in-flight=-3", exitUsage, "--max-in-flight (PLANNER_MAX_IN_FLIGHT) must be more than 0"},
		"a command that is none": {"serv", exitUsage, "unexpected argument serv"},
		"an address in use":      {"--listen=" + taken.Addr().String(), exitFailed, "cannot listen on --listen (PLANNER_LISTEN)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), []string{tt.flag}, nil, io.Discard, io.Discard)
			var stderr bytes.Buffer
			assert.Equal(t, tt.code, exitCode(err, &stderr))
			assert.Contains(t, stderr.String(), tt.want)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line: %s", &stderr)
		})
	}
}

// TestHelpListsEverySetting holds the reference against the settings that the
// wire contract names.
func TestHelpListsEverySetting(t *testing.T) {
	var stdout bytes.Buffer
	require.NoError(t, run(context.Background(), []string{"--help"}, nil, &stdout, io.Discard))
	for _, variable := range []string{
		"PLANNER_LISTEN", "PLANNER_API_KEYS", "PLANNER_API_KEY_HEADER", "PLANNER_MAX_BODY_BYTES",
		"PLANNER_MAX_BATCH_BYTES", "PLANNER_MAX_BATCH_ITEMS", "PLANNER_MAX_IN_FLIGHT", "PLANNER_SHUTDOWN_GRACE",
		"PLANNER_LOG_LEVEL", "PLANNER_LOG_FORMAT", "PLANNER_REDIS_URL", "PLANNER_MAX_HELD_BYTES",
	} {
		assert.Contains(t, stdout.String(), "$"+variable+")")
	}
}

// TestTheFlagWinsOverTheVariable keeps the order that --help promises.
func TestTheFlagWinsOverTheVariable(t *testing.T) {
	t.Setenv("PLANNER_MAX_IN_FLIGHT", "5")
	err := run(t.Context(), []string{"--max-in-flight=0"}, nil, io.Discard, io.Discard)
	require.ErrorContains(t, err, "--max-in-flight (PLANNER_MAX_IN_FLIGHT) must be more than 0")
}
