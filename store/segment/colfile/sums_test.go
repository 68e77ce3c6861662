package colfile

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"millrace/internal/vector"
	"millrace/internal/vfs"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// sumsOf are made up for the values of a tally.
func sumsOf(y *Tally, seed int64) *Sums {
	n := len(y.Rows)
	s := &Sums{Rows: make([]int64, n), Sum: make([]decimal128.Num, n), Min: make([]int64, n), Max: make([]int64, n)}
	for i, all := range y.Rows {
		if s.Rows[i] = (seed + int64(i)) % (all + 1); s.Rows[i] == 0 {
			continue
		}
		switch (seed + int64(i)) % 3 {
		case 0:
			s.Min[i], s.Max[i] = math.MinInt64, math.MaxInt64
		case 1:
			s.Min[i], s.Max[i] = -seed, seed<<20
		default:
			s.Min[i], s.Max[i] = math.MaxInt64, math.MaxInt64
		}
		s.Sum[i] = decimal128.FromI64(s.Max[i]).Add(decimal128.FromI64(s.Min[i]).Mul(decimal128.FromI64(s.Rows[i] - 1)))
	}
	return s
}

// writeSums writes blocks of three columns with tallies, of which the last two are summed up.
func writeSums(t testing.TB, values ...int) (fs *vfs.Mem, tallies [][]*Tally, want [][][]*Sums) {
	cols := []Column{{Name: "s", Key: "s", Kind: vector.String, Logical: Text}, {Name: "i", Key: "i", Kind: vector.Int}, {Name: "d", Key: "d", Kind: vector.Decimal128, Logical: Number, Precision: 20, Scale: 2}}
	fs = vfs.NewMem()
	w, err := Create(fs, "/f", Info{Columns: cols})
	if err != nil {
		t.Fatal(err)
	}
	from := int64(0)
	for b, n := range values {
		ys := []*Tally{tallyOf(vector.String, n), tallyOf(vector.Int, n), nil}
		rows := rowsOfTally(ys[0])
		vecs := []vector.Vector{vector.Nulls(vector.String, 0, rows), vector.Nulls(vector.Int, 0, rows), vector.Nulls(vector.Decimal128, 2, rows)}
		all := [][]*Sums{{nil, sumsOf(ys[0], int64(b+1)), sumsOf(ys[0], int64(b+2))}, {nil, nil, sumsOf(ys[1], int64(b+3))}, nil}
		if err := w.AddColumns(Block{From: from, End: from + int64(rows), Rows: rows, Dense: true}, func(i int) (Content, error) {
			return Content{Vec: &vecs[i], Stats: statsOf(&vecs[i]), Tally: ys[i], Sums: all[i]}, nil
		}); err != nil {
			t.Fatal(err)
		}
		from += int64(rows)
		tallies, want = append(tallies, ys), append(want, all)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return fs, tallies, want
}

func TestSumsAreRead(t *testing.T) {
	fs, tallies, want := writeSums(t, 1, 2, 64, 7)
	f, err := Open(fs, "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for b := range want {
		for by := range f.Columns {
			var all []*Sums
			for of := range f.Columns {
				var expected *Sums
				if want[b][by] != nil {
					expected = want[b][by][of]
				}
				got, err := f.Sums(b, by, of, tallies[b][by])
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(got) != fmt.Sprint(expected) {
					t.Errorf("block %d: sums of %d by %d are %v, want %v", b, of, by, got, expected)
				}
				if has, known := f.HasSums(b, by, of); has != (expected != nil) || !known {
					t.Errorf("block %d: sums of %d by %d: %t, %t", b, of, by, has, known)
				}
				all = append(all, got)
			}
			if got, err := f.AllSums(b, by, tallies[b][by]); err != nil || got != nil && !reflect.DeepEqual(got, all) {
				t.Errorf("block %d: all sums by %d are %v: %v", b, by, got, err)
			}
		}
	}
}

func TestSumsOfTheSameColumnsAreThereForEveryTally(t *testing.T) {
	cols := []Column{{Name: "a", Key: "a", Kind: vector.Int}, {Name: "b", Key: "b", Kind: vector.Int}, {Name: "n", Key: "n", Kind: vector.Int}}
	w, err := Create(vfs.NewMem(), "/f", Info{Columns: cols})
	if err != nil {
		t.Fatal(err)
	}
	y := tallyOf(vector.Int, 3)
	rows := rowsOfTally(y)
	v := vector.Nulls(vector.Int, 0, rows)
	err = w.AddColumns(Block{End: int64(rows), Rows: rows, Dense: true}, func(i int) (Content, error) {
		x := Content{Vec: &v, Stats: statsOf(&v), Tally: y, Sums: make([]*Sums, 3)}
		if i == 0 {
			x.Sums[2] = sumsOf(y, 1)
		}
		return x, nil
	})
	if err == nil {
		t.Error("sums were left out")
	}
}

func TestDamagedSumsAreFound(t *testing.T) {
	fs, tallies, _ := writeSums(t, 20)
	f, err := Open(fs, "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := fs.OpenReadWrite("/f")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := verifyFile(fs, "/f"); err != nil {
		t.Fatal(err)
	}
	c := &f.Blocks[0].Chunks[0]
	one := make([]byte, 1)
	if _, err := w.ReadAt(one, c.SumsAt+3); err != nil {
		t.Fatal(err)
	}
	one[0] ^= 4
	if _, err := w.WriteAt(one, c.SumsAt+3); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Sums(0, 0, 1, tallies[0][0]); !errors.Is(err, ErrCorrupt) {
		t.Errorf("damaged sums: %v", err)
	}
	if err := verifyFile(fs, "/f"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("damaged sums are not found: %v", err)
	}
}

func FuzzSums(f *testing.F) {
	y := tallyOf(vector.Int, 12)
	f.Add(uint8(12), appendSums(nil, sumsOf(y, 3), y.Rows))
	f.Fuzz(func(t *testing.T, n uint8, b []byte) {
		y := tallyOf(vector.Int, int(n))
		s, err := parseSums(b, y.Rows)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		for i, rows := range s.Rows {
			if rows < 0 || rows > y.Rows[i] || s.Min[i] > s.Max[i] {
				t.Fatalf("%+v", s)
			}
		}
	})
}
