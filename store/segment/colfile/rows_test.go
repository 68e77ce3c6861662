package colfile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/internal/vector"
	"millrace/internal/vfs"
)

func TestSomeRowsAreReadByTheirPagesAlone(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		t.Run(fmt.Sprint("zstd ", zstd), func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, 2))
			fs := vfs.NewMem()
			const rows = 90_000
			want := write(t, fs, "/f.parquet", r, zstd, 10, rows)
			f, err := Open(fs, "/f.parquet")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for c := range columns {
				for range 20 {
					from := r.IntN(rows)
					to := from + 1 + r.IntN(min(rows-from, 40_000))
					f.WillNeed(1, c, from, to)
					v, ok, err := f.ReadRows(1, c, from, to)
					if err != nil || !ok {
						t.Fatal(columns[c].Name, ok, err)
					}
					part := want[1][c].Slice(from, to)
					equal(t, columns[c].Name, &v, &part)
				}
			}
		})
	}
}

func TestADamagedPageIsFoundWhenItsRowsAreRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	fs := vfs.NewMem()
	const rows = 70_000
	write(t, fs, "/f.parquet", r, false, rows)
	f, err := Open(fs, "/f.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := fs.OpenReadWrite("/f.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ch := f.Blocks[0].Chunks[0]
	one := make([]byte, 1)
	at := ch.At + ch.Size - 10 // in the last page
	if _, err := w.ReadAt(one, at); err != nil {
		t.Fatal(err)
	}
	one[0] ^= 4
	if _, err := w.WriteAt(one, at); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := f.ReadRows(0, 0, 0, 100); !ok || err != nil {
		t.Error("the first page is read no more: ", err)
	}
	if _, _, err := f.ReadRows(0, 0, rows-1, rows); !errors.Is(err, ErrCorrupt) {
		t.Errorf("rows of a damaged page: %v", err)
	}
}

// tallyOf n values, one of them NULL.
func tallyOf(kind vector.Kind, n int) *Tally {
	y := &Tally{Rows: make([]int64, n), Firsts: make([]int32, n)}
	valid := make([]uint64, (n+63)/64)
	var texts vector.Texts
	texts.Reserve(n)
	ints := make([]int64, n)
	for i := range n {
		y.Rows[i], y.Firsts[i] = int64(i%7+2), int32(i*2)
		if i != n/2 {
			valid[i>>6] |= 1 << (i & 63)
			texts.Put(i, fmt.Appendf(nil, "value %d", i))
			ints[i] = int64(i-5) << 30
		}
	}
	if y.Values = vector.OfInts(ints, valid); kind == vector.String {
		y.Values = texts.Take(n, valid)
	}
	return y
}

func rowsOfTally(y *Tally) (n int) {
	for _, k := range y.Rows {
		n += int(k)
	}
	return n
}

func TestTalliesAreRead(t *testing.T) {
	cols := []Column{{Name: "s", Key: "s", Kind: vector.String, Logical: Text}, {Name: "i", Key: "i", Kind: vector.Int}, {Name: "none", Key: "none", Kind: vector.Int}}
	for _, n := range []int{1, 2, 60, 3000} {
		tallies := []*Tally{tallyOf(vector.String, n), tallyOf(vector.Int, n), nil}
		rows := rowsOfTally(tallies[0])
		text, number := vector.Nulls(vector.String, 0, rows), vector.Nulls(vector.Int, 0, rows)
		fs := vfs.NewMem()
		w, err := Create(fs, "/f", Info{Columns: cols})
		if err != nil {
			t.Fatal(err)
		}
		vecs := []*vector.Vector{&text, &number, &number}
		if err := w.AddColumns(Block{End: int64(rows), Rows: rows, Dense: true}, func(i int) (Content, error) {
			return Content{Vec: vecs[i], Stats: statsOf(vecs[i]), Tally: tallies[i]}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		f, err := Open(fs, "/f")
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range tallies {
			got, err := f.Tally(0, i)
			if err != nil {
				t.Fatal(err)
			}
			if (got == nil) != (want == nil) {
				t.Fatalf("%d values: tally of %s: %v", n, cols[i].Name, got)
			}
			if want == nil {
				continue
			}
			equal(t, cols[i].Name, &got.Values, &want.Values)
			if fmt.Sprint(got.Rows, got.Firsts) != fmt.Sprint(want.Rows, want.Firsts) {
				t.Errorf("%d values of %s: %v %v", n, cols[i].Name, got.Rows, got.Firsts)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzTally(f *testing.F) {
	for _, kind := range []vector.Kind{vector.Int, vector.String} {
		y := tallyOf(kind, 20)
		f.Add(kind == vector.String, uint16(rowsOfTally(y)), appendTally(nil, y))
	}
	f.Fuzz(func(t *testing.T, text bool, rows uint16, b []byte) {
		c := &Column{Kind: vector.Int}
		if text {
			c.Kind = vector.String
		}
		y, err := parseTally(b, c, 1+int(rows))
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if rowsOfTally(y) != 1+int(rows) || y.Values.Len != len(y.Rows) || len(y.Firsts) != len(y.Rows) {
			t.Fatalf("%+v", y)
		}
	})
}

func TestDecodersKeepNoLargeBuffers(t *testing.T) {
	body := make([]byte, pooledBytes+1)
	d := &decoder{raw: body, unzip: make([]byte, 10), numbers: make([]uint64, pooledBytes/8), codes: make([]uint16, pooledBytes), pages: []page{{body: body}}}
	pages := d.pages
	d.release()
	if d.raw != nil || d.codes != nil || len(d.unzip) != 10 || len(d.numbers) != pooledBytes/8 {
		t.Errorf("%d, %d, %d and %d kept", len(d.raw), len(d.codes), len(d.unzip), len(d.numbers))
	}
	if pages[0].body != nil {
		t.Error("a page holds the chunk that it was in")
	}
}
