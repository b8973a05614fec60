package envelope

// otherProviders are those with a form of their own.
var otherProviders = []*Dialect{
	{
		Name: "prisjakt", title: "Prisjakt",
		docs:  []string{"https://developer.prisjakt.nu/docs/sections/rate-limit"},
		hints: []hint{retryAfterHint, {at: inHeader("x-rate-limit-reset"), form: milliseconds, main: true, bucket: "x-rate-limit-remaining", rank: 1}},
	},
	{
		Name: "sellercloud", title: "Sellercloud",
		docs:  []string{"https://developer.sellercloud.com/dev-article/rest-api-rate-limiting"},
		hints: []hint{retryAfterHint, {at: inBody("RateLimitResetTime"), form: isoTime, main: true, rank: 1}},
	},
}
