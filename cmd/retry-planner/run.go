package main

import (
	"context"
	"io"

	"github.com/alecthomas/kong"
)

// streams are where a command writes.
type streams struct{ out, err io.Writer }

// run parses the command line and the environment and carries the command out.
// It gives a *usageError when nothing was started because of them.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) error {
	var line commandLine
	ended := false // --help prints and ends the command
	parser, err := kong.New(&line,
		kong.Name("retry-planner"),
		kong.Description("Plans the retries of n8n workflows. Each setting is a flag and an environment variable; the flag wins."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { ended = true }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(streams{stdout, stderr}, &line.Settings),
	)
	if err != nil {
		return err
	}
	if err := unknownVariable(parser.Model, environ); err != nil {
		return &usageError{err}
	}
	command, err := parser.Parse(args)
	if ended {
		return nil
	}
	if err != nil {
		return &usageError{bothNames(parser.Model, err)}
	}
	if err := line.check(); err != nil {
		return &usageError{err}
	}
	return command.Run()
}
