package envelope

import (
	"fmt"
	"slices"
	"strings"

	"n8n-retry-planner/planner"
)

// Provider tells what one name of policy.provider reads: an entry of
// GET /v1/providers. A provider with several names has an entry for each.
type Provider struct {
	Name    string   `json:"name"`
	AliasOf string   `json:"alias_of,omitempty"` // the name under which the same dialect stands
	Title   string   `json:"title"`
	Docs    []string `json:"docs"` // the provider's own pages

	RateLimitedStatuses []int `json:"rate_limited_statuses"`         // these count as 429, whatever the body says
	OverloadedStatuses  []int `json:"overloaded_statuses,omitempty"` // these count as 503

	Reads      []ProviderHint `json:"reads"`                 // where a wait is announced
	Wins       string         `json:"wins"`                  // which of several decides
	Signs      []ProviderSign `json:"signs,omitempty"`       // what outranks the status
	QuotaSigns []string       `json:"quota_signs,omitempty"` // what says that the quota is used up

	// Clock is what a moment is measured against when policy.clock is not set.
	Clock string `json:"clock"`

	// RateLimitedNotProcessed tells whether the provider's documentation says
	// that a request answered 429 was not processed, so that even a POST may be
	// repeated; NotProcessedDocs is the page.
	RateLimitedNotProcessed bool   `json:"rate_limited_not_processed"`
	NotProcessedDocs        string `json:"not_processed_docs,omitempty"`
}

// ProviderHint is one place where a wait is announced.
type ProviderHint struct {
	Field  string `json:"field"`            // such as "header retry-after"
	Form   string `json:"form"`             // the form and the unit
	Bucket string `json:"bucket,omitempty"` // counts only when this header is 0
	Main   bool   `json:"main"`             // unreadable, it is invalid_retry_after; otherwise it is ignored
	Rank   int    `json:"rank"`             // a lower rank outranks a higher one
}

// ProviderSign is what a reply may say beyond its status.
type ProviderSign struct {
	Field      string   `json:"field"`
	Values     []string `json:"values"`
	Statuses   []int    `json:"statuses,omitempty"` // only on these; otherwise on any that is no 2xx
	InsideA2xx bool     `json:"inside_a_2xx,omitempty"`
	ManualWait string   `json:"manual_wait,omitempty"` // what the manual tells to wait for when the reply does not
	Means      string   `json:"means"`                 // rate_limited, overloaded, quota_exhausted, refused or unknown
}

// Providers lists every name that policy.provider takes, in alphabetical order.
func Providers() []Provider {
	list := make([]Provider, 0, len(dialects))
	for name, d := range dialects {
		p := d.describe()
		if name != d.Name {
			p.Name, p.AliasOf = name, d.Name
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Provider) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (d *Dialect) describe() Provider {
	p := Provider{
		Name: d.Name, Title: d.title, Docs: slices.Clone(d.docs),
		RateLimitedStatuses: slices.Clone(d.limited), OverloadedStatuses: slices.Clone(d.overloaded),
		Wins: "the later, of those with the lowest rank that ask for a wait", Clock: "local",
		RateLimitedNotProcessed: d.vouch != "", NotProcessedDocs: d.vouch,
	}
	if d.limited == nil {
		p.RateLimitedStatuses = []int{429}
	}
	switch {
	case d.serverClock:
		p.Clock = "server"
	case d.bothClocks:
		p.Clock = "the earlier of both"
	}
	for _, h := range d.hints {
		p.Reads = append(p.Reads, ProviderHint{h.at.label, h.form.name, h.bucket, h.main, h.rank})
		if h.quota {
			p.QuotaSigns = append(p.QuotaSigns, "header "+h.bucket+": 0")
		}
	}
	if d.more != nil {
		p.Reads = append(p.Reads, ProviderHint{Field: d.moreLabel, Form: d.moreForm.name})
	}
	for i := range d.rules {
		ru := &d.rules[i]
		sign := ProviderSign{Field: ru.at.label, Values: ru.words(), Statuses: ru.on, InsideA2xx: ru.in2xx, Means: ru.class.String()}
		if ru.wait != nil {
			sign.ManualWait = ru.wait.name
		}
		p.Signs = append(p.Signs, sign)
		if ru.class == planner.QuotaExhausted {
			p.QuotaSigns = append(p.QuotaSigns, sign.Field+": "+strings.Join(sign.Values, ", "))
		}
	}
	return p
}

// words are the values that a rule looks for; a pattern stands between slashes.
func (ru *rule) words() []string {
	out := slices.Clone(ru.is)
	if ru.like != nil {
		out = append(out, "/"+ru.like.String()+"/")
	}
	return out
}

// ProviderTable is the table of providers in the README, in Markdown.
func ProviderTable() string {
	var b strings.Builder
	b.WriteString("| `policy.provider` | What is read (bold: the main hint) | Quota signs | 429 not processed | Its own page |\n|---|---|---|---|---|\n")
	for _, p := range Providers() {
		if p.AliasOf != "" {
			continue
		}
		d := dialects[p.Name]
		fmt.Fprintf(&b, "| `%s`", p.Name)
		for _, alias := range d.aliases {
			fmt.Fprintf(&b, " `%s`", alias)
		}
		fmt.Fprintf(&b, "<br>%s | %s | %s | %s | %s |\n", cell(p.Title), readsCell(p), quotaCell(p), vouchCell(p), docsCell(p.Docs))
	}
	return b.String()
}

func readsCell(p Provider) string {
	var reads []string
	for _, h := range p.Reads {
		text := cell(strings.TrimPrefix(h.Field, "header "))
		if h.Main {
			text = "**" + text + "**"
		}
		if h.Form != "" && h.Form != rfc9110.name {
			text += ": " + cell(h.Form)
		}
		if h.Bucket != "" {
			text += ", when " + h.Bucket + " is 0"
		}
		reads = append(reads, text)
	}
	for _, sign := range p.Signs {
		if sign.ManualWait != "" {
			reads = append(reads, "else "+sign.ManualWait+", by its manual")
		}
	}
	return strings.Join(reads, "<br>")
}

// quotaCell names the fields; GET /v1/providers has the values.
func quotaCell(p Provider) string {
	var fields []string
	for _, sign := range p.QuotaSigns {
		if field, _, _ := strings.Cut(sign, ": "); !slices.Contains(fields, cell(field)) {
			fields = append(fields, cell(field))
		}
	}
	return strings.Join(fields, "<br>")
}

func vouchCell(p Provider) string {
	if !p.RateLimitedNotProcessed {
		return ""
	}
	return "[yes](" + p.NotProcessedDocs + ")"
}

func docsCell(docs []string) string {
	var out []string
	for i, link := range docs {
		out = append(out, fmt.Sprintf("[%d](%s)", i+1, link))
	}
	return strings.Join(out, " ")
}

// cell keeps a text from ending its cell of the table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;").Replace(text)
}
