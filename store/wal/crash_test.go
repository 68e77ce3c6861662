package wal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/commitlog/commitlogtest"
	"millrace/store/wal"
)

// content makes the entry of an id: the same every time, and different for every id.
func content(id uint64) commitlog.Entry {
	r := rand.New(rand.NewPCG(id, 99))
	e := commitlog.Entry{Meta: binary.BigEndian.AppendUint64(nil, id)}
	for range r.IntN(40) {
		e.Meta = append(e.Meta, byte(r.Uint32()))
	}
	switch r.IntN(20) {
	case 0: // not batches
		e.Payload = [][]byte{bytes.Repeat([]byte("x"), r.IntN(5000))}
	case 1: // more than a file holds
		e.Payload = [][]byte{commitlogtest.Batch(r, 70_000+r.IntN(50_000))}
	default:
		for range r.IntN(4) {
			e.Payload = append(e.Payload, commitlogtest.Batch(r, r.IntN(4000)))
		}
	}
	return e
}

// history is what the outside world was told.
type history struct {
	mu       sync.Mutex
	acked    []uint64        // id of entry 1, 2, ...
	void     map[uint64]bool // ids that can never come back
	inDoubt  []uint64        // failed, but may come back until Resume
	truncate commitlog.LSN   // highest Truncate asked for
	saved    uint64          // last snapshot that was saved
	saving   uint64          // last snapshot begun
}

// told is a copy of a history.
type told struct {
	acked    []uint64
	void     map[uint64]bool
	truncate commitlog.LSN
	saved    uint64
}

func (h *history) told() told {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := told{acked: append([]uint64(nil), h.acked...), void: map[uint64]bool{}, truncate: h.truncate, saved: h.saved}
	for id := range h.void {
		t.void[id] = true
	}
	return t
}

func loadSnapshot(l commitlog.Log) (n uint64, err error) {
	_, err = l.LoadSnapshot(func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if err == nil {
			n = binary.BigEndian.Uint64(b)
		}
		return err
	})
	return n, err
}

// verify reads the whole log and compares it with what was told. It returns the ids
// from First on.
func verify(l commitlog.Log, t told, saving uint64) (ids []uint64, err error) {
	first, last := l.First(), l.Last()
	if last < commitlog.LSN(len(t.acked)) {
		return nil, fmt.Errorf("%d entries were acknowledged, the log ends at %d", len(t.acked), last)
	}
	if first > max(t.truncate, 1) {
		return nil, fmt.Errorf("the log begins at %d, truncated was below %d", first, t.truncate)
	}
	next := first
	err = l.Read(first, func(r commitlog.Replayed) error {
		if r.LSN != next {
			return fmt.Errorf("entry %d comes when %d is next", r.LSN, next)
		}
		next++
		if len(r.Meta) < 8 {
			return fmt.Errorf("entry %d has no id", r.LSN)
		}
		id := binary.BigEndian.Uint64(r.Meta)
		e := content(id)
		if !bytes.Equal(e.Meta, r.Meta) || !bytes.Equal(bytes.Join(e.Payload, nil), r.Payload) {
			return fmt.Errorf("entry %d is not whole", r.LSN)
		}
		if int(r.LSN) <= len(t.acked) && t.acked[r.LSN-1] != id {
			return fmt.Errorf("entry %d has id %d, acknowledged was %d", r.LSN, id, t.acked[r.LSN-1])
		}
		if t.void[id] {
			return fmt.Errorf("failed id %d came back as entry %d", id, r.LSN)
		}
		ids = append(ids, id)
		p := make([]byte, len(r.Payload))
		if err := l.ReadAt(p, r.Location); err != nil {
			return err
		}
		if !bytes.Equal(p, r.Payload) {
			return fmt.Errorf("entry %d: ReadAt gives other bytes", r.LSN)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if next != last+1 {
		return nil, fmt.Errorf("Read ended before %d, Last is %d", next, last)
	}
	n, err := loadSnapshot(l)
	if err != nil {
		return nil, err
	}
	if n < t.saved || n > saving {
		return nil, fmt.Errorf("snapshot %d is found, saved was %d", n, t.saved)
	}
	return ids, nil
}

// checkClone recovers a file system twice over, with a crash and new entries in between.
func checkClone(fs *vfs.Mem, r *rand.Rand, t told, saving uint64) error {
	l, err := wal.Open(small(fs))
	if err != nil {
		return err
	}
	ids, err := verify(l, t, saving)
	if err != nil {
		return err
	}
	first, last := l.First(), l.Last()
	again := fs.CrashClone(r) // right after recovery
	id := r.Uint64() | 1<<63
	for i := range 3 {
		e := content(id + uint64(i))
		if _, err := commitlogtest.AppendWait(l, last+commitlog.LSN(i), e); err != nil {
			return fmt.Errorf("append after recovery: %w", err)
		}
	}
	if err := l.Close(); err != nil {
		return err
	}
	for i, fs := range []*vfs.Mem{again, fs.CrashClone(r)} {
		want := append([]uint64(nil), ids...)
		if i == 1 {
			want = append(want, id, id+1, id+2)
		}
		l, err := wal.Open(small(fs))
		if err != nil {
			return fmt.Errorf("second recovery: %w", err)
		}
		got, err := verify(l, t, saving)
		if err != nil {
			return fmt.Errorf("second recovery: %w", err)
		}
		if l.First() != first || fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("a second recovery finds other entries: %d from %d, not %d from %d", len(got), l.First(), len(want), first)
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// runCrashes drives a log at random and calls sample before file system operations.
func runCrashes(t *testing.T, seed uint64, rounds int, faults bool, sample func(fs *vfs.Mem, op vfs.Event, h *history)) {
	r := rand.New(rand.NewPCG(seed, 1))
	fs := vfs.NewMem()
	h := &history{void: map[uint64]bool{}}
	var nextID atomic.Uint64
	fs.SetHook(func(e vfs.Event) error {
		if e.Op&vfs.OpChange != 0 {
			sample(fs, e, h)
		}
		return nil
	})
	open := func() *wal.Log {
		l, err := wal.Open(small(fs))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, fs)
		}
		return l
	}
	l := open()
	var wg sync.WaitGroup
	for range rounds {
		switch k := r.IntN(20); {
		case k < 14:
			after := l.Last()
			n := 1 + r.IntN(12)
			wg.Add(n)
			for i := range n {
				id := nextID.Add(1)
				err := l.Append(after, content(id), func(_ commitlog.Location, err error) {
					defer wg.Done()
					h.mu.Lock()
					defer h.mu.Unlock()
					switch {
					case err == nil:
						h.acked = append(h.acked, id)
					case errors.Is(err, commitlog.ErrInDoubt):
						h.inDoubt = append(h.inDoubt, id)
					case errors.Is(err, commitlog.ErrStorage):
						h.void[id] = true
					default:
						t.Errorf("seed %d: done with %v", seed, err)
					}
				})
				if err != nil {
					if !errors.Is(err, commitlog.ErrStorage) {
						t.Fatalf("seed %d: %v", seed, err)
					}
					wg.Add(i - n)
					break
				}
				after++
			}
			wg.Wait() // the next burst must know where the log ends
		case k == 14:
			before := commitlog.LSN(r.Uint64N(uint64(l.Last()) + 2))
			h.mu.Lock()
			h.truncate = max(h.truncate, before)
			h.mu.Unlock()
			if err := l.Truncate(before); err != nil && !errors.Is(err, commitlog.ErrStorage) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		case k == 15:
			h.mu.Lock()
			h.saving++
			n := h.saving
			h.mu.Unlock()
			err := l.SaveSnapshot(func(w io.Writer) error {
				_, err := w.Write(binary.BigEndian.AppendUint64(nil, n))
				return err
			})
			if err == nil {
				h.mu.Lock()
				h.saved = n
				h.mu.Unlock()
			} else if !errors.Is(err, commitlog.ErrStorage) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		case k == 16:
			if err := l.Close(); err != nil && !errors.Is(err, commitlog.ErrStorage) && !errors.Is(err, syscall.EIO) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			fs.ClearFaults()
			fs.SetHook(func(e vfs.Event) error {
				if e.Op&vfs.OpChange != 0 {
					sample(fs, e, h)
				}
				return nil
			})
			l = open()
			// What was in doubt is decided now: there, or gone for good.
			there := map[uint64]bool{}
			if err := l.Read(l.First(), func(e commitlog.Replayed) error {
				there[binary.BigEndian.Uint64(e.Meta)] = true
				h.mu.Lock()
				defer h.mu.Unlock()
				if int(e.LSN) > len(h.acked) {
					h.acked = append(h.acked, binary.BigEndian.Uint64(e.Meta))
				}
				return nil
			}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			h.mu.Lock()
			for _, id := range h.inDoubt {
				if !there[id] {
					h.void[id] = true
				}
			}
			h.inDoubt = nil
			h.mu.Unlock()
		case k <= 18 && faults:
			err := error(syscall.EIO)
			if r.IntN(3) == 0 {
				err = syscall.ENOSPC
			}
			ops := []vfs.Op{vfs.OpWrite, vfs.OpSyncData, vfs.OpChange, vfs.OpWrite | vfs.OpSyncData}[r.IntN(4)]
			if ops == vfs.OpWrite && r.IntN(2) == 0 {
				err = &vfs.ShortWriteError{Bytes: r.IntN(9000), Err: err}
			}
			fs.FailNth(ops, 1+r.IntN(10), err)
		default:
			if err := l.Resume(); err == nil {
				h.mu.Lock()
				for _, id := range h.inDoubt {
					h.void[id] = true
				}
				h.inDoubt = nil
				h.mu.Unlock()
			} else if !errors.Is(err, commitlog.ErrStorage) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if t.Failed() {
			return
		}
	}
	fs.ClearFaults()
	_ = l.Resume()
	if err := l.Close(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if err := checkClone(fs, r, h.told(), h.saving); err != nil {
		t.Fatalf("seed %d, at the end: %v\n%s", seed, err, fs)
	}
}

// crashEverywhere takes about want crash images in all and checks each.
func crashEverywhere(t *testing.T, want int, faults bool) {
	if testing.Short() {
		want /= 4
	}
	var mu sync.Mutex
	images := 0
	base := rand.Uint64()
	for n := uint64(0); images < want; n++ {
		seed := base + n
		r := rand.New(rand.NewPCG(seed, 2))
		runCrashes(t, seed, 150, faults, func(fs *vfs.Mem, op vfs.Event, h *history) {
			mu.Lock()
			often := 60
			if op.Op&(vfs.OpSync|vfs.OpSyncData|vfs.OpSyncDir|vfs.OpRename|vfs.OpRemove) != 0 {
				often = 12
			}
			take := r.IntN(often) == 0 && !t.Failed()
			rr := rand.New(rand.NewPCG(r.Uint64(), 3))
			if take {
				images++
			}
			mu.Unlock()
			if !take {
				return
			}
			told := h.told() // before the image: what is told later need not be in it
			var clone *vfs.Mem
			if rr.IntN(5) == 0 {
				clone = fs.KillClone()
			} else {
				clone = fs.CrashClone(rr)
			}
			h.mu.Lock()
			saving := h.saving
			told.truncate = h.truncate // an upper bound, like saving
			h.mu.Unlock()
			shown := clone.String()
			if err := checkClone(clone, rr, told, saving); err != nil {
				t.Errorf("seed %d, before %+v: %v\n%s", seed, op, err, shown)
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d crash images, seed %d", images, base)
}

func TestPowerLossAtAnyPointLosesNothingAcknowledged(t *testing.T) {
	crashEverywhere(t, 200, false)
}

func TestPowerLossAfterFailuresBringsNothingFailedBack(t *testing.T) {
	crashEverywhere(t, 200, true)
}
