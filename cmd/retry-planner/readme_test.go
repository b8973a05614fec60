package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startService runs the command as a user would and gives its address. It ends
// with the test, which fails when the command does not end cleanly.
func startService(t *testing.T, args ...string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, append([]string{"--listen", address}, args...), nil, io.Discard, io.Discard) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	require.Eventually(t, func() bool {
		response, err := http.Get("http://" + address + "/healthz")
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, 10*time.Second, 10*time.Millisecond, "the service did not start")
	return address
}

var codeBlock = regexp.MustCompile("(?s)```(sh|json)\n(.*?)```")

// TestReadmeCommandsGiveWhatItSays runs the README's curl commands as they
// stand there, and compares with the JSON block that follows each.
func TestReadmeCommandsGiveWhatItSays(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	address := startService(t)

	// The README names the default port; this curl goes to the test's instead.
	bin := t.TempDir()
	shim := fmt.Sprintf("#!/bin/sh\nexec %s --connect-to 127.0.0.1:8080:%s \"$@\"\n", curl, address)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "curl"), []byte(shim), 0o700))

	blocks := codeBlock.FindAllStringSubmatch(string(readme), -1)
	compared := 0
	for i, block := range blocks {
		if block[1] != "sh" || !strings.HasPrefix(block[2], "curl ") {
			continue
		}
		command := exec.Command("sh", "-c", block[2])
		command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		answer, err := command.Output()
		require.NoError(t, err, block[2])
		require.Less(t, i+1, len(blocks))
		require.Equal(t, "json", blocks[i+1][1], "an answer follows each command")
		assert.Equal(t, strings.TrimSpace(blocks[i+1][2]), string(answer), block[2])
		compared++
	}
	assert.GreaterOrEqual(t, compared, 2, "one retry and one terminal answer")
}
