package exec

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"millrace/internal/vector"
)

// readAhead carries the blocks of a stream that are still to come on several goroutines, and yields their rows in
// the order of the blocks. Who works on a block before its turn keeps copies of the rows that pass, as long as they are few, and
// then waits; when its turn has come batches are handed over as they are. So reading blocks, and filters that let little
// through, are done in parallel, and what passes in masses is not copied.
type readAhead struct {
	run    *runner
	m      *morsels
	cancel context.CancelFunc
	done   <-chan struct{}
	wg     sync.WaitGroup
	held   holding
	room   chan struct{} // one for each block that is in work or waits for its turn
	taking sync.Mutex    // of the next block, and of its place in queue
	queue  chan *aheadBlock
	left   int         // blocks that are not through
	cur    *aheadBlock // whose turn it is; nil: the next one's
	lent   bool        // its worker waits for its last batch
}

// aheadBytes bounds the rows that are kept of a block before its turn, and aheadShare says of how many rows of a batch one
// may be kept: copying more costs as much as waiting.
const (
	aheadBytes = 1 << 20
	aheadShare = 8
)

// aheadBlock is a block in work.
type aheadBlock struct {
	out  chan aheadItem // closed after the last one
	turn chan struct{}  // closed when all blocks before are through
	back chan struct{}  // for each batch that was lent
}

// aheadItem is a batch, or why there is none.
type aheadItem struct {
	batch *Batch
	lent  bool // it is the worker's again when the next one is asked for
	err   error
	bug   any
}

// readAhead starts on the blocks of m from at on; nil where that is not worth it, or there is no memory for it.
func (r *runner) readAhead(ctx context.Context, m *morsels, at int) *readAhead {
	a := &readAhead{run: r, m: m, left: len(m.blocks) - at, held: holding{account: &r.memory}}
	workers := min(r.parallel, a.left)
	if workers < 2 {
		return nil
	}
	a.room, a.queue = make(chan struct{}, 2*workers), make(chan *aheadBlock, 2*workers)
	if a.held.set(int64(cap(a.room))*aheadBytes) != nil {
		return nil
	}
	ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx)) // each next has a context of its own
	a.done = ctx.Done()
	m.taken.Store(int64(at))
	for range workers {
		a.wg.Go(func() { a.work(ctx) })
	}
	return a
}

// next is the next batch in order, valid until the next call.
func (a *readAhead) next(ctx context.Context) (*Batch, error) {
	if a.lent {
		a.cur.back <- struct{}{} // its worker waits for nothing else
		a.lent = false
	}
	for a.left > 0 {
		if a.cur == nil {
			select {
			case a.cur = <-a.queue:
				close(a.cur.turn)
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		select {
		case item, ok := <-a.cur.out:
			switch {
			case !ok:
				<-a.room
				a.cur = nil
				a.left--
			case item.bug != nil:
				panic(item.bug) // here, where the statement's handler can end it
			case item.err != nil:
				return nil, item.err
			default:
				a.lent = item.lent
				return item.batch, nil
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return nil, io.EOF
}

// close ends the work, and waits for it.
func (a *readAhead) close() {
	a.cancel()
	a.wg.Wait()
	_ = a.held.set(0) // giving back does not fail
}

// work takes one block after another.
func (a *readAhead) work(ctx context.Context) {
	w, err := a.m.worker()
	if err == nil {
		defer w.close()
	}
	for {
		b, i := a.take()
		if b == nil || !a.carryOut(ctx, w, err, i, b) {
			return
		}
	}
}

// take is the next block, when there is room for it; nil: there is none.
func (a *readAhead) take() (*aheadBlock, int) {
	select {
	case a.room <- struct{}{}:
	case <-a.done:
		return nil, 0
	}
	a.taking.Lock()
	defer a.taking.Unlock()
	i := a.m.take()
	if i < 0 {
		return nil, 0
	}
	b := &aheadBlock{out: make(chan aheadItem, MaxBlockRows/chunkRows+1), turn: make(chan struct{}), back: make(chan struct{})}
	a.queue <- b // which has as much room
	return b, i
}

// carryOut works on block i, and says how it ended; false when that is the end of the work. err is why w cannot.
func (a *readAhead) carryOut(ctx context.Context, w *worker, err error, i int, b *aheadBlock) bool {
	last := aheadItem{}
	defer func() {
		if p := recover(); p != nil {
			last.bug = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
		if last.err != nil || last.bug != nil {
			select {
			case b.out <- last:
			case <-a.done:
			}
		}
		close(b.out)
	}()
	if last.err = err; err == nil {
		last.err = a.carry(ctx, w, i, b)
	}
	return last.err == nil
}

// carry has w work on block i.
func (a *readAhead) carry(ctx context.Context, w *worker, i int, b *aheadBlock) error {
	if err := w.open(ctx, i); err != nil {
		return err
	}
	kept, copying := int64(0), true
	for {
		batch, err := w.next(ctx)
		if batch == nil || err != nil {
			return err
		}
		select {
		case <-b.turn:
			copying = false
		default:
		}
		if copying {
			own, size, err := owned(batch, aheadBytes-kept)
			if err != nil {
				return err
			}
			if own != nil {
				kept += size
				select {
				case b.out <- aheadItem{batch: own}: // there is room for as many as a block may have
				case <-a.done:
					return ctx.Err()
				}
				continue
			}
			select {
			case <-b.turn:
				copying = false
			case <-a.done:
				return ctx.Err()
			}
		}
		select {
		case b.out <- aheadItem{batch: batch, lent: true}:
		case <-a.done:
			return ctx.Err()
		}
		select {
		case <-b.back:
		case <-a.done:
			return ctx.Err()
		}
	}
}

// owned is a batch in memory of its own, and how many bytes it takes; nil when these are more than most, or its rows many.
func owned(b *Batch, most int64) (*Batch, int64, error) {
	rows := b.rows()
	if len(rows)*aheadShare > b.Len {
		return nil, 0, nil
	}
	size := int64(0)
	for i := range b.Cols {
		size += textOf(&b.Cols[i], rows) + valueBytes(b.Cols[i].Kind)*int64(len(rows))
		if size > most {
			return nil, 0, nil
		}
	}
	out := &Batch{Len: len(rows), Cols: make([]vector.Vector, len(b.Cols))}
	for i := range b.Cols {
		v := &b.Cols[i]
		var own builder
		own.reset(Type{Kind: v.Kind, Scale: v.Scale})
		own.appendRows(v, rows)
		if err := own.fits(); err != nil {
			return nil, 0, err
		}
		out.Cols[i] = own.vector()
	}
	return out, size, nil
}

// valueBytes is what a value takes in a builder, but for text.
func valueBytes(k vector.Kind) int64 {
	switch k {
	case vector.Decimal128:
		return 16
	case vector.Decimal256:
		return 32
	}
	return 8
}
