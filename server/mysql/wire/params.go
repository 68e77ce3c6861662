package wire

import (
	"fmt"
	"math"
)

// Param is one bound statement parameter.
type Param struct {
	Type     ColumnType
	Unsigned bool
	Null     bool
	Int      int64   // integers (Uint64 holds Unsigned ones)
	Uint     uint64  // unsigned integers
	Float    float64 // TypeFloat, TypeDouble
	Text     []byte  // everything else, times as text; own memory
}

// Execute is a decoded COM_STMT_EXECUTE.
type Execute struct {
	ID     uint32
	Cursor bool
	Params []Param
}

// StatementID is the first argument of every COM_STMT_*.
func StatementID(args []byte) (id uint32, rest []byte, err error) {
	r := reader{b: args}
	id = r.u32()
	if r.bad {
		return 0, nil, ErrMalformed
	}
	return id, r.b, nil
}

// ParseExecute decodes the arguments after the statement id. types are those bound
// before (clients send them once); the new ones are returned. long holds what
// COM_STMT_SEND_LONG_DATA sent, by parameter.
func ParseExecute(rest []byte, params int, types []uint16, long map[uint16][]byte) (e Execute, bound []uint16, err error) {
	r := reader{b: rest}
	e.Cursor = r.u8()&1 != 0
	r.u32() // iterations: always 1
	if params == 0 {
		if r.bad {
			return e, types, ErrMalformed
		}
		return e, types, nil
	}
	nulls := r.bytes((params + 7) / 8)
	if r.u8() == 1 {
		types = make([]uint16, 0, params)
		for range params {
			types = append(types, r.u16())
		}
	}
	if r.bad || len(types) != params {
		return e, types, ErrMalformed
	}
	e.Params = make([]Param, params)
	for i := range e.Params {
		p := &e.Params[i]
		p.Type, p.Unsigned = ColumnType(types[i]), types[i]&0x8000 != 0
		if data, ok := long[uint16(i)]; ok {
			p.Text = data
			continue
		}
		if nulls[i/8]&(1<<(i%8)) != 0 {
			p.Null = true
			continue
		}
		if err := p.read(&r); err != nil {
			return e, types, err
		}
		if r.bad {
			return e, types, ErrMalformed
		}
	}
	return e, types, nil
}

func (p *Param) read(r *reader) error {
	switch p.Type {
	case TypeNull:
		p.Null = true
	case TypeTiny:
		v := r.u8()
		p.Int, p.Uint = int64(int8(v)), uint64(v)
	case TypeShort, TypeYear:
		v := r.u16()
		p.Int, p.Uint = int64(int16(v)), uint64(v)
	case TypeLong, TypeInt24:
		v := r.u32()
		p.Int, p.Uint = int64(int32(v)), uint64(v)
	case TypeLongLong:
		v := r.u64()
		p.Int, p.Uint = int64(v), v
	case TypeFloat:
		p.Float = float64(math.Float32frombits(r.u32()))
	case TypeDouble:
		p.Float = math.Float64frombits(r.u64())
	case TypeDate, TypeDateTime, TypeTimestamp:
		return p.readDateTime(r)
	case TypeTime:
		return p.readTime(r)
	case TypeDecimal, TypeNewDecimal, TypeVarChar, TypeVarString, TypeString, TypeBit, TypeEnum, TypeSet,
		TypeTinyBlob, TypeMediumBlob, TypeLongBlob, TypeBlob, TypeJSON, TypeGeometry:
		p.Text = append([]byte{}, r.lenEncBytes()...)
	default:
		return fmt.Errorf("%w: parameter type %d", ErrMalformed, p.Type)
	}
	return nil
}

func (p *Param) readDateTime(r *reader) error {
	v := reader{b: r.bytes(int(r.u8()))}
	var year uint16
	var month, day, hour, minute, second byte
	var us uint32
	n := len(v.b)
	if n >= 4 {
		year, month, day = v.u16(), v.u8(), v.u8()
	}
	if n >= 7 {
		hour, minute, second = v.u8(), v.u8(), v.u8()
	}
	if n >= 11 {
		us = v.u32()
	}
	if n != 0 && n != 4 && n != 7 && n != 11 || month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 || us > 999999 || year > 9999 {
		return fmt.Errorf("%w: date parameter", ErrMalformed)
	}
	switch {
	case p.Type == TypeDate && n <= 4:
		p.Text = fmt.Appendf(nil, "%04d-%02d-%02d", year, month, day)
	case us != 0:
		p.Text = fmt.Appendf(nil, "%04d-%02d-%02d %02d:%02d:%02d.%06d", year, month, day, hour, minute, second, us)
	default:
		p.Text = fmt.Appendf(nil, "%04d-%02d-%02d %02d:%02d:%02d", year, month, day, hour, minute, second)
	}
	return nil
}

func (p *Param) readTime(r *reader) error {
	v := reader{b: r.bytes(int(r.u8()))}
	n := len(v.b)
	var negative, hour, minute, second byte
	var days, us uint32
	if n >= 8 {
		negative, days, hour, minute, second = v.u8(), v.u32(), v.u8(), v.u8(), v.u8()
	}
	if n >= 12 {
		us = v.u32()
	}
	if n != 0 && n != 8 && n != 12 || days > 34 || hour > 23 || minute > 59 || second > 59 || us > 999999 {
		return fmt.Errorf("%w: time parameter", ErrMalformed)
	}
	sign := ""
	if negative != 0 {
		sign = "-"
	}
	p.Text = fmt.Appendf(nil, "%s%02d:%02d:%02d", sign, days*24+uint32(hour), minute, second)
	if us != 0 {
		p.Text = fmt.Appendf(p.Text, ".%06d", us)
	}
	return nil
}

// ParseLongData decodes the arguments of COM_STMT_SEND_LONG_DATA after the statement id.
// data is valid until the next read.
func ParseLongData(rest []byte) (param uint16, data []byte, err error) {
	r := reader{b: rest}
	param = r.u16()
	if r.bad {
		return 0, nil, ErrMalformed
	}
	return param, r.b, nil
}

// ParseFetch decodes the arguments of COM_STMT_FETCH after the statement id.
func ParseFetch(rest []byte) (rows uint32, err error) {
	r := reader{b: rest}
	rows = r.u32()
	if r.bad {
		return 0, ErrMalformed
	}
	return rows, nil
}

// ParseUint16 and ParseUint32 decode the argument of COM_SET_OPTION and COM_PROCESS_KILL.
func ParseUint16(args []byte) (uint16, error) {
	r := reader{b: args}
	v := r.u16()
	if r.bad {
		return 0, ErrMalformed
	}
	return v, nil
}

func ParseUint32(args []byte) (uint32, error) {
	r := reader{b: args}
	v := r.u32()
	if r.bad {
		return 0, ErrMalformed
	}
	return v, nil
}

// ParseFieldList returns the table that COM_FIELD_LIST asks for.
func ParseFieldList(args []byte) string {
	r := reader{b: args}
	return r.nulString()
}
