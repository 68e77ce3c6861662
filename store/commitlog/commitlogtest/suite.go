// Package commitlogtest is the conformance suite of commitlog.Log: every
// implementation passes it.
package commitlogtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"millrace/store/commitlog"
)

// Disk is one data directory, real or not.
type Disk interface {
	// Open opens the log; the test closes it. On a second call it finds what the
	// first log left.
	Open(t *testing.T) commitlog.Log
	// Fail makes the next write or sync of the open log fail; Heal ends that.
	Fail(log commitlog.Log)
	Heal(log commitlog.Log)
}

// Batch returns a well-formed Kafka v2 batch of n record bytes (61 header bytes
// come on top), with a valid CRC; the records themselves are noise.
func Batch(r *rand.Rand, n int) []byte {
	b := make([]byte, 61+n, 61+n+8)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:i+8], r.Uint64())
	}
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	b[16] = 2
	SumBatch(b)
	return b
}

// SumBatch sets the batch's CRC field.
func SumBatch(b []byte) {
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
}

// Result is what done was called with.
type Result struct {
	LSN commitlog.LSN
	Loc commitlog.Location
	Err error
}

// Collector gathers done calls in the order in which they come.
type Collector struct {
	mu      sync.Mutex
	changed *sync.Cond
	results []Result
}

// NewCollector returns an empty one.
func NewCollector() *Collector {
	c := &Collector{}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// Done returns the callback for entry lsn.
func (c *Collector) Done(lsn commitlog.LSN) func(commitlog.Location, error) {
	return func(loc commitlog.Location, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.results = append(c.results, Result{lsn, loc, err})
		c.changed.Broadcast()
	}
}

// Wait returns the first n results, once there are as many.
func (c *Collector) Wait(n int) []Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.results) < n {
		c.changed.Wait()
	}
	return append([]Result(nil), c.results...)
}

// Results returns those so far.
func (c *Collector) Results() []Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Result(nil), c.results...)
}

type written struct {
	meta    []byte
	payload []byte
	loc     commitlog.Location
}

// AppendWait appends and waits; it returns done's arguments, or Append's error.
func AppendWait(l commitlog.Log, after commitlog.LSN, e commitlog.Entry) (commitlog.Location, error) {
	c := NewCollector()
	if err := l.Append(after, e, c.Done(after+1)); err != nil {
		return commitlog.Location{}, err
	}
	r := c.Wait(1)[0]
	return r.Loc, r.Err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func entry(r *rand.Rand, i int) commitlog.Entry {
	e := commitlog.Entry{Meta: fmt.Appendf(nil, "meta of %d", i)}
	for range r.IntN(4) {
		e.Payload = append(e.Payload, Batch(r, r.IntN(3000)))
	}
	return e
}

// fill appends n entries behind after and waits for them.
func fill(t *testing.T, l commitlog.Log, after commitlog.LSN, n int) map[commitlog.LSN]written {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(after), 7))
	c := NewCollector()
	out := map[commitlog.LSN]written{}
	for i := range n {
		lsn := after + commitlog.LSN(i) + 1
		e := entry(r, int(lsn))
		out[lsn] = written{meta: e.Meta, payload: bytes.Join(e.Payload, nil)}
		must(t, l.Append(lsn-1, e, c.Done(lsn)))
	}
	for i, res := range c.Wait(n) {
		must(t, res.Err)
		if want := after + commitlog.LSN(i) + 1; res.LSN != want {
			t.Fatalf("done for %d came when %d was next", res.LSN, want)
		}
		w := out[res.LSN]
		w.loc = res.Loc
		out[res.LSN] = w
	}
	return out
}

// check reads everything and compares.
func check(t *testing.T, l commitlog.Log, want map[commitlog.LSN]written) {
	t.Helper()
	next := l.First()
	must(t, l.Read(next, func(r commitlog.Replayed) error {
		if r.LSN != next {
			return fmt.Errorf("entry %d came when %d was next", r.LSN, next)
		}
		next++
		w, ok := want[r.LSN]
		if !ok {
			return fmt.Errorf("entry %d was never appended", r.LSN)
		}
		if !bytes.Equal(r.Meta, w.meta) || !bytes.Equal(r.Payload, w.payload) {
			return fmt.Errorf("entry %d reads otherwise than written", r.LSN)
		}
		if r.Location != w.loc {
			return fmt.Errorf("entry %d lies at %+v, done said %+v", r.LSN, r.Location, w.loc)
		}
		p := make([]byte, len(w.payload))
		if err := l.ReadAt(p, r.Location); err != nil {
			return err
		}
		if !bytes.Equal(p, w.payload) {
			return fmt.Errorf("entry %d: ReadAt differs", r.LSN)
		}
		return nil
	}))
	if next != l.Last()+1 {
		t.Fatalf("Read ended before %d, Last is %d", next, l.Last())
	}
	if m, ok := l.(commitlog.MetaReader); ok {
		next = l.First()
		must(t, m.ReadMeta(next, func(r commitlog.Replayed) error {
			if r.LSN != next || r.Payload != nil || !bytes.Equal(r.Meta, want[r.LSN].meta) || r.Location != want[r.LSN].loc {
				return fmt.Errorf("ReadMeta gives another entry %d", r.LSN)
			}
			next++
			return nil
		}))
		if next != l.Last()+1 {
			t.Fatalf("ReadMeta ended before %d, Last is %d", next, l.Last())
		}
	}
}

// Run runs the suite; newDisk makes an empty data directory.
func Run(t *testing.T, newDisk func(t *testing.T) Disk) {
	open := func(t *testing.T) (Disk, commitlog.Log) {
		d := newDisk(t)
		return d, d.Open(t)
	}

	t.Run("an empty log has nothing", func(t *testing.T) {
		_, l := open(t)
		if l.First() != 1 || l.Last() != 0 {
			t.Fatalf("First %d, Last %d", l.First(), l.Last())
		}
		check(t, l, nil)
		ok, err := l.LoadSnapshot(func(io.Reader) error { return errors.New("called") })
		must(t, err)
		if ok {
			t.Fatal("a snapshot was found")
		}
		must(t, l.Close())
	})

	t.Run("entries are acknowledged in order and read back", func(t *testing.T) {
		_, l := open(t)
		want := fill(t, l, 0, 200)
		if l.Last() != 200 {
			t.Fatalf("Last %d", l.Last())
		}
		check(t, l, want)
		must(t, l.Close())
	})

	t.Run("an entry needs neither meta nor payload", func(t *testing.T) {
		d, l := open(t)
		_, err := AppendWait(l, 0, commitlog.Entry{})
		must(t, err)
		_, err = AppendWait(l, 1, commitlog.Entry{Payload: [][]byte{{}, nil, []byte("not a batch")}})
		must(t, err)
		must(t, l.Close())
		l = d.Open(t)
		var got []string
		must(t, l.Read(1, func(r commitlog.Replayed) error {
			got = append(got, fmt.Sprintf("%d %q %q", r.LSN, r.Meta, r.Payload))
			return nil
		}))
		if fmt.Sprint(got) != `[1 "" "" 2 "" "not a batch"]` {
			t.Fatal(got)
		}
		must(t, l.Close())
	})

	t.Run("entries survive a restart and new ones follow", func(t *testing.T) {
		d, l := open(t)
		want := map[commitlog.LSN]written{}
		for round := range 4 {
			for lsn, w := range fill(t, l, commitlog.LSN(round*30), 30) {
				want[lsn] = w
			}
			must(t, l.Close())
			l = d.Open(t)
			check(t, l, want)
		}
		must(t, l.Close())
	})

	t.Run("an entry decided after another LSN is a conflict", func(t *testing.T) {
		_, l := open(t)
		fill(t, l, 0, 3)
		for _, after := range []commitlog.LSN{0, 2, 4, 99} {
			err := l.Append(after, commitlog.Entry{Meta: []byte("x")}, func(commitlog.Location, error) { t.Error("done was called") })
			if !errors.Is(err, commitlog.ErrConflict) {
				t.Fatalf("after %d: %v", after, err)
			}
		}
		fill(t, l, 3, 1)
		must(t, l.Close())
	})

	t.Run("reading starts anywhere and ends when the callback says so", func(t *testing.T) {
		_, l := open(t)
		fill(t, l, 0, 50)
		stop := errors.New("enough")
		n := 0
		err := l.Read(40, func(r commitlog.Replayed) error {
			if r.LSN != commitlog.LSN(40+n) {
				t.Fatalf("%d", r.LSN)
			}
			if n++; n == 5 {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || n != 5 {
			t.Fatal(err, n)
		}
		must(t, l.Read(51, func(commitlog.Replayed) error { return stop }))
		if err := l.Read(0, func(commitlog.Replayed) error { return nil }); !errors.Is(err, commitlog.ErrTruncated) {
			t.Fatal(err)
		}
		must(t, l.Close())
	})

	t.Run("ReadAt reads any part of a payload", func(t *testing.T) {
		_, l := open(t)
		r := rand.New(rand.NewPCG(1, 2))
		payload := [][]byte{Batch(r, 100), Batch(r, 2000)}
		loc, err := AppendWait(l, 0, commitlog.Entry{Meta: []byte("m"), Payload: payload})
		must(t, err)
		all := bytes.Join(payload, nil)
		for range 100 {
			from := r.IntN(len(all))
			p := make([]byte, r.IntN(len(all)-from+1))
			must(t, l.ReadAt(p, commitlog.Location{File: loc.File, Offset: loc.Offset + uint32(from)}))
			if !bytes.Equal(p, all[from:from+len(p)]) {
				t.Fatal("other bytes")
			}
		}
		must(t, l.Close())
	})

	t.Run("truncation gives up whole files at most up to the LSN", func(t *testing.T) {
		d, l := open(t)
		want := fill(t, l, 0, 300)
		size := l.Size()
		last := l.First()
		for _, before := range []commitlog.LSN{50, 150, 150, 20, 290} {
			must(t, l.Truncate(before))
			if l.First() > before && l.First() > last || l.First() < last {
				t.Fatalf("First went from %d to %d for Truncate(%d)", last, l.First(), before)
			}
			last = l.First()
			check(t, l, want)
		}
		// An idle log may have written a sync point behind its last entry meanwhile.
		const syncPoint = 128
		if l.Size() > size+syncPoint {
			t.Fatalf("Size grew from %d to %d", size, l.Size())
		}
		if last > 1 {
			if err := l.Read(last-1, func(commitlog.Replayed) error { return nil }); !errors.Is(err, commitlog.ErrTruncated) {
				t.Fatal(err)
			}
			if err := l.ReadAt(make([]byte, 1), want[1].loc); len(want[1].payload) > 0 && !errors.Is(err, commitlog.ErrTruncated) {
				t.Fatal(err)
			}
		}
		must(t, l.Close())
		l = d.Open(t)
		if l.First() != last {
			t.Fatalf("First is %d after a restart, was %d", l.First(), last)
		}
		check(t, l, want)
		for lsn, w := range fill(t, l, 300, 50) {
			want[lsn] = w
		}
		must(t, l.Truncate(10_000))
		if l.First() > 351 {
			t.Fatalf("First %d", l.First())
		}
		check(t, l, want)
		must(t, l.Close())
		l = d.Open(t)
		if l.Last() != 350 {
			t.Fatalf("Last %d: truncation loses no LSN", l.Last())
		}
		must(t, l.Close())
	})

	t.Run("a failure fails everything queued until Resume, and nothing failed comes back", func(t *testing.T) {
		d, l := open(t)
		want := fill(t, l, 0, 10)
		d.Fail(l)
		r := rand.New(rand.NewPCG(3, 3))
		c := NewCollector()
		queued := 0
		for lsn := commitlog.LSN(11); ; lsn++ {
			e := entry(r, -int(lsn))
			err := l.Append(lsn-1, e, c.Done(lsn))
			if err != nil {
				if !errors.Is(err, commitlog.ErrStorage) {
					t.Fatal(err)
				}
				break
			}
			queued++
			if queued == 20 {
				break
			}
		}
		for i, res := range c.Wait(queued) {
			if !errors.Is(res.Err, commitlog.ErrStorage) {
				t.Fatalf("entry %d: %v", res.LSN, res.Err)
			}
			if res.LSN != commitlog.LSN(11+i) {
				t.Fatalf("failures out of order: %d", res.LSN)
			}
		}
		if err := l.Append(l.Last(), commitlog.Entry{}, func(commitlog.Location, error) { t.Error("done was called") }); !errors.Is(err, commitlog.ErrStorage) {
			t.Fatal(err)
		}
		if l.Last() != 10 {
			t.Fatalf("Last %d", l.Last())
		}
		check(t, l, want)
		d.Heal(l)
		must(t, l.Resume())
		must(t, l.Resume())
		check(t, l, want)
		for lsn, w := range fill(t, l, 10, 10) {
			want[lsn] = w
		}
		check(t, l, want)
		must(t, l.Close())
		l = d.Open(t)
		if l.Last() != 20 {
			t.Fatalf("Last %d", l.Last())
		}
		check(t, l, want)
		must(t, l.Close())
	})

	t.Run("the last snapshot is found again", func(t *testing.T) {
		d, l := open(t)
		big := make([]byte, 3<<20+17)
		r := rand.New(rand.NewPCG(5, 5))
		for i := range big {
			big[i] = byte(r.Uint32())
		}
		load := func(want []byte) {
			t.Helper()
			ok, err := l.LoadSnapshot(func(rd io.Reader) error {
				got, err := io.ReadAll(rd)
				if err == nil && !bytes.Equal(got, want) {
					err = fmt.Errorf("%d bytes come back, not the %d written", len(got), len(want))
				}
				return err
			})
			must(t, err)
			if !ok {
				t.Fatal("no snapshot")
			}
		}
		for _, want := range [][]byte{[]byte("small"), big, {}} {
			must(t, l.SaveSnapshot(func(w io.Writer) error {
				for rest := want; len(rest) > 0; {
					k := min(len(rest), 1+r.IntN(100_000))
					if _, err := w.Write(rest[:k]); err != nil {
						return err
					}
					rest = rest[k:]
				}
				return nil
			}))
			load(want)
		}
		boom := errors.New("boom")
		if err := l.SaveSnapshot(func(w io.Writer) error { _, _ = w.Write([]byte("half")); return boom }); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		load(nil)
		must(t, l.Close())
		l = d.Open(t)
		load(nil)
		if _, err := l.LoadSnapshot(func(io.Reader) error { return boom }); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		must(t, l.Close())
	})

	t.Run("Close waits for what is queued, and then nothing works", func(t *testing.T) {
		d, l := open(t)
		c := NewCollector()
		for lsn := commitlog.LSN(1); lsn <= 50; lsn++ {
			must(t, l.Append(lsn-1, commitlog.Entry{Meta: []byte("m")}, c.Done(lsn)))
		}
		must(t, l.Close())
		got := c.Results()
		if len(got) != 50 {
			t.Fatalf("%d of 50 answered", len(got))
		}
		for _, r := range got {
			must(t, r.Err)
		}
		if err := l.Append(50, commitlog.Entry{}, func(commitlog.Location, error) {}); !errors.Is(err, commitlog.ErrClosed) {
			t.Fatal(err)
		}
		l = d.Open(t)
		if l.Last() != 50 {
			t.Fatal(l.Last())
		}
		must(t, l.Close())
	})

	t.Run("readers run beside appends and truncation", func(t *testing.T) {
		_, l := open(t)
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for {
					select {
					case <-stop:
						return
					default:
					}
					from := l.First()
					next := from
					err := l.Read(from, func(r commitlog.Replayed) error {
						if r.LSN != next {
							return fmt.Errorf("entry %d came when %d was next", r.LSN, next)
						}
						next++
						return nil
					})
					if err != nil && !errors.Is(err, commitlog.ErrTruncated) {
						t.Error(err)
						return
					}
				}
			}()
		}
		for i := range 10 {
			fill(t, l, commitlog.LSN(i*50), 50)
			must(t, l.Truncate(l.Last()-60+1))
		}
		close(stop)
		wg.Wait()
		must(t, l.Close())
	})
}
