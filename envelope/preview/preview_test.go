package preview

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"n8n-retry-planner/envelope"
	"n8n-retry-planner/planner"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

const state = `"max_attempts":8,"base":2,"exp_cap":60,"total_wait_budget":300`

func timelineOf(t testing.TB, body string) Timeline {
	t.Helper()
	s, err := envelope.DecodeScript([]byte(body), noon)
	require.NoError(t, err)
	return Of(s, noon)
}

func waits(t Timeline) []float64 {
	var out []float64
	for _, a := range t.Attempts {
		if a.Decision == string(planner.Retry) {
			out = append(out, *a.WaitSeconds)
		}
	}
	return out
}

func TestTimeline(t *testing.T) {
	tests := map[string]struct {
		body     string
		waits    []float64
		decision string
		endedBy  string
	}{
		"the known figures of base 2 and cap 60": {
			`{` + state + `,"script":{"status":429,"repeat":"always"}}`, []float64{2, 4, 8, 16, 32, 60, 60}, "exhausted", EndedByDecision},
		"Retry-After, a failure and a success, each in its short form": {
			`{` + state + `,"method":"GET","script":[{"status":429,"retry_after":30},"503","timeout",200]}`, []float64{30, 4, 8}, "success", EndedByDecision},
		"a timeout of a POST is not repeated": {
			`{` + state + `,"method":"POST","script":["timeout",200]}`, nil, "escalate", EndedByDecision},
		"the clock moves with the waits, so that an HTTP-date is reached": {
			`{"max_attempts":4,"base":2,"exp_cap":60,"total_wait_budget":300,"script":{"statusCode":429,"headers":{"retry-after":"Thu, 15 Jan 2026 12:00:20 GMT"},"repeat":"always"}}`,
			[]float64{20, 4, 8}, "exhausted", EndedByDecision},
		"the deadline comes nearer with the waits": {
			`{` + state + `,"policy":{"deadline":"2026-01-15T12:00:10Z"},"script":{"status":503,"repeat":"always"}}`, []float64{2, 4}, "defer", EndedByDecision},
		"a script that says no more": {
			`{` + state + `,"script":[503,503]}`, []float64{2, 4}, "retry", EndedByScript},
		"what the item carries of an envelope is not the script's": {
			`{` + state + `,"statusCode":401,"error":{"code":"ERR_CANCELED"},"headers":{"retry-after":"99"},"script":[503,200]}`, []float64{2}, "success", EndedByDecision},
		"repeat counts calls": {
			`{` + state + `,"script":[{"status":503,"repeat":2},{"error":{"code":"ECONNREFUSED"},"repeat":"2"},200]}`, []float64{2, 4, 8, 16}, "success", EndedByDecision},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := timelineOf(t, tt.body)
			assert.Equal(t, tt.waits, waits(got))
			assert.Equal(t, tt.decision, got.Attempts[len(got.Attempts)-1].Decision)
			assert.Equal(t, tt.endedBy, got.EndedBy)
			assert.Equal(t, 1, got.Total.Runs, "nothing is random")
			assert.Equal(t, got.Total.Planned, got.Total.Worst)
		})
	}
}

func TestATimelineHasAnEnd(t *testing.T) {
	got := timelineOf(t, `{"max_attempts":100000,"base":0.001,"exp_cap":0.001,"total_wait_budget":1e9,"script":{"status":503,"repeat":"always"}}`)
	assert.Len(t, got.Attempts, MaxAttempts)
	assert.Equal(t, EndedByLimit, got.EndedBy)
}

func TestAnEndlessRetryAfterIsNull(t *testing.T) {
	got := timelineOf(t, `{`+state+`,"script":[{"status":429,"retry_after":"99999999999999999999"}]}`)
	assert.Equal(t, "defer", got.Attempts[0].Decision)
	assert.Nil(t, got.Attempts[0].WaitSeconds)
	assert.Nil(t, got.Attempts[0].Floor)
	assert.Equal(t, "header retry-after", *got.Attempts[0].FloorSource)
}

func TestTotalsOverTheDraws(t *testing.T) {
	tests := map[string]struct {
		policy, budget         string
		least, expected, worst float64
	}{
		"full jitter: half the exponential parts, and all of them":          {`{"jitter":"full"}`, "300", 0, 91, 182},
		"equal jitter: three quarters":                                      {`{"jitter":"equal"}`, "300", 91, 136.5, 182},
		"a budget that the longest draws overrun is the worst, to the last": {`{"jitter":"full"}`, "100", 0, math.NaN(), 100},
		"max_wait is the longest wait":                                      {`{"jitter":"full","max_wait":10}`, "300", 0, math.NaN(), 54},
		"spread comes on top, half of it on average":                        {`{"spread":10}`, "300", 182, 217, 252},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := timelineOf(t, `{"max_attempts":8,"base":2,"exp_cap":60,"total_wait_budget":`+tt.budget+`,"policy":`+tt.policy+`,"script":{"status":429,"repeat":"always"}}`)
			assert.InDelta(t, tt.least, got.Total.Least, 0.01)
			assert.InDelta(t, tt.worst, got.Total.Worst, 0.01)
			if !math.IsNaN(tt.expected) {
				assert.InDelta(t, tt.expected, got.Total.Expected, 0.01)
			}
			assert.LessOrEqual(t, got.Total.Least, got.Total.Expected)
			assert.LessOrEqual(t, got.Total.Expected, got.Total.Worst)
			assert.Equal(t, maxRuns, got.Total.Runs)
		})
	}
}

func TestResultsTellHowOftenEachEndComes(t *testing.T) {
	// U(0, 20) fits a budget of 10 half the time.
	got := timelineOf(t, `{"max_attempts":2,"base":20,"exp_cap":20,"total_wait_budget":10,"policy":{"jitter":"full"},"script":[503,200]}`)
	require.Len(t, got.Results, 2)
	sum := 0.0
	for _, r := range got.Results {
		assert.InDelta(t, 0.5, r.Share, 0.1, *r.Decision)
		sum += r.Share
	}
	assert.InDelta(t, 1, sum, 1e-9)
}

func TestTheSameRequestGetsTheSameTimeline(t *testing.T) {
	body := `{` + state + `,"policy":{"jitter":"decorrelated","spread":3},"script":{"status":429,"repeat":"always"}}`
	assert.Equal(t, timelineOf(t, body), timelineOf(t, body))
}

func TestFaultsAreToldAllAtOnce(t *testing.T) {
	tests := map[string]struct {
		body  string
		wants []string
	}{
		"state, policy and script together": {
			`{"base":0,"exp_cap":"x","max_attempts":3,"policy":{"jiter":"full"},"script":["tomeout",{"statusCode":99},{"status":200,"foo":1}]}`,
			[]string{"script.0", "script.1.statusCode", "script.2.foo", "base", "exp_cap", "total_wait_budget", "policy.jiter"}},
		"no script":                    {`{` + state + `}`, []string{"script"}},
		"an empty script":              {`{` + state + `,"script":[]}`, []string{"script"}},
		"an entry without an outcome":  {`{` + state + `,"script":[{"repeat":2}]}`, []string{"script.0.status"}},
		"a bad repeat":                 {`{` + state + `,"script":[{"status":200,"repeat":0}]}`, []string{"script.0.repeat"}},
		"what comes after always":      {`{` + state + `,"script":[{"status":503,"repeat":"always"},200]}`, []string{"script.1"}},
		"a bad header value":           {`{` + state + `,"script":[{"status":503,"retry_after":{}}]}`, []string{"script.0.headers.retry-after"}},
		"retry_after beside an error":  {`{` + state + `,"script":[{"error":"x","retry_after":3}]}`, []string{"script.0.retry_after"}},
		"both forms of the status":     {`{` + state + `,"script":[{"status":503,"statusCode":503}]}`, []string{"script.0.statusCode"}},
		"nothing that is an entry":     {`{` + state + `,"script":[true,[],null]}`, []string{"script.0", "script.1", "script.2"}},
		"one entry that is not a list": {`{` + state + `,"script":"nonsense"}`, []string{"script"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := envelope.DecodeScript([]byte(tt.body), noon)
			var invalid *envelope.InvalidError
			require.ErrorAs(t, err, &invalid)
			var fields []string
			for _, f := range invalid.Faults {
				fields = append(fields, f.Field)
			}
			assert.ElementsMatch(t, tt.wants, fields)
		})
	}
}

func FuzzPreview(f *testing.F) {
	for _, seed := range []string{
		`{` + state + `,"script":[429,{"status":429,"retry_after":30},"timeout",200]}`,
		`{` + state + `,"policy":{"jitter":"full","spread":2},"script":{"status":503,"repeat":"always"}}`,
		`{` + state + `,"script":[{"status":503,"repeat":9223372036854775807},{"error":{"code":"X"}}]}`,
		`{"script":[]}`, `{"script":[{}]}`, `[]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := envelope.DecodeScript(body, noon)
		if err != nil {
			var malformed *envelope.MalformedError
			var invalid *envelope.InvalidError
			require.True(t, errors.As(err, &malformed) || errors.As(err, &invalid), "%v", err)
			return
		}
		got := Of(s, noon)
		require.NotEmpty(t, got.Attempts)
		require.LessOrEqual(t, len(got.Attempts), MaxAttempts)
		for _, total := range []float64{got.Total.Planned, got.Total.Least, got.Total.Expected, got.Total.Worst} {
			require.False(t, math.IsNaN(total) || math.IsInf(total, 0) || total < 0, "%v", got.Total)
		}
	})
}
