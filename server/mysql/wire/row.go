package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Values of a row are texts as the text protocol has them; nil is NULL.

// WriteTextRow buffers one row of the text protocol.
func (c *Conn) WriteTextRow(values [][]byte) error {
	b := c.out[:0]
	for _, v := range values {
		if v == nil {
			b = append(b, 0xfb)
		} else {
			b = appendLenEncString(b, v)
		}
	}
	c.out = b
	err := c.writePacket(b)
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	return err
}

// WriteBinaryRow buffers one row of the binary protocol. An error that is not the
// connection's means a value that is not of its column's type.
func (c *Conn) WriteBinaryRow(cols []Column, values [][]byte) error {
	b := append(c.out[:0], 0x00)
	at := len(b)
	for range (len(cols) + 7 + 2) / 8 {
		b = append(b, 0)
	}
	var err error
	for i, v := range values {
		if v == nil {
			b[at+(i+2)/8] |= 1 << ((i + 2) % 8)
			continue
		}
		if b, err = appendBinary(b, &cols[i], v); err != nil {
			return fmt.Errorf("column %q: %w", cols[i].Name, err)
		}
	}
	c.out = b
	err = c.writePacket(b)
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	return err
}

func appendBinary(b []byte, col *Column, v []byte) ([]byte, error) {
	switch col.Type {
	case TypeTiny, TypeShort, TypeYear, TypeLong, TypeInt24, TypeLongLong:
		var n uint64
		if col.Flags&UnsignedFlag != 0 {
			u, err := strconv.ParseUint(string(v), 10, 64)
			if err != nil {
				return nil, err
			}
			n = u
		} else {
			s, err := strconv.ParseInt(string(v), 10, 64)
			if err != nil {
				return nil, err
			}
			n = uint64(s)
		}
		switch col.Type {
		case TypeTiny:
			return append(b, byte(n)), nil
		case TypeShort, TypeYear:
			return binary.LittleEndian.AppendUint16(b, uint16(n)), nil
		case TypeLong, TypeInt24:
			return binary.LittleEndian.AppendUint32(b, uint32(n)), nil
		default:
			return binary.LittleEndian.AppendUint64(b, n), nil
		}
	case TypeFloat:
		f, err := strconv.ParseFloat(string(v), 32)
		if err != nil {
			return nil, err
		}
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f))), nil
	case TypeDouble:
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return nil, err
		}
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(f)), nil
	case TypeDate, TypeDateTime, TypeTimestamp:
		return appendBinaryDateTime(b, v)
	case TypeTime:
		return appendBinaryTime(b, v)
	default:
		return appendLenEncString(b, v), nil
	}
}

// digits reads exactly n digits.
func digits(v []byte, n int) (int, bool) {
	if len(v) < n {
		return 0, false
	}
	x := 0
	for _, c := range v[:n] {
		if c < '0' || c > '9' {
			return 0, false
		}
		x = x*10 + int(c-'0')
	}
	return x, true
}

func badTime(v []byte) error { return fmt.Errorf("%q is not a time", v) }

// micros reads ".ffffff" with up to six digits.
func micros(v []byte) (uint32, bool) {
	if len(v) == 0 {
		return 0, true
	}
	if v[0] != '.' || len(v) == 1 {
		return 0, false
	}
	v = v[1:min(len(v), 7)]
	x, ok := digits(v, len(v))
	for range 6 - len(v) {
		x *= 10
	}
	return uint32(x), ok
}

// appendBinaryDateTime from "YYYY-MM-DD[ hh:mm:ss[.ffffff]]".
func appendBinaryDateTime(b, v []byte) ([]byte, error) {
	if len(v) != 10 && len(v) < 19 {
		return nil, badTime(v)
	}
	year, ok1 := digits(v, 4)
	month, ok2 := digits(v[5:], 2)
	day, ok3 := digits(v[8:], 2)
	if !ok1 || !ok2 || !ok3 {
		return nil, badTime(v)
	}
	date := []byte{byte(year), byte(year >> 8), byte(month), byte(day)}
	if len(v) == 10 {
		return append(append(b, 4), date...), nil
	}
	hour, ok1 := digits(v[11:], 2)
	minute, ok2 := digits(v[14:], 2)
	second, ok3 := digits(v[17:], 2)
	us, ok4 := micros(v[19:])
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil, badTime(v)
	}
	if us == 0 {
		b = append(append(b, 7), date...)
		return append(b, byte(hour), byte(minute), byte(second)), nil
	}
	b = append(append(b, 11), date...)
	b = append(b, byte(hour), byte(minute), byte(second))
	return binary.LittleEndian.AppendUint32(b, us), nil
}

// appendBinaryTime from "[-]h…hh:mm:ss[.ffffff]".
func appendBinaryTime(b, text []byte) ([]byte, error) {
	v := text
	var negative byte
	if len(v) > 0 && v[0] == '-' {
		negative, v = 1, v[1:]
	}
	colon := 0
	for colon < len(v) && v[colon] != ':' {
		colon++
	}
	if len(v) < colon+6 {
		return nil, badTime(text)
	}
	hours, ok1 := digits(v, colon)
	minute, ok2 := digits(v[colon+1:], 2)
	second, ok3 := digits(v[colon+4:], 2)
	us, ok4 := micros(v[colon+6:])
	if !ok1 || !ok2 || !ok3 || !ok4 || colon == 0 || colon > 4 {
		return nil, badTime(text)
	}
	if hours == 0 && minute == 0 && second == 0 && us == 0 {
		return append(b, 0), nil
	}
	size := byte(8)
	if us != 0 {
		size = 12
	}
	b = append(b, size, negative)
	b = binary.LittleEndian.AppendUint32(b, uint32(hours/24))
	b = append(b, byte(hours%24), byte(minute), byte(second))
	if us != 0 {
		b = binary.LittleEndian.AppendUint32(b, us)
	}
	return b, nil
}

// rowBytes is from where on begun rows are handed to the connection.
const rowBytes = 64 << 10

// BeginRow returns a buffer to append a row's payload to, which EndRow takes back. Rows pile up in it and
// are written many at once; whatever else is written comes after FlushRows.
func (c *Conn) BeginRow() []byte {
	c.rowAt = len(c.rows)
	return append(c.rows, 0, 0, 0, 0)
}

// EndRow ends the row that BeginRow began.
func (c *Conn) EndRow(b []byte) error {
	n := len(b) - c.rowAt - 4
	if n >= maxFragment {
		c.rows = b[:c.rowAt]
		if err := c.FlushRows(); err != nil {
			return err
		}
		err := c.writePacket(b[c.rowAt+4:])
		c.rows = nil
		return err
	}
	h := b[c.rowAt : c.rowAt+4]
	h[0], h[1], h[2], h[3] = byte(n), byte(n>>8), byte(n>>16), c.seq
	c.seq++
	c.rows = b
	if len(b) < rowBytes {
		return nil
	}
	return c.FlushRows()
}

// DropRow forgets the row that BeginRow began.
func (c *Conn) DropRow() { c.rows = c.rows[:c.rowAt] }

// FlushRows buffers the rows that were ended.
func (c *Conn) FlushRows() error {
	_, err := c.w.Write(c.rows)
	c.rows = c.rows[:0]
	if cap(c.rows) > keepBuffer {
		c.rows = nil
	}
	return err
}

// AppendText appends a value of the text protocol, or of a text in the binary one.
func AppendText(b, v []byte) []byte { return appendLenEncString(b, v) }

// AppendBinary appends a value, spelled as in the text protocol, as the binary protocol has it for col. An
// error means a value that is not of its column's type.
func AppendBinary(b []byte, col *Column, v []byte) ([]byte, error) { return appendBinary(b, col, v) }
