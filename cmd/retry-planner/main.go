// Command retry-planner serves the retry planner for n8n.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes of the command.
const (
	exitOK     = 0
	exitFailed = 1 // it ran and failed
	exitUsage  = 2 // a flag or a variable is wrong; nothing was started
	// The plan command adds a code for each decision (planExits).
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

// exitCode reports an error in one line and gives the code for it.
func exitCode(err error, stderr io.Writer) int {
	var usage *usageError
	var planned planExit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &planned):
		return int(planned)
	case errors.As(err, &usage):
		_, _ = fmt.Fprintln(stderr, "retry-planner:", err)
		return exitUsage
	}
	_, _ = fmt.Fprintln(stderr, "retry-planner:", err)
	return exitFailed
}
