package envelope

import (
	"regexp"
	"strings"

	"n8n-retry-planner/planner"
)

// developerProviders are for code, identity, mail and search.
var developerProviders = []*Dialect{
	{
		Name: "github", title: "GitHub REST and GraphQL",
		docs: []string{"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api",
			"https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api"},
		rules: []rule{
			// Without a Retry-After: wait for at least a minute.
			{at: githubMessage, in2xx: true, class: planner.RateLimited, wait: always(60),
				like: regexp.MustCompile(`^You have exceeded a secondary rate limit|^You have triggered an abuse detection mechanism`)},
			{at: githubMessage, in2xx: true, class: planner.RateLimited, like: regexp.MustCompile(`^API rate limit (already )?exceeded`)},
			{at: inBody("errors.#.type"), in2xx: true, is: []string{"RATE_LIMITED", "RATE_LIMIT"}, class: planner.RateLimited},
			{at: inHeader("x-ratelimit-remaining"), like: nothingLeft, on: []int{403}, class: planner.RateLimited},
			{at: inHeader("retry-after"), like: anyText, on: []int{403}, class: planner.RateLimited},
		},
		// The manual asks to keep to both headers, so the later counts.
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-reset"), form: epoch, bucket: "x-ratelimit-remaining"}},
	},
	{
		Name: "gitlab", title: "GitLab",
		docs: []string{"https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/"},
		hints: []hint{
			retryAfterHint,
			{at: inHeader("ratelimit-reset"), form: epoch, bucket: "ratelimit-remaining", rank: 1},
			{at: inHeader("ratelimit-resettime"), form: httpDate, bucket: "ratelimit-remaining", rank: 1},
		},
	},
	{
		Name: "bitbucket", title: "Bitbucket Cloud",
		docs:  []string{"https://support.atlassian.com/bitbucket-cloud/docs/api-request-limits/"},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "jira", aliases: []string{"confluence"}, title: "Jira and Confluence Cloud",
		docs: []string{"https://developer.atlassian.com/cloud/jira/platform/rate-limiting/"},
		hints: []hint{
			retryAfterHint,
			{at: inRateLimit("ratelimit"), form: seconds, rank: 1},
			{at: inRateLimit("beta-ratelimit"), form: seconds, rank: 1},
			// It has no seconds, so Retry-After outranks it.
			{at: inHeader("x-ratelimit-reset"), form: isoTime, bucket: "x-ratelimit-remaining", rank: 2},
		},
	},
	{
		Name: "atlassian", title: "Atlassian Data Center",
		docs: []string{"https://confluence.atlassian.com/conf87/_ratelimiting_httpheaders-1333822054.html"},
		// 0 says that there are tokens left; the interval is the length of a window.
		hints: []hint{retryAfterHint},
	},
	{
		Name: "okta", title: "Okta",
		docs: []string{"https://developer.okta.com/docs/reference/rl-best-practices/"},
		// The manual compares the reset with the Date of the same response.
		serverClock: true,
		rules:       []rule{{at: inBody("errorCode"), is: []string{"E0000047"}, class: planner.RateLimited}},
		hints: []hint{
			retryAfterHint,
			{at: inHeader("x-rate-limit-reset"), form: epoch, main: true, bucket: "x-rate-limit-remaining", rank: 1},
		},
	},
	{
		Name: "auth0", title: "Auth0",
		docs:  []string{"https://auth0.com/docs/troubleshoot/customer-support/operational-policies/rate-limit-policy"},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-reset"), form: epoch, main: true, bucket: "x-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "sendgrid", aliases: []string{"twilio-sendgrid"}, title: "SendGrid",
		docs:  []string{"https://www.twilio.com/docs/sendgrid/api-reference/how-to-use-the-sendgrid-v3-api/rate-limits"},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-reset"), form: epoch, main: true, bucket: "x-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "resend", title: "Resend",
		docs: []string{"https://resend.com/docs/api-reference/rate-limit", "https://resend.com/docs/api-reference/errors"},
		rules: []rule{
			{at: inBody("name", "error.name"), is: []string{"daily_quota_exceeded", "monthly_quota_exceeded"}, class: planner.QuotaExhausted},
		},
		hints: []hint{retryAfterHint, {at: inHeader("ratelimit-reset"), form: seconds, bucket: "ratelimit-remaining", rank: 1}},
	},
	{
		Name: "brave", title: "Brave Search",
		docs: []string{"https://api-dashboard.search.brave.com/documentation/guides/rate-limiting"},
		rules: []rule{
			{at: listItem("x-ratelimit-remaining", 1), like: nothingLeft, on: []int{429}, class: planner.QuotaExhausted},
		},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-reset"), form: seconds, main: true, bucket: "x-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "honeycomb", title: "Honeycomb",
		docs:  []string{"https://docs.honeycomb.io/api/rate-limit"},
		hints: []hint{retryAfterHint, {at: inRateLimit("ratelimit"), form: seconds, rank: 1}},
	},
	{
		Name: "digitalocean", title: "DigitalOcean",
		docs:  []string{"https://docs.digitalocean.com/reference/api/digitalocean/#section/Introduction/Rate-Limit"},
		hints: []hint{retryAfterHint, {at: inHeader("ratelimit-reset"), form: epoch, bucket: "ratelimit-remaining", rank: 1}},
	},
	{
		Name: "vercel", title: "Vercel",
		docs:  []string{"https://vercel.com/docs/rest-api"},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-reset"), form: epoch, bucket: "x-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "sentry", title: "Sentry",
		docs:  []string{"https://docs.sentry.io/api/ratelimits/"},
		hints: []hint{retryAfterHint, {at: inHeader("x-sentry-rate-limit-reset"), form: epoch, bucket: "x-sentry-rate-limit-remaining", rank: 1}},
	},
}

// githubMessage is the message of an error. A commit has a message too, which
// anybody can write: inside a 2xx only one beside a documentation_url counts.
var githubMessage = place{"body message or errors[].message", func(r *response) []string {
	if planner.Successful(r.status) && !strings.HasPrefix(r.doc().Get("documentation_url").Str, "https://docs.github.com/") {
		return inBody("errors.#.message").find(r)
	}
	return inBody("message", "errors.#.message").find(r)
}}

// listItem is one value of a header that is a list.
func listItem(name string, index int) place {
	return place{"header " + name, func(r *response) []string {
		if list := splitList(r.headers.filled(name)); index < len(list) {
			return list[index : index+1]
		}
		return nil
	}}
}
