package mysql

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// raw is a client that speaks packets, for what the Go driver cannot ask: cursors, and reading
// slowly.
type raw struct {
	t testing.TB
	c net.Conn
	r *bufio.Reader
}

func dialRaw(t testing.TB, in *instance) *raw {
	t.Helper()
	c, err := net.Dial("tcp", in.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	r := &raw{t: t, c: c, r: bufio.NewReader(c)}
	r.packet() // greeting
	b := binary.LittleEndian.AppendUint32(nil, 1<<9|1<<15|1<<19|1<<24|1<<3)
	b = binary.LittleEndian.AppendUint32(b, 1<<24)
	b = append(b, 255)
	b = append(b, make([]byte, 23)...)
	b = append(b, "app\x00\x00kafka\x00caching_sha2_password\x00"...)
	r.send(1, b)
	if p := r.packet(); p[0] != 0 {
		t.Fatalf("login: % x", p)
	}
	return r
}

func (r *raw) send(seq byte, p []byte) {
	r.t.Helper()
	h := []byte{byte(len(p)), byte(len(p) >> 8), byte(len(p) >> 16), seq}
	if _, err := r.c.Write(append(h, p...)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) packet() []byte {
	r.t.Helper()
	var h [4]byte
	if _, err := io.ReadFull(r.r, h[:]); err != nil {
		r.t.Fatal(err)
	}
	p := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
	if _, err := io.ReadFull(r.r, p); err != nil {
		r.t.Fatal(err)
	}
	return p
}

func isEnd(p []byte) bool { return p[0] == 0xfe && len(p) < 9 }

func endStatus(p []byte) uint16 { return binary.LittleEndian.Uint16(p[3:]) }

func TestCursorsFetchInParts(t *testing.T) {
	in := start(t, nil)
	values := make([]string, 25)
	for i := range values {
		values[i] = fmt.Sprintf(`{"i":%d}`, i)
	}
	in.topic("c", nil, `{"i":-1}`)
	in.produce(in.id("c"), values...)
	r := dialRaw(t, in)
	r.send(0, append([]byte{0x16}, "SELECT i FROM c WHERE _offset > 0 ORDER BY _offset"...))
	p := r.packet()
	if p[0] != 0 {
		t.Fatalf("prepare: %q", p)
	}
	id := p[1:5]
	r.packet() // its one column
	r.send(0, append(append([]byte{0x17}, id...), 1, 1, 0, 0, 0))
	if p := r.packet(); p[0] != 1 {
		t.Fatalf("execute: %q", p)
	}
	r.packet() // column
	if p := r.packet(); !isEnd(p) || endStatus(p)&0x40 == 0 {
		t.Fatalf("no cursor: % x", p)
	}
	// Other statements may come between the fetches.
	r.send(0, append([]byte{0x03}, "SELECT 1"...))
	for p := r.packet(); !isEnd(p); p = r.packet() {
	}
	var got []int64
	fetches := 0
	for done := false; !done; fetches++ {
		r.send(0, append(append([]byte{0x1c}, id...), 10, 0, 0, 0))
		for {
			p := r.packet()
			if isEnd(p) {
				done = endStatus(p)&0x80 != 0
				break
			}
			got = append(got, int64(binary.LittleEndian.Uint64(p[2:])))
		}
	}
	if len(got) != 25 || got[0] != 0 || got[24] != 24 || fetches != 3 {
		t.Fatalf("%d fetches: %v", fetches, got)
	}
	// A closed cursor cannot be fetched from.
	r.send(0, append(append([]byte{0x1c}, id...), 10, 0, 0, 0))
	if p := r.packet(); p[0] != 0xff || binary.LittleEndian.Uint16(p[1:]) != 1421 {
		t.Fatalf("% x", p)
	}
}

func TestErrorsInTheMiddleOfRowsAreTold(t *testing.T) {
	in := start(t, nil)
	in.topic("m", nil, `{"i":1}`, `{"i":2}`, `{"i":9223372036854775807}`)
	r := dialRaw(t, in)
	// Row by row: columns are computed many at a time, and fail before any is sent.
	r.send(0, append([]byte{0x03}, "SET millrace_pushdown=0"...))
	r.packet()
	r.send(0, append([]byte{0x03}, "SELECT i+1 FROM m ORDER BY _offset"...))
	r.packet()
	r.packet()
	rows := 0
	p := r.packet()
	for ; p[0] != 0xff && !isEnd(p); p = r.packet() {
		rows++
	}
	if p[0] != 0xff || binary.LittleEndian.Uint16(p[1:]) != 1690 {
		t.Fatalf("after %d rows: %q", rows, p)
	}
	r.send(0, append([]byte{0x03}, "SELECT 1"...))
	if p := r.packet(); p[0] != 1 {
		t.Fatalf("out of step: %q", p)
	}
}

func TestASlowReaderSlowsTheStatement(t *testing.T) {
	in := start(t, nil)
	in.topic("big", nil)
	value := `{"s":"` + strings.Repeat("x", 10_000) + `"}`
	for range 40 {
		vs := make([]string, 50)
		for i := range vs {
			vs[i] = value
		}
		in.produce(in.id("big"), vs...)
	}
	r := dialRaw(t, in)
	// 2,000 × 2,000 rows of 10 KB are 40 GB, of which the client reads nothing.
	r.send(0, append([]byte{0x03}, "SELECT a.s FROM big a, big b"...))
	r.packet()
	other := in.open("app", "", "")
	const id = "SELECT ID FROM information_schema.processlist WHERE INFO LIKE 'SELECT a.s%'"
	thread := ""
	for thread == "" {
		thread = ask(t, other, id)
	}
	// It waits for the client, and can be ended.
	if _, err := other.Exec("KILL QUERY " + thread); err != nil {
		t.Fatal(err)
	}
	_ = r.c.Close()
	for ask(t, other, id) != "" {
		time.Sleep(5 * time.Millisecond)
	}
}

func TestTruncatedAndForeignCommandsDoNoHarm(t *testing.T) {
	in := start(t, nil)
	r := dialRaw(t, in)
	for _, c := range []struct {
		packet []byte
		number uint16
	}{
		{[]byte{0x17}, 1835},
		{[]byte{0x17, 9, 0, 0, 0, 0}, 1243},
		{[]byte{0x1c, 1}, 1835},
		{[]byte{0x1a}, 1835},
		{[]byte{0x0c, 1}, 1835},
		{[]byte{0x1b, 7, 0}, 1835},
		{[]byte{0x05}, 1047},
		{[]byte{0x12}, 1047},
		{[]byte{0x1e}, 1047},
		{[]byte{0x02, 'n', 'o'}, 1049},
		{[]byte{0x03}, 1065},
		{[]byte{0x16, 'x'}, 1064},
	} {
		r.send(0, c.packet)
		p := r.packet()
		if p[0] != 0xff || binary.LittleEndian.Uint16(p[1:]) != c.number {
			t.Errorf("% x: %q, want %d", c.packet, p, c.number)
		}
	}
	r.send(0, []byte{0x09})
	if p := r.packet(); !strings.HasPrefix(string(p), "Uptime") {
		t.Errorf("%q", p)
	}
	r.send(0, []byte{0x0e})
	if p := r.packet(); p[0] != 0 {
		t.Errorf("% x", p)
	}
}
