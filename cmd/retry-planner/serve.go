package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"n8n-retry-planner/handlers"
)

// Time-outs of a connection. A slow sender must not hold a place for ever.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
)

type serveCommand struct{}

// Run serves until ctx ends, then answers what is in flight and gives nil.
func (serveCommand) Run(ctx context.Context, c *Settings, to streams) error {
	log := newLogger(to.err, c.LogLevel, c.LogFormat)
	var draining atomic.Bool
	keys := c.keys()
	server := &http.Server{
		Handler: handlers.New(handlers.Options{
			MaxBodyBytes: c.MaxBodyBytes, MaxBatchBytes: c.MaxBatchBytes, MaxBatchItems: c.MaxBatchItems,
			MaxInFlight: c.MaxInFlight, APIKeys: keys, APIKeyHeader: c.APIKeyHeader,
			Now:   time.Now,
			Draws: randomDraws,
			Ready: func() bool { return !draining.Load() },
			Log:   log, LogTaskID: c.LogTaskID,
		}),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on --listen (PLANNER_LISTEN): %w", err)
	}
	log.Info("listening", "address", listener.Addr().String(), "api_keys", len(keys))
	if len(keys) == 0 {
		log.Warn("no API keys are set: everybody who reaches this address may call; set PLANNER_API_KEYS to change that")
	}

	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	draining.Store(true)
	log.Info("draining", "grace", c.ShutdownGrace.String())
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.ShutdownGrace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return fmt.Errorf("calls were still in flight after the grace time: %w", errors.Join(err, server.Close()))
	}
	log.Info("ended")
	return nil
}

func newLogger(w io.Writer, level, format string) *slog.Logger {
	var l slog.Level
	// The flag's enum lets only names through that slog knows.
	_ = l.UnmarshalText([]byte(level))
	options := &slog.HandlerOptions{Level: l}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
