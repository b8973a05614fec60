package main

import (
	"bufio"
	"io"
	"log/slog"
	"sync"
	"time"
)

// newLogger gives the logger of the service.
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

// logDelay is how late a log line may be. One system call for many lines costs
// the calls a fraction of one each.
const logDelay = 100 * time.Millisecond

// logWriter gathers log lines and writes them out soon after.
type logWriter struct {
	mu      sync.Mutex
	out     *bufio.Writer
	pending bool
}

func newLogWriter(w io.Writer) *logWriter { return &logWriter{out: bufio.NewWriterSize(w, 64<<10)} }

// Write takes one line.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.pending {
		w.pending = true
		time.AfterFunc(logDelay, w.close)
	}
	return w.out.Write(line)
}

// close writes out what is there.
func (w *logWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = false
	_ = w.out.Flush() // there is nowhere left to tell that the log is gone
}
