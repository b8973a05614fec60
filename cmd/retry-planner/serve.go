package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"n8n-retry-planner/handlers"
)

// Limits of a connection. A slow sender or reader must not hold a place for
// ever, nor a header fill the memory.
const (
	readHeaderTimeout = 5 * time.Second
	writeTimeout      = 30 * time.Second // after the call was read
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
)

type serveCommand struct{}

// Run serves until ctx ends, then answers what is in flight and gives nil.
func (serveCommand) Run(ctx context.Context, s *Settings, to streams) error {
	limitMemory(s.MaxHeldBytes)
	lines := newLogWriter(to.err)
	defer lines.close()
	log := newLogger(lines, s.LogLevel, s.LogFormat)
	tracing, err := newTracing(ctx, log)
	if err != nil {
		return err
	}
	defer tracing.close()
	var draining atomic.Bool
	registry := newRegistry()
	store, closeStore, err := newGate(s, log, registry)
	if err != nil {
		return err
	}
	defer closeStore()
	server, err := newServer(s, handlers.Options{
		Gate: store, Log: log, Tracer: tracing.tracer, Registry: registry,
		Ready: func() bool { return !draining.Load() },
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on --listen (PLANNER_LISTEN): %w", err)
	}
	logStart(log, s, listener.Addr())

	failed := make(chan error, 1)
	go func() { failed <- serveOn(server, listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return drain(ctx, s, log, server, &draining)
}

// newServer fills in the settings and makes the server.
func newServer(s *Settings, o handlers.Options) (*http.Server, error) {
	keys, err := s.keys()
	if err != nil {
		return nil, err
	}
	o.MaxBodyBytes, o.MaxBatchBytes, o.MaxBatchItems, o.MaxInFlight = s.MaxBodyBytes, s.MaxBatchBytes, s.MaxBatchItems, s.MaxInFlight
	o.MaxHeldBytes = s.MaxHeldBytes
	o.APIKeys, o.APIKeyHeader, o.Closed, o.LogTaskID = keys, s.APIKeyHeader, s.Closed, s.LogTaskID
	o.Now, o.Draws = time.Now, randomDraws
	server := &http.Server{
		Handler:           handlers.New(o),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       s.ReadTimeout,
		WriteTimeout:      s.ReadTimeout + writeTimeout, // net/http counts from the end of the header
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	if s.TLSCert == "" {
		return server, nil
	}
	certificate, err := loadCertificate(s.TLSCert, s.TLSKey, o.Log)
	if err != nil {
		return nil, &usageError{err}
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get}
	// The binary is built without HTTP/2, and must not offer it.
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	return server, nil
}

// baseMemory is what the service needs besides large bodies and answers, in
// bytes: most of it for 10 000 connections.
const baseMemory = 64 << 20

// limitMemory lets the garbage collector run seldom while little memory is used,
// since a usual call leaves next to nothing, and often before memory grows past
// what is needed: room for the bytes that calls may hold, and half as many for
// the one call besides. An operator's GOGC and GOMEMLIMIT stand.
func limitMemory(held int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(baseMemory + held/2*3)
	}
}

func serveOn(server *http.Server, listener net.Listener) error {
	if server.TLSConfig != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}

func logStart(log *slog.Logger, s *Settings, address net.Addr) {
	b := readBuild()
	log.Info("listening", "address", address.String(), "tls", s.TLSCert != "", "version", b.version, "revision", b.revision)
	keys, _ := s.keys() // they were checked at the start
	if len(keys) == 0 {
		log.Warn("no API keys are set: everybody who reaches this address may call; set PLANNER_API_KEYS to change that")
		return
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.Name
	}
	log.Info("calls need an API key", "keys", names)
}

// drain ends the service within the grace time. For the delay it is not ready
// but still takes calls, because a balancer notices late; then no new
// connection is taken, and what is in flight is answered.
func drain(ctx context.Context, s *Settings, log *slog.Logger, server *http.Server, draining *atomic.Bool) error {
	draining.Store(true)
	log.Info("draining", "grace", s.ShutdownGrace.String())
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.ShutdownGrace)
	defer cancel()
	time.Sleep(s.DrainDelay)
	if err := server.Shutdown(grace); err != nil {
		return fmt.Errorf("calls were still in flight after the grace time: %w", errors.Join(err, server.Close()))
	}
	log.Info("ended")
	return nil
}
