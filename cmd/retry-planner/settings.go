package main

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-playground/validator/v10"

	"n8n-retry-planner/handlers"
)

// commandLine is the command's reference: --help prints it. Every setting is a
// flag and an environment variable.
type commandLine struct {
	Settings `embed:""`

	Serve       serveCommand       `cmd:"" default:"1" help:"Serve the planner (the default)."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask the service that runs with these settings whether it is alive; exit code 0 if so."`
	Plan        planCommand        `cmd:"" help:"Plan one item as POST /v1/plan does, without a service; the exit code tells the decision."`
	Pace        paceCommand        `cmd:"" help:"Work out how to spread calls over an allowance, as POST /v1/pace does."`
	Simulate    simulateCommand    `cmd:"" help:"Play a herd of executions against an API that breaks and comes back, policy by policy."`
	Version     versionCommand     `cmd:"" help:"Print the version, the revision that it was built from, and the Go version."`
}

// Settings are what the service can be told.
type Settings struct {
	Listen string `env:"PLANNER_LISTEN" default:"127.0.0.1:8080" help:"Address to listen on." validate:"address"`

	APIKeys      []string `env:"PLANNER_API_KEYS" name:"api-keys" help:"Comma-separated keys of which a call must bring one; empty lets everybody in."`
	APIKeyHeader string   `env:"PLANNER_API_KEY_HEADER" name:"api-key-header" default:"X-API-Key" help:"Header that carries the key, besides Authorization: Bearer." validate:"header"`
	APIKeyNames  []string `env:"PLANNER_API_KEY_NAMES" name:"api-key-names" help:"Comma-separated names that stand for the keys in the log, in their order; key-1, key-2 … when empty."`
	Closed       bool     `env:"PLANNER_CLOSED" help:"Ask for a key on /metrics, /openapi.yaml and /workflows as well."`

	TLSCert string `env:"PLANNER_TLS_CERT" name:"tls-cert" help:"File with the TLS certificate chain, PEM; with --tls-key it turns TLS on. Read again when it changes." validate:"required_with=TLSKey"`
	TLSKey  string `env:"PLANNER_TLS_KEY" name:"tls-key" help:"File with the certificate's private key, PEM." validate:"required_with=TLSCert"`

	MaxBodyBytes  int64         `env:"PLANNER_MAX_BODY_BYTES" default:"1048576" help:"Largest body of one item, bytes." validate:"gt=0"`
	MaxBatchBytes int64         `env:"PLANNER_MAX_BATCH_BYTES" default:"33554432" help:"Largest body of a batch, bytes." validate:"gt=0"`
	MaxBatchItems int           `env:"PLANNER_MAX_BATCH_ITEMS" default:"10000" help:"Most items of a batch." validate:"gt=0"`
	MaxInFlight   int           `env:"PLANNER_MAX_IN_FLIGHT" default:"256" help:"Most calls at once; more are refused with 503." validate:"gt=0"`
	MaxHeldBytes  int64         `env:"PLANNER_MAX_HELD_BYTES" default:"16777216" help:"Bytes of large bodies and answers that all calls hold at once, besides one call of any size; what finds no room within 5 s is refused with 503." validate:"gt=0"`
	ReadTimeout   time.Duration `env:"PLANNER_READ_TIMEOUT" default:"15s" help:"How long a caller may take to send a call; a slower one is cut off." validate:"gt=0"`
	ShutdownGrace time.Duration `env:"PLANNER_SHUTDOWN_GRACE" default:"15s" help:"How long calls in flight may take after SIGTERM." validate:"gt=0"`
	DrainDelay    time.Duration `env:"PLANNER_DRAIN_DELAY" default:"1s" help:"How much of that time new calls are still taken, with /readyz at 503, so that balancers look elsewhere first." validate:"gte=0,ltfield=ShutdownGrace"`

	RedisURL     string        `env:"PLANNER_REDIS_URL" name:"redis-url" help:"Redis that holds what replicas must know together, redis://… or rediss://…; empty keeps it in this process, for one replica."`
	RedisTimeout time.Duration `env:"PLANNER_REDIS_TIMEOUT" default:"250ms" help:"How long Redis may take to answer." validate:"gt=0"`
	GateFailure  string        `env:"PLANNER_GATE_FAILURE" default:"open" enum:"open,closed" help:"What an admit gets while Redis does not answer: open lets it pass, closed defers it."`

	LogLevel  string `env:"PLANNER_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"Least level that is logged: debug, info, warn or error."`
	LogFormat string `env:"PLANNER_LOG_FORMAT" default:"json" enum:"json,text" help:"Form of a log line: json or text."`
	LogTaskID bool   `env:"PLANNER_LOG_TASK_ID" name:"log-task-id" help:"Log the names that callers chose: the task_id of planned items, the gate's resource."`
}

// rules has the sentence for each rule that a setting may break.
var rules = map[string]string{
	"gt":      "must be more than 0",
	"address": "must be host:port or :port",
	"header":  "must be a header name",

	"gte":           "must not be negative",
	"ltfield":       "must be less than --shutdown-grace (PLANNER_SHUTDOWN_GRACE)",
	"required_with": "is missing: the certificate and its key are set together",
}

// check tells the first setting that is against its rule, by both its names.
func (s *Settings) check() error {
	v := validator.New()
	for tag, holds := range map[string]func(string) bool{"address": isAddress, "header": isHeaderName} {
		err := v.RegisterValidation(tag, func(field validator.FieldLevel) bool { return holds(field.Field().String()) })
		if err != nil {
			return err
		}
	}
	var faults validator.ValidationErrors
	if err := v.Struct(s); errors.As(err, &faults) {
		return fmt.Errorf("%s %s", settingName(faults[0].StructField()), rules[faults[0].Tag()])
	} else if err != nil {
		return err
	}
	_, err := s.keys()
	return err
}

// settingName gives "--flag (PLANNER_VARIABLE)" for a field of Settings.
func settingName(field string) string {
	f, _ := reflect.TypeFor[Settings]().FieldByName(field)
	variable := f.Tag.Get("env")
	flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, variablePrefix), "_", "-"))
	return fmt.Sprintf("--%s (%s)", flag, variable)
}

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil
}

// isHeaderName tells a token of RFC 9110 §5.6.2.
func isHeaderName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !alphanumeric && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

// keys gives the API keys with the names that stand for them in the log.
func (s *Settings) keys() ([]handlers.APIKey, error) {
	secrets, names := trimmed(s.APIKeys), trimmed(s.APIKeyNames)
	if len(names) > 0 && len(names) != len(secrets) {
		return nil, fmt.Errorf("--api-key-names (PLANNER_API_KEY_NAMES) must have one name for each of the %d keys", len(secrets))
	}
	if len(secrets) == 0 && strings.Join(s.APIKeys, ",") != "" {
		return nil, errors.New("--api-keys (PLANNER_API_KEYS) holds no key; leave it empty to let everybody in")
	}
	if s.Closed && len(secrets) == 0 {
		return nil, errors.New("--closed (PLANNER_CLOSED) needs --api-keys (PLANNER_API_KEYS)")
	}
	keys := make([]handlers.APIKey, len(secrets))
	for i, secret := range secrets {
		keys[i] = handlers.APIKey{Name: "key-" + strconv.Itoa(i+1), Secret: secret}
		if len(names) > 0 {
			keys[i].Name = names[i]
		}
	}
	return keys, nil
}

// trimmed leaves blanks and empty texts out.
func trimmed(list []string) []string {
	kept := make([]string, 0, len(list))
	for _, text := range list {
		if text = strings.TrimSpace(text); text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}
