package vfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"millrace/internal/vfs"
)

func memDir(t *testing.T) *vfs.Mem {
	m := vfs.NewMem()
	must(t, m.MkdirAll("/d"))
	return m
}

// outcomes counts what show says of many crash clones.
func outcomes(m *vfs.Mem, show func(*vfs.Mem) string) map[string]int {
	got := map[string]int{}
	for seed := range uint64(400) {
		got[show(m.CrashClone(rand.New(rand.NewPCG(seed, 1))))]++
	}
	return got
}

func content(name string) func(*vfs.Mem) string {
	return func(m *vfs.Mem) string {
		f, err := m.Open(name)
		if err != nil {
			return "missing"
		}
		size, _ := f.Size()
		b := make([]byte, size)
		_, _ = f.ReadAt(b, 0)
		// one letter per granule
		out := ""
		for i := 0; i < len(b); i += vfs.GranuleBytes {
			g := b[i:min(i+vfs.GranuleBytes, len(b))]
			switch {
			case !bytes.Equal(g, bytes.Repeat(g[:1], len(g))):
				out += "?"
			case g[0] == 0:
				out += "0"
			default:
				out += string(g[:1])
			}
		}
		return out
	}
}

func keys(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func expect(t *testing.T, got map[string]int, want ...string) {
	t.Helper()
	slices.Sort(want)
	if fmt.Sprint(keys(got)) != fmt.Sprint(want) {
		t.Fatalf("outcomes %v, want %v", got, want)
	}
}

func granules(s string) string {
	var b []byte
	for _, c := range []byte(s) {
		b = append(b, bytes.Repeat([]byte{c}, vfs.GranuleBytes)...)
	}
	return string(b)
}

func synced(t *testing.T, m *vfs.Mem, name, data string) vfs.File {
	t.Helper()
	f := create(t, m, name, granules(data))
	must(t, f.Sync())
	must(t, m.SyncDir("/d"))
	return f
}

func TestAFileWhoseNameWasNotSyncedMayBeGone(t *testing.T) {
	m := memDir(t)
	f := create(t, m, "/d/a", granules("a"))
	must(t, f.Sync())
	expect(t, outcomes(m, content("/d/a")), "a", "missing")
	must(t, m.SyncDir("/d"))
	expect(t, outcomes(m, content("/d/a")), "a")
}

func TestUnsyncedGranulesSurviveOneByOne(t *testing.T) {
	m := memDir(t)
	f := synced(t, m, "/d/a", "aaa")
	_, err := f.WriteAt([]byte(granules("bb")), vfs.GranuleBytes)
	must(t, err)
	expect(t, outcomes(m, content("/d/a")), "aaa", "aba", "aab", "abb")
	if got := content("/d/a")(m); got != "abb" {
		t.Fatal(got)
	}
	must(t, f.SyncData())
	expect(t, outcomes(m, content("/d/a")), "abb")
}

func TestASizeIsMadeDurableBySyncNotBySyncData(t *testing.T) {
	m := memDir(t)
	f := synced(t, m, "/d/a", "a")
	_, err := f.WriteAt([]byte(granules("b")), vfs.GranuleBytes)
	must(t, err)
	must(t, f.SyncData())
	expect(t, outcomes(m, content("/d/a")), "a", "ab")
	must(t, f.Sync())
	expect(t, outcomes(m, content("/d/a")), "ab")
}

func TestBytesBehindACrashedEndReadAsZeroes(t *testing.T) {
	m := memDir(t)
	f := synced(t, m, "/d/a", "a")
	_, err := f.WriteAt([]byte(granules("b")), vfs.GranuleBytes)
	must(t, err)
	must(t, f.SyncData())
	for seed := range uint64(20) {
		c := m.CrashClone(rand.New(rand.NewPCG(seed, 1)))
		if content("/d/a")(c) != "a" {
			continue
		}
		f, err := c.OpenReadWrite("/d/a")
		must(t, err)
		must(t, f.Truncate(2*vfs.GranuleBytes))
		if got := content("/d/a")(c); got != "a0" {
			t.Fatal(got)
		}
	}
}

func TestPreallocatedFilesNeedSyncDataOnly(t *testing.T) {
	m := memDir(t)
	f, err := m.Create("/d/a")
	must(t, err)
	must(t, f.Preallocate(3*vfs.GranuleBytes))
	must(t, f.Sync())
	must(t, m.SyncDir("/d"))
	_, err = f.WriteAt([]byte(granules("b")), vfs.GranuleBytes)
	must(t, err)
	expect(t, outcomes(m, content("/d/a")), "000", "0b0")
	must(t, f.SyncData())
	expect(t, outcomes(m, content("/d/a")), "0b0")
}

func TestARenameHappensWholeOrNotAtAll(t *testing.T) {
	m := memDir(t)
	synced(t, m, "/d/a", "a")
	synced(t, m, "/d/b", "b")
	must(t, m.Rename("/d/a", "/d/b"))
	both := func(m *vfs.Mem) string { return content("/d/a")(m) + " " + content("/d/b")(m) }
	expect(t, outcomes(m, both), "a b", "missing a")
	must(t, m.SyncDir("/d"))
	expect(t, outcomes(m, both), "missing a")
}

func TestARemovalMayBeUndoneByACrash(t *testing.T) {
	m := memDir(t)
	synced(t, m, "/d/a", "a")
	must(t, m.Remove("/d/a"))
	expect(t, outcomes(m, content("/d/a")), "a", "missing")
	f := create(t, m, "/d/a", granules("c"))
	must(t, f.Sync())
	expect(t, outcomes(m, content("/d/a")), "a", "c", "missing")
	must(t, m.SyncDir("/d"))
	expect(t, outcomes(m, content("/d/a")), "c")
}

func TestAFailedSyncLosesWhatItShouldHaveWritten(t *testing.T) {
	m := memDir(t)
	f := synced(t, m, "/d/a", "aa")
	_, err := f.WriteAt([]byte(granules("b")), 0)
	must(t, err)
	m.FailNth(vfs.OpSyncData, 1, syscall.EIO)
	if err := f.SyncData(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	must(t, f.SyncData()) // says yes, as Linux does
	must(t, f.Sync())
	if got := content("/d/a")(m); got != "ba" {
		t.Fatal(got)
	}
	expect(t, outcomes(m, content("/d/a")), "aa", "ba")
	k := m.KillClone()
	if got := content("/d/a")(k); got != "ba" {
		t.Fatal(got)
	}
	expect(t, outcomes(k, content("/d/a")), "aa", "ba")
	_, err = f.WriteAt([]byte(granules("b")), 0) // written again, it is dirty again
	must(t, err)
	must(t, f.SyncData())
	expect(t, outcomes(m, content("/d/a")), "ba")
	expect(t, outcomes(k, content("/d/a")), "aa", "ba")
}

func TestClonesAreIndependent(t *testing.T) {
	m := memDir(t)
	f := synced(t, m, "/d/a", "aa")
	_, err := f.WriteAt([]byte(granules("b")), 0)
	must(t, err)
	k := m.KillClone()
	c := m.CrashClone(rand.New(rand.NewPCG(1, 1)))
	before := content("/d/a")(c)
	_, err = f.WriteAt([]byte(granules("x")), 0)
	must(t, err)
	must(t, f.Sync())
	kf, err := k.OpenReadWrite("/d/a")
	must(t, err)
	_, err = kf.WriteAt([]byte(granules("y")), vfs.GranuleBytes)
	must(t, err)
	if content("/d/a")(m) != "xa" || content("/d/a")(k) != "by" || content("/d/a")(c) != before {
		t.Fatal(content("/d/a")(m), content("/d/a")(k), content("/d/a")(c))
	}
	expect(t, outcomes(k, content("/d/a")), "aa", "ay", "ba", "by")
}

func TestTheNthOperationFailsOnce(t *testing.T) {
	m := memDir(t)
	f := create(t, m, "/d/a", "x")
	m.FailNth(vfs.OpWrite|vfs.OpSync, 3, syscall.EIO)
	_, err1 := f.WriteAt([]byte("1"), 0)
	err2 := f.Sync()
	_, err3 := f.WriteAt([]byte("2"), 0)
	_, err4 := f.WriteAt([]byte("3"), 0)
	if err1 != nil || err2 != nil || !errors.Is(err3, syscall.EIO) || err4 != nil {
		t.Fatal(err1, err2, err3, err4)
	}
	if m.Count(vfs.OpWrite) != 4 || m.Count(vfs.OpWrite|vfs.OpSync) != 5 {
		t.Fatal(m.Count(vfs.OpWrite))
	}
	m.FailAll(vfs.OpRename, syscall.ENOSPC)
	for range 3 {
		if err := m.Rename("/d/a", "/d/b"); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	m.ClearFaults()
	must(t, m.Rename("/d/a", "/d/b"))
	_, err := f.WriteAt([]byte("4"), 0) // follows the file, not the name
	must(t, err)
	if got := read(t, m, "/d/b"); got != "4" {
		t.Fatal(got)
	}
}

func TestAShortWriteWritesItsFirstBytes(t *testing.T) {
	m := memDir(t)
	f := create(t, m, "/d/a", "........")
	m.FailNth(vfs.OpWrite, 1, &vfs.ShortWriteError{Bytes: 5, Err: syscall.ENOSPC})
	n, err := vfs.WriteVecAt(f, [][]byte{[]byte("abc"), []byte("def")}, 1)
	if n != 5 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	if got := read(t, m, "/d/a"); got != ".abcde.." {
		t.Fatal(got)
	}
}

func TestAHookSeesEveryOperationAndMayRefuseIt(t *testing.T) {
	m := memDir(t)
	f := create(t, m, "/d/a", "x")
	var seen []vfs.Event
	m.SetHook(func(e vfs.Event) error {
		seen = append(seen, e)
		m.CrashClone(rand.New(rand.NewPCG(1, 1))) // no lock is held
		if e.Op == vfs.OpWrite && e.Offset == 7 {
			return syscall.EIO
		}
		return nil
	})
	_, err := f.WriteAt([]byte("ab"), 3)
	must(t, err)
	if _, err := f.WriteAt([]byte("a"), 7); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	m.SetHook(nil)
	must(t, f.Sync())
	if len(seen) != 2 || seen[0] != (vfs.Event{Op: vfs.OpWrite, Name: "/d/a", Offset: 3, Bytes: 2, N: 2}) {
		t.Fatalf("%+v", seen)
	}
}

func TestAFullDiskRefusesAndFreedSpaceIsUsedAgain(t *testing.T) {
	m := memDir(t)
	m.SetLimit(64 << 10)
	a, err := m.Create("/d/a")
	must(t, err)
	must(t, a.Preallocate(32<<10))
	b, err := m.Create("/d/b")
	must(t, err)
	if err := b.Preallocate(40 << 10); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, m.Remove("/d/b"))
	if m.Used() != 32<<10 {
		t.Fatal(m.Used())
	}
	_, err = a.WriteAt(make([]byte, 32<<10), 0) // allocated already
	must(t, err)
	n, err := a.WriteAt(make([]byte, 40<<10), 32<<10)
	if n != 32<<10 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	if _, avail, _ := m.Free("/d"); avail != 0 {
		t.Fatal(avail)
	}
	must(t, a.Truncate(4096))
	if m.Used() != 4096 {
		t.Fatal(m.Used())
	}
	must(t, m.Rename("/d/a", "/d/c"))
	must(t, m.Remove("/d/c"))
	if m.Used() != 0 {
		t.Fatal(m.Used())
	}
	if _, err := m.Stat("/d/c"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// TestACrashKeepsExactlyWhatASimpleModelAllows writes and syncs at random and
// compares every granule of crash clones with the values it had since its last
// sync.
func TestACrashKeepsExactlyWhatASimpleModelAllows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m := memDir(t)
	const n = 40
	f, err := m.Create("/d/a")
	must(t, err)
	must(t, f.Preallocate(n*vfs.GranuleBytes))
	must(t, f.Sync())
	must(t, m.SyncDir("/d"))
	durable, cur := make([]byte, n), make([]byte, n)
	for step := range 3000 {
		switch r.IntN(10) {
		default:
			from := r.IntN(n)
			k := 1 + r.IntN(n-from)
			v := byte('a' + r.IntN(26))
			_, err := f.WriteAt(bytes.Repeat([]byte{v}, k*vfs.GranuleBytes), int64(from*vfs.GranuleBytes))
			must(t, err)
			for i := range k {
				cur[from+i] = v
			}
		case 0:
			must(t, f.SyncData())
			copy(durable, cur)
		case 1:
			got := make([]byte, n*vfs.GranuleBytes)
			c := m.CrashClone(r)
			cf, err := c.Open("/d/a")
			must(t, err)
			_, err = cf.ReadAt(got, 0)
			must(t, err)
			for i := range n {
				g := got[i*vfs.GranuleBytes:][:vfs.GranuleBytes]
				if !bytes.Equal(g, bytes.Repeat(g[:1], len(g))) || g[0] != durable[i] && g[0] != cur[i] {
					t.Fatalf("step %d: granule %d is %q, synced %q, written %q", step, i, g[0], durable[i], cur[i])
				}
			}
		}
	}
}
