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
	{
		Name: "brevo", aliases: []string{"sendinblue"}, title: "Brevo",
		docs:  []string{"https://developers.brevo.com/docs/limit-headers"},
		hints: []hint{retryAfterHint, {at: inHeader("x-sib-ratelimit-reset"), form: seconds, main: true, bucket: "x-sib-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "smartsheet", title: "Smartsheet",
		docs:  []string{"https://developers.smartsheet.com/api/resource_management/getting-started/throttling-and-rate-limiting"},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-reset"), form: epoch, main: true, bucket: "x-ratelimit-remaining", rank: 1}},
	},
	{
		Name: "mailerlite", title: "MailerLite",
		docs:  []string{"https://developers-classic.mailerlite.com/docs/api-rate-limits"},
		hints: []hint{retryAfterHint, {at: inHeader("x-ratelimit-retry-after"), form: seconds, main: true}},
	},
}
