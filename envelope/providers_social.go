package envelope

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"n8n-retry-planner/planner"
)

// socialProviders are networks, messengers and media.
var socialProviders = []*Dialect{
	{
		Name: "slack", title: "Slack",
		docs: []string{"https://docs.slack.dev/apis/web-api/rate-limits"},
		rules: []rule{
			{at: inBody("error").when(inBody("ok"), "false"), in2xx: true, is: []string{"ratelimited", "rate_limited"}, class: planner.RateLimited},
		},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "discord", title: "Discord",
		docs: []string{"https://docs.discord.com/developers/topics/rate-limits"},
		hints: []hint{
			{at: inHeader("x-ratelimit-reset-after"), form: seconds, bucket: "x-ratelimit-remaining", precise: true},
			{at: discordWait(inBody("retry_after")), form: seconds, main: true, precise: true},
			{at: discordWait(inHeader("retry-after")), form: decimalSeconds, main: true},
			{at: inHeader("x-ratelimit-reset"), form: epoch, bucket: "x-ratelimit-remaining", rank: 1},
		},
	},
	{
		Name: "x", aliases: []string{"twitter"}, title: "X (Twitter)",
		docs:    []string{"https://docs.x.com/x-api/fundamentals/rate-limits", "https://docs.x.com/x-api/fundamentals/response-codes-and-errors"},
		limited: []int{429, 420},
		rules: []rule{
			{at: inBody("title"), is: []string{"UsageCapExceeded", "CreditsDepleted"}, class: planner.QuotaExhausted},
			{at: inBody("type"), is: []string{"https://api.twitter.com/2/problems/usage-capped", "https://api.x.com/2/problems/usage-capped",
				"https://api.twitter.com/2/problems/credits", "https://api.x.com/2/problems/credits"}, class: planner.QuotaExhausted},
			{at: inBody("errors.#.code"), is: []string{"185"}, class: planner.QuotaExhausted},
			{at: inBody("errors.#.code"), is: []string{"88"}, class: planner.RateLimited},
			{at: inBody("errors.#.code"), is: []string{"130"}, class: planner.Overloaded},
		},
		hints: []hint{
			retryAfterHint,
			{at: inHeader("x-app-limit-24hour-reset"), form: epoch, bucket: "x-app-limit-24hour-remaining", quota: true},
			{at: inHeader("x-user-limit-24hour-reset"), form: epoch, bucket: "x-user-limit-24hour-remaining", quota: true},
			{at: inHeader("x-rate-limit-reset"), form: epoch, main: true, bucket: "x-rate-limit-remaining", rank: 1},
		},
	},
	{
		Name: "reddit", title: "Reddit",
		docs: []string{"https://support.reddithelp.com/hc/en-us/articles/16160319875092-Reddit-Data-API-Wiki"},
		rules: []rule{
			{at: inBody("json.errors.#.0"), in2xx: true, is: []string{"RATELIMIT"}, class: planner.RateLimited},
		},
		hints: []hint{
			retryAfterHint,
			{at: inHeader("x-ratelimit-reset"), form: seconds, main: true, bucket: "x-ratelimit-remaining", rank: 1},
			{at: inBody("json.ratelimit"), form: seconds},
		},
	},
	{
		Name: "telegram", title: "Telegram Bot API",
		docs: []string{"https://core.telegram.org/bots/api#responseparameters"},
		rules: []rule{
			{at: inBody("error_code").when(inBody("ok"), "false"), is: []string{"429"}, class: planner.RateLimited},
		},
		hints: []hint{
			{at: inBody("parameters.retry_after"), form: seconds, main: true},
			retryAfterHint,
			{at: inBody("description").saying(`^Too Many Requests: retry after (\d+)$`), form: seconds, rank: 1},
		},
	},
	{
		Name: "meta", aliases: []string{"facebook", "instagram", "whatsapp"}, title: "Meta Graph API: Facebook, Instagram, WhatsApp",
		docs: []string{"https://developers.facebook.com/docs/graph-api/overview/rate-limiting/",
			"https://developers.facebook.com/docs/graph-api/guides/error-handling/"},
		rules: []rule{
			{at: inBody("error.code"), class: planner.RateLimited, is: append([]string{"4", "17", "32", "341", "613",
				"130429", "131048", "131056"}, metaBusinessCodes()...)},
			{at: inBody("error.is_transient"), is: []string{"true"}, class: planner.Overloaded},
			{at: inBody("error.code"), is: []string{"1", "2"}, on: []int{400, 500, 503}, class: planner.Overloaded},
		},
		hints: []hint{
			retryAfterHint,
			{at: metaUsage("x-business-use-case-usage", "estimated_time_to_regain_access"), form: minutes},
			{at: metaUsage("x-ad-account-usage", "reset_time_duration"), form: seconds},
		},
	},
	{
		Name: "spotify", title: "Spotify",
		docs:  []string{"https://developer.spotify.com/documentation/web-api/concepts/rate-limits"},
		hints: []hint{retryAfterHint},
	},
	{
		Name: "twitch", title: "Twitch Helix",
		docs:  []string{"https://dev.twitch.tv/docs/api/guide/#twitch-rate-limits"},
		hints: []hint{retryAfterHint, {at: inHeader("ratelimit-reset"), form: epoch, main: true, bucket: "ratelimit-remaining", rank: 1}},
	},
	{
		Name: "zulip", title: "Zulip",
		docs:  []string{"https://zulip.com/api/rest-error-handling", "https://zulip.com/api/http-headers"},
		rules: []rule{{at: inBody("code"), is: []string{"RATE_LIMIT_HIT"}, class: planner.RateLimited}},
		hints: []hint{
			{at: inBody("retry-after"), form: seconds, precise: true},
			{at: inHeader("retry-after"), form: decimalSeconds, main: true},
			{at: inBody("msg").saying(`^API usage exceeded rate limit, try again in ([\d.]+) secs?$`), form: seconds, rank: 1},
			{at: inHeader("x-ratelimit-reset"), form: epoch, bucket: "x-ratelimit-remaining", rank: 2},
		},
	},
}

// discordWait leaves out a wait in milliseconds, which versions before 8 of the
// API send: x-ratelimit-reset-after tells the same wait in seconds. It does so
// only for a bucket that is used up, and not for the global limit.
func discordWait(p place) place {
	return place{p.label, func(r *response) []string {
		after, ok := r.headers.only("x-ratelimit-reset-after")
		resetAfter, err := strconv.ParseFloat(after, 64)
		ok = ok && discordBucket.bucketState(discordBucket.bucketTexts(r), 0, 1) != bucketOpen && !discordGlobal.holds(r)
		var out []string
		for _, text := range p.find(r) {
			wait, isNumber := plainNumber(text)
			if ok && err == nil && isNumber && resetAfter > 0 && math.Abs(wait-1000*resetAfter) <= 1 {
				continue
			}
			out = append(out, text)
		}
		return out
	}}
}

var (
	discordBucket = hint{bucket: "x-ratelimit-remaining"}
	discordGlobal = rule{at: place{"", func(r *response) []string {
		return append(inHeader("x-ratelimit-global").find(r), inBody("global").find(r)...)
	}}, is: []string{"true"}}
)

// metaBusinessCodes are the limits of the business use cases, 80000 to 80014.
func metaBusinessCodes() []string {
	var out []string
	for code := 80000; code <= 80014; code++ {
		out = append(out, strconv.Itoa(code))
	}
	return out
}

// metaUsage is a member of a header that holds JSON: an object, or lists of
// them by business id. A wait that is 0 is of a use case that is not blocked.
func metaUsage(name, member string) place {
	return place{"header " + name + " " + member, func(r *response) []string {
		var out []string
		for _, text := range r.headers.filled(name) {
			if len(text) > maxBody || !gjson.Valid(text) || !strings.HasPrefix(text, "{") {
				continue
			}
			usage := gjson.Parse(text)
			out = appendTexts(out, usage.Get(member), false)
			usage.ForEach(func(_, entries gjson.Result) bool {
				if entries.IsArray() {
					out = appendTexts(out, entries.Get("#."+member), true)
				}
				return true
			})
		}
		return out
	}}
}
