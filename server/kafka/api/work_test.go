package api

import (
	"testing"
	"time"
)

func TestWaitingIsNoWork(t *testing.T) {
	now := time.Unix(0, 0)
	w := Work{Now: func() time.Time { return now }}
	pass := func(d time.Duration) { now = now.Add(d) }
	pass(time.Second)
	if w.Take() != 0 {
		t.Error("counted without having begun")
	}
	w.Begin()
	pass(time.Second)
	ctx := WithWork(t.Context(), &w)
	over := Waiting(ctx)
	pass(time.Minute)
	inner := Waiting(ctx) // one wait may be part of another
	inner()
	over()
	pass(time.Second)
	if got := w.Take(); got != 2*time.Second {
		t.Error(got)
	}
	pass(time.Second)
	w.End(true)
	pass(time.Minute)
	w.Begin()
	if got := w.Take(); got != time.Second {
		t.Errorf("what was kept is %v", got)
	}
	pass(time.Second)
	w.End(false)
	w.Begin()
	if got := w.Take(); got != 0 {
		t.Error(got)
	}
}
