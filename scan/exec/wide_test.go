package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/scan"
)

// A long text that matches thousands of rows is not copied for each: the copies would fit neither the memory nor
// 32-bit offsets.
func TestAJoinThatRepeatsLongTextsDoesNotCopyThem(t *testing.T) {
	const texts, rows, length = 40, 4000, 200 << 10
	right := make([][]any, texts)
	for i := range right {
		right[i] = []any{int64(1), fmt.Sprintf("%03d", i) + strings.Repeat("x", length)}
	}
	left := make([][]any, rows/texts)
	for i := range left {
		left[i] = []any{int64(1)}
	}
	integer, text := Type{Kind: vector.Int}, Type{Kind: vector.String}
	key := Col{Index: 0, T: integer}
	plan := &Join{
		Kind: LeftOuter, LeftKeys: []Expr{key}, RightKeys: []Expr{key},
		Left:  newMemSource([]Type{integer}, left, 1000, nil).scan(),
		Right: newMemSource([]Type{integer, text}, right, 1000, nil).scan(),
	}
	it, err := Run(context.Background(), plan, Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	got := 0
	for {
		b, err := it.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range b.rows() {
			s := b.Cols[2].Text(int(i))
			if want := fmt.Sprintf("%03d", got%texts); len(s) != length+3 || string(s[:3]) != want {
				t.Fatalf("row %d: %d bytes that begin with %q, want %q", got, len(s), s[:3], want)
			}
			got++
		}
	}
	if got != rows {
		t.Errorf("%d rows, want %d", got, rows)
	}
}

func TestSortedWideRowsComeInSmallBatches(t *testing.T) {
	rows := make([][]any, 100)
	for i := range rows {
		rows[i] = []any{int64(i), strings.Repeat("x", 1<<20)}
	}
	src := newMemSource([]Type{{Kind: vector.Int}, {Kind: vector.String}}, rows, 50, nil)
	for _, limit := range []int64{-1, 90} {
		it, err := Run(context.Background(), &Sort{Child: src.scan(), Keys: []SortKey{{Expr: Col{T: src.types[0]}}}, Limit: limit}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			b, err := it.Next(context.Background())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if size := textOf(&b.Cols[1], b.rows()); size > batchBytes+1<<20 {
				t.Errorf("a batch of %d bytes", size)
			}
			n += b.Rows()
		}
		it.Close()
		if want := 100; limit < 0 && n != want || limit >= 0 && n != int(limit) {
			t.Errorf("limit %d: %d rows", limit, n)
		}
	}
}

func TestTextBeyondOffsetsIsAnErrorNotOtherText(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 4 GiB of address space")
	}
	huge := make([]byte, maxText+1) // never touched
	b := builder{t: Type{Kind: vector.String}, bytes: huge}
	table := textTable{t: b.t, text: huge}
	out := column{bytes: huge}
	for what, err := range map[string]error{"builder": b.fits(), "table": table.fits(), "expression": textBuilder{&out}.end()} {
		if !errors.Is(err, scan.ErrMemory) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// buggySource has blocks that panic.
type buggySource struct{ *memSource }

type buggyBlock struct{ Block }

func (s buggySource) Blocks(ctx context.Context, t *catalog.Table, cols []scan.Column, prune scan.Expr) ([]Block, error) {
	blocks, err := s.memSource.Blocks(ctx, t, cols, prune)
	out := make([]Block, len(blocks))
	for i, b := range blocks {
		out[i] = buggyBlock{b}
	}
	return out, err
}

func (buggyBlock) Open(context.Context, []scan.Column) ([]*vector.Vector, int, int, func(), error) {
	panic("a bug")
}

// The statement's handler ends a statement that panics, but it sees its own goroutine only.
func TestABugInAGoroutineOfAQueryComesOutInItsCaller(t *testing.T) {
	rows := make([][]any, 100)
	for i := range rows {
		rows[i] = []any{int64(i)}
	}
	src := newMemSource([]Type{{Kind: vector.Int}}, rows, 10, nil)
	for _, b := range src.blocks {
		b.(*memBlock).noStats = true
	}
	n := src.scan()
	n.Source = buggySource{src}
	it, err := Run(context.Background(), &Aggregate{Child: n, Aggs: []Agg{{Kind: CountRows, T: Type{Kind: vector.Int}}}}, Options{Parallel: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	defer func() {
		if p := recover(); !strings.HasPrefix(fmt.Sprint(p), "a bug\n") {
			t.Errorf("recovered %v", p)
		}
	}()
	_, err = it.Next(context.Background())
	t.Error("no panic, but", err)
}
