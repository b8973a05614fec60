//go:build e2e

// Package e2e runs the shipped workflows in a real n8n, against the real service and a scripted upstream.
//
//	go test -tags e2e ./n8n-workflows/e2e
//
// One n8n and one service serve all tests of the package; every scenario brings its own upstream and its own copy
// of a workflow, with the fields of its Request node set in Go. What is checked is what happened: the transcript of
// calls at the upstream, what the planner was asked and answered, and n8n's own run data.
package e2e

import (
	"fmt"
	"os"
	"testing"
)

// The parts that all tests share; TestMain starts and stops them.
var (
	theN8n     *n8n
	theBinary  string // of the service
	theService *service
)

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "retry-planner-e2e-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	if theBinary, err = buildService(dir); err != nil {
		return 1, err
	}
	if theService, err = startService(theBinary, dir); err != nil {
		return 1, err
	}
	defer theService.stop()

	if theN8n, err = newN8n(dir); err != nil {
		return 1, err
	}
	defer theN8n.kill()
	return m.Run(), nil
}
