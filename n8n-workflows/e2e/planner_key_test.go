//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The keys of the planner of these tests, by their names: two at once, as while one is exchanged for the other.
var plannerKeys = map[string]string{"leaving": "secret-of-last-year", "coming": "secret-of-this-year"}

// startKeyedService starts a planner that asks for one of plannerKeys.
func startKeyedService(t *testing.T) *service {
	t.Helper()
	s, err := startService(theBinary, t.TempDir(),
		"PLANNER_API_KEYS="+plannerKeys["leaving"]+","+plannerKeys["coming"], "PLANNER_API_KEY_NAMES=leaving,coming")
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

// importHeaderAuth takes a Header Auth credential for each key in through n8n's command line. The credential's id and
// name are the key's name.
func importHeaderAuth(t *testing.T, keys map[string]string) {
	t.Helper()
	var credentials []map[string]any
	for name, key := range keys {
		credentials = append(credentials, map[string]any{
			"id": name, "name": name, "type": "httpHeaderAuth", "data": map[string]string{"name": "X-API-Key", "value": key},
		})
	}
	file := filepath.Join(t.TempDir(), "credentials.json")
	require.NoError(t, os.WriteFile(file, []byte(mustJSON(t, credentials)), 0o600))
	_, err := theN8n.command("import:credentials", "--input="+file)
	require.NoError(t, err)
}

// requireLogged waits for a log line with both texts; the planner may write a line a little late.
func (s *service) requireLogged(t *testing.T, texts ...string) {
	t.Helper()
	require.NoError(t, s.waitUntil(5*time.Second, func() bool {
		for line := range strings.Lines(s.log()) {
			if !strings.Contains(line, `"msg":"request"`) {
				continue
			}
			all := true
			for _, text := range texts {
				all = all && strings.Contains(line, text)
			}
			if all {
				return true
			}
		}
		return false
	}), "no line with %q", texts)
}

// TestHeaderAuthCredential: the planner asks for a key, and n8n's own Header Auth credential brings it, chosen in the
// node as the README says.
func TestHeaderAuthCredential(t *testing.T) {
	t.Parallel()
	importHeaderAuth(t, map[string]string{
		"leaving": plannerKeys["leaving"], "coming": plannerKeys["coming"], "mistyped": plannerKeys["coming"] + "-",
	})

	for _, name := range []string{"leaving", "coming"} {
		t.Run("the key "+name+" lets the workflow retry", func(t *testing.T) {
			t.Parallel()
			s := startKeyedService(t)
			u := startUpstream(t, reply(429, "", "Retry-After", "1"), replyJSON(200, `{}`))
			w := retry429(t, u, s.url, nil)
			w.chooseHeaderAuth(t, "Plan Retry", name, name)
			theN8n.add(t, w)
			e := theN8n.run(t, w, "Start")
			require.Equal(t, "success", e.Status, "%+v", e.Error)
			require.Equal(t, "Success", e.LastNode)
			calls := u.all()
			require.Len(t, calls, 2)
			assert.GreaterOrEqual(t, calls[1].Arrived.Sub(calls[0].Answered), time.Second-clockGrain)
			for _, c := range calls {
				assert.Empty(t, c.Header.Get("X-API-Key"), "the planner's key is not for the API")
			}
			s.requireLogged(t, `"route":"/v1/plan"`, `"status":200`, `"key":"`+name+`"`)
			requireNoKey(t, s)
		})
	}

	for credential, said := range map[string]string{"": "no credential", "mistyped": "a wrong key"} {
		t.Run(said+" ends the workflow and says what to change", func(t *testing.T) {
			t.Parallel()
			s := startKeyedService(t)
			u := startUpstream(t, reply(429, ""))
			w := retry429(t, u, s.url, nil)
			if credential != "" {
				w.chooseHeaderAuth(t, "Plan Retry", credential, credential)
			}
			theN8n.add(t, w)
			e := theN8n.run(t, w, "Start")
			requireFailedIn(t, e, "Plan Retry")
			assert.Equal(t, "401", e.Error.HTTPCode)
			assert.Equal(t, "Authorization failed - please check your credentials", e.Error.Message)
			assert.Contains(t, e.Error.Description, "API keys in the header X-API-Key")
			assert.Len(t, u.all(), 1, "without a plan there is no second call")
			s.requireLogged(t, `"route":"/v1/plan"`, `"status":401`, `"error_code":"unauthorized"`)
			requireNoKey(t, s)
		})
	}
}

// requireNoKey looks for the keys in all that the planner has written.
func requireNoKey(t *testing.T, s *service) {
	t.Helper()
	for _, key := range plannerKeys {
		assert.NotContains(t, s.log(), key)
	}
}

// TestHeaderAuthCredentialInEveryWorkflow: each node that calls the planner takes the credential, and without it each
// workflow stops there after one call.
func TestHeaderAuthCredentialInEveryWorkflow(t *testing.T) {
	t.Parallel()
	importHeaderAuth(t, map[string]string{"everywhere": plannerKeys["coming"]})
	byStart := func(t *testing.T, w workflow) execution {
		theN8n.add(t, w)
		return theN8n.run(t, w, "Start")
	}
	rows := map[string]struct {
		nodes   []string // that call the planner
		prepare func(t *testing.T, plannerURL string, u *upstream) workflow
		run     func(t *testing.T, w workflow, u *upstream) execution
		keyless int // calls at the upstream without the credential
	}{
		"http-request-with-retry": {
			nodes: []string{"Plan Retry"}, keyless: 1,
			prepare: func(t *testing.T, plannerURL string, _ *upstream) workflow {
				return httpRequestWithRetry(t, workflowID(t), plannerURL)
			},
			run: func(t *testing.T, w workflow, u *upstream) execution {
				theN8n.add(t, w)
				return byStart(t, caller(t, w, map[string]any{"url": u.at("/")}))
			},
		},
		"retry-many-items": {
			nodes: []string{"Plan Retries"}, keyless: 1,
			prepare: func(t *testing.T, plannerURL string, u *upstream) workflow {
				w := loadWorkflow(t, "retry-many-items.json", workflowID(t))
				w.set(t, "Defaults", map[string]any{"defaults": surpriseLimits(plannerURL)})
				w.withItems(t, []map[string]any{{"url": u.at("/")}})
				return w
			},
			run: func(t *testing.T, w workflow, _ *upstream) execution { return byStart(t, w) },
		},
		"gated-http-request": {
			nodes: []string{"Ask Gate", "Plan Retry"}, keyless: 0,
			prepare: func(t *testing.T, plannerURL string, u *upstream) workflow {
				w := loadWorkflow(t, "gated-http-request.json", workflowID(t))
				w.set(t, "Request", map[string]any{"url": u.at("/"), "base": 0.2, "planner_url": plannerURL})
				return w
			},
			run: func(t *testing.T, w workflow, _ *upstream) execution { return byStart(t, w) },
		},
		"webhook-retry-proxy": {
			nodes: []string{"Plan Retry"}, keyless: 1,
			prepare: func(t *testing.T, plannerURL string, u *upstream) workflow {
				return webhookProxy(t, plannerURL, nil, u)
			},
			run: func(t *testing.T, w workflow, u *upstream) execution {
				theN8n.add(t, w)
				theN8n.publish(t, w)
				theN8n.webhook(t, w.id(), mustJSON(t, map[string]any{"url": u.at("/")}))
				return theN8n.await(t, theN8n.latest(t, w), time.Minute)
			},
		},
	}
	for name, row := range rows {
		t.Run(name+" with it", func(t *testing.T) {
			t.Parallel()
			s := startKeyedService(t)
			u := startUpstream(t, reply(http.StatusTooManyRequests, ""), replyJSON(200, `{}`))
			w := row.prepare(t, s.url, u)
			for _, node := range row.nodes {
				w.chooseHeaderAuth(t, node, "everywhere", "everywhere")
			}
			e := row.run(t, w, u)
			require.Equal(t, "success", e.Status, "%+v", e.Error)
			assert.Len(t, u.all(), 2)
			s.requireLogged(t, `"status":200`, `"key":"coming"`)
		})
		t.Run(name+" without it", func(t *testing.T) {
			t.Parallel()
			s := startKeyedService(t)
			u := startUpstream(t, reply(http.StatusTooManyRequests, ""))
			e := row.run(t, row.prepare(t, s.url, u), u)
			require.Equal(t, "error", e.Status)
			require.NotNil(t, e.Error)
			assert.Contains(t, e.Error.Message+e.Error.Description+e.Error.Messages, "API keys in the header X-API-Key")
			assert.Len(t, u.all(), row.keyless)
			s.requireLogged(t, `"status":401`, `"error_code":"unauthorized"`)
		})
	}
}
