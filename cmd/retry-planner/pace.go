package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"n8n-retry-planner/envelope"
)

// paceCommand answers what POST /v1/pace answers: its flags make the same
// request, so that the same rules hold.
type paceCommand struct {
	Limit        float64       `required:"" placeholder:"CALLS" help:"Calls that the API allows in each window."`
	Window       time.Duration `default:"1m" help:"The window."`
	Share        string        `default:"100%" help:"How much of the limit may be used: 75% or 0.75."`
	Calls        int64         `required:"" placeholder:"N" help:"Calls to be made."`
	ResponseTime time.Duration `default:"0s" help:"Mean time that a call takes."`
	Within       time.Duration `default:"0s" help:"All calls must have started by then; 0 for no such limit."`
	DailyQuota   int64         `default:"0" help:"Calls that the API allows in a day; 0 for no such limit."`
	JSON         bool          `name:"json" help:"Print the answer of POST /v1/pace instead of words."`
}

// Run prints how to spread the calls.
func (c *paceCommand) Run(to streams) error {
	request := map[string]any{
		"limit": c.Limit, "window": c.Window.Seconds(), "share": c.Share, "calls": c.Calls,
		"response_time": c.ResponseTime.Seconds(),
	}
	if percent, ok := strings.CutSuffix(c.Share, "%"); ok {
		n, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err != nil {
			return &usageError{fmt.Errorf("--share must be a percentage such as 75%%, or a number such as 0.75")}
		}
		request["share"] = n / 100
	}
	if c.Within != 0 {
		request["within"] = c.Within.Seconds()
	}
	if c.DailyQuota != 0 {
		request["daily_quota"] = c.DailyQuota
	}
	raw, err := json.Marshal(request)
	if err != nil {
		return &usageError{err}
	}
	answer, err := envelope.Pace(raw)
	if err != nil {
		return &usageError{err}
	}
	if c.JSON {
		return json.NewEncoder(to.out).Encode(answer)
	}
	return printPace(to, &answer)
}

func printPace(to streams, a *envelope.PaceAnswer) error {
	w := tabwriter.NewWriter(to.out, 0, 0, 2, ' ', 0)
	rows := []struct{ name, value string }{
		{"spacing", number(a.Spacing*1000) + " ms from one call's start to the next"},
		{"rate", number(a.Rate*60) + " a minute"},
		{"total", number(a.Total) + " s (" + envelope.Worded(a.Total) + ")"},
		{"in flight", fmt.Sprintf("%d calls at once", a.InFlight)},
		{"n8n", fmt.Sprintf("HTTP Request, Options, Batching: Items per Batch %d, Batch Interval (ms) %d",
			a.Batching.ItemsPerBatch, a.Batching.BatchIntervalMS)},
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", r.name, r.value); err != nil {
			return err
		}
	}
	for _, warning := range a.Warnings {
		if _, err := fmt.Fprintf(w, "warning\t%s\n", warning.Message); err != nil {
			return err
		}
	}
	return w.Flush()
}

// number writes at most three decimals.
func number(f float64) string {
	s := strconv.FormatFloat(f, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
