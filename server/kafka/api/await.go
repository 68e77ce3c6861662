package api

import "context"

// Answer is what a reply function with an error brings.
type Answer[T any] struct {
	Value T
	Err   error
}

// Await starts something that replies once, from whatever goroutine, and waits for it.
// After ctx ended the reply goes nowhere.
func Await[T any](ctx context.Context, start func(reply func(T))) (T, error) {
	ch := make(chan T, 1)
	start(func(v T) { ch <- v })
	return Receive(ctx, ch)
}

// Receive waits for an answer that is under way. An error is ctx's.
func Receive[T any](ctx context.Context, ch <-chan T) (T, error) {
	defer Waiting(ctx)()
	select {
	case v := <-ch:
		return v, nil
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
