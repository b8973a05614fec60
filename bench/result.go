package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// result is what one run of the command has measured.
type result struct {
	subjects        []*subject
	seconds, rounds int
	memory          float64 // see memoryPerRequest
	n8n             *n8nTimes
}

func (r *result) subject(name string) *subject {
	for _, s := range r.subjects {
		if s.name == name {
			return s
		}
	}
	return nil
}

// services are the subjects that answer one usual item, with their titles.
var services = [][2]string{
	{"planner", "`POST /v1/plan`"}, {"echo", "bare net/http echo"}, {"fastify", "the plan in Fastify"},
	{"fastify with its log", "the plan in Fastify, `logger: true`"}, {"express", "the plan in Express"},
}

// text is the result as Markdown.
func (r *result) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %s; each service on one CPU, wrk on another; medians of %d runs of %d s.\n\n", machine(), versions(), r.rounds, r.seconds)
	echo, fastify := r.subject("echo"), r.subject("fastify")
	b.WriteString("| one item, 400 bytes | calls/s | to the echo | to Fastify | CPU a call | p50 | p99 |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, row := range services {
		s := r.subject(row[0])
		m := s.median()
		fmt.Fprintf(&b, "| %s | %.0f | %.2f | %.2f | %s | %s | %s |\n", row[1], m.perSecond, s.ratioTo(echo, callsPerSecond),
			s.ratioTo(fastify, callsPerSecond), short(m.cpu), short(m.p50), short(m.p99))
	}
	b.WriteString("\n| the cost grows with the size | items/s | MB/s | CPU a call | CPU an item |\n|---|--:|--:|--:|--:|\n")
	for _, s := range r.subjects[len(services):] {
		m := s.median()
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %s | %s |\n", s.name, m.perSecond*float64(s.items), m.perSecond*float64(len(s.body))/1e6,
			short(m.cpu), short(m.cpu/time.Duration(s.items)))
	}
	fmt.Fprintf(&b, "\nMemory for each call of 1 MB in flight, with its answer: %.1f MB.\n", r.memory)
	if r.n8n != nil {
		fmt.Fprintf(&b, "\n| 1 000 items in n8n | time | to the Code node |\n|---|--:|--:|\n")
		for _, row := range r.n8n.rows() {
			fmt.Fprintf(&b, "| %s | %.0f ms | %.2f |\n", row.name, row.milliseconds, row.milliseconds/r.n8n.code)
		}
	}
	return b.String()
}

func callsPerSecond(r run) float64 { return r.perSecond }

// short words a time with three digits.
func short(d time.Duration) string {
	unit := time.Nanosecond
	for _, u := range []time.Duration{10 * time.Nanosecond, 100 * time.Nanosecond, time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond} {
		if d >= 100*u {
			unit = u
		}
	}
	return d.Round(unit).String()
}

// machine names the processor.
func machine() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	_, rest, _ := strings.Cut(string(text), "model name")
	name, _, _ := strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
	return fmt.Sprintf("%s, %d CPUs", strings.TrimSpace(name), runtime.NumCPU())
}

func versions() string {
	node, err := exec.Command("node", "--version").Output()
	if err != nil {
		return runtime.Version()
	}
	return fmt.Sprintf("%s, Node %s", strings.Replace(runtime.Version(), "go", "Go ", 1), strings.TrimSpace(string(node)))
}

// replaceSection puts text between the marks in the file.
func replaceSection(file, text string) error {
	const begin, end = "<!-- bench -->\n", "<!-- /bench -->"
	whole, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(whole), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no part between %s and %s", file, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(file, []byte(head+begin+text+end+tail), 0o644)
}
