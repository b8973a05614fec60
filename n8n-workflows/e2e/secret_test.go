//go:build e2e

package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCredentialIsNotSentToThePlanner: the API's key is in the headers of each call, and n8n puts those headers into
// the error item when a call fails. The planner has no use for them.
func TestCredentialIsNotSentToThePlanner(t *testing.T) {
	t.Parallel()
	const secret = "not-for-the-planner"
	var credential struct{ ID string }
	require.NoError(t, theN8n.call(http.MethodPost, "/rest/credentials", map[string]any{
		"name": "api", "type": "httpHeaderAuth", "data": map[string]string{"name": "X-Key", "value": secret},
	}, &credential))

	u := startUpstream(t, drop, replyJSON(200, `{}`))
	tap := tapPlanner(t, nil)
	w := retry429(t, u, tap.url, nil)
	w.chooseHeaderAuth(t, "HTTP Request", credential.ID, "api")
	theN8n.add(t, w)
	s := scenario{upstream: u, planner: tap, run: theN8n.run(t, w, "Start")}
	s.requireSuccess(t, 2)
	assert.Equal(t, secret, u.all()[0].Header.Get("X-Key"))
	require.Len(t, tap.all(), 1)
	assert.NotContains(t, tap.all()[0].Body, secret)
	assert.Contains(t, tap.all()[0].Body, "ECONNRESET")
}
