package segment

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

type item struct {
	tp  state.TopicPartition
	b   Batch
	raw []byte
}

// randomItems are batches in segment order, of sizes around the block size too.
func randomItems(r *rand.Rand, n int) []item {
	var items []item
	tp := state.TopicPartition{}
	offset, lsn, now := int64(100), uint64(5), int64(1_000_000)
	for len(items) < n {
		if r.IntN(8) == 0 {
			if r.IntN(2) == 0 {
				tp.Topic = uuid.UUID{byte(len(items) >> 8), byte(len(items)), 1}
				tp.Partition = 0
			} else {
				tp.Partition += 1 + r.Int32N(5)
			}
			offset, lsn = r.Int64N(1<<40), 1+r.Uint64N(100)
		}
		size := 61 + r.IntN(400)
		switch r.IntN(10) {
		case 0:
			size = BlockBytes - r.IntN(100)
		case 1:
			size = BlockBytes * 3
		}
		raw := make([]byte, size)
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		offset += r.Int64N(3)
		b := Batch{BaseOffset: offset, LastOffset: offset + r.Int64N(10), MaxTimestamp: now + r.Int64N(1000) - 500, LSN: lsn, AppendTime: now, SizeBytes: int32(size)}
		switch r.IntN(4) {
		case 0:
			b.MinTimestamp = -1
		case 1:
			b.MinTimestamp = b.MaxTimestamp
		default:
			b.MinTimestamp = b.MaxTimestamp - r.Int64N(10_000)
		}
		if r.IntN(3) == 0 {
			b.Transactional, b.Control, b.ProducerID = true, r.IntN(3) == 0, r.Int64N(5)
		}
		items = append(items, item{tp, b, raw})
		offset = b.LastOffset + 1
		lsn += r.Uint64N(3)
		now += r.Int64N(50) - 10
	}
	return items
}

func write(t testing.TB, fs vfs.FS, name string, items []item) {
	t.Helper()
	w, err := Create(fs, name, Header{ID: 7, FirstLSN: 1, LastLSN: 99, Created: 5})
	if err != nil {
		t.Fatal(err)
	}
	var last item
	transactions := transactionsOf(items)
	flush := func() {
		for _, x := range transactions[last.tp] {
			if err := w.AddTransaction(x); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, it := range items {
		if it.tp != last.tp {
			flush()
		}
		if err := w.Add(it.tp, it.b, it.raw); err != nil {
			t.Fatal(err)
		}
		last = it
	}
	flush()
	size, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := fs.Stat(name); err != nil || info.Size() != size {
		t.Fatal(info, err, size)
	}
}

// transactionsOf makes one transaction of each marker.
func transactionsOf(items []item) map[state.TopicPartition][]Transaction {
	all := map[state.TopicPartition][]Transaction{}
	for i, it := range items {
		if it.b.Control {
			first := max(0, it.b.BaseOffset-int64(i%70))
			all[it.tp] = append(all[it.tp], Transaction{it.b.ProducerID, first, it.b.BaseOffset, it.b.LSN, i%3 == 0})
		}
	}
	return all
}

// readAll returns everything in the segment, or the first error.
func readAll(r *Reader) (items []item, err error) {
	var batches []Batch
	var scratch []byte
	for i := range r.Partitions() {
		p := &r.Partitions()[i]
		if _, err := r.Transactions(p); err != nil {
			return nil, err
		}
		blocks, err := r.Blocks(p)
		if err != nil {
			return nil, err
		}
		for j := range blocks {
			if batches, scratch, err = r.Batches(&blocks[j], batches[:0], scratch); err != nil {
				return nil, err
			}
			for _, b := range batches {
				raw := make([]byte, b.SizeBytes)
				if err := r.ReadAt(raw, b.At); err != nil {
					return nil, err
				}
				b.At = 0
				items = append(items, item{p.TopicPartition, b, raw})
			}
		}
	}
	return items, nil
}

func same(a, b []item) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].tp != b[i].tp || a[i].b != b[i].b || !bytes.Equal(a[i].raw, b[i].raw) {
			return false
		}
	}
	return true
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 0))
		items := randomItems(r, 1+r.IntN(300))
		fs := vfs.NewMem()
		write(t, fs, "/s", items)
		rd, err := Open(fs, "/s", NewCache(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(Header{ID: 7, FirstLSN: 1, LastLSN: 99, Created: 5}, rd.Header); d != "" {
			t.Fatal(d)
		}
		for range 2 { // the second time from the cache
			got, err := readAll(rd)
			if err != nil || !same(items, got) {
				t.Fatalf("seed %d: %d of %d read, %v", seed, len(got), len(items), err)
			}
		}
		checkIndex(t, rd, items)
		checkTransactions(t, rd, transactionsOf(items), r)
		if err := rd.Close(); err != nil {
			t.Fatal(err)
		}
		if rd.cache.Bytes() != 0 {
			t.Fatal("the cache keeps a closed segment")
		}
	}
}

// checkTransactions compares the lists and what is looked up in them with plain loops.
func checkTransactions(t *testing.T, rd *Reader, want map[state.TopicPartition][]Transaction, r *rand.Rand) {
	t.Helper()
	for i := range rd.Partitions() {
		p := &rd.Partitions()[i]
		got, err := rd.Transactions(p)
		if err != nil {
			t.Fatal(err)
		}
		list := want[p.TopicPartition]
		if d := cmp.Diff(list, got.All()); d != "" {
			t.Fatal(d)
		}
		least := int64(math.MaxInt64)
		for _, x := range list {
			if !x.Committed {
				least = min(least, x.First)
			}
		}
		if len(list) > 0 && p.MinAborted != least {
			t.Fatalf("least aborted %d, want %d", p.MinAborted, least)
		}
		for range 20 {
			producer, offset := r.Int64N(6), p.FirstOffset-1+r.Int64N(p.EndOffset-p.FirstOffset+2)
			i := slices.IndexFunc(list, func(x Transaction) bool { return x.ProducerID == producer && x.Marker > offset })
			x, ok := got.Find(producer, offset)
			if ok != (i >= 0) || ok && x != list[i] {
				t.Fatalf("producer %d, offset %d: %+v, %v", producer, offset, x, ok)
			}
			to := offset + r.Int64N(100)
			var aborted []Transaction
			for _, x := range list {
				if !x.Committed && x.Marker >= offset && x.First < to {
					aborted = append(aborted, x)
				}
			}
			if d := cmp.Diff(aborted, got.Aborted(offset, to, nil)); d != "" {
				t.Fatalf("aborted in [%d, %d): %s", offset, to, d)
			}
		}
	}
}

// checkIndex compares directory and blocks with the batches below them.
func checkIndex(t *testing.T, r *Reader, items []item) {
	t.Helper()
	for i := range r.Partitions() {
		p := &r.Partitions()[i]
		if r.Find(p.TopicPartition) != p {
			t.Fatal("not found:", p.TopicPartition)
		}
		var n, size int64
		lowest, highest := int64(-1), int64(-1)
		first := true
		for _, it := range items {
			if it.tp != p.TopicPartition {
				continue
			}
			n++
			size += int64(it.b.SizeBytes)
			if first || it.b.MinTimestamp < lowest {
				lowest = it.b.MinTimestamp // -1, unknown, is the lowest
			}
			highest = max(highest, it.b.MaxTimestamp)
			first = false
			if it.b.BaseOffset < p.FirstOffset || it.b.LastOffset >= p.EndOffset || it.b.LSN < p.FirstLSN || it.b.LSN > p.LastLSN ||
				it.b.AppendTime < p.MinAppendTime || it.b.AppendTime > p.MaxAppendTime {
				t.Fatalf("%+v outside of %+v", it.b, p)
			}
		}
		if lowest < 0 {
			highest = -1 // a claim
		}
		if p.Batches != n || p.DataBytes != size || p.MinTimestamp != lowest || p.MaxTimestamp != highest {
			t.Fatalf("%+v: want %d batches, %d bytes, %d to %d", p, n, size, lowest, highest)
		}
	}
	if r.Find(state.TopicPartition{Topic: uuid.UUID{255, 255}}) != nil {
		t.Fatal("found what is not there")
	}
}

func TestBatchesOutOfOrderAreRefused(t *testing.T) {
	a, b := state.TopicPartition{Topic: uuid.UUID{1}}, state.TopicPartition{Topic: uuid.UUID{2}}
	raw := make([]byte, 61)
	batch := func(base int64, lsn uint64) Batch {
		return Batch{BaseOffset: base, LastOffset: base, LSN: lsn, SizeBytes: 61}
	}
	for name, second := range map[string]item{
		"partition before": {a, batch(9, 9), raw},
		"same offset":      {b, batch(5, 9), raw},
		"earlier entry":    {b, batch(6, 4), raw},
		"wrong size":       {b, batch(6, 5), raw[1:]},
	} {
		w, err := Create(vfs.NewMem(), "/s", Header{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(b, batch(5, 5), raw); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(second.tp, second.b, second.raw); err == nil {
			t.Error(name, "was taken")
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}
}

func contents(t testing.TB, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, _ := f.Size()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t testing.TB, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
}

func TestEveryFlippedByteOutsideTheBatchesIsDetected(t *testing.T) {
	items := randomItems(rand.New(rand.NewPCG(1, 1)), 60)
	for i := range items { // small batches: an index-heavy file
		items[i].raw = items[i].raw[:61]
		items[i].b.SizeBytes = 61
	}
	fs := vfs.NewMem()
	write(t, fs, "/s", items)
	good := contents(t, fs, "/s")
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 1 << (at % 8)
		put(t, fs, "/bad", bad)
		r, err := Open(fs, "/bad", nil)
		if err == nil {
			var got []item
			got, err = readAll(r)
			if err == nil && same(items, got) {
				t.Fatalf("byte %d of %d: not detected", at, len(good))
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		// What is left are batch bytes, which the batch's own CRC covers.
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
	for _, n := range []int{0, 1, 63, 64, len(good) / 2, len(good) - 1} {
		put(t, fs, "/bad", good[:n])
		if _, err := Open(fs, "/bad", nil); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut to %d: %v", n, err)
		}
	}
}

func TestANewerVersionIsRefusedByName(t *testing.T) {
	fs := vfs.NewMem()
	write(t, fs, "/s", randomItems(rand.New(rand.NewPCG(1, 1)), 3))
	b := contents(t, fs, "/s")
	b[8] = version + 1
	put(t, fs, "/s", b)
	if _, err := Open(fs, "/s", nil); !errors.Is(err, ErrVersion) {
		t.Fatal(err)
	}
}

func TestTheCacheStaysWithinItsBound(t *testing.T) {
	c := NewCache(10_000)
	r := &Reader{directory: make([]Partition, 100)}
	for i := range 100 {
		c.put(&cacheEntry{key: cacheKey{r: r, directory: i}, blocks: make([]Block, 5)})
		if c.Bytes() > 10_000 {
			t.Fatal(c.Bytes())
		}
	}
	if c.get(cacheKey{r: r, directory: 99}) == nil || c.get(cacheKey{r: r}) != nil {
		t.Fatal("not the oldest was evicted")
	}
	c.put(&cacheEntry{key: cacheKey{r: r}, blocks: make([]Block, 1000)})
	if c.get(cacheKey{r: r}) != nil || c.get(cacheKey{r: r, directory: 99}) == nil {
		t.Fatal("one large index pushed the rest out")
	}
}

func FuzzReader(f *testing.F) {
	fs := vfs.NewMem()
	items := randomItems(rand.New(rand.NewPCG(1, 1)), 20)
	for i := range items { // a small file, mostly index
		items[i].raw = items[i].raw[:61]
		items[i].b.SizeBytes = 61
	}
	write(f, fs, "/s", items)
	f.Add(contents(f, fs, "/s"))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		fs := vfs.NewMem()
		put(t, fs, "/s", b)
		r, err := Open(fs, "/s", nil)
		if err != nil {
			return
		}
		_, _ = readAll(r)
		_ = r.Close()
	})
}
