package exec

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec/spill"

	"pgregory.net/rapid"
)

// memSpill keeps spill files in memory and counts those that are open.
type memSpill struct{ open, made atomic.Int64 }

type memSpillFile struct {
	bytes.Buffer
	s *memSpill
}

func (s *memSpill) Create() (spill.File, error) {
	s.open.Add(1)
	s.made.Add(1)
	return &memSpillFile{s: s}, nil
}

func (f *memSpillFile) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(f.Bytes()).ReadAt(p, off)
}

func (f *memSpillFile) Close() error {
	f.s.open.Add(-1)
	return nil
}

// tight is a budget of a few chunks.
type tight struct{ left atomic.Int64 }

func (b *tight) Grow(n int64) bool {
	if b.left.Add(-n) < 0 {
		b.left.Add(n)
		return false
	}
	return true
}

func (b *tight) Shrink(n int64) { b.left.Add(n) }

func TestSortKeysOrderAsTheirValuesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := pick(t, testTypes...)
		vals := []any{genValue(t, typ, true), genValue(t, typ, true)}
		vec := vectorOf(typ, vals, nil)
		v := &vec
		desc := genInt(t, 1) == 0
		a, b := appendSortKey(nil, v, 0, desc), appendSortKey(nil, v, 1, desc)
		want := compareRows(v, 0, v, 1)
		if desc {
			want = -want
		}
		if got := bytes.Compare(a, b); got != want {
			t.Fatalf("%v and %v of %v: %d, want %d", vals[0], vals[1], typ, got, want)
		}
		back := decodeSortKey(append(a, b...), typ, desc)
		if compareRows(&back, 0, v, 0) != 0 {
			t.Fatalf("%v came back as %v", vals[0], anyAt(&back, 0))
		}
		if want != 0 && (bytes.HasPrefix(a, b) || bytes.HasPrefix(b, a)) {
			t.Fatal("one key is the beginning of the other")
		}
	})
}

// bigSort is many rows of a number and a long text.
func bigSort(n int) (*Sort, [][]any) {
	types := []Type{{Kind: vector.Int}, {Kind: vector.String}}
	rows := make([][]any, n)
	pad := string(bytes.Repeat([]byte("x"), 400))
	for i := range rows {
		rows[i] = []any{int64(i*7919%n) / 2, pad + string(rune('a'+i%26))}
	}
	s := newMemSource(types, rows, 10000, nil)
	return &Sort{Child: s.scan(), Keys: []SortKey{{Expr: Col{0, types[0]}, Desc: true}}, Limit: -1}, rows
}

func TestASortLargerThanItsBudgetSpillsAndStaysStable(t *testing.T) {
	n, _ := bigSort(40_000)
	want, err := collect(n, Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	budget, spill := &tight{}, &memSpill{}
	budget.left.Store(6 << 20)
	got, err := collect(n, Options{Parallel: 1, Budget: budget, Spill: spill})
	if err != nil {
		t.Fatal(err)
	}
	if spill.made.Load() < 3 || spill.open.Load() != 0 {
		t.Errorf("%d files made, %d left open", spill.made.Load(), spill.open.Load())
	}
	if budget.left.Load() != 6<<20 {
		t.Errorf("%d bytes of the budget are not given back", 6<<20-budget.left.Load())
	}
	for i := range want {
		if naiveKey(got[i][0]) != naiveKey(want[i][0]) || got[i][1] != want[i][1] {
			t.Fatalf("row %d: %v, want %v", i, got[i], want[i])
		}
	}
	if _, err := collect(n, Options{Parallel: 1, Budget: budget}); !errors.Is(err, scan.ErrMemory) {
		t.Errorf("without spill files: %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Create() (spill.File, error) { return fullDisk{}, nil }

func (fullDisk) Write([]byte) (int, error)         { return 0, os.ErrInvalid }
func (fullDisk) ReadAt([]byte, int64) (int, error) { return 0, os.ErrInvalid }
func (fullDisk) Close() error                      { return nil }

func TestAFailedSpillEndsTheQuery(t *testing.T) {
	n, _ := bigSort(40_000)
	budget := &tight{}
	budget.left.Store(6 << 20)
	if _, err := collect(n, Options{Parallel: 1, Budget: budget, Spill: fullDisk{}}); !errors.Is(err, os.ErrInvalid) {
		t.Error(err)
	}
	if budget.left.Load() != 6<<20 {
		t.Error("the budget is not given back")
	}
}

func TestTopRowsAreTheFirstOfTheWholeOrder(t *testing.T) {
	n, _ := bigSort(40_000)
	for _, parallel := range []int{1, 4} {
		for _, desc := range []bool{false, true} {
			top := &Sort{Child: n.Child, Keys: []SortKey{{Expr: Col{0, Type{Kind: vector.Int}}, Desc: desc}}, Offset: 3, Limit: 50}
			whole := &Sort{Child: n.Child, Keys: top.Keys, Limit: -1}
			all, err := collect(whole, Options{Parallel: 1})
			if err != nil {
				t.Fatal(err)
			}
			got, err := collect(top, Options{Parallel: parallel})
			if err != nil || len(got) != 50 {
				t.Fatal(len(got), err)
			}
			for i := range got {
				if got[i][0] != all[i+3][0] || got[i][1] != all[i+3][1] {
					t.Fatalf("%d goroutines, row %d: %v, want %v", parallel, i, got[i][0], all[i+3][0])
				}
			}
		}
	}
}

func TestNthIsWhatSortingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vals := rapid.SliceOfN(rapid.Int64Range(-5, 5), 1, 200).Draw(t, "vals")
		n := rapid.IntRange(0, len(vals)-1).Draw(t, "n")
		sorted := slices.Sorted(slices.Values(vals))
		if got := nth(vals, n); got != sorted[n] {
			t.Fatalf("%d, want %d", got, sorted[n])
		}
	})
}
