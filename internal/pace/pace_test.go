package pace

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWorkRestsOnceASliceIsOverWhileClientsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := true
		p := New(func() bool { return busy })
		step := func() time.Duration {
			began := time.Now()
			if err := p.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		step()
		if d := step(); d != 0 {
			t.Errorf("rested %v before the slice was over", d)
		}
		time.Sleep(Slice)
		if d := step(); d == 0 {
			t.Error("did not rest after a slice")
		}
		if d := step(); d != 0 {
			t.Errorf("rested %v again at once", d)
		}
		p.Behind(3)
		time.Sleep(2 * Slice)
		if d := step(); d != 0 {
			t.Errorf("rested %v though the work is behind", d)
		}
		p.Behind(1000)
		time.Sleep(Longest)
		if d := step(); d == 0 {
			t.Error("work that is behind did not rest at all")
		}
		p.Behind(0)
		time.Sleep(Slice / 2)
		if d := step(); d != 0 {
			t.Errorf("rested %v before the shortest slice was over", d)
		}
		busy = false
		time.Sleep(Longest)
		if d := step(); d != 0 {
			t.Errorf("rested %v though nobody waits", d)
		}
	})
}

func TestAStepEndsWithTheContext(t *testing.T) {
	why := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := New(func() bool { return true }).Step(ctx); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}
