package colfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/internal/vector"
	"millrace/internal/vfs"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// columns of every kind and form.
var columns = []Column{
	{Name: "i", Key: "i", Kind: vector.Int},
	{Name: "small", Key: "small", Kind: vector.Int, Logical: Int32},
	{Name: "ok", Key: "ok", Kind: vector.Int, Logical: Bool},
	{Name: "day", Key: "day", Kind: vector.Int, Logical: Date},
	{Name: "at", Key: "at", Kind: vector.Int, Logical: Micros},
	{Name: "ms", Key: "ms", Kind: vector.Int, Logical: Millis},
	{Name: "wall", Key: "wall", Kind: vector.Int, Logical: Wall},
	{Name: "u", Key: "u", Kind: vector.Uint},
	{Name: "f", Key: "f", Kind: vector.Float},
	{Name: "d9", Key: "d9", Kind: vector.Decimal128, Logical: Number, Precision: 18, Scale: 2},
	{Name: "d38", Key: "d38", Kind: vector.Decimal128, Logical: Number, Precision: 38, Scale: 3},
	{Name: "d65", Key: "d65", Kind: vector.Decimal256, Logical: Number, Precision: 65, Scale: 4},
	{Name: "city", Key: "city", Kind: vector.String, Logical: Text},
	{Name: "a.id", Key: "id", Kind: vector.String, Logical: Text},
	{Name: "raw", Key: "raw", Kind: vector.String},
	{Name: "j", Key: "j", Kind: vector.String, Logical: JSON},
}

// randomVector of a column: nulls of a hundred rows are NULL.
func randomVector(r *rand.Rand, c *Column, n, nulls int) *vector.Vector {
	valid := make([]uint64, (n+63)/64)
	for i := range n {
		if r.IntN(100) >= nulls {
			valid[i>>6] |= 1 << (i & 63)
		}
	}
	span := int64(1) << (1 + r.IntN(62))
	ints := make([]int64, n)
	for i := range ints {
		switch {
		case c.Logical == Bool:
			ints[i] = r.Int64N(2)
		case c.Logical == Int32:
			ints[i] = int64(int32(r.Uint32()))
		case c.Logical == Date: // what others can show
			ints[i] = r.Int64N(100_000) - 30_000
		case c.Logical == Millis:
			ints[i] = r.Int64N(1 << 41)
		case c.Logical == Micros || c.Logical == Wall:
			ints[i] = r.Int64N(1<<52) - 1<<50
		case r.IntN(50) == 0:
			ints[i] = []int64{math.MinInt64, math.MaxInt64, 0}[r.IntN(3)]
		default:
			ints[i] = r.Int64N(span) - span/2
		}
	}
	var v vector.Vector
	switch c.Kind {
	case vector.Int:
		v = vector.OfInts(ints, valid)
	case vector.Uint:
		out := make([]uint64, n)
		for i := range out {
			out[i] = r.Uint64() >> r.IntN(64)
		}
		v = vector.OfUints(out, valid)
	case vector.Float:
		out := make([]float64, n)
		for i := range out {
			out[i] = r.NormFloat64()
		}
		v = vector.OfFloats(out, valid)
	case vector.Decimal128:
		out := make([]decimal128.Num, n)
		for i := range out {
			x := ints[i] % 1e17
			out[i] = decimal128.FromI64(x)
			if c.Precision > 18 && r.IntN(2) == 0 {
				out[i] = out[i].Mul(decimal128.FromI64(1e17))
			}
		}
		v = vector.OfDec128(out, int32(c.Scale), valid)
	case vector.Decimal256:
		out := make([]decimal256.Num, n)
		for i := range out {
			out[i] = decimal256.FromI64(ints[i]).Mul(decimal256.FromI64(1e17))
		}
		v = vector.OfDec256(out, int32(c.Scale), valid)
	default:
		var t vector.Texts
		t.Reserve(n)
		many := 1 << r.IntN(20)
		for i := range n {
			if valid[i>>6]>>(i&63)&1 == 0 {
				continue
			}
			x := fmt.Appendf(nil, `"text %d"`, r.IntN(many))
			if r.IntN(100) == 0 && c.Logical != JSON {
				x = bytes.Repeat(x, r.IntN(50))
			}
			t.Put(i, x)
		}
		v = t.Take(n, valid)
	}
	return &v
}

func equal(t *testing.T, name string, got, want *vector.Vector) {
	t.Helper()
	if got.Len != want.Len || got.Kind != want.Kind || got.Scale != want.Scale {
		t.Fatalf("%s: %d rows of kind %d, want %d of %d", name, got.Len, got.Kind, want.Len, want.Kind)
	}
	slot := func(v *vector.Vector, i int) int {
		if v.Const {
			return 0
		}
		return i
	}
	for i := range got.Len {
		if got.IsNull(i) != want.IsNull(i) {
			t.Fatalf("%s: row %d is NULL: %v", name, i, got.IsNull(i))
		}
		if want.IsNull(i) {
			continue
		}
		a, b := slot(got, i), slot(want, i)
		same := false
		switch got.Kind {
		case vector.Int:
			same = got.Int(i) == want.Int(i)
		case vector.Uint:
			same = got.Uint64[a] == want.Uint64[b]
		case vector.Float:
			same = got.Float64[a] == want.Float64[b]
		case vector.Decimal128:
			same = got.Dec128[a] == want.Dec128[b]
		case vector.Decimal256:
			same = got.Dec256[a] == want.Dec256[b]
		default:
			same = bytes.Equal(got.Text(i), want.Text(i))
		}
		if !same {
			t.Fatalf("%s: row %d differs", name, i)
		}
	}
}

// read is Read into the heap.
func read(f *Reader, block, column int) (*vector.Vector, error) {
	v, _, err := f.Read(block, column, nil, vector.Heap{})
	return &v, err
}

// statsOf are what a writer says of a column, as far as readers rely on it.
func statsOf(v *vector.Vector) Stats {
	st := Stats{Nulls: v.CountNulls()}
	if v.Kind != vector.Int || st.Nulls == v.Len {
		return st
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range v.Len {
		if !v.IsNull(i) {
			lo, hi = min(lo, v.Int(i)), max(hi, v.Int(i))
		}
	}
	st.HasMin, st.HasMax = true, true
	st.Min, st.Max = binary.LittleEndian.AppendUint64(nil, uint64(lo)), binary.LittleEndian.AppendUint64(nil, uint64(hi))
	return st
}

// write makes a file of random blocks and returns its vectors.
func write(t testing.TB, fs vfs.FS, path string, r *rand.Rand, zstd bool, rows ...int) [][]*vector.Vector {
	t.Helper()
	w, err := Create(fs, path, Info{TopicName: "t", ID: 7, Zstd: zstd, Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	var out [][]*vector.Vector
	for i, n := range rows {
		vecs := make([]*vector.Vector, len(columns))
		stats := make([]Stats, len(columns))
		nulls := []int{0, 10, 90, 100, 0}[r.IntN(5)]
		for c := range columns {
			vecs[c] = randomVector(r, &columns[c], n, nulls)
			stats[c] = statsOf(vecs[c])
		}
		b := Block{Partition: 3, From: int64(i) * 1000000, Rows: n, Dense: true, Complete: true, MinTime: -1, Committed: 5}
		b.End = b.From + int64(n)
		if err := w.Add(b, vecs, stats); err != nil {
			t.Fatal(err)
		}
		out = append(out, vecs)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			fs := vfs.NewMem()
			rows := []int{1 + r.IntN(10), 1 + r.IntN(1000), 1 + r.IntN(50000)}
			want := write(t, fs, "/f.parquet", r, seed%2 == 0, rows...)
			f, err := Open(fs, "/f.parquet")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.ID != 7 || f.TopicName != "t" || len(f.Blocks) != len(rows) || f.Blocks[1].Partition != 3 || !f.Blocks[2].Complete {
				t.Fatalf("%+v", f.Info)
			}
			for b := range want {
				for c := range columns {
					got, err := read(f, b, c)
					if err != nil {
						t.Fatal(err)
					}
					equal(t, columns[c].Name, got, want[b][c])
					bloom, err := f.Bloom(b, c)
					if err != nil {
						t.Fatal(err)
					}
					if (bloom != nil) != (BloomOf(want[b][c]) != nil) {
						t.Fatalf("%s: filter %v", columns[c].Name, bloom != nil)
					}
					for i := range got.Len {
						if bloom != nil && !got.IsNull(i) && !bloom.MayContain(got.Text(i)) {
							t.Fatalf("%s: the filter denies row %d", columns[c].Name, i)
						}
					}
				}
			}
		})
	}
}

func TestAFilterDeniesMostOfWhatIsNotThere(t *testing.T) {
	f := newBloom(100_000)
	for i := range 100_000 {
		f.add(fmt.Appendf(nil, "id-%d", i))
	}
	wrong := 0
	for i := range 100_000 {
		if f.MayContain(fmt.Appendf(nil, "other-%d", i)) {
			wrong++
		}
	}
	if wrong > 2000 {
		t.Errorf("%d of 100000", wrong)
	}
}

// Whatever byte is wrong, the file is refused or the column is: no other rows come.
func TestDamageIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	fs := vfs.NewMem()
	want := write(t, fs, "/f.parquet", r, false, 200)
	f, err := fs.OpenReadWrite("/f.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1)
	for at := int64(4); at < size; at += 1 + size/1500 {
		if _, err := f.ReadAt(one, at); err != nil {
			t.Fatal(err)
		}
		old := one[0]
		one[0] ^= 1 << r.IntN(8)
		if _, err := f.WriteAt(one, at); err != nil {
			t.Fatal(err)
		}
		if g, err := Open(fs, "/f.parquet"); err == nil {
			for c := range columns {
				v, err := read(g, 0, c)
				if err == nil {
					equal(t, columns[c].Name, v, want[0][c])
				} else if !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
			}
			g.Close()
		} else if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
			t.Fatal(err)
		}
		one[0] = old
		if _, err := f.WriteAt(one, at); err != nil {
			t.Fatal(err)
		}
	}
}

// A crash before Finish came back leaves no file, or the whole one.
func TestVerifyFindsDamagedFilesAndPassesOthersOver(t *testing.T) {
	dir := t.TempDir()
	fs := vfs.OS{}
	topic := filepath.Join(dir, "t.1")
	if err := fs.MkdirAll(topic); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"good", "bad"} {
		write(t, fs, filepath.Join(topic, name+Suffix), rand.New(rand.NewPCG(1, 2)), false, 5000, 100)
	}
	for _, name := range []string{"x.tmp", "x" + Suffix + ".damaged"} {
		if err := os.WriteFile(filepath.Join(topic, name), []byte("no such file"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(topic, "bad"+Suffix))
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/3] ^= 1
	if err := os.WriteFile(filepath.Join(topic, "bad"+Suffix), b, 0o600); err != nil {
		t.Fatal(err)
	}
	var found []string
	if err := Verify(t.Context(), fs, dir, func(err error) { found = append(found, err.Error()) }); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !strings.Contains(found[0], "bad") {
		t.Errorf("found %q", found)
	}
	if err := Verify(t.Context(), fs, filepath.Join(dir, "none"), func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
}

func TestAnUnfinishedFileIsNotThereAfterACrash(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/d"); err != nil {
		t.Fatal(err)
	}
	if err := fs.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	write(t, fs, "/d/f.parquet", r, false, 100)
	if _, err := Create(fs, "/d/g.parquet", Info{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		after := fs.CrashClone(r)
		f, err := Open(after, "/d/f.parquet")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if _, err := after.Stat("/d/g.parquet"); err == nil {
			t.Fatal("an unfinished file is there")
		}
	}
}

// Where others are asked to read the file: MILLRACE_COLFILE_OUT names it.
func TestWriteASample(t *testing.T) {
	path := os.Getenv("MILLRACE_COLFILE_OUT")
	if path == "" {
		t.Skip("MILLRACE_COLFILE_OUT is not set")
	}
	r := rand.New(rand.NewPCG(3, 3))
	write(t, vfs.OS{}, path, r, os.Getenv("ZSTD") != "", 100_000, 5, 131072)
}

// chunkOf encodes a column.
func chunkOf(t testing.TB, c *Column, v *vector.Vector) []byte {
	t.Helper()
	var out []byte
	e := encoder{emit: func(p []byte) error { out = append(out, p...); return nil }}
	if err := e.chunk(c, v); err != nil {
		t.Fatal(err)
	}
	return out
}

// The files of testdata were written by earlier versions of the format.
func TestFilesOfEarlierVersionsAreRead(t *testing.T) {
	for _, name := range []string{"version1.parquet", "version1-zstd.parquet", "version3.parquet", "version3-zstd.parquet", "version4.parquet", "version4-zstd.parquet"} {
		t.Run(name, func(t *testing.T) {
			now := vfs.NewMem()
			want := write(t, now, "/f", rand.New(rand.NewPCG(9, 9)), false, 5, 150)
			f, err := Open(vfs.OS{}, filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for b := range want {
				for c := range columns {
					got, err := read(f, b, c)
					if err != nil {
						t.Fatal(err)
					}
					equal(t, columns[c].Name, got, want[b][c])
				}
			}
		})
	}
}

func TestNumbersTakeADictionaryWhereItIsSmaller(t *testing.T) {
	const rows = 30_000
	r := rand.New(rand.NewPCG(1, 2))
	ints := func(f func(i int) int64) vector.Vector {
		out := make([]int64, rows)
		for i := range out {
			out[i] = f(i)
		}
		return vector.OfInts(out, nil)
	}
	floats := func(f func(i int) float64, nulls bool) vector.Vector {
		out, valid := make([]float64, rows), make([]uint64, (rows+63)/64)
		for i := range out {
			out[i] = f(i)
			if !nulls || i%7 != 0 {
				valid[i>>6] |= 1 << (i & 63)
			}
		}
		return vector.OfFloats(out, valid)
	}
	status := []int64{200, 404, 500, 301}
	for _, c := range []struct {
		name string
		v    vector.Vector
		l    Logical
		dict bool
	}{
		{"status codes", ints(func(int) int64 { return status[r.IntN(4)] }), Plain, true},
		{"status codes of 32 bits", ints(func(int) int64 { return status[r.IntN(4)] - 300 }), Int32, true},
		{"hundredths", floats(func(int) float64 { return float64(r.IntN(5000)) / 100 }, false), Plain, true},
		{"hundredths and NULLs", floats(func(int) float64 { return float64(r.IntN(5000)) / 100 }, true), Plain, true},
		{"zeros of both signs and no numbers", floats(func(i int) float64 {
			return []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 1}[i%5]
		}, false), Plain, true},
		{"different doubles", floats(func(int) float64 { return r.Float64() }, false), Plain, false},
		{"too many doubles", floats(func(int) float64 { return float64(r.IntN(200_000)) }, false), Plain, false},
		{"a number each ten rows", ints(func(i int) int64 { return int64(i / 10) }), Plain, false},
		{"all values of a byte", ints(func(int) int64 { return r.Int64N(256) - 128 }), Plain, false},
		{"yes and no", ints(func(int) int64 { return r.Int64N(2) }), Bool, false},
		{"far apart", ints(func(int) int64 { return r.Int64N(3) << 40 }), Plain, false}, // not narrow
	} {
		t.Run(c.name, func(t *testing.T) {
			col := Column{Name: "n", Key: "n", Kind: c.v.Kind, Logical: c.l}
			fs := vfs.NewMem()
			w, err := Create(fs, "/f", Info{Columns: []Column{col}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := w.Add(Block{End: rows, Rows: rows, Dense: true}, []*vector.Vector{&c.v}, []Stats{statsOf(&c.v)}); err != nil {
					t.Fatal(err)
				}
			}
			if w.enc.dict != c.dict {
				t.Errorf("dictionary: %t", w.enc.dict)
			}
			if err := w.Finish(); err != nil {
				t.Fatal(err)
			}
			f, err := Open(fs, "/f")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for b := range 2 {
				got, err := read(f, b, 0)
				if err != nil {
					t.Fatal(err)
				}
				if c.v.Kind != vector.Float {
					equal(t, c.name, got, &c.v)
					continue
				}
				for i := range rows {
					if got.IsNull(i) != c.v.IsNull(i) || !got.IsNull(i) && math.Float64bits(got.Float64[i]) != math.Float64bits(c.v.Float64[i]) {
						t.Fatalf("row %d differs", i)
					}
				}
			}
		})
	}
}

func TestOnlyChunksThatShrinkAreCompressed(t *testing.T) {
	const rows = 50_000
	r := rand.New(rand.NewPCG(1, 2))
	cols := []Column{
		{Name: "random", Key: "random", Kind: vector.String, Logical: Text},
		{Name: "words", Key: "words", Kind: vector.String, Logical: Text},
		{Name: "f", Key: "f", Kind: vector.Float},
		{Name: "round", Key: "round", Kind: vector.Float},
		{Name: "few", Key: "few", Kind: vector.String, Logical: Text},
	}
	var random, words, few vector.Texts
	noise, round := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		b := make([]byte, 40)
		for j := range b {
			b[j] = byte(r.Uint32()) & 0x7f
		}
		random.Put(i, b)
		words.Put(i, fmt.Appendf(nil, "the number of this row is %d, and that of the next one is %d", i, i+1))
		few.Put(i, []byte([]string{"a", "b", "c", "d"}[r.IntN(4)]))
		noise[i], round[i] = r.NormFloat64(), float64(r.IntN(100_000))
	}
	a, b, c := random.Take(rows, nil), words.Take(rows, nil), few.Take(rows, nil)
	d, e := vector.OfFloats(noise, nil), vector.OfFloats(round, nil)
	vecs := []*vector.Vector{&a, &b, &d, &e, &c}
	for _, zstd := range []bool{true, false} {
		fs := vfs.NewMem()
		w, err := Create(fs, "/f", Info{Zstd: zstd, Columns: cols})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(Block{End: rows, Rows: rows, Dense: true}, vecs, make([]Stats, len(cols))); err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		f, err := Open(fs, "/f")
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []bool{false, true, false, true, false} {
			if got := f.Blocks[0].Chunks[i].Zstd; got != (want && zstd) {
				t.Errorf("%s compressed: %t, of a file with zstd: %t", cols[i].Name, got, zstd)
			}
			got, err := read(f, 0, i)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, cols[i].Name, got, vecs[i])
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzFooter(f *testing.F) {
	info := Info{TopicName: "t", ID: 3, Columns: columns[:3], Blocks: []Block{{End: 5, Rows: 5, Dense: true, Chunks: make([]Chunk, 3)}}}
	info.Blocks[0].Chunks[1] = Chunk{Stats: Stats{HasMin: true, Min: make([]byte, 8), HasSum: true, Sum: make([]byte, 32)}, At: 4, Size: 10, BloomAt: 20, BloomSize: 32}
	info.Blocks[0].Chunks[2] = Chunk{At: 10, Size: 9, Pages: []Page{{0, 4, 1}, {3, 3, 2}, {2, 2, 3}}, TallySize: 2, Tally: []byte{1, 2}, Summed: true, SumsAt: 30, SumsSize: 12}
	f.Add(appendFooter(nil, &info))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseFooter(b, version, 1<<20)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		again, err := parseFooter(appendFooter(nil, got), version, 1<<20)
		if err != nil || len(again.Blocks) != len(got.Blocks) || len(again.Columns) != len(got.Columns) {
			t.Fatalf("what was read is not read again: %v", err)
		}
	})
}

// Bytes that pass the sum may still be anything, when the disk had them so from the beginning.
func FuzzChunk(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range columns {
		v := randomVector(r, &columns[i], 300, 10)
		f.Add(uint8(i), uint16(v.CountNulls()), int64(0), int64(100), chunkOf(f, &columns[i], v))
	}
	few := vector.OfFloats(slices.Repeat([]float64{1, 2.5, 3}, 100), nil)
	f.Add(uint8(8), uint16(0), int64(0), int64(0), chunkOf(f, &columns[8], &few))
	f.Fuzz(func(t *testing.T, c uint8, nulls uint16, lo, hi int64, b []byte) {
		st := Stats{Nulls: int(nulls) % 301}
		if lo <= hi {
			st.HasMin, st.HasMax = true, true
			st.Min, st.Max = binary.LittleEndian.AppendUint64(nil, uint64(lo)), binary.LittleEndian.AppendUint64(nil, uint64(hi))
		}
		var d decoder
		v, _, err := d.decode(&columns[int(c)%len(columns)], &st, true, 300, b, nil, vector.Heap{})
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		// What passes can be read, whatever it is.
		for i := range v.Len {
			if !v.IsNull(i) && v.Kind == vector.String {
				_ = v.Text(i)
			}
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	const rows = 131072
	r := rand.New(rand.NewPCG(1, 1))
	cols, vecs := slices.Clone(columns), []*vector.Vector{}
	for i := range cols {
		vecs = append(vecs, randomVector(r, &cols[i], rows, 0))
	}
	add := func(name string, f func(i int) int64) {
		out := make([]int64, rows)
		for i := range out {
			out[i] = f(i)
		}
		v := vector.OfInts(out, nil)
		cols, vecs = append(cols, Column{Name: name, Key: name, Kind: vector.Int}), append(vecs, &v)
	}
	add("bytes", func(int) int64 { return r.Int64N(200_000) })
	add("duration", func(int) int64 { return int64(r.ExpFloat64() * 1800) })
	at := int64(1_767_225_600_000)
	add("time", func(int) int64 { at += r.Int64N(8); return at })
	for i := range cols {
		c, v := &cols[i], vecs[i]
		data := append(chunkOf(b, c, v), make([]byte, slack)...)
		data = data[:len(data)-slack]
		st := statsOf(v)
		e := encoder{emit: func([]byte) error { return nil }}
		b.Run("write/"+c.Name, func(b *testing.B) {
			b.SetBytes(rows)
			for b.Loop() {
				if err := e.chunk(c, v); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("read/"+c.Name, func(b *testing.B) {
			b.SetBytes(rows)
			var d decoder
			var slabs vector.Slabs
			defer slabs.Close()
			for b.Loop() {
				_, mem, err := d.decode(c, &st, true, rows, data, nil, &slabs)
				if err != nil {
					b.Fatal(err)
				}
				slabs.Free(mem)
			}
		})
	}
}
