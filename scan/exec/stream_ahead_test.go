package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/scan"
)

// failing is a source of which a block fails, or panics.
type failing struct {
	*memSource
	at  int
	err error // nil: it panics
}

func (s *failing) Blocks(ctx context.Context, t *catalog.Table, cols []scan.Column, prune scan.Expr) ([]Block, error) {
	blocks, err := s.memSource.Blocks(ctx, t, cols, prune)
	blocks = slices.Clone(blocks)
	blocks[s.at] = failingBlock{blocks[s.at], s.err}
	return blocks, err
}

type failingBlock struct {
	Block
	err error
}

func (b failingBlock) Open(context.Context, []scan.Column) ([]*vector.Vector, int, int, func(), error) {
	if b.err == nil {
		panic("a bug")
	}
	return nil, 0, 0, nil, b.err
}

// texts is a table of numbers and texts of many blocks, the widest of which are not copied.
func texts(rows int) *memSource {
	var all [][]any
	for i := range rows {
		all = append(all, []any{int64(i), strings.Repeat(fmt.Sprint(i%7), i%3*i%500)})
	}
	return newMemSource([]Type{tInt, tText}, all, 700, rand.New(rand.NewPCG(1, 2)))
}

func TestRowsOfAStreamComeInOrderHoweverManyReadThem(t *testing.T) {
	s := texts(20_000)
	for _, filter := range []Expr{nil, Compare{LT, Arith{Op: Mod, L: intCol(0), R: intConst(100), T: tInt}, intConst(2)}} {
		n := s.scan()
		n.Filter = filter
		var node Node = &Project{Child: n, Exprs: []Expr{intCol(0), Func{Fn: Length, Args: []Expr{Col{1, tText}}, T: tInt}, Col{1, tText}}}
		want := answer(t, node, Options{Parallel: 1})
		for _, parallel := range []int{2, 3, 8} {
			if got := answer(t, node, Options{Parallel: parallel}); got != want {
				t.Errorf("on %d goroutines rows differ", parallel)
			}
		}
		b := &testBudget{left: 1000}
		rows, err := collect(node, Options{Parallel: 4, Budget: b})
		if err != nil || b.left != 1000 || len(rows) == 0 {
			t.Errorf("without memory to read ahead: %d rows, %v, %d bytes left", len(rows), err, b.left)
		}
	}
}

func TestAStreamThatIsClosedEarlyLeavesNothingBehind(t *testing.T) {
	s := texts(20_000)
	for _, batches := range []int{0, 1, 2, 5, 20} {
		b := &testBudget{left: 1 << 30}
		it, err := Run(t.Context(), s.scan(), Options{Parallel: 3, Budget: b})
		if err != nil {
			t.Fatal(err)
		}
		for range batches {
			if _, err := it.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		it.Close()
		if b.left != 1<<30 {
			t.Errorf("after %d batches: %d bytes not given back", batches, 1<<30-b.left)
		}
	}
}

func TestAStreamOfLargerBlocksThanExpectedCanBeClosed(t *testing.T) {
	var rows [][]any
	for i := range 2 * MaxBlockRows {
		rows = append(rows, []any{int64(i)})
	}
	s := bigints(len(rows), rows...)
	s.blocks = slices.Repeat(s.blocks, 4)
	n := s.scan()
	n.Filter = Compare{EQ, Arith{Op: Mod, L: intCol(0), R: intConst(100), T: tInt}, intConst(1)}
	synctest.Test(t, func(t *testing.T) {
		it, err := Run(t.Context(), n, Options{Parallel: 3})
		if err != nil {
			t.Fatal(err)
		}
		for rows := 0; rows <= 2*MaxBlockRows/100+1; { // until the first block is through
			b, err := it.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rows += b.Rows()
		}
		synctest.Wait() // until what comes before its turn has no room any more
		it.Close()
	})
}

func TestWhatIsKeptOfAStreamIsCountedInItsWidth(t *testing.T) {
	for kind, want := range map[vector.Kind]int64{vector.Int: 8, vector.Decimal128: 16, vector.Decimal256: 32} {
		v := nullVector(Type{Kind: kind}, 100)
		_, size, err := owned(&Batch{Len: 100, Sel: []int32{1, 5}, Cols: []vector.Vector{v}}, 1<<20)
		if err != nil || size != 2*want {
			t.Errorf("kind %d: %d bytes, %v", kind, size, err)
		}
	}
}

func TestErrorsOfAStreamComeAfterTheRowsBefore(t *testing.T) {
	broken := errors.New("broken")
	s := &failing{texts(7000), 6, broken}
	n := s.scan()
	n.Source = s
	it, err := Run(t.Context(), n, Options{Parallel: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	rows := 0
	for {
		b, err := it.Next(t.Context())
		if err != nil {
			if !errors.Is(err, broken) {
				t.Error(err)
			}
			break
		}
		rows += b.Rows()
	}
	if rows != 6*700 {
		t.Errorf("%d rows", rows)
	}

	s.err = nil
	it, err = Run(t.Context(), n, Options{Parallel: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	defer func() {
		if p := recover(); p == nil {
			t.Error("the bug was kept silent")
		}
	}()
	for err == nil {
		_, err = it.Next(t.Context())
	}
}

func TestEachCallOfAStreamHasAContextOfItsOwn(t *testing.T) {
	s := texts(7000)
	it, err := Run(t.Context(), s.scan(), Options{Parallel: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for rows := 0; ; {
		ctx, cancel := context.WithCancel(t.Context())
		b, err := it.Next(ctx)
		cancel()
		if errors.Is(err, io.EOF) {
			if rows != 7000 {
				t.Errorf("%d rows", rows)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += b.Rows()
	}
}

// BenchmarkStreams filters 10 M rows: all pass, every second one and so on, on one and two goroutines.
func BenchmarkStreams(b *testing.B) {
	var rows [][]any
	for i := range 131072 {
		rows = append(rows, []any{int64(i), int64(i) * 7})
	}
	one := bigints(MaxBlockRows, rows...)
	s := bigints(MaxBlockRows, rows[:1]...)
	s.blocks = nil
	for range 80 {
		s.blocks = append(s.blocks, one.blocks[0])
	}
	for _, m := range []int64{1, 2, 50, 100000} {
		n := s.scan()
		n.Filter = Compare{EQ, Arith{Op: Mod, L: intCol(1), R: intConst(m), T: tInt}, intConst(0)}
		for _, p := range []int{1, 2} {
			b.Run(fmt.Sprint(m, "/", p), func(b *testing.B) {
				for b.Loop() {
					it, _ := Run(b.Context(), n, Options{Parallel: p})
					for {
						if _, err := it.Next(b.Context()); err != nil {
							break
						}
					}
					it.Close()
				}
			})
		}
	}
}
