package kafka

import (
	"log/slog"
	"maps"
	"sync"
	"time"
)

// rareLog writes a line about the same thing at most once in a while: peers decide
// how often these events happen.
type rareLog struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const (
	rareLogEvery = 10 * time.Second
	rareLogKeys  = 1000 // so many different lines in that time; others are not written
	// logBytes bounds what a peer can put into one field of a line.
	logBytes = 1 << 10
)

func newRareLog() *rareLog { return &rareLog{last: map[string]time.Time{}} }

func (r *rareLog) warn(log *slog.Logger, key, msg string, args ...any) {
	now := time.Now()
	r.mu.Lock()
	if t, ok := r.last[key]; ok && now.Sub(t) < rareLogEvery {
		r.mu.Unlock()
		return
	}
	if len(r.last) >= rareLogKeys {
		maps.DeleteFunc(r.last, func(_ string, t time.Time) bool { return now.Sub(t) >= rareLogEvery })
	}
	if len(r.last) >= rareLogKeys { // somebody makes up new names all the time
		r.mu.Unlock()
		return
	}
	r.last[key] = now
	r.mu.Unlock()
	log.Warn(msg, args...)
}

// cut bounds a peer's string for a log line; slog's handlers quote it.
func cut(s string) string {
	if len(s) > logBytes {
		return s[:logBytes]
	}
	return s
}
