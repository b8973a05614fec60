package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is the service's TLS certificate. It is read again when one of
// its files has changed, so that a renewal needs no restart.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	stamps  [2]stamp
	failure string // the last one that was logged
}

// stamp tells whether a file has changed.
type stamp struct {
	changed time.Time
	size    int64
}

// loadCertificate reads the files for the first time.
func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	stamps, err := c.look()
	if err == nil {
		err = c.load(stamps)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use --tls-cert (PLANNER_TLS_CERT) and --tls-key (PLANNER_TLS_KEY): %w", err)
	}
	return c, nil
}

// get gives the certificate for a handshake (tls.Config.GetCertificate). While
// the files on disk do not fit together, the one before goes on.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stamps, err := c.look()
	if err == nil && stamps != c.stamps {
		if err = c.load(stamps); err == nil {
			c.log.Info("the TLS certificate was read again")
		}
	}
	c.report(err)
	return c.current, nil
}

func (c *certificate) look() (stamps [2]stamp, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return stamps, err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}

func (c *certificate) load(stamps [2]stamp) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current, c.stamps = &pair, stamps
	return nil
}

// report logs a failure once, not for each handshake.
func (c *certificate) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != c.failure {
		c.log.Error("the TLS certificate cannot be read again; the one before goes on", "error", text)
	}
	c.failure = text
}
