package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// usageError says that a flag or a variable is wrong.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

const variablePrefix = "PLANNER_"

// unknownVariable finds a PLANNER_… variable that is no setting: misspelt, it
// would silently change nothing.
func unknownVariable(app *kong.Application, environ []string) error {
	var known []string
	for _, f := range app.Flags {
		known = append(known, f.Envs...)
	}
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, variablePrefix) && !slices.Contains(known, name) {
			return fmt.Errorf("%s is not a setting; correct its name or unset it (retry-planner --help lists all)", name)
		}
	}
	return nil
}

// fromVariable is what the flag parser adds to an error about a variable.
var fromVariable = regexp.MustCompile(` \(from envar .*\)$`)

// bothNames puts the variable beside the flag that a parser's error names, so
// that the reader finds the one that was set.
func bothNames(app *kong.Application, err error) error {
	text := fromVariable.ReplaceAllString(err.Error(), "")
	for _, f := range app.Flags {
		if rest, ok := strings.CutPrefix(text, "--"+f.Name); ok && len(f.Envs) > 0 && strings.IndexAny(rest, ": =") == 0 {
			return errors.New("--" + f.Name + " (" + f.Envs[0] + ")" + rest)
		}
	}
	return err
}
