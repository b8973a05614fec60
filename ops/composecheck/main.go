// Command composecheck reads compose.yaml as docker compose does, with the
// schema and the interpolation of the Compose specification, and fails when it
// is not valid.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv)
	if err == nil {
		project, loadErr := options.LoadProject(context.Background())
		if err = loadErr; err == nil {
			fmt.Println("compose.yaml is valid:", project.ServiceNames())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compose.yaml is not valid:", err)
		os.Exit(1)
	}
}
