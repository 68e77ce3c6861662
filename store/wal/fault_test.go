package wal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/wal"
)

// faultScenario opens, appends over several files, saves snapshots, truncates and closes; it
// resumes and opens again as long as that takes.
func faultScenario(fs *vfs.Mem, r *rand.Rand) (h *history, err error) {
	h = &history{void: map[uint64]bool{}}
	open := func() (*wal.Log, error) {
		for range 3 {
			l, err := wal.Open(small(fs))
			if err == nil {
				return l, nil
			}
			if !errors.Is(err, commitlog.ErrStorage) || errors.Is(err, commitlog.ErrCorrupt) {
				return nil, fmt.Errorf("open: %w", err)
			}
		}
		return nil, errors.New("the log does not open after one fault")
	}
	l, err := open()
	if err != nil {
		return nil, err
	}
	var id uint64
	for round := range 12 {
		var wg sync.WaitGroup
		after := l.Last()
		for range 3 {
			id++
			id := id
			wg.Add(1)
			err := l.Append(after, content(id), func(_ commitlog.Location, err error) {
				defer wg.Done()
				h.mu.Lock()
				defer h.mu.Unlock()
				switch {
				case err == nil:
					h.acked = append(h.acked, id)
				case errors.Is(err, commitlog.ErrInDoubt):
					h.inDoubt = append(h.inDoubt, id)
				default:
					h.void[id] = true
				}
			})
			if err != nil {
				wg.Done()
				break
			}
			after++
		}
		wg.Wait()
		if fs.Count(vfs.OpSyncData)%3 == 0 {
			if err := checkClone(fs.CrashClone(r), r, h.told(), h.saving); err != nil {
				return nil, fmt.Errorf("crash in round %d: %w", round, err)
			}
		}
		for range 3 {
			if err = l.Resume(); err == nil {
				break
			}
			if !errors.Is(err, commitlog.ErrStorage) {
				return nil, fmt.Errorf("resume: %w", err)
			}
		}
		if err != nil {
			return nil, errors.New("the log does not resume after one fault")
		}
		for _, id := range h.inDoubt {
			h.void[id] = true
		}
		h.inDoubt = nil
		switch round {
		case 3, 9:
			h.saving++
			err := l.SaveSnapshot(func(w io.Writer) error {
				_, err := w.Write(binary.BigEndian.AppendUint64(nil, h.saving))
				return err
			})
			if err == nil {
				h.saved = h.saving
			} else if !errors.Is(err, commitlog.ErrStorage) {
				return nil, fmt.Errorf("snapshot: %w", err)
			}
		case 5, 7:
			h.truncate = l.Last() - 5
			if err := l.Truncate(h.truncate); err != nil && !errors.Is(err, commitlog.ErrStorage) {
				return nil, fmt.Errorf("truncate: %w", err)
			}
		case 6:
			if err := l.Close(); err != nil && !errors.Is(err, commitlog.ErrStorage) {
				return nil, fmt.Errorf("close: %w", err)
			}
			if l, err = open(); err != nil {
				return nil, err
			}
		}
	}
	if len(h.acked) < 20 {
		return nil, fmt.Errorf("one fault cost all but %d entries", len(h.acked))
	}
	if _, err := verify(l, h.told(), h.saving); err != nil && !errors.Is(err, syscall.EIO) {
		return nil, fmt.Errorf("before close: %w", err)
	}
	if err := l.Close(); err != nil && !errors.Is(err, commitlog.ErrStorage) {
		return nil, fmt.Errorf("close: %w", err)
	}
	return h, nil
}

func TestOneFaultAtAnyOperationCostsNothingAcknowledged(t *testing.T) {
	kinds := []struct {
		name string
		ops  vfs.Op
		err  error
	}{
		{"EIO", vfs.OpChange &^ vfs.OpMkdir, syscall.EIO},
		{"ENOSPC", vfs.OpCreate | vfs.OpRename | vfs.OpWrite | vfs.OpPreallocate, syscall.ENOSPC},
		{"short write", vfs.OpWrite, &vfs.ShortWriteError{Bytes: 700, Err: syscall.ENOSPC}},
		{"EIO when reading", vfs.OpOpen | vfs.OpReadDir | vfs.OpRead, syscall.EIO},
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			step := 1
			if testing.Short() {
				step = 5
			}
			for n := 1; ; n += step {
				fs := vfs.NewMem()
				fs.FailNth(k.ops, n, k.err)
				r := rand.New(rand.NewPCG(uint64(n), 5))
				h, err := faultScenario(fs, r)
				if err != nil {
					t.Fatalf("fault at operation %d: %v\n%s", n, err, fs)
				}
				hit := fs.Count(k.ops) >= n
				fs.ClearFaults()
				if err := checkClone(fs.CrashClone(r), r, h.told(), h.saving); err != nil {
					t.Fatalf("fault at operation %d, restart: %v\n%s", n, err, fs)
				}
				if !hit {
					t.Logf("%d operations", n)
					return
				}
			}
		})
	}
}

// flipLog makes a log of two small files with a snapshot, closed.
func flipLog(t *testing.T) (*vfs.Mem, told) {
	fs := vfs.NewMem()
	l, err := wal.Open(small(fs))
	if err != nil {
		t.Fatal(err)
	}
	h := &history{void: map[uint64]bool{}}
	for id := uint64(1); ; id++ {
		e := content(id)
		if e.PayloadBytes() > 6000 {
			continue
		}
		appendNext(t, l, e)
		h.acked = append(h.acked, id)
		if fs, err := fs.ReadDir(testDir); err != nil || strings.Contains(fmt.Sprint(fs), "0000000003.wal") {
			break // the second file is in use
		}
	}
	h.saving, h.saved = 1, 1
	if err := l.SaveSnapshot(func(w io.Writer) error {
		_, err := w.Write(binary.BigEndian.AppendUint64(nil, 1))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return fs, h.told()
}

func appendNext(t *testing.T, l commitlog.Log, e commitlog.Entry) commitlog.Location {
	t.Helper()
	done := make(chan error, 1)
	var loc commitlog.Location
	if err := l.Append(l.Last(), e, func(at commitlog.Location, err error) { loc = at; done <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return loc
}

func update(t *testing.T, fs *vfs.Mem, name string, off int64, change func([]byte), n int) {
	t.Helper()
	f, err := fs.OpenReadWrite(name)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, off); err != nil {
		t.Fatal(err)
	}
	change(b)
	if _, err := f.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// outcome opens a damaged log: nil when everything told is still there,
// ErrCorrupt when the log, or a batch's own CRC, shows the damage.
func outcome(fs *vfs.Mem, t told) error {
	l, err := wal.Open(small(fs))
	if err != nil {
		return err
	}
	defer l.Close()
	if l.Last() < commitlog.LSN(len(t.acked)) {
		return fmt.Errorf("silently lost: %d of %d", l.Last(), len(t.acked))
	}
	if err := l.Read(1, func(r commitlog.Replayed) error {
		if int(r.LSN) > len(t.acked) {
			return fmt.Errorf("entry %d from nowhere", r.LSN)
		}
		e := content(t.acked[r.LSN-1])
		if !bytes.Equal(e.Meta, r.Meta) {
			return fmt.Errorf("entry %d: damaged meta was not noticed", r.LSN)
		}
		if want := bytes.Join(e.Payload, nil); !bytes.Equal(want, r.Payload) {
			if err := wal.CheckBatches(r.Payload); err != nil {
				return err
			}
			return fmt.Errorf("entry %d: damaged payload was not noticed", r.LSN)
		}
		return nil
	}); err != nil {
		return err
	}
	_, err = loadSnapshot(l)
	return err
}

func TestEveryFlippedBitIsNoticedOrHarmless(t *testing.T) {
	fs, told := flipLog(t)
	if err := outcome(fs.KillClone(), told); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(8, 8))
	step := 8
	if testing.Short() {
		step = 40
	}
	noticed, harmless := 0, 0
	for _, name := range []string{"0000000001.wal", "0000000002.wal", "snapshot"} {
		name = testDir + "/" + name
		info, err := fs.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size := info.Size()
		if name == testDir+"/0000000002.wal" {
			size = 16 << 10 // hardly more is used
		}
		for off := int64(r.IntN(step)); off < size; off += 1 + int64(r.IntN(2*step-1)) {
			if off > 64 && off < 2048 || off > 2112 && off < 4096 {
				off += 61 // header padding
			}
			c := fs.KillClone()
			bit := byte(1) << r.IntN(8)
			if r.IntN(4) == 0 {
				bit = byte(1 + r.IntN(255))
			}
			update(t, c, name, off, func(b []byte) { b[0] ^= bit }, 1)
			switch err := outcome(c, told); {
			case err == nil:
				harmless++
			case errors.Is(err, commitlog.ErrCorrupt):
				noticed++
			default:
				if v := (*wal.VersionError)(nil); errors.As(err, &v) {
					noticed++
					break
				}
				t.Fatalf("%s, byte %d ^ %#x: %v", name, off, bit, err)
			}
		}
	}
	t.Logf("%d noticed, %d harmless", noticed, harmless)
}

func TestAMissingLogFileIsNoticed(t *testing.T) {
	fs := vfs.NewMem()
	l, err := wal.Open(small(fs))
	if err != nil {
		t.Fatal(err)
	}
	for id := uint64(1); id < 100; id++ {
		appendNext(t, l, content(id))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.ReadDir(testDir)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	var logs []string
	for _, n := range names {
		if strings.HasSuffix(n.Name(), ".wal") {
			logs = append(logs, n.Name())
		}
	}
	logs = logs[:len(logs)-1] // the one that is waiting to be used
	last = logs[len(logs)-1]
	for _, name := range logs[1:] {
		c := fs.KillClone()
		if err := c.Remove(testDir + "/" + name); err != nil {
			t.Fatal(err)
		}
		l, err := wal.Open(small(c))
		if err == nil {
			err = l.Read(l.First(), func(commitlog.Replayed) error { return nil })
			_ = l.Close()
		}
		if !errors.Is(err, commitlog.ErrCorrupt) {
			t.Errorf("%s is missing (the last is %s): %v", name, last, err)
		}
	}
}
