package planner_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"n8n-retry-planner/planner"
)

func TestPaceOf(t *testing.T) {
	none := math.Inf(1)
	tests := map[string]struct {
		in   planner.Allowance
		want planner.Pace
	}{
		"the known figures: 90 a minute, 600 calls of 2 s": {
			planner.Allowance{Limit: 90, Window: 60, Share: 1, Calls: 600, ResponseTime: 2, Within: none, DailyQuota: none},
			planner.Pace{Rate: 1.5, Spacing: 0.667, Total: 400, InFlight: 3, BatchSize: 1, BatchInterval: 667}},
		"three quarters of 120 a minute are the same": {
			planner.Allowance{Limit: 120, Window: 60, Share: 0.75, Calls: 600, ResponseTime: 2, Within: none, DailyQuota: none},
			planner.Pace{Rate: 1.5, Spacing: 0.667, Total: 400, InFlight: 3, BatchSize: 1, BatchInterval: 667}},
		"calls closer than a timer can tell go out in small batches": {
			planner.Allowance{Limit: 100, Window: 1, Share: 1, Calls: 5000, ResponseTime: 0.5, Within: none, DailyQuota: none},
			planner.Pace{Rate: 100, Spacing: 0.01, Total: 50, InFlight: 50, BatchSize: 10, BatchInterval: 100}},
		"a batch holds no more than there is to do": {
			planner.Allowance{Limit: 100, Window: 1, Share: 1, Calls: 3, ResponseTime: 0, Within: none, DailyQuota: none},
			planner.Pace{Rate: 100, Spacing: 0.01, Total: 0.03, InFlight: 1, BatchSize: 3, BatchInterval: 30}},
		"a larger share would do": {
			planner.Allowance{Limit: 120, Window: 60, Share: 0.5, Calls: 600, ResponseTime: 0, Within: 400, DailyQuota: none},
			planner.Pace{Rate: 1, Spacing: 1, Total: 600, InFlight: 1, BatchSize: 1, BatchInterval: 1000,
				Warnings: []planner.Warning{{Code: planner.WarnWithin, Fits: 400, Need: 1.5}}}},
		"the whole limit would not do": {
			planner.Allowance{Limit: 60, Window: 60, Share: 0.5, Calls: 600, ResponseTime: 0, Within: 300, DailyQuota: none},
			planner.Pace{Rate: 0.5, Spacing: 2, Total: 1200, InFlight: 1, BatchSize: 1, BatchInterval: 2000,
				Warnings: []planner.Warning{{Code: planner.WarnWithinLimit, Fits: 150, Need: 2}}}},
		"a daily quota is used up": {
			planner.Allowance{Limit: 60, Window: 60, Share: 1, Calls: 2500, ResponseTime: 0, Within: none, DailyQuota: 1000},
			planner.Pace{Rate: 1, Spacing: 1, Total: 2500, InFlight: 1, BatchSize: 1, BatchInterval: 1000,
				Warnings: []planner.Warning{{Code: planner.WarnDailyQuota, Fits: 1000, Need: 3}}}},
		"a daily quota that the pace itself keeps is no warning": {
			planner.Allowance{Limit: 1, Window: 3600, Share: 1, Calls: 2500, ResponseTime: 0, Within: none, DailyQuota: 24},
			planner.Pace{Rate: 1.0 / 3600, Spacing: 3600, Total: 2500 * 3600, InFlight: 1, BatchSize: 1, BatchInterval: 3600000}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, planner.PaceOf(&tt.in)) })
	}
}
