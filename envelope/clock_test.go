package envelope

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// policy.clock decides what an HTTP-date is measured against. The server of
// these rows is 10 minutes behind testNow.
func TestServerClock(t *testing.T) {
	const (
		date       = `"date":"Thu, 15 Jan 2026 11:50:00 GMT"`
		retryAfter = `"retry-after":"Thu, 15 Jan 2026 11:50:30 GMT"`
		local      = "1" // by testNow the date is past: only the backoff is left
	)
	tests := []struct{ name, clock, headers, want string }{
		{"local by default", ``, date + "," + retryAfter, local},
		{"local when said", `"clock":"local"`, date + "," + retryAfter, local},
		{"null is the default", `"clock":null`, date + "," + retryAfter, local},
		{"server", `"clock":"server"`, date + "," + retryAfter, "30"},
		{"the Date's name in other case", `"clock":"server"`, `"Date":"Thu, 15 Jan 2026 11:50:00 GMT",` + retryAfter, "30"},
		{"a Date in RFC 850 form", `"clock":"server"`, `"date":"Thursday, 15-Jan-26 11:50:00 GMT",` + retryAfter, "30"},
		{"a Date in an array of one", `"clock":"server"`, `"date":["Thu, 15 Jan 2026 11:50:00 GMT"],` + retryAfter, "30"},
		{"with Age the Date is old", `"clock":"server"`, date + `,"age":"5",` + retryAfter, local},
		{"Age 0 is an Age", `"clock":"server"`, date + `,"Age":0,` + retryAfter, local},
		{"Age null is none", `"clock":"server"`, date + `,"age":null,` + retryAfter, "30"},
		{"no Date", `"clock":"server"`, retryAfter, local},
		{"a Date that cannot be read", `"clock":"server"`, `"date":"yesterday",` + retryAfter, local},
		{"two Dates", `"clock":"server"`, date + `,"Date":"Thu, 15 Jan 2026 11:50:00 GMT",` + retryAfter, local},
		{"seconds do not depend on it", `"clock":"server"`, date + `,"retry-after":"7"`, "7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, verdict(t, item(`"headers":{`+tt.headers+`}`, `"policy":{`+tt.clock+`}`)))
		})
	}
	t.Run("a server that is ahead does not lengthen the wait", func(t *testing.T) {
		assert.Equal(t, "30", verdict(t, item(`"policy":{"clock":"server"}`,
			`"headers":{"date":"Thu, 15 Jan 2026 13:00:00 GMT","retry-after":"Thu, 15 Jan 2026 13:00:30 GMT"}`)))
	})
	t.Run("the deadline stays with the local clock", func(t *testing.T) {
		assert.Equal(t, "retry_deadline_exceeded", verdict(t, item(`"policy":{"clock":"server","deadline":"2026-01-15T11:55:00Z"}`,
			`"headers":{`+date+`}`)))
	})
	t.Run("headers of an error count too", func(t *testing.T) {
		assert.Equal(t, "30", verdict(t, failedItem(`{"status":429,"response":{"headers":{`+date+","+retryAfter+`}}}`,
			`"policy":{"clock":"server"}`)))
	})
}
