package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxHistory is how many entries are kept.
const maxHistory = 5000

// maxHistoryBytes bounds what is read of the file, from its end.
const maxHistoryBytes = 16 << 20

// history is what was typed before, oldest first, in memory and in a file of JSON strings, one
// a line, that only its owner can read. It implements readline's history.Source.
type history struct {
	file string // "": only in memory

	mu      sync.Mutex
	entries []string
}

// openHistory reads a file; one that cannot be read is no reason to do without a shell.
func openHistory(file string) *history {
	h := &history{file: file}
	f, err := os.Open(file)
	if err != nil {
		return h
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxHistoryBytes {
		_, _ = f.Seek(-maxHistoryBytes, 2) // the line it lands in is not valid, or an odd entry
	}
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxHistoryBytes)
	for in.Scan() {
		var entry string
		switch line := in.Text(); {
		case strings.HasPrefix(line, `"`):
			if json.Unmarshal([]byte(line), &entry) != nil {
				continue
			}
		default:
			entry = line // as earlier versions wrote it
		}
		if entry != "" {
			h.entries = append(h.entries, entry)
		}
	}
	if len(h.entries) > 2*maxHistory {
		h.entries = h.entries[len(h.entries)-maxHistory:]
		_ = h.rewrite() // it only stays long
	}
	return h
}

func historyLine(entry string) []byte {
	return append(appendJSONString(nil, entry), '\n')
}

func (h *history) rewrite() error {
	var b []byte
	for _, e := range h.entries {
		b = append(b, historyLine(e)...)
	}
	if err := os.WriteFile(h.file+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(h.file+".new", h.file)
}

// Write adds what was typed, but nothing that holds a password.
func (h *history) Write(text string) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text = strings.TrimSpace(text)
	if text == "" || holdsPassword(text) || len(h.entries) > 0 && h.entries[len(h.entries)-1] == text {
		return len(h.entries), nil
	}
	h.entries = append(h.entries, text)
	if h.file == "" {
		return len(h.entries), nil
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return len(h.entries), nil //nolint:nilerr // a history that cannot be written is no reason to stop
	}
	_ = f.Chmod(0o600) // earlier versions left it to the umask
	_, _ = f.Write(historyLine(text))
	_ = f.Close()
	return len(h.entries), nil
}

// holdsPassword says whether text may contain one.
func holdsPassword(text string) bool {
	upper := strings.ToUpper(text)
	return strings.Contains(upper, "IDENTIFIED") || strings.Contains(upper, "PASSWORD")
}

var errNoEntry = errors.New("no such entry")

// GetLine is the entry at a place, from 0.
func (h *history) GetLine(i int) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < 0 || i >= len(h.entries) {
		return "", errNoEntry
	}
	return h.entries[i], nil
}

// Len is the number of entries.
func (h *history) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.entries)
}

// Dump is all entries.
func (h *history) Dump() any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.entries...)
}

// historyFile is in the user's state directory; "" (no history) if there is none.
func historyFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "millrace")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return filepath.Join(dir, "sql_history")
}
