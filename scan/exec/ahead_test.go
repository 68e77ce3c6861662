package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/internal/vector"
	"millrace/scan"
)

// fetchedBlock notes in which order its source's blocks are fetched and opened.
type fetchedBlock struct {
	*memBlock
	n    int
	seen *[]string
}

func (b *fetchedBlock) note(what string, cols []scan.Column) {
	s := fmt.Sprintf("%s %d", what, b.n)
	for _, c := range cols {
		s += fmt.Sprintf(" %c", 'a'+c.Index)
	}
	*b.seen = append(*b.seen, s)
}

// WillNeed implements Fetcher.
func (b *fetchedBlock) WillNeed(cols []scan.Column, _, _ int) { b.note("fetch", cols) }

// WillAsk implements Fetcher.
func (b *fetchedBlock) WillAsk(c scan.Column, _ Const) { b.note("will ask", []scan.Column{c}) }

func (b *fetchedBlock) MayContain(c scan.Column, v Const) bool {
	b.note("ask", []scan.Column{c})
	return b.memBlock.MayContain(c, v)
}

func (b *fetchedBlock) Open(ctx context.Context, cols []scan.Column) ([]*vector.Vector, int, int, func(), error) {
	b.note("open", cols)
	return b.memBlock.Open(ctx, cols)
}

func TestColumnsAreFetchedBlocksBeforeTheyAreOpened(t *testing.T) {
	var rows [][]any
	for i := range 2 * (aheadBlocks + 3) {
		rows = append(rows, []any{int64(i), int64(i % 2), int64(7)})
	}
	s := newMemSource([]Type{tInt, tInt, tInt}, rows, 2, nil)
	var seen []string
	for i, b := range s.blocks {
		s.blocks[i] = &fetchedBlock{b.(*memBlock), i, &seen}
	}
	n := s.scan()
	n.Filter = Compare{EQ, intCol(1), intConst(1)} // a row of each block
	if got := answer(t, &Aggregate{Child: n, Aggs: []Agg{sumOf(intCol(0))}}, Options{Parallel: 1}); got != "121" {
		t.Error(got)
	}
	at := func(s string) int { return slices.Index(seen, s) }
	for i := range len(s.blocks) {
		fetched := at(fmt.Sprintf("fetch %d b", i))
		before := at(fmt.Sprintf("open %d b", max(0, i-aheadBlocks)))
		if fetched < 0 || fetched > before {
			t.Errorf("block %d was not fetched in time:\n%s", i, strings.Join(seen, "\n"))
		}
		if i == 0 {
			continue // it tells that the others are needed
		}
		fetched = at(fmt.Sprintf("fetch %d a", i))
		if before = at(fmt.Sprintf("open %d a", max(0, i-aheadBlocks))); fetched < 0 || fetched > before {
			t.Errorf("the other column of block %d was not fetched in time:\n%s", i, strings.Join(seen, "\n"))
		}
	}
	if n := 2*2*len(s.blocks) - 1 + 2*len(s.blocks); len(seen) != n {
		t.Errorf("%d calls, not %d:\n%s", len(seen), n, strings.Join(seen, "\n"))
	}
	if first := at("ask 0 b"); first < at(fmt.Sprintf("will ask %d b", len(s.blocks)-1)) {
		t.Errorf("a block was asked before what all read for it was fetched:\n%s", strings.Join(seen, "\n"))
	}
	// The first row of that order is in the last block: with their bound no other is fetched but those on their way.
	seen = nil
	top := &Sort{Child: s.scan(), Keys: []SortKey{{Expr: intCol(0), Desc: true}}, Limit: 1}
	if got := answer(t, top, Options{Parallel: 1}); got != "21,1,7" {
		t.Error(got)
	}
	if first := fmt.Sprintf("fetch %d a", len(s.blocks)-1); seen[0] != first {
		t.Errorf("%s was fetched first, not %s", seen[0], first)
	}
	if at("fetch 0 a") >= 0 {
		t.Error("a block was fetched of which no row can be wanted")
	}
}

func TestOfAStreamOtherBlocksAreFetchedOnceTheFirstOneIsThrough(t *testing.T) {
	var rows [][]any
	for i := range 2 * (aheadBlocks + 3) {
		rows = append(rows, []any{int64(i)})
	}
	s := newMemSource([]Type{tInt}, rows, 2, nil)
	var seen []string
	for i, b := range s.blocks {
		s.blocks[i] = &fetchedBlock{b.(*memBlock), i, &seen}
	}
	if got := answer(t, &Limit{Child: s.scan(), Count: 2}, Options{Parallel: 1}); got != "0 1" {
		t.Error(got)
	}
	if want := []string{"fetch 0 a", "open 0 a"}; !slices.Equal(seen, want) {
		t.Errorf("%q for rows of one block", seen)
	}
	seen = nil
	answer(t, s.scan(), Options{Parallel: 1})
	for i := range s.blocks {
		fetched, before := slices.Index(seen, fmt.Sprintf("fetch %d a", i)), slices.Index(seen, fmt.Sprintf("open %d a", max(min(i, 1), i-aheadBlocks)))
		if fetched < 0 || fetched > before {
			t.Errorf("block %d was not fetched in time:\n%s", i, strings.Join(seen, "\n"))
		}
	}
	if n := 2 * len(s.blocks); len(seen) != n {
		t.Errorf("%d calls, not %d", len(seen), n)
	}
}
