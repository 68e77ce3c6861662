package kafka

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestMadeUpNamesDoNotFloodTheLog(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	r := newRareLog()
	for i := range 3 * rareLogKeys {
		r.warn(log, fmt.Sprint("no topic ", i), "a client asks for a topic that does not exist")
		r.warn(log, "the same", "again")
	}
	if n := strings.Count(out.String(), "\n"); n != rareLogKeys {
		t.Fatalf("%d lines in no time, want %d", n, rareLogKeys)
	}
}
