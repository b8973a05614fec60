package envelope

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"n8n-retry-planner/planner"
)

// businessProviders are for sales, support, payments and the office.
var businessProviders = []*Dialect{
	{
		Name: "hubspot", title: "HubSpot",
		docs:       []string{"https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines", "https://developers.hubspot.com/docs/api-reference/error-handling"},
		overloaded: []int{477},
		rules: []rule{
			{at: inBody("policyName"), is: []string{"DAILY"}, class: planner.QuotaExhausted},
			{at: inBody("policyName"), is: []string{"TEN_SECONDLY_ROLLING"}, class: planner.RateLimited, wait: always(10)},
			{at: inBody("policyName"), is: []string{"SECONDLY"}, class: planner.RateLimited, wait: always(1)},
			{at: inHeader("x-hubspot-ratelimit-daily-remaining"), like: nothingLeft, on: []int{429}, class: planner.QuotaExhausted},
		},
		// The interval is the length of the window: no wait is longer.
		hints: []hint{retryAfterHint, {at: inHeader("x-hubspot-ratelimit-interval-milliseconds"), form: milliseconds, bucket: "x-hubspot-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "gohighlevel", aliases: []string{"highlevel"}, title: "HighLevel",
		docs: []string{"https://marketplace.gohighlevel.com/docs/other/rate-limits"},
		rules: []rule{
			{at: inHeader("x-ratelimit-daily-remaining"), like: nothingLeft, on: []int{429}, class: planner.QuotaExhausted},
		},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-interval-milliseconds"), form: milliseconds, bucket: "x-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "notion", title: "Notion",
		docs:       []string{"https://developers.notion.com/reference/request-limits"},
		overloaded: []int{529},
		rules: []rule{
			{at: inBody("code"), is: []string{"rate_limited"}, class: planner.RateLimited},
			{at: inBody("code"), is: []string{"service_overload"}, class: planner.Overloaded},
		},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "airtable", title: "Airtable",
		docs: []string{"https://airtable.com/developers/web/api/rate-limits", "https://support.airtable.com/docs/managing-api-call-limits-in-airtable"},
		rules: []rule{
			{at: inBody("errors.#.error", "error.type", "error"), is: []string{"PUBLIC_API_BILLING_LIMIT_EXCEEDED"}, class: planner.QuotaExhausted},
			// Whoever is over the limit is locked out for 30 seconds.
			{at: statusPlace, is: []string{"429"}, class: planner.RateLimited, wait: always(30)},
		},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "stripe", title: "Stripe",
		docs: []string{"https://docs.stripe.com/rate-limits", "https://docs.stripe.com/error-low-level"},
		rules: []rule{
			{at: inHeader("stripe-should-retry"), is: []string{"false"}, class: planner.Refused},
			{at: inBody("error.code"), is: []string{"rate_limit", "lock_timeout"}, class: planner.RateLimited},
			{at: inHeader("stripe-should-retry").when(notLimited, "true"), is: []string{"true"}, class: planner.Overloaded},
			{at: inBody("error.code"), is: []string{"idempotency_key_in_use"}, class: planner.Overloaded},
		},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "salesforce", title: "Salesforce REST and SOAP",
		docs: []string{"https://developer.salesforce.com/docs/platform/salesforce-app-limits-cheatsheet/guide/salesforce-app-limits-platform-api.html"},
		rules: []rule{
			{at: salesforceError, like: regexp.MustCompile(`^REQUEST_LIMIT_EXCEEDED: Concurrent`), class: planner.RateLimited},
			{at: salesforceError, like: regexp.MustCompile(`^REQUEST_LIMIT_EXCEEDED`), class: planner.QuotaExhausted},
			{at: salesforceError, like: regexp.MustCompile(`^(SERVER_UNAVAILABLE|UNABLE_TO_LOCK_ROW)`), class: planner.Overloaded},
		},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "sfmc", aliases: []string{"marketingcloud", "exacttarget"}, title: "Salesforce Marketing Cloud",
		docs:  []string{"https://developer.salesforce.com/docs/marketing/marketing-cloud/guide/rate-limiting-errors.html"},
		hints: []hint{retryAfterHint, {at: inBody("retryAfter"), form: seconds}},
	},
	{
		Name: "zendesk", title: "Zendesk",
		docs: []string{"https://developer.zendesk.com/api-reference/introduction/rate-limits/",
			"https://developer.zendesk.com/documentation/ticketing/using-the-zendesk-api/best-practices-for-avoiding-rate-limiting/"},
		// "When you reach the limit, the API stops processing any more requests".
		vouch: "https://developer.zendesk.com/documentation/ticketing/using-the-zendesk-api/best-practices-for-avoiding-rate-limiting/",
		hints: []hint{retryAfterHint, {at: inHeader("ratelimit-reset"), form: seconds, bucket: "ratelimit-remaining", rank: 1}},
		more:  zendeskEndpoints, moreLabel: "headers zendesk-ratelimit-…: resets, where remaining is 0", moreForm: seconds,
	},
	{
		Name: "mailchimp", title: "Mailchimp Marketing",
		docs:    []string{"https://mailchimp.com/developer/marketing/docs/fundamentals/#api-limits"},
		limited: []int{429},
		rules:   []rule{{at: noJSON, is: []string{"true"}, on: []int{403}, class: planner.RateLimited}},
		hints:   []hint{retryAfterHint},
	},
	{
		Name: "zoho", title: "Zoho",
		docs: []string{"https://www.zoho.com/crm/developer/docs/api/v8/api-limits.html",
			"https://www.zoho.com/accounts/protocol/oauth/token-limits.html", "https://www.zoho.com/books/api/v3/introduction/"},
		rules: []rule{
			{at: inBody("code"), is: []string{"45", "API_LIMIT_EXCEEDED", "LIMIT_EXCEEDED"}, on: []int{400, 403, 429}, class: planner.QuotaExhausted},
			{at: inBody("code"), is: []string{"44", "1070", "TOO_MANY_REQUESTS"}, class: planner.RateLimited},
			{at: inBody("error_description"), like: regexp.MustCompile(`^You have made too many requests`), class: planner.RateLimited},
		},
		hints: []hint{retryAfterHint, {at: inHeader("x-rate-limit-reset"), form: seconds, bucket: "x-rate-limit-remaining", rank: 1}},
	},
	{
		Name: "pipedrive", title: "Pipedrive",
		docs: []string{"https://pipedrive.readme.io/docs/core-api-concepts-rate-limiting"},
		rules: []rule{
			{at: inBody("error"), like: regexp.MustCompile(`(?i)^(the )?daily\b.*\b(budget|limit)`), on: []int{429}, class: planner.QuotaExhausted},
			{at: inHeader("x-daily-ratelimit-token-remaining"), like: nothingLeft, on: []int{429}, class: planner.QuotaExhausted},
			{at: inHeader("x-daily-requests-left"), like: nothingLeft, on: []int{429}, class: planner.QuotaExhausted},
		},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-reset"), form: seconds, main: true, bucket: "x-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "intercom", title: "Intercom",
		docs:  []string{"https://developers.intercom.com/docs/references/rest-api/errors/rate-limiting"},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-reset"), form: epoch, main: true, bucket: "x-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "dropbox", title: "Dropbox",
		docs:  []string{"https://developers.dropbox.com/error-handling-guide"},
		hints: []hint{retryAfterHint, {at: inBody("error.retry_after", "retry_after"), form: seconds}},
	},
	{
		Name: "xero", title: "Xero",
		docs: []string{"https://developer.xero.com/documentation/guides/oauth2/limits/"},
		rules: []rule{
			{at: inHeader("x-rate-limit-problem"), is: []string{"day"}, on: []int{429}, class: planner.QuotaExhausted},
		},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "exact", aliases: []string{"exactonline", "exact-online"}, title: "Exact Online",
		docs: []string{"https://support.exactonline.com/community/s/knowledge-base#All-All-DNO-Simulation-gen-apilimits"},
		hints: []hint{
			retryAfterHint,
			{at: inHeader("x-ratelimit-minutely-reset"), form: epochMillis, bucket: "x-ratelimit-minutely-remaining", rank: 1},
			{at: inHeader("x-ratelimit-reset"), form: epochMillis, main: true, bucket: "x-ratelimit-remaining", rank: 1, quota: true},
		},
	},
	{
		Name: "zoom", title: "Zoom",
		docs: []string{"https://developers.zoom.us/docs/api/rate-limits/"},
		rules: []rule{
			{at: inHeader("x-ratelimit-type"), is: []string{"Daily-limit"}, on: []int{429}, class: planner.QuotaExhausted},
			{at: inBody("message"), like: regexp.MustCompile(`^You have reached the maximum daily rate limit`), class: planner.QuotaExhausted},
		},
		hints: []hint{{at: inHeader("retry-after"), form: timeOrSeconds, main: true}},
	},
	{
		Name: "activecampaign", title: "ActiveCampaign",
		docs:  []string{"https://developers.activecampaign.com/reference/rate-limits"},
		hints: []hint{retryAfterHint, {at: inHeader("ratelimit-reset"), form: seconds, bucket: "ratelimit-remaining", rank: 1}},
	},
	{
		Name: "pluggy", title: "Pluggy",
		docs: []string{"https://docs.pluggy.ai/en/reference/rate-limits"},
		// Its Retry-After is always 60; the manual says to go by RateLimit-Reset.
		hints: []hint{
			{at: inHeader("ratelimit-reset"), form: seconds, main: true, bucket: "ratelimit-remaining"},
			{at: inHeader("retry-after"), form: rfc9110, main: true, rank: 1},
		},
	},
}

// timeOrSeconds is a Retry-After that may be an ISO 8601 time.
var timeOrSeconds = form{name: "seconds, HTTP-date or ISO 8601 time", parse: anyOf(rfc9110, isoTime)}

// salesforceError is "CODE: message": a SOAP fault writes it so, the REST API
// has the two apart, in a list.
var salesforceError = place{"body [].errorCode and message, or <faultstring>", func(r *response) []string {
	var out []string
	r.doc().ForEach(func(_, e gjson.Result) bool {
		if code := e.Get("errorCode").Str; code != "" {
			out = append(out, code+": "+strings.TrimSpace(e.Get("message").Str))
		}
		return true
	})
	return append(out, inXML("faultstring").find(r)...)
}}

// noJSON says "true" for a body that is no JSON object: the throttle answers
// with a bare page, the API with a problem document.
var noJSON = place{"body that is no JSON", func(r *response) []string {
	if r.doc().Exists() {
		return nil
	}
	return []string{"true"}
}}

// zendeskEndpoints are the limits of single endpoints, such as
// zendesk-ratelimit-tickets-index: total=100; remaining=0; resets=41.
func zendeskEndpoints(r *response) []hint {
	var out []hint
	seen := map[string]bool{}
	for _, h := range r.headers {
		name := strings.ToLower(string(h.name))
		if !strings.HasPrefix(name, "zendesk-ratelimit-") || len(name) > 100 || seen[name] {
			continue
		}
		seen[name] = true
		resets := place{"header " + name, func(r *response) []string {
			var out []string
			for _, text := range r.named(name).filled(name) {
				if left := settings(text, "remaining"); left == "0" {
					out = append(out, settings(text, "resets"))
				}
			}
			return out
		}}
		out = append(out, hint{at: resets, form: seconds, rank: 1})
	}
	return out
}
