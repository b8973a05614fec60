package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// n8nTimes are the times of the nodes that plan 1 000 items inside n8n,
// milliseconds.
type n8nTimes struct{ code, single, batch float64 }

type n8nRow struct {
	name         string
	milliseconds float64
}

func (t *n8nTimes) rows() []n8nRow {
	return []n8nRow{{"Code node", t.code}, {"one call an item", t.single}, {"one batch call", t.batch}}
}

// insideN8n runs the benchmark of the workflow tests, which have a real n8n.
func insideN8n() (*n8nTimes, error) {
	cmd := exec.Command("go", "test", "-tags", "e2e", "-run", "^$", "-bench", "ThousandItems", "-benchtime", "15x", "./n8n-workflows/e2e")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("measure inside n8n: %w: %s", err, out)
	}
	t := new(n8nTimes)
	fields := strings.Fields(string(out))
	for i := 1; i < len(fields); i++ {
		value, err := strconv.ParseFloat(fields[i-1], 64)
		if err != nil {
			continue
		}
		switch fields[i] {
		case "code-ms":
			t.code = value
		case "single-ms":
			t.single = value
		case "batch-ms":
			t.batch = value
		}
	}
	if t.code == 0 || t.single == 0 || t.batch == 0 {
		return nil, fmt.Errorf("measure inside n8n: no figures in %s", out)
	}
	return t, nil
}
