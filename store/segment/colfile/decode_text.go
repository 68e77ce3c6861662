package colfile

import (
	"encoding/binary"
	"fmt"
	"math"

	"millrace/internal/vector"
)

// texts reads a column of text.
func (d *decoder) texts(a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	if d.dict != nil {
		return d.coded(a)
	}
	most := 0 // bytes of text: what the pages have, less the lengths
	for i := range d.pages {
		most += int(d.pages[i].size)
	}
	if most > math.MaxUint32 {
		return v, nil, fmt.Errorf("%w: %d bytes of text", ErrCorrupt, most)
	}
	mem, rest := d.room(a, vector.Room[uint32](d.rows+1)+vector.Room[byte](most))
	v = d.of()
	v.Offsets = vector.Carve[uint32](&rest, d.rows+1)
	v.Bytes = vector.Carve[byte](&rest, most)[:0]
	v.Offsets[0] = 0
	ends := v.Offsets[1:]
	for i := range d.pages {
		p := &d.pages[i]
		b, n, err := d.values(p)
		if err != nil {
			return v, mem, err
		}
		if p.encoding != encDeltaLength {
			return v, mem, p.encodingError()
		}
		part := ends[p.from:p.to]
		run := deltas[uint32]{}
		if b, err = run.read(part[:n], b); err != nil {
			return v, mem, err
		}
		if n < len(part) {
			scatter(part, n, d.valid, p.from)
		}
		at := uint64(len(v.Bytes))
		for k, size := range part {
			at += uint64(size)
			part[k] = uint32(at)
		}
		size := at - uint64(len(v.Bytes))
		if size > uint64(len(b)) {
			return v, mem, fmt.Errorf("%w: lengths of texts", ErrCorrupt)
		}
		v.Bytes = append(v.Bytes, b[:size]...)
	}
	return v, mem, nil
}

// coded reads a column with a dictionary.
func (d *decoder) coded(a vector.Allocator) (v vector.Vector, mem []byte, err error) {
	b, err := d.unpacked(d.dict)
	if err != nil {
		return v, nil, err
	}
	n := int(d.dict.values)
	if n < 1 || n > len(b)/4 {
		return v, nil, fmt.Errorf("%w: dictionary of %d", ErrCorrupt, n)
	}
	width := 4
	switch {
	case n <= 1<<8:
		width = 1
	case n <= 1<<16:
		width = 2
	}
	bytes := len(b) - 4*n
	mem, rest := d.room(a, vector.Room[byte](width*d.rows)+vector.Room[uint32](n+1)+vector.Room[byte](bytes))
	v = d.of()
	slots := rest // first, where they lie best
	rest = rest[vector.Room[byte](width*d.rows):]
	v.Dict = &vector.Dict{Offsets: vector.Carve[uint32](&rest, n+1), Bytes: vector.Carve[byte](&rest, bytes)}
	if err := readDictionary(v.Dict, b); err != nil {
		return v, mem, err
	}
	switch width {
	case 1:
		v.Code8, err = codePages[uint8](d, slots, n)
	case 2:
		v.Code16, err = codePages[uint16](d, slots, n)
	default:
		v.Code32, err = codePages[uint32](d, slots, n)
	}
	if err == nil && n == 1 && v.Valid == nil {
		v.Const, v.Code8 = true, v.Code8[:1]
	}
	return v, mem, err
}

// readDictionary reads texts with their lengths before them.
func readDictionary(dict *vector.Dict, b []byte) error {
	out, at := dict.Bytes, 0
	dict.Offsets[0] = 0
	for i := range dict.Offsets[1:] {
		if len(b) < 4 {
			return fmt.Errorf("%w: dictionary", ErrCorrupt)
		}
		size := binary.LittleEndian.Uint32(b)
		if uint64(size) > uint64(len(b)-4) || int(size) > len(out)-at {
			return fmt.Errorf("%w: dictionary", ErrCorrupt)
		}
		copy(out[at:], b[4:4+size])
		at += int(size)
		dict.Offsets[i+1] = uint32(at)
		b = b[4+size:]
	}
	dict.Bytes = out[:at:at]
	return nil
}

func codePages[T slot](d *decoder, mem []byte, count int) ([]T, error) {
	dst := vector.Carve[T](&mem, d.rows)
	return dst, eachPage(d, dst, func(p *page, part []T, b []byte) error {
		if p.encoding != encRLEDict {
			return p.encodingError()
		}
		return readCodes(part, b, count)
	})
}
