package envelope

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"n8n-retry-planner/planner"
)

// cloudProviders are the large platforms.
var cloudProviders = []*Dialect{
	{
		Name: "aws", aliases: []string{"amazon", "dynamo", "dynamodb", "s3", "ses", "sqs", "sns", "lambda", "bedrock", "ec2", "kinesis"},
		title: "Amazon Web Services",
		docs: []string{"https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html",
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html"},
		rules: []rule{
			{at: inBody("message", "Message"), like: regexp.MustCompile(`^Daily message quota exceeded|^Too many tokens per day`), class: planner.QuotaExhausted},
			{at: awsCode, is: []string{"ServiceQuotaExceededException"}, class: planner.QuotaExhausted},
			{at: awsCode, class: planner.RateLimited, is: []string{"Throttling", "ThrottlingException", "ThrottledException",
				"RequestThrottledException", "RequestThrottled", "TooManyRequestsException", "TooManyRequests",
				"ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded", "RequestLimitExceeded",
				"BandwidthLimitExceeded", "LimitExceededException", "SlowDown", "PriorRequestNotComplete",
				"EC2ThrottledException", "TransactionInProgressException", "RequestThrottledError"}},
			{at: awsCode, class: planner.Overloaded, is: []string{"RequestTimeout", "RequestTimeoutException", "ServiceUnavailable",
				"ServiceUnavailableException", "InternalFailure", "InternalError", "InternalServerError", "InternalServerException",
				"ModelNotReadyException"}},
		},
		hints: []hint{
			retryAfterHint,
			{at: inHeader("x-amz-retry-after"), form: milliseconds, main: true},
			{at: inBody("retryAfterSeconds"), form: seconds},
		},
	},
	{
		Name: "azure", aliases: []string{"azure-openai", "azureopenai", "cosmos", "cosmosdb", "aoai"},
		title: "Microsoft Azure, Azure OpenAI and Cosmos DB",
		docs: []string{"https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling",
			"https://learn.microsoft.com/azure/ai-foundry/openai/how-to/provisioned-get-started"},
		// "your request isn't processed and a new retry value is returned"
		vouch: "https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling",
		rules: []rule{
			{at: inBody("error.code", "error.type"), is: []string{"insufficient_quota"}, class: planner.QuotaExhausted},
			{at: inBody("message", "error.message"), like: regexp.MustCompile(`^Out of call volume quota`), class: planner.QuotaExhausted},
			// Cosmos DB: the write was in conflict and is to be made again.
			{at: statusPlace, is: []string{"449"}, class: planner.Overloaded},
		},
		// Retry-After is the rounded copy of the milliseconds, and has been seen
		// negative under load; the main hint is the one in milliseconds.
		hints: []hint{
			{at: inHeader("retry-after-ms"), form: milliseconds, main: true, precise: true},
			{at: inHeader("x-ms-retry-after-ms"), form: milliseconds, main: true, precise: true},
			{at: inHeader("retry-after").parts(), form: rfc9110},
			{at: inHeader("x-ratelimit-reset-requests"), form: duration, bucket: "x-ratelimit-remaining-requests", rank: 1},
			{at: inHeader("x-ratelimit-reset-tokens"), form: duration, bucket: "x-ratelimit-remaining-tokens", rank: 1},
			{at: inBody("error.message", "message").saying(`(?:[Pp]lease retry after|Try again in) (\d+ (?:milli)?seconds?)\b`), form: inWords, rank: 2},
		},
	},
	{
		Name: "google", aliases: []string{"gmail", "gemini", "youtube", "googleapis", "drive", "sheets", "vertex", "gcp", "bigquery", "firebase"},
		title: "Google APIs: Workspace, Cloud, YouTube, Gemini",
		docs: []string{"https://developers.google.com/workspace/gmail/api/guides/handle-errors",
			"https://google.aip.dev/193", "https://ai.google.dev/gemini-api/docs/rate-limits"},
		rules: []rule{
			{at: googleReason, class: planner.QuotaExhausted, is: []string{"dailyLimitExceeded", "dailyLimitExceededUnreg", "quotaExceeded",
				"uploadLimitExceeded", "variableTermLimitExceeded", "variableTermExpiredDailyExceeded", "billingNotEnabled"}},
			{at: statusPlace, is: []string{"402"}, class: planner.QuotaExhausted},
			{at: inGoogleError("code"), is: []string{"quota_exceeded"}, class: planner.QuotaExhausted},
			{at: googleQuota, like: regexp.MustCompile(`(?i)per ?day|^1/d/`), class: planner.QuotaExhausted},
			{at: inGoogleError("message"), like: regexp.MustCompile(`^Quota exceeded for quota metric '[^']*' and limit '[^']* per day`), class: planner.QuotaExhausted},
			{at: googleReason, class: planner.RateLimited, is: []string{"rateLimitExceeded", "userRateLimitExceeded", "sharingRateLimitExceeded",
				"concurrentLimitExceeded", "uploadRateLimitExceeded", "rateLimitExceededUnreg", "userRateLimitExceededUnreg",
				"servingLimitExceeded", "RATE_LIMIT_EXCEEDED"}},
			{at: googleBareQuota, like: regexp.MustCompile(`^You exceeded your current quota`), class: planner.QuotaExhausted},
			{at: googleReason, is: []string{"backendError", "internalError"}, on: []int{403, 500, 503}, class: planner.Overloaded},
		},
		hints: []hint{
			retryAfterHint,
			{at: retryInfo, form: duration, main: true},
			{at: inGoogleError("message").saying(`[Pp]lease retry in ((?:[\d.]+(?:ms|[hms]))+)\.?`), form: duration},
			{at: inGoogleError("message", "errors.#.message").saying(`(?:^| )Retry after (\d{4}-\d\d-\d\dT[\d:.]+Z)$`), form: isoTime},
		},
	},
	{
		Name: "msgraph", aliases: []string{"graph", "microsoft", "microsoftgraph", "sharepoint", "onedrive", "outlook", "teams", "office365", "dynamics"},
		title: "Microsoft Graph, SharePoint Online",
		docs: []string{"https://learn.microsoft.com/graph/throttling",
			"https://learn.microsoft.com/sharepoint/dev/general-development/how-to-avoid-getting-throttled-or-blocked-in-sharepoint-online"},
		limited: []int{429, 509},
		rules: []rule{
			{at: graphBatchStatus, is: []string{"429"}, in2xx: true, class: planner.RateLimited},
			{at: graphBatchStatus, is: []string{"503"}, in2xx: true, class: planner.Overloaded},
			// The gateway gave up waiting: a write may have happened.
			{at: statusPlace, is: []string{"504"}, class: planner.Unknown},
		},
		hints: []hint{
			{at: inHeader("retry-after").parts(), form: rfc9110, main: true},
			{at: graphBatchWait, form: rfc9110, main: true},
			{at: inHeader("ratelimit-reset"), form: seconds, bucket: "ratelimit-remaining", rank: 1},
		},
	},
	{
		Name: "cloudflare", title: "Cloudflare API and edge",
		docs: []string{"https://developers.cloudflare.com/fundamentals/api/reference/limits/"},
		rules: []rule{
			// More than 1200 calls in five minutes block all calls for the next five.
			{at: inBody("success"), is: []string{"false"}, on: []int{429}, class: planner.RateLimited, wait: always(300)},
		},
		hints: []hint{
			retryAfterHint,
			{at: inBody("retry_after"), form: seconds},
			{at: inRateLimit("ratelimit"), form: seconds, rank: 1},
		},
	},
	{
		Name: "akamai", title: "Akamai APIs",
		docs: []string{"https://techdocs.akamai.com/msl/reference/resource-limiting"},
		hints: []hint{
			retryAfterHint,
			{at: inHeader("x-ratelimit-next"), form: isoTime, main: true, bucket: "x-ratelimit-remaining", rank: 1},
		},
	},
}

// awsCode is the error code, which the protocols of AWS keep in different
// places, without its namespace and the text after it.
var awsCode = place{"header x-amzn-errortype, body __type, code or <Code>", func(r *response) []string {
	var out []string
	for _, p := range awsPlaces {
		for _, text := range p.find(r) {
			if _, after, ok := strings.Cut(text, "#"); ok {
				text = after
			}
			text, _, _ = strings.Cut(text, ":")
			out = append(out, strings.TrimSpace(text))
		}
	}
	return out
}}

var awsPlaces = []place{inHeader("x-amzn-errortype"), inBody("__type", "code", "Code", "error.code", "Error.Code"), inXML("Code")}

// inGoogleError is a member of Google's error object. The object may be the
// first of a list, or stand as JSON text in the message of another.
func inGoogleError(paths ...string) place {
	return place{"body error." + strings.Join(paths, " or error."), func(r *response) []string {
		e := googleError(r)
		if !e.Exists() {
			return nil
		}
		var out []string
		for _, path := range paths {
			out = appendTexts(out, e.Get(path), strings.Contains(path, "#"))
		}
		return out
	}}
}

func googleError(r *response) gjson.Result {
	e := r.doc().Get("error")
	if !e.Exists() {
		e = r.doc().Get("0.error")
	}
	if inner := e.Get("message").Str; strings.HasPrefix(strings.TrimSpace(inner), "{") && gjson.Valid(inner) {
		if nested := gjson.Get(inner, "error"); nested.IsObject() {
			return nested
		}
	}
	return e
}

var (
	googleReason = inGoogleError("errors.#.reason", "details.#.reason")
	googleQuota  = inGoogleError("details.#.violations.#.quotaId", "details.#.metadata.quota_limit", "details.#.metadata.quota_unit")
)

// googleBareQuota is the message of a reply that names neither the quota nor a
// time to come back: with either, the same sentence is about a minute.
var googleBareQuota = place{"body error.message, without error.details", func(r *response) []string {
	if len(googleQuota.find(r)) > 0 || len(retryInfo.find(r)) > 0 {
		return nil
	}
	return inGoogleError("message").find(r)
}}

// retryInfo is google.rpc.RetryInfo (google.aip.dev/193): found by its type.
var retryInfo = place{"body error.details RetryInfo", func(r *response) []string {
	var out []string
	googleError(r).Get("details").ForEach(func(_, detail gjson.Result) bool {
		if strings.HasSuffix(detail.Get(`\@type`).Str, "google.rpc.RetryInfo") {
			delay := detail.Get("retryDelay")
			if delay.IsObject() { // as gRPC libraries print it
				delay = delay.Get("seconds")
			}
			out = appendTexts(out, delay, false)
		}
		return true
	})
	return out
}}

// A batch answers 200 and has a status for each of its parts.
var (
	graphBatchStatus = place{"body responses[].status", func(r *response) []string {
		if r.status != 200 {
			return nil
		}
		return inBody("responses.#.status").find(r)
	}}
	graphBatchWait = place{"body responses[].headers.Retry-After", func(r *response) []string {
		if r.status != 200 {
			return nil
		}
		var out []string
		r.doc().Get("responses").ForEach(func(_, part gjson.Result) bool {
			if status := part.Get("status").Int(); status == 429 || status == 503 {
				inner := response{headers: looseHeaders(part.Get("headers"))}
				out = append(out, inHeader("retry-after").parts().find(&inner)...)
			}
			return true
		})
		return out
	}}
)
