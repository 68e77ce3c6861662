package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

// OK ends a statement without a result set.
type OK struct {
	Affected, InsertID uint64
	Status             Status
	Warnings           uint16
	Info               string
}

// WriteOK buffers an OK packet.
func (c *Conn) WriteOK(o OK) error { return c.writeOK(0x00, o) }

func (c *Conn) writeOK(header byte, o OK) error {
	b := append(c.out[:0], header)
	b = appendLenEncInt(b, o.Affected)
	b = appendLenEncInt(b, o.InsertID)
	b = binary.LittleEndian.AppendUint16(b, uint16(o.Status))
	b = binary.LittleEndian.AppendUint16(b, o.Warnings)
	if o.Info != "" {
		b = appendLenEncString(b, o.Info)
	}
	c.out = b
	return c.writePacket(b)
}

// WriteEnd ends columns or rows, as the client understands it: with an EOF packet, or an
// OK packet that looks like one.
func (c *Conn) WriteEnd(status Status, warnings uint16) error {
	if c.caps&DeprecateEOF != 0 {
		return c.writeOK(0xfe, OK{Status: status, Warnings: warnings})
	}
	return c.writeEOF(status, warnings)
}

func (c *Conn) writeEOF(status Status, warnings uint16) error {
	b := append(c.out[:0], 0xfe)
	b = binary.LittleEndian.AppendUint16(b, warnings)
	b = binary.LittleEndian.AppendUint16(b, uint16(status))
	c.out = b
	return c.writePacket(b)
}

// Error is an error packet.
type Error struct {
	Number  uint16
	State   string // 5 characters
	Message string
}

func (e *Error) Error() string { return e.Message }

// maxErrorMessage is MySQL's own bound, roughly; a statement quoted in full helps nobody.
const maxErrorMessage = 512

// WriteError buffers an error packet.
func (c *Conn) WriteError(e *Error) error {
	b := append(c.out[:0], 0xff)
	b = binary.LittleEndian.AppendUint16(b, e.Number)
	b = append(b, '#')
	state := e.State
	if len(state) != 5 {
		state = "HY000"
	}
	b = append(b, state...)
	m := e.Message
	if len(m) > maxErrorMessage {
		m = m[:maxErrorMessage]
		for !utf8.ValidString(m) && m != "" {
			m = m[:len(m)-1]
		}
	}
	b = append(b, m...)
	c.out = b
	return c.writePacket(b)
}

// WriteBytes buffers a bare string packet (COM_STATISTICS).
func (c *Conn) WriteBytes(s string) error { return c.writePacket([]byte(s)) }

// Column describes one column of a result.
type Column struct {
	Schema, Table, OrgTable, Name, OrgName string
	Charset                                uint16 // collation id
	Length                                 uint32
	Type                                   ColumnType
	Flags                                  uint16
	Decimals                               byte
}

func (c *Conn) writeColumn(col *Column, defaults bool) error {
	b := appendLenEncString(c.out[:0], "def")
	b = appendLenEncString(b, col.Schema)
	b = appendLenEncString(b, col.Table)
	b = appendLenEncString(b, col.OrgTable)
	b = appendLenEncString(b, col.Name)
	b = appendLenEncString(b, col.OrgName)
	b = append(b, 0x0c)
	b = binary.LittleEndian.AppendUint16(b, col.Charset)
	b = binary.LittleEndian.AppendUint32(b, col.Length)
	b = append(b, byte(col.Type))
	b = binary.LittleEndian.AppendUint16(b, col.Flags)
	b = append(b, col.Decimals, 0, 0)
	if defaults { // COM_FIELD_LIST: the default value, always NULL
		b = append(b, 0xfb)
	}
	c.out = b
	return c.writePacket(b)
}

// WriteColumns buffers the head of a result set; status goes into the EOF packet that
// older clients get after it.
func (c *Conn) WriteColumns(cols []Column, status Status, warnings uint16) error {
	b := appendLenEncInt(c.out[:0], uint64(len(cols)))
	c.out = b
	if err := c.writePacket(b); err != nil {
		return err
	}
	for i := range cols {
		if err := c.writeColumn(&cols[i], false); err != nil {
			return err
		}
	}
	if c.caps&DeprecateEOF == 0 {
		return c.writeEOF(status, warnings)
	}
	return nil
}

// WriteFieldList answers COM_FIELD_LIST.
func (c *Conn) WriteFieldList(cols []Column, status Status) error {
	for i := range cols {
		if err := c.writeColumn(&cols[i], true); err != nil {
			return err
		}
	}
	return c.WriteEnd(status, 0)
}

// WritePrepared answers COM_STMT_PREPARE.
func (c *Conn) WritePrepared(id uint32, params int, cols []Column, status Status) error {
	b := append(c.out[:0], 0x00)
	b = binary.LittleEndian.AppendUint32(b, id)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(cols)))
	b = binary.LittleEndian.AppendUint16(b, uint16(params))
	b = append(b, 0, 0, 0)
	c.out = b
	if err := c.writePacket(b); err != nil {
		return err
	}
	p := Column{Name: "?", Type: TypeVarString, Charset: 63}
	for range params {
		if err := c.writeColumn(&p, false); err != nil {
			return err
		}
	}
	if params > 0 && c.caps&DeprecateEOF == 0 {
		if err := c.writeEOF(status, 0); err != nil {
			return err
		}
	}
	for i := range cols {
		if err := c.writeColumn(&cols[i], false); err != nil {
			return err
		}
	}
	if len(cols) > 0 && c.caps&DeprecateEOF == 0 {
		return c.writeEOF(status, 0)
	}
	return nil
}
