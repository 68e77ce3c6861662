package kafka

import (
	"context"

	"millrace/store/state"
)

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
	return receive(ctx, ch)
}

// receive waits for an answer that is under way. An error is ctx's.
func receive[T any](ctx context.Context, ch <-chan T) (T, error) {
	defer waiting(ctx)()
	select {
	case v := <-ch:
		return v, nil
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// commit is Store.Commit of an intent of a request.
func (s *Server) commit(ctx context.Context, intent state.Intent) (any, error) {
	defer waiting(ctx)()
	return s.o.Store.Commit(ctx, intent)
}

// submit hands the store an intent whose answer is waited for later, so that several share a sync.
func (s *Server) submit(ctx context.Context, intent state.Intent) <-chan answer[any] {
	defer waiting(ctx)()
	ch := make(chan answer[any], 1)
	if err := s.o.Store.Submit(ctx, intent, nil, func(result any, err error) { ch <- answer[any]{result, err} }); err != nil {
		ch <- answer[any]{nil, err}
	}
	return ch
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
