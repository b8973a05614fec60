package envelope

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPaceReadsItsFields(t *testing.T) {
	got, err := Pace([]byte(`{"limit":"120","share":0.75,"calls":600,"response_time":" 2 ","within":null}`))
	require.NoError(t, err)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	assert.JSONEq(t, `{"rate":1.5,"spacing":0.667,"total":400,"in_flight":3,
		"batching":{"items_per_batch":1,"batch_interval_ms":667},"warnings":[]}`, string(text))
}

func TestPaceWarns(t *testing.T) {
	got, err := Pace([]byte(`{"limit":60,"share":0.5,"calls":600,"within":300,"daily_quota":500}`))
	require.NoError(t, err)
	require.Len(t, got.Warnings, 2)
	assert.Contains(t, got.Warnings[0].Message, "only 150 of 600 calls start within 5m0s")
	assert.Contains(t, got.Warnings[1].Message, "over 2 days")
}

func TestPaceTellsAllFaultsAtOnce(t *testing.T) {
	_, err := Pace([]byte(`{"window":0,"share":75,"response_time":-1,"within":"soon","daily_quota":0,"calls":1.5,"limits":3}`))
	var invalid *InvalidError
	require.ErrorAs(t, err, &invalid)
	rules := map[string]string{}
	for _, f := range invalid.Faults {
		rules[f.Field] = f.Rule
	}
	assert.Equal(t, map[string]string{"limit": "required", "window": "greater_than", "share": "range", "response_time": "min",
		"within": "number", "daily_quota": "greater_than", "calls": "integer", "limits": "unknown"}, rules)
}

func TestPaceRefusesWhatIsNoObject(t *testing.T) {
	for _, body := range []string{``, `[]`, `{"limit":1,"limit":2}`, `{} {}`, `{"limit":`} {
		_, err := Pace([]byte(body))
		var malformed *MalformedError
		assert.ErrorAs(t, err, &malformed, body)
	}
}

func FuzzPace(f *testing.F) {
	f.Add([]byte(`{"limit":120,"share":0.75,"calls":600,"response_time":2,"within":100,"daily_quota":5}`))
	f.Add([]byte(`{"limit":1e-300,"window":1e300,"calls":9223372036854775807}`))
	f.Add([]byte(`{"limit":1e9,"window":1,"calls":1,"response_time":1e308}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := Pace(body)
		if err != nil {
			var malformed *MalformedError
			var invalid *InvalidError
			require.True(t, errors.As(err, &malformed) || errors.As(err, &invalid), "%v", err)
			return
		}
		for _, n := range []float64{got.Rate, got.Spacing, got.Total} {
			require.False(t, math.IsNaN(n) || math.IsInf(n, 0) || n <= 0, "%+v", got)
		}
		require.Positive(t, got.InFlight)
		require.Positive(t, got.Batching.ItemsPerBatch)
		require.Positive(t, got.Batching.BatchIntervalMS)
	})
}
