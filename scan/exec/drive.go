package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"millrace/scan"
)

// sink takes in rows, for one goroutine. Not every morsel comes to every sink; they ascend, but under a topBound.
type sink interface {
	// begin says which morsel the batches up to end belong to.
	begin(morsel int) error
	add(b *Batch) error
	end(morsel int) error
}

// blockSink is a sink that can take in some blocks without their rows.
type blockSink interface {
	sink
	// block takes in block i of the morsels, between begin and end; false when it needs the rows. What it knows of them it may feed to w.
	block(ctx context.Context, i int, w *fragmentWorker) (bool, error)
}

// errStopped makes the other goroutines end where one has a bug.
var errStopped = errors.New("exec: stopped")

// drive carries all rows of n into sinks, one per goroutine, and returns the sinks when all is
// done. Of a pipeline each block is a morsel; the rows of anything else are one morsel, and come in
// one goroutine. Goroutines have ended when drive returns.
func (r *runner) drive(ctx context.Context, n Node, newSink func(rows int) (sink, error)) ([]sink, error) {
	f, err := r.fragmentThatFits(ctx, n)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return r.driveOne(ctx, n, newSink)
	}
	defer f.close()
	m, err := r.morsels(ctx, f.p, nil)
	if err != nil {
		return nil, err
	}
	return r.driveMorsels(ctx, f, m, newSink)
}

// fragmentThatFits is fragmentOf; also nil when the joins' tables do not fit, and a join goes part by part, see joinParts.
func (r *runner) fragmentThatFits(ctx context.Context, n Node) (*fragment, error) {
	f, err := r.fragmentOf(ctx, n)
	if errors.Is(err, scan.ErrMemory) {
		return nil, nil
	}
	return f, err
}

// driveMorsels carries the morsels of a fragment's pipeline through it.
func (r *runner) driveMorsels(ctx context.Context, f *fragment, m *morsels, newSink func(rows int) (sink, error)) ([]sink, error) {
	return r.driveWork(ctx, m, newSink, func(ctx context.Context, s sink) error {
		w, err := f.worker(r, m)
		if err != nil {
			return err
		}
		return w.work(ctx, m, s)
	})
}

// driveWork has work carry the morsels into each sink.
func (r *runner) driveWork(ctx context.Context, m *morsels, newSink func(rows int) (sink, error), work func(context.Context, sink) error) ([]sink, error) {
	n := max(1, min(r.parallel, len(m.blocks)))
	rows := m.rows()
	sinks := make([]sink, n)
	for i := range sinks {
		var err error
		if sinks[i], err = newSink(rows / n); err != nil {
			return nil, err
		}
	}
	if n == 1 {
		return sinks, work(ctx, sinks[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	errs, bugs := make([]error, n), make([]any, n)
	for i := range sinks {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					bugs[i] = fmt.Sprintf("%v\n%s", p, debug.Stack())
					cancel(errStopped)
				}
			}()
			if errs[i] = work(ctx, sinks[i]); errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	wg.Wait()
	for _, p := range bugs {
		if p != nil {
			panic(p) // here, where the statement's handler can end it: there it would end the process
		}
	}
	for _, err := range errs {
		if err != nil {
			return nil, context.Cause(ctx) // the first, which made the others stop
		}
	}
	return sinks, nil
}

func (r *runner) driveOne(ctx context.Context, n Node, newSink func(rows int) (sink, error)) ([]sink, error) {
	op, err := r.build(n)
	if err != nil {
		return nil, err
	}
	defer op.close()
	s, err := newSink(0)
	if err != nil {
		return nil, err
	}
	if err := s.begin(0); err != nil {
		return nil, err
	}
	for {
		b, err := op.next(ctx)
		if done(err) {
			return []sink{s}, s.end(0)
		}
		if err != nil {
			return nil, err
		}
		if err := s.add(b); err != nil {
			return nil, err
		}
	}
}
