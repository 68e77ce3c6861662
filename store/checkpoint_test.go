package store

import (
	"bytes"
	"slices"
	"testing"

	"millrace/store/commitlog"
)

func same(a, b checkpointData) bool {
	return a.lsn == b.lsn && a.sealed == b.sealed && slices.Equal(a.segments, b.segments) && bytes.Equal(a.state, b.state)
}

func FuzzCheckpoint(f *testing.F) {
	var b bytes.Buffer
	c := checkpointData{lsn: 9, sealed: 7, segments: []uint64{1, 5}, state: []byte("state")}
	if err := c.write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(checkpointMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c, again checkpointData
		if err := c.read(bytes.NewReader(b)); err != nil {
			return
		}
		var out bytes.Buffer
		if err := c.write(&out); err != nil {
			t.Fatal(err)
		}
		if err := again.read(&out); err != nil || !same(c, again) {
			t.Fatalf("%+v read again is %+v, %v", c, again, err)
		}
	})
}

func TestACheckpointIsReadAsWritten(t *testing.T) {
	c := checkpointData{lsn: commitlog.LSN(1) << 40, sealed: 12, segments: []uint64{3, 4}, state: bytes.Repeat([]byte{7}, 100_000)}
	var b bytes.Buffer
	if err := c.write(&b); err != nil {
		t.Fatal(err)
	}
	var got checkpointData
	if err := got.read(&b); err != nil || !same(c, got) {
		t.Fatal(err)
	}
}
