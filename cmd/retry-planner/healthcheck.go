package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthcheckCommand asks the service in the same container: the image has no
// shell and no curl.
type healthcheckCommand struct {
	Listen string `env:"PLANNER_LISTEN" default:"127.0.0.1:8080" help:"Address that the service listens on."`
}

const healthcheckTimeout = 3 * time.Second

// Run gives nil when the service answers that it is alive.
func (c *healthcheckCommand) Run(ctx context.Context) error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return &usageError{fmt.Errorf("--listen (PLANNER_LISTEN) must be host:port: %w", err)}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return &usageError{err}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("the service does not answer: %w", err)
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the service answers with status %d", response.StatusCode)
	}
	return nil
}
