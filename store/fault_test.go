package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// untilTaken produces to tp until the store takes it.
func untilTaken(t *testing.T, s *Store, tp state.TopicPartition) {
	t.Helper()
	for {
		a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{buildBatch(rec{1, "again"})})
		if a.err == nil {
			return
		}
		if !errors.Is(a.err, commitlog.ErrStorage) {
			t.Fatal(a.err)
		}
	}
}

// TestEveryFailedDiskOperationCostsNoAcknowledgedRecord fails the 1st, 2nd, … disk
// operation of the same run until one run meets no fault.
func TestEveryFailedDiskOperationCostsNoAcknowledgedRecord(t *testing.T) {
	for _, kind := range []struct {
		name string
		ops  vfs.Op
		err  error
	}{
		{"EIO of a write", vfs.OpWrite, syscall.EIO},
		{"short write", vfs.OpWrite, &vfs.ShortWriteError{Bytes: 700, Err: syscall.EIO}},
		{"EIO of a sync", vfs.OpSync | vfs.OpSyncData, syscall.EIO},
		{"ENOSPC", vfs.OpWrite | vfs.OpPreallocate | vfs.OpCreate, syscall.ENOSPC},
		{"EIO of a name", vfs.OpCreate | vfs.OpRename | vfs.OpRemove | vfs.OpSyncDir | vfs.OpTruncate | vfs.OpPreallocate, syscall.EIO},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			step := 1
			if testing.Short() {
				step = 7
			}
			for n := 1; ; n += step {
				if !faultRun(t, kind.ops, kind.err, n) {
					break
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// faultRun says whether the fault was met.
func faultRun(t *testing.T, ops vfs.Op, fault error, n int) bool {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	o := crashOptions(fs)
	o.LogFileBytes = 64 << 10
	s, log := openRecorded(t, fs, o)
	r := rand.New(rand.NewPCG(uint64(n), 3))
	w := newWorkload(t, s, rand.New(rand.NewPCG(7, 3)))
	for len(w.topics) < 2 {
		w.step()
	}
	w.wg.Wait()
	before := fs.Count(ops)
	fs.FailNth(ops, n, fault)
	for i := range 150 {
		w.step()
		if i%40 == 39 {
			_ = w.housekeep() // may fail; what it left out is done later
		}
	}
	w.wg.Wait()
	met := fs.Count(ops)-before >= n
	where := fmt.Sprintf("failed operation %d", n)
	acked := s.pubLSN()
	reopenAndCheck(t, where+", crash", fs.CrashClone(r), log, acked, r)
	fs.ClearFaults()
	for _, topic := range s.Topics().All() {
		untilTaken(t, s, state.TopicPartition{Topic: topic.ID})
		break
	}
	log.check(t, s, acked)
	if err := s.Seal(context.Background()); err != nil {
		t.Fatalf("%s: sealing afterwards: %v", where, err)
	}
	log.check(t, s, acked)
	if err := s.Close(); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	reopenAndCheck(t, where+", restart", fs, log, acked, r)
	return met
}

func TestAFullDiskLosesNothingAndRecoversWithoutARestart(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		fs := vfs.NewMem()
		if err := fs.MkdirAll("/data"); err != nil {
			t.Fatal(err)
		}
		o := crashOptions(fs)
		o.LogFileBytes = 64 << 10
		s, log := openRecorded(t, fs, o)
		r := rand.New(rand.NewPCG(uint64(round), 4))
		w := newWorkload(t, s, rand.New(rand.NewPCG(uint64(round), 5)))
		for range 30 {
			w.step()
		}
		w.wg.Wait()
		fs.SetLimit(fs.Used() + r.Int64N(300<<10))
		keep := createdTopic(t, s)
		full := false
		for range 3000 {
			a := <-submit(t, s, []state.TopicPartition{keep}, [][]byte{buildBatch(rec{1, string(make([]byte, 2000))})})
			if a.err != nil {
				if !errors.Is(a.err, commitlog.ErrNoSpace) {
					t.Fatalf("round %d: full disk answered with %v", round, a.err)
				}
				full = true
				break
			}
		}
		if !full {
			t.Fatalf("round %d: the disk did not fill", round)
		}
		acked := s.pubLSN()
		log.check(t, s, acked) // reads go on
		reopenAndCheck(t, fmt.Sprintf("round %d, crash on a full disk", round), fs.CrashClone(r), log, acked, r)
		fs.SetLimit(1 << 40)
		untilTaken(t, s, keep)
		log.check(t, s, acked)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		reopenAndCheck(t, fmt.Sprintf("round %d, restart", round), fs, log, acked, r)
	}
}

// createdTopic returns a partition of some topic that is there.
func createdTopic(t *testing.T, s *Store) state.TopicPartition {
	for _, topic := range s.Topics().All() {
		return state.TopicPartition{Topic: topic.ID}
	}
	return state.TopicPartition{Topic: createTopic(t, s, "kept", 1, nil)}
}
