package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// script is a connection whose client has sent everything already.
type script struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func newScript(in []byte) *script { return &script{in: bytes.NewReader(in)} }

func (s *script) Read(p []byte) (int, error)       { return s.in.Read(p) }
func (s *script) Write(p []byte) (int, error)      { return s.out.Write(p) }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }
func (s *script) Close() error                     { return nil }

// packets frames payloads with sequence numbers from seq on.
func packets(seq byte, payloads ...[]byte) []byte {
	var b []byte
	for _, p := range payloads {
		b = append(b, byte(len(p)), byte(len(p)>>8), byte(len(p)>>16), seq)
		b = append(b, p...)
		seq++
	}
	return b
}

func loginResponse(user, db, plugin string, auth []byte) []byte {
	caps := Protocol41 | SecureConnection | PluginAuth | ConnectWithDB | PluginAuthLenEnc | DeprecateEOF
	b := binary.LittleEndian.AppendUint32(nil, uint32(caps))
	b = binary.LittleEndian.AppendUint32(b, 1<<24)
	b = append(b, 255)
	b = append(b, make([]byte, 23)...)
	b = append(append(b, user...), 0)
	b = appendLenEncString(b, auth)
	b = append(append(b, db...), 0)
	return append(append(b, plugin...), 0)
}

func TestLoginIsReadFromTheHandshakeResponse(t *testing.T) {
	s := newScript(packets(1, loginResponse("ada", "kafka", CachingSHA2, []byte{1, 2, 3})))
	c := NewConn(s, 0)
	l, err := c.Greet("8.4", 7, Autocommit, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l.User != "ada" || l.Database != "kafka" || l.Plugin != CachingSHA2 || !bytes.Equal(l.Response, []byte{1, 2, 3}) || l.Empty() {
		t.Fatalf("%+v", l)
	}
	if c.Capabilities()&DeprecateEOF == 0 || c.Capabilities()&MultiStatements != 0 {
		t.Fatalf("capabilities %b", c.Capabilities())
	}
}

func TestPacketsBeyondTheLimitAreRefusedByTheirHeader(t *testing.T) {
	for _, loggedIn := range []bool{false, true} {
		s := newScript([]byte{0xff, 0xff, 0xff, 0, 'x'})
		c := NewConn(s, 0)
		if loggedIn {
			c.LoggedIn(0)
			// One fragment of 16 MiB - 1 is allowed, a second is not; nothing of it is allocated.
			s.in = bytes.NewReader([]byte{0xff, 0xff, 0xff, 0})
			if _, _, err := c.ReadCommand(); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("logged in: %v", err)
			}
			if cap(c.in) > 2*readStep {
				t.Errorf("%d bytes taken for a header", cap(c.in))
			}
			continue
		}
		if _, _, err := c.ReadCommand(); !errors.Is(err, ErrPacketTooLarge) {
			t.Errorf("before login: %v", err)
		}
	}
}

func TestPacketsOutOfOrderAreRefused(t *testing.T) {
	c := NewConn(newScript(packets(3, []byte{1})), 0)
	if _, _, err := c.ReadCommand(); !errors.Is(err, ErrSequence) {
		t.Fatal(err)
	}
	if _, _, err := NewConn(newScript(packets(0, nil)), 0).ReadCommand(); !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
}

func TestLongPayloadsAreSentInFragments(t *testing.T) {
	for _, n := range []int{0, 1, maxFragment - 1, maxFragment, maxFragment + 1} {
		s := newScript(nil)
		c := NewConn(s, 0)
		if err := c.writePacket(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		fragments := n/maxFragment + 1
		if got := s.out.Len(); got != n+4*fragments {
			t.Errorf("%d bytes are sent as %d", n, got)
		}
		back := NewConn(newScript(s.out.Bytes()), 0)
		back.maxPacket = 1 << 30
		if p, err := back.readPacket(); err != nil || len(p) != n {
			t.Errorf("%d bytes come back as %d, %v", n, len(p), err)
		}
	}
}

func TestValuesHaveTheirBinaryForm(t *testing.T) {
	for _, c := range []struct {
		typ   ColumnType
		flags uint16
		text  string
		want  []byte // nil: an error
	}{
		{TypeTiny, 0, "-1", []byte{0xff}},
		{TypeShort, 0, "-2", []byte{0xfe, 0xff}},
		{TypeLong, 0, "7", []byte{7, 0, 0, 0}},
		{TypeLongLong, UnsignedFlag, "18446744073709551615", bytes.Repeat([]byte{0xff}, 8)},
		{TypeLongLong, 0, "x", nil},
		{TypeDouble, 0, "1.5", []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}},
		{TypeFloat, 0, "1.5", []byte{0, 0, 0xc0, 0x3f}},
		{TypeDate, 0, "2026-02-03", []byte{4, 0xea, 7, 2, 3}},
		{TypeDateTime, 0, "2026-02-03 04:05:06", []byte{7, 0xea, 7, 2, 3, 4, 5, 6}},
		{TypeTimestamp, 0, "2026-02-03 04:05:06.5", []byte{11, 0xea, 7, 2, 3, 4, 5, 6, 0x20, 0xa1, 7, 0}},
		{TypeDateTime, 0, "2026-02-03 04:05", nil},
		{TypeDateTime, 0, "2026/02x03 04:05:06.", nil},
		{TypeTime, 0, "00:00:00", []byte{0}},
		{TypeTime, 0, "-100:01:02", []byte{8, 1, 4, 0, 0, 0, 4, 1, 2}},
		{TypeTime, 0, "01:02:03.000001", []byte{12, 0, 0, 0, 0, 0, 1, 2, 3, 1, 0, 0, 0}},
		{TypeTime, 0, "1:2", nil},
		{TypeVarString, 0, "ab", []byte{2, 'a', 'b'}},
		{TypeNewDecimal, 0, "1.10", []byte{4, '1', '.', '1', '0'}},
	} {
		got, err := appendBinary(nil, &Column{Type: c.typ, Flags: c.flags}, []byte(c.text))
		if (err != nil) != (c.want == nil) || err == nil && !bytes.Equal(got, c.want) {
			t.Errorf("type %d %q: % x, %v, want % x", c.typ, c.text, got, err, c.want)
		}
	}
}

func TestParametersAreDecodedByTheirTypes(t *testing.T) {
	// Two parameters: a BIGINT and a NULL, types bound; then again without types.
	args := []byte{0, 1, 0, 0, 0, 0b10, 1, byte(TypeLongLong), 0, byte(TypeVarString), 0, 5, 0, 0, 0, 0, 0, 0, 0}
	e, types, err := ParseExecute(args, 2, nil, nil)
	if err != nil || e.Params[0].Int != 5 || !e.Params[1].Null {
		t.Fatalf("%+v %v", e, err)
	}
	again := []byte{1, 1, 0, 0, 0, 0b00, 0, 6, 0, 0, 0, 0, 0, 0, 0, 2, 'h', 'i'}
	e, _, err = ParseExecute(again, 2, types, nil)
	if err != nil || !e.Cursor || e.Params[0].Int != 6 || string(e.Params[1].Text) != "hi" {
		t.Fatalf("%+v %v", e, err)
	}
	for n := range again {
		if _, _, err := ParseExecute(again[:n], 2, types, nil); err == nil {
			t.Errorf("%d bytes are enough", n)
		}
	}
}

func FuzzExecute(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 0b10, 1, byte(TypeLongLong), 0, byte(TypeVarString), 0, 5, 0, 0, 0, 0, 0, 0, 0}, 2)
	f.Add([]byte{0, 1, 0, 0, 0, 0, 1, byte(TypeDateTime), 0, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1)
	f.Add([]byte{0, 1, 0, 0, 0, 0, 1, byte(TypeTime), 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 1)
	f.Fuzz(func(t *testing.T, args []byte, params int) {
		if params < 0 || params > 1000 {
			return
		}
		e, _, err := ParseExecute(args, params, nil, nil)
		if err == nil && len(e.Params) != params {
			t.Fatal(len(e.Params))
		}
	})
}

func FuzzLogin(f *testing.F) {
	f.Add(packets(1, loginResponse("ada", "kafka", CachingSHA2, []byte{1, 2, 3})))
	f.Add([]byte{0xff, 0xff, 0x00, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		c := NewConn(newScript(in), 0)
		l, err := c.Greet("8.4", 7, Autocommit, nil)
		if err != nil {
			return
		}
		if len(l.User)+len(l.Response)+len(l.Database) > MaxLoginPacketBytes {
			t.Fatal("more than the limit")
		}
		l.Verify([32]byte{})
	})
}
