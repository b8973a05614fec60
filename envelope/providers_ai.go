package envelope

import (
	"regexp"
	"time"

	"n8n-retry-planner/planner"
)

// shouldRetry is the header with which the servers behind the official
// libraries of OpenAI and Anthropic overrule the status.
var shouldRetry = []rule{
	{at: inHeader("x-should-retry"), is: []string{"false"}, class: planner.Refused},
	{at: inHeader("x-should-retry").when(notLimited, "true"), is: []string{"true"}, class: planner.Overloaded},
}

// notLimited says "true" for a status other than 429: there, a limit stays one.
var notLimited = place{"status", func(r *response) []string {
	if r.status == 429 {
		return nil
	}
	return []string{"true"}
}}

// openAIHints are the headers of OpenAI and of the many that copy it.
var openAIHints = []hint{
	{at: inHeader("retry-after-ms"), form: milliseconds, main: true, precise: true},
	retryAfterHint,
	{at: inHeader("x-ratelimit-reset-requests"), form: duration, bucket: "x-ratelimit-remaining-requests", rank: 1},
	{at: inHeader("x-ratelimit-reset-tokens"), form: duration, bucket: "x-ratelimit-remaining-tokens", rank: 1},
	// A request for more tokens than are left is refused with some left.
	{at: inHeader("x-ratelimit-reset-tokens").when(inBody("error.type"), "tokens"), form: duration, rank: 1},
	{at: inBody("error.message").saying(`[Pp]lease try again in ((?:[\d.]+(?:ms|[dhms]))+)\.?(?: |$)`), form: duration, rank: 2},
}

// aiProviders are the language models. Nearly all their calls are POST.
var aiProviders = []*Dialect{
	{
		Name: "openai", title: "OpenAI",
		docs: []string{"https://developers.openai.com/api/docs/guides/rate-limits", "https://developers.openai.com/api/docs/guides/error-codes"},
		// "the organization cannot successfully submit requests until the rate
		// limit is reset"
		vouch: "https://help.openai.com/en/articles/5955604-how-can-i-so",
		rules: append([]rule{
			{at: inBody("error.code", "error.type"), class: planner.QuotaExhausted, is: []string{"insufficient_quota",
				"credit_balance_exhausted", "organization_usage_limit_exceeded", "organization_spend_limit_exceeded",
				"project_spend_limit_exceeded", "billing_hard_limit_reached", "billing_not_active"}},
		}, shouldRetry...),
		hints: openAIHints,
	},
	{
		Name: "anthropic", aliases: []string{"claude"}, title: "Anthropic",
		docs:       []string{"https://platform.claude.com/docs/en/api/rate-limits", "https://platform.claude.com/docs/en/api/errors"},
		overloaded: []int{529},
		// Of a request made before the limit is over: "Earlier retries will fail".
		vouch: "https://platform.claude.com/docs/en/api/rate-limits",
		rules: append([]rule{
			{at: inBody("error.details.error_code"), is: []string{"enforced_spend_limit_reached"}, class: planner.QuotaExhausted},
			{at: inBody("error.type"), is: []string{"billing_error"}, class: planner.QuotaExhausted},
			{at: inBody("error.message"), on: []int{400, 403, 429}, class: planner.QuotaExhausted,
				like: regexp.MustCompile(`^Your credit balance is too low|^You have reached your specified API usage limits`)},
			{at: inHeader("anthropic-ratelimit-unified-status"), is: []string{"rejected"}, on: []int{429}, class: planner.QuotaExhausted},
			shouldRetry[0], // the libraries obey it before they look at the error
			{at: inBody("error.type"), is: []string{"overloaded_error"}, class: planner.Overloaded},
			{at: inBody("error.type"), is: []string{"rate_limit_error"}, class: planner.RateLimited},
		}, shouldRetry[1]),
		hints: []hint{
			retryAfterHint,
			{at: inHeader("anthropic-ratelimit-unified-reset").when(inHeader("anthropic-ratelimit-unified-status"), "rejected"), form: epoch},
			{at: inHeader("anthropic-ratelimit-requests-reset"), form: isoTime, bucket: "anthropic-ratelimit-requests-remaining", rank: 1},
			{at: inHeader("anthropic-ratelimit-tokens-reset"), form: isoTime, bucket: "anthropic-ratelimit-tokens-remaining", rank: 1},
			{at: inHeader("anthropic-ratelimit-input-tokens-reset"), form: isoTime, bucket: "anthropic-ratelimit-input-tokens-remaining", rank: 1},
			{at: inHeader("anthropic-ratelimit-output-tokens-reset"), form: isoTime, bucket: "anthropic-ratelimit-output-tokens-remaining", rank: 1},
		},
	},
	{
		Name: "groq", title: "Groq",
		docs:  []string{"https://console.groq.com/docs/rate-limits"},
		rules: shouldRetry, hints: openAIHints,
	},
	{
		Name: "mistral", title: "Mistral AI",
		docs:  []string{"https://docs.mistral.ai/deployment/laplateforme/tier/"},
		hints: []hint{retryAfterHint, {at: inHeader("ratelimitbysize-reset"), form: seconds, bucket: "ratelimitbysize-remaining", rank: 1}},
	},
	{
		Name: "openrouter", title: "OpenRouter",
		docs: []string{"https://openrouter.ai/docs/api/reference/errors-and-debugging", "https://openrouter.ai/docs/api/reference/limits"},
		rules: []rule{
			{at: statusPlace, is: []string{"402"}, class: planner.QuotaExhausted},
			{at: inBody("error.message"), like: regexp.MustCompile(`^Rate limit exceeded: free-models-per-day`), class: planner.QuotaExhausted},
		},
		hints: []hint{retryAfterHint,
			{at: inHeader("x-ratelimit-reset"), form: epochMillis, bucket: "x-ratelimit-remaining", rank: 1},
			{at: inBody("error.metadata.headers.X-RateLimit-Reset"), form: epochMillis, rank: 1}},
	},
	{
		Name: "deepseek", title: "DeepSeek",
		docs:  []string{"https://api-docs.deepseek.com/quick_start/error_codes"},
		rules: []rule{{at: statusPlace, is: []string{"402"}, class: planner.QuotaExhausted}},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "zai", aliases: []string{"zhipu", "bigmodel", "glm"}, title: "Z.AI (Zhipu)",
		docs: []string{"https://docs.z.ai/api-reference/api-code"},
		rules: []rule{
			{at: inBody("error.code"), is: []string{"1113", "1304", "1308", "1309", "1310"}, class: planner.QuotaExhausted},
			{at: inBody("error.code"), is: []string{"1302", "1303", "1305"}, class: planner.RateLimited},
		},
		hints: []hint{
			retryAfterHint,
			{at: inBody("error.message").saying(`[Yy]our limit will reset at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)`), form: beijingTime, rank: 1},
		},
	},
}

// beijingTime is a time without a zone that its provider means as UTC+8.
var beijingTime = form{name: "date and time in UTC+8", parse: inZone(time.FixedZone("UTC+8", 8*3600))}
