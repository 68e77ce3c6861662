package rarelog

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestMadeUpNamesDoNotFloodTheLog(t *testing.T) {
	var out strings.Builder
	r := New(slog.New(slog.NewTextHandler(&out, nil)))
	for i := range 3 * maxKeys {
		r.Warn(fmt.Sprint("no topic ", i), "a client asks for a topic that does not exist")
		r.Warn("the same", "again")
	}
	if n := strings.Count(out.String(), "\n"); n != maxKeys {
		t.Fatalf("%d lines in no time, want %d", n, maxKeys)
	}
}
