package catalog

import (
	"path/filepath"
	"strings"
	"testing"

	"millrace/internal/vfs"
)

// TestADamagedSegmentDoesNotHideTheRestOfTheTable flips bytes of one segment in
// turn: the topic stays a table, with the columns of all records that can be read.
func TestADamagedSegmentDoesNotHideTheRestOfTheTable(t *testing.T) {
	f := newFixture(t)
	topic := f.create("t", 2, nil)
	seal := func() {
		t.Helper()
		if err := f.st.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.produce(topic, 0, `{"early":1}`)
	f.produce(topic, 1, `{"early":1}`)
	seal()
	segments, err := f.fs.ReadDir("/data/segments")
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	name := filepath.Join("/data/segments", segments[0].Name())
	f.produce(topic, 0, `{"late":1}`)
	seal()
	if err := f.st.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := f.fs.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < info.Size(); at += 13 {
		flip(t, f.fs, name, at)
		f.open()
		if got := describe(f.bind("t")); !strings.Contains(got, "late") {
			t.Fatalf("byte %d: columns %q", at, got)
		}
		if err := f.st.Close(); err != nil {
			t.Fatal(err)
		}
		flip(t, f.fs, name, at)
	}
	if err := f.fs.Remove(name); err != nil {
		t.Fatal(err)
	}
	f.open()
	f.want("t", "late BIGINT")
}

func flip(t *testing.T, fs vfs.FS, name string, at int64) {
	t.Helper()
	file, err := fs.OpenReadWrite(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b [1]byte
	if _, err := file.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := file.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}
