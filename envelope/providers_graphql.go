package envelope

import (
	"regexp"
	"strconv"

	"n8n-retry-planner/planner"
)

// graphQLProviders answer a refused call with an error inside a reply whose
// status may be 200.
var graphQLProviders = []*Dialect{
	{
		Name: "shopify", title: "Shopify Admin, REST and GraphQL",
		docs: []string{"https://shopify.dev/docs/api/usage/limits"},
		rules: []rule{
			{at: inBody("errors.#.extensions.code"), in2xx: true, is: []string{"THROTTLED"}, class: planner.RateLimited},
		},
		hints: []hint{
			{at: inHeader("retry-after"), form: decimalSeconds, main: true},
			{at: shopifyRestore, form: seconds, rank: 1},
		},
	},
	{
		Name: "monday", title: "monday.com",
		docs: []string{"https://developer.monday.com/api-reference/docs/rate-limits",
			"https://support.monday.com/hc/en-us/articles/26471164460690-API-Rate-Limits"},
		rules: []rule{
			{at: mondayCode, in2xx: true, is: []string{"DAILY_LIMIT_EXCEEDED"}, class: planner.QuotaExhausted, wait: untilMidnightUTC},
			{at: mondayCode, in2xx: true, class: planner.RateLimited, is: []string{"COMPLEXITY_BUDGET_EXHAUSTED", "ComplexityException",
				"RATE_LIMIT_EXCEEDED", "Rate Limit Exceeded", "RateLimitExceeded", "FIELD_MINUTE_RATE_LIMIT_EXCEEDED",
				"MINUTE_LIMIT_EXCEEDED", "MINUTE_RATE_LIMIT_EXCEEDED", "IP_RATE_LIMIT_EXCEEDED", "maxConcurrencyExceeded",
				"CONCURRENCY_LIMIT_EXCEEDED", "MAX_CONCURRENCY_EXCEEDED", "FIELD_LIMIT_EXCEEDED"}},
			{at: inBody("errors.#.extensions.status_code"), in2xx: true, is: []string{"429"}, class: planner.RateLimited},
			{at: inBody("errors.#.message"), in2xx: true, like: regexp.MustCompile(`(?i)^(Minute limit )?rate limit exceeded`), class: planner.RateLimited},
		},
		hints: []hint{
			retryAfterHint,
			{at: inBody("errors.#.extensions.retry_in_seconds", "retry_in_seconds", "error_data.retry_in_seconds"), form: seconds},
			{at: inBody("error_message", "errors.#.message", `errors.#(%"Complexity*")#`).saying(`^Complexity budget exhausted.* reset in (\d+) seconds?`), form: seconds, rank: 1},
		},
	},
	{
		Name: "linear", title: "Linear",
		docs: []string{"https://linear.app/developers/rate-limiting"},
		rules: []rule{
			{at: inBody("errors.#.extensions.code"), in2xx: true, is: []string{"RATELIMITED"}, class: planner.RateLimited},
		},
		hints: []hint{
			retryAfterHint,
			{at: inHeader("x-ratelimit-requests-reset"), form: epochMillis, main: true, bucket: "x-ratelimit-requests-remaining", rank: 1},
			{at: inHeader("x-ratelimit-complexity-reset"), form: epochMillis, main: true, bucket: "x-ratelimit-complexity-remaining", rank: 1},
			{at: inHeader("x-ratelimit-endpoint-requests-reset"), form: epochMillis, bucket: "x-ratelimit-endpoint-requests-remaining", rank: 1},
		},
	},
}

var mondayCode = inBody("errors.#.extensions.code", "error_code", "errors.#.extensions.error_code")

// shopifyRestore is what a throttled query has to wait for: the points that it
// lacks, at the rate at which they come back.
var shopifyRestore = place{"body extensions.cost", func(r *response) []string {
	cost := r.doc().Get("extensions.cost")
	status := cost.Get("throttleStatus")
	missing := cost.Get("requestedQueryCost").Num - status.Get("currentlyAvailable").Num
	rate := status.Get("restoreRate").Num
	if !(rate > 0) || !(missing > 0) {
		return nil
	}
	return []string{strconv.FormatFloat(missing/rate, 'f', -1, 64)}
}}
