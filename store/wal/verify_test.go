package wal_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/commitlog/commitlogtest"
	"millrace/store/wal"
)

func problems(t *testing.T, fs *vfs.Mem) (wal.Report, []error) {
	t.Helper()
	var out []error
	before := fs.Count(vfs.OpChange)
	rep, err := wal.Verify(context.Background(), fs, testDir, func(err error) { out = append(out, err) })
	if err != nil {
		t.Fatal(err)
	}
	if fs.Count(vfs.OpChange) != before {
		t.Fatal("Verify changed something")
	}
	return rep, out
}

func TestVerifyFindsDamageAnywhereAndNothingInASoundLog(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, small(fs))
	r := rand.New(rand.NewPCG(1, 1))
	var locs []commitlog.Location
	for range 60 {
		locs = append(locs, appendNext(t, l, commitlog.Entry{Meta: []byte("meta"), Payload: [][]byte{commitlogtest.Batch(r, 3000)}}))
	}
	if err := l.SaveSnapshot(func(w io.Writer) error { _, err := w.Write(make([]byte, 5000)); return err }); err != nil {
		t.Fatal(err)
	}
	torn := fs.KillClone()
	mustClose(t, l)
	rep, found := problems(t, fs)
	if len(found) != 0 || rep.Entries != 60 || rep.First != 1 || rep.Last != 60 || !rep.Snapshot || rep.Files < 3 {
		t.Fatalf("%+v %v", rep, found)
	}
	// A log that was not closed is sound as well.
	if rep, found := problems(t, torn); len(found) != 0 || rep.Entries != 60 {
		t.Fatalf("%+v %v", rep, found)
	}
	name := func(lsn int) string { return testDir + "/" + wal.WalName(locs[lsn-1].File) }
	flip := func(b []byte) { b[0] ^= 4 }
	for what, damage := range map[string]func(c *vfs.Mem){
		"a payload in the first file": func(c *vfs.Mem) { update(t, c, name(3), int64(locs[2].Offset)+2000, flip, 1) },
		"a payload in the last file":  func(c *vfs.Mem) { update(t, c, name(60), int64(locs[59].Offset)+2000, flip, 1) },
		"a meta":                      func(c *vfs.Mem) { update(t, c, name(3), int64(locs[2].Offset)-2, flip, 1) },
		"a header in the first file":  func(c *vfs.Mem) { update(t, c, name(3), int64(locs[2].Offset)-20, flip, 1) },
		"a header in the last file":   func(c *vfs.Mem) { update(t, c, name(60), int64(locs[59].Offset)-20, flip, 1) },
		"the snapshot":                func(c *vfs.Mem) { update(t, c, testDir+"/snapshot", 2000, flip, 1) },
		"the snapshot's padding":      func(c *vfs.Mem) { update(t, c, testDir+"/snapshot", 38, flip, 1) },
		"a missing file": func(c *vfs.Mem) {
			if err := c.Remove(name(30)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			c := fs.KillClone()
			damage(c)
			_, found := problems(t, c)
			if len(found) != 1 || !errors.Is(found[0], commitlog.ErrCorrupt) {
				t.Fatal(found)
			}
		})
	}
}
