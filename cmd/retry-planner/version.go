package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(to streams) error {
	b := readBuild()
	_, err := fmt.Fprintf(to.out, "retry-planner %s\nrevision %s\n%s %s/%s\n", b.version, b.revision, b.goVersion, runtime.GOOS, runtime.GOARCH)
	return err
}

// build is what the Go linker wrote into the binary.
type build struct{ version, revision, goVersion string }

func readBuild() build {
	b := build{version: "(devel)", revision: "unknown", goVersion: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.version = info.Main.Version
	}
	modified := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified {
		b.revision += " with changes"
	}
	return b
}
