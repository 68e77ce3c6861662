package kafka

import "context"

// answer is what a reply function with an error brings.
type answer[T any] struct {
	value T
	err   error
}

// await starts something that replies once, from whatever goroutine, and waits for it.
// After ctx ended the reply goes nowhere.
func await[T any](ctx context.Context, start func(reply func(T))) (T, error) {
	ch := make(chan T, 1)
	start(func(v T) { ch <- v })
	select {
	case v := <-ch:
		return v, nil
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// nullable is null for the empty string.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// deref is the empty string for null.
func deref(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
