package envelope

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the table of providers into the README")

// The README shows exactly what the registry reads.
func TestReadmeHasTheTableOfProviders(t *testing.T) {
	const file, start, end = "../README.md", "<!-- providers -->\n", "<!-- /providers -->"
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), start)
	require.True(t, ok, "README.md lacks the marker %s", start)
	table, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "README.md lacks the marker %s", end)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+start+ProviderTable()+end+after), 0o644))
		return
	}
	require.Equal(t, ProviderTable(), table, "run go test ./envelope -run Readme -update")
}

// A name that two dialects claim would silently be the later one's.
func TestEveryNameLeadsToOneDialect(t *testing.T) {
	owner := map[string]string{}
	for _, d := range allDialects() {
		for _, name := range append([]string{d.Name}, d.aliases...) {
			require.Empty(t, owner[name], "%s is claimed twice", name)
			require.Regexp(t, `^[a-z0-9][a-z0-9-]*$`, name)
			require.Same(t, d, LookupDialect(name))
			owner[name] = d.Name
		}
	}
	require.Nil(t, LookupDialect("nobody"))
	require.Nil(t, LookupDialect(""))
}

func TestEveryDialectIsDocumentedAndHasARow(t *testing.T) {
	rows := map[*Dialect]bool{DefaultDialect: true} // retryafter has tests of its own
	for _, file := range []string{"providers.json", "edge.json", "more.json"} {
		for _, c := range realCases(t, file) {
			switch {
			case c.Provider != "":
				rows[LookupDialect(c.Provider)] = true
			case file != "edge.json":
				rows[LookupDialect(providerOf(t, c.ID))] = true
			}
		}
	}
	for _, d := range allDialects() {
		assert.True(t, rows[d], "%s has no row in testdata", d.Name)
		assert.NotEmpty(t, d.title, d.Name)
		assert.NotEmpty(t, d.docs, d.Name)
		for _, link := range append(slices.Clone(d.docs), d.vouch) {
			assert.True(t, link == "" || strings.HasPrefix(link, "https://"), "%s: %s", d.Name, link)
		}
		for _, ru := range d.rules {
			assert.NotEmpty(t, ru.words(), "%s: a rule at %s that never holds", d.Name, ru.at.label)
		}
		for _, h := range d.hints {
			assert.NotNil(t, h.form.parse, "%s: %s has no form", d.Name, h.at.label)
		}
	}
}

func TestProvidersListsEveryName(t *testing.T) {
	list := Providers()
	require.Len(t, list, len(dialects))
	byName := map[string]Provider{}
	for _, p := range list {
		byName[p.Name] = p
	}
	github := byName["github"]
	assert.Equal(t, []int{429}, github.RateLimitedStatuses)
	assert.Contains(t, github.Reads, ProviderHint{Field: "header x-ratelimit-reset", Form: "Unix seconds", Bucket: "x-ratelimit-remaining"})
	assert.Contains(t, github.Reads, ProviderHint{Field: "header retry-after", Form: rfc9110.name, Main: true})
	assert.Equal(t, "google", byName["gmail"].AliasOf)
	assert.Equal(t, byName["google"].Reads, byName["gmail"].Reads)
	assert.Equal(t, "server", byName["okta"].Clock)
	assert.Contains(t, strings.Join(byName["openai"].QuotaSigns, "\n"), "insufficient_quota")
	assert.Contains(t, strings.Join(byName["x"].QuotaSigns, "\n"), "x-app-limit-24hour-remaining")
	assert.True(t, byName["openai"].RateLimitedNotProcessed)
	assert.False(t, github.RateLimitedNotProcessed)
	raw, err := json.Marshal(list)
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"name":"standard"`)
}

func allDialects() []*Dialect {
	all := []*Dialect{DefaultDialect, autoDialect, ietfDialect}
	for _, group := range [][]*Dialect{cloudProviders, aiProviders, developerProviders, graphQLProviders,
		businessProviders, socialProviders, otherProviders} {
		all = append(all, group...)
	}
	return all
}
