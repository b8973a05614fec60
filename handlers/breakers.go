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

// maxBreakers bounds the breakers that are remembered, so that callers with
// ever new names cannot fill the memory.
const maxBreakers = 10_000

// breakers remembers which breakers this replica has seen open: for one gauge,
// and for one log line when a breaker leaves closed and when it is back.
type breakers struct {
	now       func() time.Time
	log       *slog.Logger
	logsNames bool // names that callers chose may stand in the log

	mu     sync.Mutex
	asked  uint64 // questions so far
	states map[string]breakerState
}

// breakerState is kept for a breaker that is or was open.
type breakerState struct {
	broken bool   // open or half-open
	since  uint64 // the questions asked when it was noted
	forget time.Time
}

func newBreakers(o *Options) *breakers {
	return &breakers{now: o.Now, log: o.Log, logsNames: o.LogTaskID, states: map[string]breakerState{}}
}

// begin numbers a question to the store.
func (b *breakers) begin() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	return b.asked
}

// note takes over the state that the store has told in answer to a question.
// An answer to a question older than the last change is old news: the calls
// that were under way when a breaker opened must not close it here.
func (b *breakers) note(began uint64, spec *gate.Spec, state gate.BreakerState) {
	if state == gate.Unsaid {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before, known := b.states[spec.Resource]
	broken := state != gate.Closed
	if began <= before.since || !known && (!broken || len(b.states) >= maxBreakers) {
		return
	}
	if broken != before.broken {
		before = breakerState{broken: broken, since: b.asked}
		b.tell(broken, spec)
	}
	// As long after, the store has closed a breaker that nobody asks for.
	life := time.Minute
	if spec.Breaker != nil {
		life = max(life, time.Duration(11*min(spec.Breaker.ResetAfter, gate.MaxHold)*float64(time.Second)))
	}
	before.forget = b.now().Add(life)
	b.states[spec.Resource] = before
}

// tell logs a change. A resource may be named after a key, so that its hash
// stands for it unless names may be logged.
func (b *breakers) tell(broken bool, spec *gate.Spec) {
	sum := sha256.Sum256([]byte(spec.Resource))
	attrs := []slog.Attr{slog.String("resource_hash", hex.EncodeToString(sum[:6]))}
	if b.logsNames {
		attrs = append(attrs, slog.String("resource", spec.Resource))
	}
	if broken {
		b.log.LogAttrs(context.Background(), slog.LevelWarn, "circuit open: calls to this resource are deferred", attrs...)
	} else {
		b.log.LogAttrs(context.Background(), slog.LevelInfo, "circuit closed: calls to this resource go on", attrs...)
	}
}

// count is the number of breakers that are not closed.
func (b *breakers) count() (open float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for resource, s := range b.states {
		switch {
		case now.After(s.forget):
			delete(b.states, resource)
		case s.broken:
			open++
		}
	}
	return open
}
