// Command licences prints the modules that are linked into the binary given,
// with the licence of each, as CSV. It fails at a licence that it cannot tell.
package main

import (
	"debug/buildinfo"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// marks are sentences that stand in one kind of licence alone; the first that
// is found tells it.
var marks = []struct{ text, name string }{
	{"FreeType License", "FTL"},
	{"Apache License", "Apache-2.0"},
	{"Mozilla Public License", "MPL-2.0"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Neither the name of", "BSD-3-Clause"},
	{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	out := csv.NewWriter(os.Stdout)
	_ = out.Write([]string{"module", "version", "licence"}) // Error tells below
	for _, m := range info.Deps {
		licence, err := licenceOf(m.Path + "@" + m.Version)
		if err != nil {
			return err
		}
		_ = out.Write([]string{m.Path, m.Version, licence})
	}
	out.Flush()
	return out.Error()
}

// licenceOf gives the SPDX names found in a module's licence files.
func licenceOf(module string) (string, error) {
	folder, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return "", fmt.Errorf("download %s: %w", module, err)
	}
	_, rest, _ := strings.Cut(string(folder), `"Dir": "`)
	dir, _, _ := strings.Cut(rest, `"`)
	var names []string
	for _, pattern := range []string{"LICEN[CS]E*", "COPYING*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a folder of that name
			}
			flat := strings.Join(strings.Fields(string(text)), " ")
			for _, mark := range marks {
				if strings.Contains(flat, mark.text) {
					if !slices.Contains(names, mark.name) {
						names = append(names, mark.name)
					}
					break
				}
			}
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%s has no licence that is known", module)
	}
	return strings.Join(names, " "), nil
}
