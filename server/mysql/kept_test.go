package mysql

import (
	"encoding/binary"
	"strings"
	"testing"
)

func TestACursorThatIsLeftIsClosedAndItsSnapshotGivenBack(t *testing.T) {
	in := start(t, func(o *Options) { o.CursorTimeout = 1 })
	in.topic("c", nil, `{"i":1}`, `{"i":2}`, `{"i":3}`)
	r := dialRaw(t, in)
	r.send(0, append([]byte{0x16}, "SELECT i FROM c"...))
	p := r.packet()
	if p[0] != 0 {
		t.Fatalf("prepare: %q", p)
	}
	id := p[1:5]
	r.packet()
	r.send(0, append(append([]byte{0x17}, id...), 1, 1, 0, 0, 0))
	for !isEnd(r.packet()) {
	}
	r.send(0, append(append([]byte{0x1c}, id...), 1, 0, 0, 0))
	if p = r.packet(); p[0] != 0xff {
		t.Fatalf("a row: % x", p)
	}
	if n := binary.LittleEndian.Uint16(p[1:]); n != 1421 {
		t.Fatalf("error %d", n)
	}
	// The connection goes on.
	r.send(0, append([]byte{0x03}, "SELECT 1"...))
	if p := r.packet(); p[0] != 1 {
		t.Fatalf("% x", p)
	}
}

func TestWhatASessionKeepsIsBounded(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "")
	db.SetMaxOpenConns(1)
	for i, q := range []string{"SET @a = REPEAT('x', 9000000)", "SET @b = REPEAT('x', 9000000)", "SET @A = REPEAT('y', 9000000)", "SET @a = 1", "SET @b = REPEAT('x', 9000000)"} {
		want := 0
		if i == 1 {
			want = 1038
		}
		if _, err := db.Exec(q); errNumber(err) != want {
			t.Errorf("%s: %v", q, err)
		}
	}
	long := "SELECT '" + strings.Repeat("x", 1<<20-100) + "'"
	kept := 0
	for ; kept < 64; kept++ {
		st, err := db.Prepare(long)
		if err != nil {
			if errNumber(err) != 1461 {
				t.Error(err)
			}
			break
		}
		defer st.Close()
		if kept == 0 {
			_ = st.Close() // gives its room back
		}
	}
	if kept != maxPreparedBytes>>20+1 {
		t.Errorf("%d prepared statements of 1 MiB each", kept)
	}
}
