package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthcheckCommand asks the service in the same container: the image has no
// shell and no curl.
type healthcheckCommand struct{}

const healthcheckTimeout = 3 * time.Second

// Run gives nil when the service answers that it is alive.
func (healthcheckCommand) Run(ctx context.Context, c *Settings) error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return err
	}
	// It asks the process beside it over the loopback and sends no secret; the
	// certificate is made out for the name that callers use.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the service does not answer: %w", err)
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode == http.StatusBadRequest && scheme == "http" {
		return errors.New("the service does not take plain HTTP: set PLANNER_TLS_CERT and PLANNER_TLS_KEY as the service has them")
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the service answers with status %d", response.StatusCode)
	}
	return nil
}
