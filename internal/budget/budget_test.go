package budget

import (
	"context"
	"runtime"
	"testing"
)

func TestBytesAreGrantedInOrderAndComeBack(t *testing.T) {
	b := New(10)
	ctx, cancel := context.WithCancel(context.Background())
	if b.Acquire(ctx, 8) != nil {
		t.Fatal("a free budget waits")
	}
	got := make(chan int64, 2)
	wait := func(n int64) {
		before := queued(b)
		go func() {
			if b.Acquire(context.Background(), n) == nil {
				got <- n
			}
		}()
		for queued(b) == before {
			runtime.Gosched()
		}
	}
	wait(9)
	wait(1) // would fit, but came second
	gone := make(chan error, 1)
	before := queued(b)
	go func() { gone <- b.Acquire(ctx, 3) }()
	for queued(b) == before {
		runtime.Gosched()
	}
	cancel()
	if <-gone == nil {
		t.Fatal("granted after its context ended")
	}
	b.Release(8)
	if a, c := <-got, <-got; a+c != 10 {
		t.Fatal(a, c)
	}
	b.Release(10)
	if n, err := b.AcquireSome(context.Background(), 100, 1); n != 5 || err != nil {
		t.Fatal(n, err) // half of what is free
	}
	if n, err := b.AcquireSome(context.Background(), 100, 4); n != 4 || err != nil {
		t.Fatal(n, err) // but the floor
	}
	b.Release(9)
	if b.Acquire(context.Background(), 1000) != nil || b.used != 1000 {
		t.Fatal("one larger than the whole is let through alone")
	}
}

// queued is how many wait.
func queued(b *Budget) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue)
}

func TestABlockedBudgetGivesNothingUntilItIsFreed(t *testing.T) {
	b := New(10)
	b.Block(true)
	got := make(chan error, 1)
	go func() { got <- b.Acquire(context.Background(), 3) }()
	for queued(b) == 0 {
		runtime.Gosched()
	}
	b.Release(0)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if n, err := b.AcquireSome(ended, 5, 1); n != 0 || err == nil {
		t.Fatal(n, err)
	}
	b.Block(false)
	if err := <-got; err != nil || b.InUse() != 3 {
		t.Fatal(err, b.InUse())
	}
	if err := b.Acquire(context.Background(), 7); err != nil || b.InUse() != 10 {
		t.Fatal(err, b.InUse())
	}
}

func TestARequestLargerThanTheWholePassesAlone(t *testing.T) {
	b := New(10)
	if err := b.Acquire(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() { got <- b.Acquire(context.Background(), 100) }()
	for queued(b) == 0 {
		runtime.Gosched()
	}
	b.Release(1)
	if err := <-got; err != nil || b.InUse() != 100 {
		t.Fatal(err, b.InUse())
	}
}
