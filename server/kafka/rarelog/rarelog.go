// Package rarelog writes log lines about what peers decide the number of.
package rarelog

import (
	"log/slog"
	"maps"
	"sync"
	"time"
)

// Log writes a line about the same thing at most once in a while. Safe for concurrent use.
type Log struct {
	log *slog.Logger

	mu   sync.Mutex // a leaf
	last map[string]time.Time
}

const (
	// Every is how long the same thing is not told again.
	Every   = 10 * time.Second
	maxKeys = 1000 // so many different lines in that time; others are not written
	// logBytes bounds what a peer can put into one field of a line.
	logBytes = 1 << 10
)

// New writes to log.
func New(log *slog.Logger) *Log { return &Log{log: log, last: map[string]time.Time{}} }

// Warn writes a line unless one with the same key was written a short while ago.
func (r *Log) Warn(key, msg string, args ...any) {
	now := time.Now()
	r.mu.Lock()
	if t, ok := r.last[key]; ok && now.Sub(t) < Every {
		r.mu.Unlock()
		return
	}
	if len(r.last) >= maxKeys {
		maps.DeleteFunc(r.last, func(_ string, t time.Time) bool { return now.Sub(t) >= Every })
	}
	if len(r.last) >= maxKeys { // somebody makes up new names all the time
		r.mu.Unlock()
		return
	}
	r.last[key] = now
	r.mu.Unlock()
	r.log.Warn(msg, args...)
}

// Cut bounds a peer's string for a log line; slog's handlers quote it.
func Cut(s string) string {
	if len(s) > logBytes {
		return s[:logBytes]
	}
	return s
}
