package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"n8n-retry-planner/gate"
)

// maxBreakers bounds the open breakers that are remembered, so that callers
// with ever new names cannot fill the memory.
const maxBreakers = 10_000

// breakers remembers which breakers this replica has seen open: for one gauge,
// and for one log line at each change.
type breakers struct {
	now       func() time.Time
	log       *slog.Logger
	logsNames bool // names that callers chose may stand in the log

	mu   sync.Mutex
	open map[string]openBreaker
}

type openBreaker struct {
	state  gate.BreakerState
	forget time.Time // nobody has asked for so long that the store has closed it
}

// note takes over the state that the store has just told.
func (b *breakers) note(spec *gate.Spec, state gate.BreakerState) {
	if spec.Breaker == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.open[spec.Resource].state
	switch {
	case state == gate.Closed:
		delete(b.open, spec.Resource)
	case len(b.open) < maxBreakers || before != gate.Closed:
		life := max(time.Minute, time.Duration(10*min(spec.Breaker.ResetAfter, gate.MaxHold)*float64(time.Second)))
		b.open[spec.Resource] = openBreaker{state, b.now().Add(life)}
	}
	switch {
	case state == gate.Open && before != gate.Open:
		b.tell(slog.LevelWarn, "circuit open: calls to this resource are deferred", spec)
	case state == gate.Closed && before != gate.Closed:
		b.tell(slog.LevelInfo, "circuit closed: calls to this resource go on", spec)
	}
}

// tell logs a change. A resource may be named after a key, so that its hash
// stands for it unless names may be logged.
func (b *breakers) tell(level slog.Level, message string, spec *gate.Spec) {
	sum := sha256.Sum256([]byte(spec.Resource))
	attrs := []slog.Attr{slog.String("resource_hash", hex.EncodeToString(sum[:6]))}
	if b.logsNames {
		attrs = append(attrs, slog.String("resource", spec.Resource))
	}
	b.log.LogAttrs(context.Background(), level, message, attrs...)
}

// count is the number of breakers that are not closed.
func (b *breakers) count() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for resource, breaker := range b.open {
		if now.After(breaker.forget) {
			delete(b.open, resource)
		}
	}
	return float64(len(b.open))
}
