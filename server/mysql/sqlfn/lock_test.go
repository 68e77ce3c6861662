package sqlfn

import (
	"context"
	"strings"
	"testing"
)

func TestASessionHoldsABoundedNumberOfLocks(t *testing.T) {
	l := NewLocks()
	for i := range maxLocks {
		if ok, err := l.take(context.Background(), 1, strings.Repeat("x", i+1), 0); !ok || err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := l.take(context.Background(), 1, "more", 0); err == nil {
		t.Error("no bound")
	}
	if n := l.ReleaseAll(1); n != maxLocks || len(l.byName) != 0 || len(l.held) != 0 {
		t.Error(n, len(l.byName), len(l.held))
	}
}
