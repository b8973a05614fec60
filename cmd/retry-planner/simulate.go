package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"

	"n8n-retry-planner/cmd/retry-planner/herd"
	"n8n-retry-planner/gate"
	"n8n-retry-planner/planner"
)

// simulateCommand plays a herd of executions against an API that breaks and
// comes back, once for each policy.
type simulateCommand struct {
	Executions   int           `default:"3000" help:"Executions that start together, each with one call to get done."`
	Workers      int           `default:"40" help:"n8n workers."`
	Concurrency  int           `default:"10" help:"Executions that one worker runs at once; one in a Wait holds no place."`
	ResponseTime time.Duration `default:"200ms" help:"Time that a call takes."`

	Outage     time.Duration `default:"2m" help:"The API answers 503 for so long from the start."`
	Recovery   time.Duration `default:"30s" help:"Then its limit grows for so long from a tenth to the whole."`
	Limit      int           `default:"50" help:"Calls that it allows in each window; more get 429."`
	Window     time.Duration `default:"1s" help:"The window."`
	RetryAfter bool          `default:"true" negatable:"" help:"A 429 says in Retry-After when the window ends."`

	Interval    time.Duration `default:"10s" help:"Wait of the fixed interval."`
	Base        time.Duration `default:"2s" help:"First wait of the exponential policies."`
	ExpCap      time.Duration `name:"cap" default:"1m" help:"What it grows to."`
	Spread      time.Duration `default:"30s" help:"policy.spread of the policy with spread."`
	MaxAttempts int64         `default:"30" help:"Calls that an execution may make."`
	Budget      time.Duration `default:"30m" help:"total_wait_budget of an execution."`

	Policies []string `default:"fixed,exponential,jitter,spread,gate" enum:"fixed,exponential,jitter,spread,gate" help:"Which to play: fixed, exponential, jitter, spread, gate."`
	Seed     uint64   `default:"1" help:"Of the random draws; the same seed gives the same numbers."`
	Picture  string   `placeholder:"FILE" help:"Draw the arrivals into FILE, .svg or .png."`
}

// Validate tells what is wrong with the flags; kong calls it.
func (c *simulateCommand) Validate() error {
	for _, f := range []struct {
		name string
		bad  bool
		rule string
	}{
		{"executions", c.Executions < 1 || c.Executions > maxExecutions, "must be from 1 to 1000000"},
		{"workers", c.Workers < 1 || c.Workers > maxExecutions, "must be from 1 to 1000000"},
		{"concurrency", c.Concurrency < 1 || c.Concurrency > 1000, "must be from 1 to 1000"},
		{"response-time", c.ResponseTime <= 0, "must be more than 0"},
		{"outage", c.Outage < 0, "must not be negative"},
		{"recovery", c.Recovery < 0, "must not be negative"},
		{"limit", c.Limit < 1, "must be 1 or more"},
		{"window", c.Window <= 0, "must be more than 0"},
		{"interval", c.Interval <= 0, "must be more than 0"},
		{"base", c.Base <= 0, "must be more than 0"},
		{"cap", c.ExpCap <= 0, "must be more than 0"},
		{"spread", c.Spread < 0, "must not be negative"},
		{"max-attempts", c.MaxAttempts < 1 || c.MaxAttempts > 1000, "must be from 1 to 1000"},
		{"budget", c.Budget < 0, "must not be negative"},
	} {
		if f.bad {
			return fmt.Errorf("--%s %s", f.name, f.rule)
		}
	}
	if c.Picture != "" && pictureFormat(c.Picture) == "" {
		return fmt.Errorf("--picture must end with .svg or .png")
	}
	return nil
}

const maxExecutions = 1_000_000

// Run prints the table and writes the picture.
func (c *simulateCommand) Run(ctx context.Context, to streams) error {
	world := herd.World{
		Executions: c.Executions, Workers: c.Workers, Concurrency: c.Concurrency,
		ResponseTime: c.ResponseTime.Seconds(), Seed: c.Seed,
		Upstream: herd.Upstream{Outage: c.Outage.Seconds(), Recovery: c.Recovery.Seconds(),
			Limit: c.Limit, Window: c.Window.Seconds(), RetryAfter: c.RetryAfter},
	}
	policies := c.policies()
	bar := lateBar{out: to.err, total: c.Executions * len(policies), start: time.Now()}
	results := make([]herd.Result, 0, len(policies))
	for i := range policies {
		r, err := herd.Play(ctx, &world, &policies[i], bar.add)
		if err != nil {
			bar.end()
			return err
		}
		results = append(results, r)
	}
	bar.end()
	if err := printResults(to.out, c.Executions, results); err != nil {
		return err
	}
	if c.Picture == "" {
		return nil
	}
	if err := drawArrivals(c.Picture, &world, results); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to.out, "\nThe arrivals are drawn in %s.\n", c.Picture)
	return err
}

// policies gives the chosen ones in the order in which they build on each
// other.
func (c *simulateCommand) policies() []herd.Policy {
	exponential := planner.State{Attempts: 1, MaxAttempts: c.MaxAttempts,
		Base: c.Base.Seconds(), ExpCap: c.ExpCap.Seconds(), Budget: c.Budget.Seconds()}
	fixed := exponential
	fixed.Base, fixed.ExpCap = c.Interval.Seconds(), c.Interval.Seconds()
	plain := planner.DefaultPolicy()
	jitter := plain
	jitter.Jitter = planner.JitterFull
	spread := jitter
	spread.Spread = c.Spread.Seconds()
	spec := gate.Spec{Resource: "api", Rate: &gate.Rate{Limit: int64(c.Limit), Window: c.Window.Seconds()}}
	all := map[string]herd.Policy{
		"fixed":       {Name: "fixed interval", State: fixed, Policy: plain},
		"exponential": {Name: "exponential", State: exponential, Policy: plain},
		"jitter":      {Name: "full jitter", State: exponential, Policy: jitter},
		"spread":      {Name: "full jitter, spread", State: exponential, Policy: spread},
		"gate":        {Name: "full jitter, gate", State: exponential, Policy: jitter, Gate: &spec},
	}
	chosen := make([]herd.Policy, 0, len(c.Policies))
	for _, name := range c.Policies {
		chosen = append(chosen, all[name])
	}
	return chosen
}

func printResults(out io.Writer, executions int, results []herd.Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	columns := []string{"policy", "peak arrivals/s", "in the outage", "calls", "wasted", "429s", "all done after", "lost"}
	if _, err := fmt.Fprintf(w, "%s\t\n", strings.Join(columns, "\t")); err != nil {
		return err
	}
	for _, r := range results {
		done := time.Duration(r.Done * float64(time.Second)).Round(time.Second)
		if _, err := fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%d\t\n",
			r.Name, r.PeakBack, r.PeakOutage, r.Calls, r.Wasted, r.Limited, done, r.Lost); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%d executions. Peak arrivals: most calls in one second once the API is back.\n"+
		"Wasted: calls that did not succeed. Lost: executions that ended without success.\n", executions)
	return err
}

// lateBar shows a progress bar once the work has taken a second.
type lateBar struct {
	out   io.Writer
	total int
	done  int
	start time.Time
	bar   *progressbar.ProgressBar
}

const barAfter = time.Second

func (b *lateBar) add(n int) {
	b.done += n
	if b.bar == nil {
		if time.Since(b.start) < barAfter {
			return
		}
		b.bar = progressbar.NewOptions(b.total, progressbar.OptionSetWriter(b.out), progressbar.OptionSetDescription("simulating"),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = b.bar.Set(min(b.done, b.total)) // a bar that cannot be drawn harms nothing
}

func (b *lateBar) end() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
