package workmem

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"millrace/server/mysql/sqlerr"
)

func TestThereIsMemoryByDefault(t *testing.T) {
	g := NewGuard(0)
	if g.MaxMemory() < 64<<20 {
		t.Errorf("%d bytes", g.MaxMemory())
	}
	if err := g.Full(t.Context()); err != nil {
		t.Error(err)
	}
	if used := g.UsedMemory(); used == 0 {
		t.Error("nothing in use")
	}
}

func TestWaitingForMemoryEndsWithTheStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(1)
		if err := g.Full(t.Context()); !errors.Is(err, sqlerr.ErrNoMemory) {
			t.Fatal(err)
		}
		g.again = time.Now().Add(time.Hour) // as if the last collection had taken long
		killed := errors.New("killed")
		ctx, kill := context.WithCancelCause(t.Context())
		answers := make(chan error)
		for range 2 { // one waits, the other one for it
			go func() { answers <- g.Full(ctx) }()
		}
		synctest.Wait()
		kill(killed)
		for range 2 {
			if err := <-answers; !errors.Is(err, killed) {
				t.Error(err)
			}
		}
	})
}
