// Command bench measures what a call to the planner costs, beside a bare echo
// and the services that a user would write in JavaScript, and inside a real
// n8n. Everything is measured in one run, the server on one CPU and wrk on
// another, in rounds of short runs. Run it from the top of the checkout:
//
//	make bench
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
)

// scratch is where the binaries and bodies of a run lie.
const scratch = "bench/.run"

func main() {
	seconds := flag.Int("seconds", 2, "length of one run of wrk")
	rounds := flag.Int("rounds", 5, "how often each is measured")
	withN8n := flag.Bool("n8n", true, "measure inside n8n as well (installs it once; takes minutes)")
	readme := flag.String("readme", "", "file whose part between <!-- bench --> and <!-- /bench --> gets the result")
	flag.Parse()
	if err := bench(*seconds, *rounds, *withN8n, *readme); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(seconds, rounds int, withN8n bool, readme string) error {
	if err := prepare(); err != nil {
		return err
	}
	servers, err := startServers()
	defer servers.stop()
	if err != nil {
		return err
	}
	if err := servers.sameAnswers(); err != nil {
		return err
	}
	subjects, err := servers.subjects()
	if err != nil {
		return err
	}
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
		for _, s := range subjects {
			if err := s.measure(seconds); err != nil {
				return err
			}
		}
	}
	r := &result{subjects: subjects, seconds: seconds, rounds: rounds}
	if r.memory, err = memoryPerRequest(); err != nil {
		return err
	}
	if withN8n {
		servers.stop()
		if r.n8n, err = insideN8n(); err != nil {
			return err
		}
	}
	text := r.text()
	fmt.Print(text)
	if err := r.draw("bench/last-run.svg"); err != nil {
		return err
	}
	if readme == "" {
		return nil
	}
	return replaceSection(readme, text)
}

// prepare builds the services in Go and installs the packages of those in
// JavaScript.
func prepare() error {
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return err
	}
	commands := [][]string{
		{"make", "--silent", "build"},
		{"go", "build", "-o", filepath.Join(scratch, "echo"), "./bench/echo"},
	}
	if _, err := os.Stat("bench/javascript/node_modules"); err != nil {
		commands = append(commands, []string{"npm", "ci", "--prefix", "bench/javascript", "--no-audit", "--no-fund", "--ignore-scripts"})
	}
	for _, args := range commands {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%v: %w", args, err)
		}
	}
	return nil
}

// servers are all that are measured.
type servers struct{ planner, echo, fastify, logging, express *server }

func startServers() (*servers, error) {
	s := new(servers)
	var errs [5]error
	s.planner, errs[0] = startServer("planner", plannerBinary)
	s.echo, errs[1] = startServer("echo", filepath.Join(scratch, "echo"))
	s.fastify, errs[2] = startServer("fastify", "node", "bench/javascript/fastify.js")
	s.logging, errs[3] = startServer("fastify with its log", "node", "bench/javascript/fastify.js", "log")
	s.express, errs[4] = startServer("express", "node", "bench/javascript/express.js")
	return s, errors.Join(errs[:]...)
}

const plannerBinary = "bin/retry-planner"

func (s *servers) stop() {
	for _, one := range []*server{s.planner, s.echo, s.fastify, s.logging, s.express} {
		if one != nil {
			one.stop()
		}
	}
}

// sameAnswers makes sure that the services are compared at the same work.
func (s *servers) sameAnswers() error {
	want, err := s.planner.answer("/v1/plan", []byte(item))
	if err != nil {
		return err
	}
	for _, other := range []*server{s.fastify, s.logging, s.express} {
		got, err := other.answer("/v1/plan", []byte(item))
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(want, got) {
			return fmt.Errorf("%s answers %v, the planner %v", other.name, got, want)
		}
	}
	return nil
}

// connections are what wrk holds open: enough that the server is never idle.
const connections = 16

// connectionsFor gives fewer to large bodies, so that a run holds many calls
// that end in it.
func connectionsFor(body []byte) int {
	switch {
	case len(body) > 500_000:
		return 1
	case len(body) > 50_000:
		return 4
	}
	return connections
}

func (s *servers) subjects() ([]*subject, error) {
	one := []byte(item)
	subjects := []*subject{{name: "echo", server: s.echo, path: "/", body: one, items: 1}}
	for _, planning := range []*server{s.planner, s.fastify, s.logging, s.express} {
		subjects = append(subjects, &subject{name: planning.name, server: planning, path: "/v1/plan", body: one, items: 1})
	}
	for _, items := range []int{1, 100, 1000, 10000} {
		subjects = append(subjects, &subject{name: fmt.Sprintf("batch of %d", items), server: s.planner,
			path: "/v1/plan/batch", body: batchOf(items), items: items})
	}
	for _, size := range []int{1, 100, 1000} {
		subjects = append(subjects, &subject{name: fmt.Sprintf("body of %d kB", size), server: s.planner,
			path: "/v1/plan", body: bodyOf(size * 1000), items: 1})
	}
	subjects = append(subjects, &subject{name: "echo of 1000 kB", server: s.echo, path: "/", body: bodyOf(1e6), items: 1})
	for n, one := range subjects {
		one.connections = connectionsFor(one.body)
		one.bodyFile = filepath.Join(scratch, fmt.Sprintf("body-%d.json", n))
		if err := os.WriteFile(one.bodyFile, one.body, 0o644); err != nil {
			return nil, err
		}
	}
	return subjects, nil
}
