package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// commandLine is the command's reference: --help prints it. Every setting is a
// flag and an environment variable.
type commandLine struct {
	Serve       serveCommand       `cmd:"" default:"withargs" help:"Serve the planner (the default)."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask the service that runs here whether it is alive; exit code 0 if so."`
}

// serveCommand holds the service's settings.
type serveCommand struct {
	Listen        string        `env:"PLANNER_LISTEN" default:"127.0.0.1:8080" help:"Address to listen on."`
	APIKeys       []string      `env:"PLANNER_API_KEYS" name:"api-keys" help:"Comma-separated keys of which a call must bring one; empty lets everybody in."`
	APIKeyHeader  string        `env:"PLANNER_API_KEY_HEADER" name:"api-key-header" default:"X-API-Key" help:"Header that carries the key, besides Authorization: Bearer."`
	MaxBodyBytes  int64         `env:"PLANNER_MAX_BODY_BYTES" default:"1048576" help:"Largest body of one item, bytes."`
	MaxBatchBytes int64         `env:"PLANNER_MAX_BATCH_BYTES" default:"33554432" help:"Largest body of a batch, bytes."`
	MaxBatchItems int           `env:"PLANNER_MAX_BATCH_ITEMS" default:"10000" help:"Most items of a batch."`
	MaxInFlight   int           `env:"PLANNER_MAX_IN_FLIGHT" default:"256" help:"Most calls at once; more are refused with 503."`
	ShutdownGrace time.Duration `env:"PLANNER_SHUTDOWN_GRACE" default:"15s" help:"How long calls in flight may take after SIGTERM."`
	LogLevel      string        `env:"PLANNER_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"Least level that is logged: debug, info, warn or error."`
	LogFormat     string        `env:"PLANNER_LOG_FORMAT" default:"json" enum:"json,text" help:"Form of a log line: json or text."`
}

// Validate tells what is wrong with the settings; kong calls it.
func (c *serveCommand) Validate() error {
	positive := []struct {
		name  string
		value int64
	}{
		{"--max-body-bytes (PLANNER_MAX_BODY_BYTES)", c.MaxBodyBytes},
		{"--max-batch-bytes (PLANNER_MAX_BATCH_BYTES)", c.MaxBatchBytes},
		{"--max-batch-items (PLANNER_MAX_BATCH_ITEMS)", int64(c.MaxBatchItems)},
		{"--max-in-flight (PLANNER_MAX_IN_FLIGHT)", int64(c.MaxInFlight)},
		{"--shutdown-grace (PLANNER_SHUTDOWN_GRACE)", int64(c.ShutdownGrace)},
	}
	for _, p := range positive {
		if p.value <= 0 {
			return fmt.Errorf("%s must be more than 0", p.name)
		}
	}
	return nil
}

// keys gives the API keys without blanks and empty ones.
func (c *serveCommand) keys() []string {
	keys := make([]string, 0, len(c.APIKeys))
	for _, key := range c.APIKeys {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// usageError says that a flag or a variable is wrong.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

const variablePrefix = "PLANNER_"

// unknownVariable finds a PLANNER_… variable that is no setting: misspelt, it
// would silently change nothing.
func unknownVariable(app *kong.Application, environ []string) error {
	var known []string
	var collect func(n *kong.Node)
	collect = func(n *kong.Node) {
		for _, f := range n.Flags {
			known = append(known, f.Envs...)
		}
		for _, child := range n.Children {
			collect(child)
		}
	}
	collect(app.Node)
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, variablePrefix) && !slices.Contains(known, name) {
			return fmt.Errorf("%s is not a setting; correct its name or unset it (retry-planner --help lists all)", name)
		}
	}
	return nil
}
