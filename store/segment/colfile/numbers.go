package colfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"millrace/internal/vector"
)

const (
	// numberDict is how many different numbers a dictionary has at most, and numberShare how many rows there are for each of
	// them at least.
	numberDict  = 1 << 15
	numberShare = 4
	// numberTrial is after how many rows it is given up where most differ: in no particular order, that is so of more than 30,000.
	numberTrial = 1 << 14
	// deltaSample of a column's rows show what it takes as differences.
	deltaSample = 2048
)

// numbers are a column's dictionary of numbers, and the codes of its rows. The memory serves one column after another.
type numbers struct {
	on     bool
	values []uint64 // as 64-bit integers, or the bits of doubles
	codes  []uint16 // of NULLs: any
	table  []uint32 // open addressing: code + 1; of narrow integers one for each slot
	sample []byte
}

// of looks for a dictionary that makes a column smaller.
func (d *numbers) of(c *Column, v *vector.Vector) {
	d.on = false
	typ, _ := c.physical()
	if v.Const || v.Len < 2*numberShare {
		return
	}
	d.values, d.codes = d.values[:0], sized(d.codes, v.Len)
	var plain int // bits a row takes without
	switch {
	case v.Kind == vector.Float:
		if !d.floats(v) {
			return
		}
		plain = 64
	case typ != typeInt64 && typ != typeInt32 || v.Kind != vector.Int:
		return
	case v.Int8 != nil:
		plain = d.deltaBits(v)
		if plain < 2 || !slotNumbers(d, v, v.Int8, 1<<7) {
			return
		}
	case v.Int16 != nil:
		plain = d.deltaBits(v)
		if plain < 2 || !slotNumbers(d, v, v.Int16, 1<<15) {
			return
		}
	default:
		return
	}
	n := len(d.values)
	coded := v.Len*bits.Len(uint(max(n-1, 1))) + 64*n
	d.on = n > 0 && 8*coded < 7*v.Len*plain // one part in eight, or it is not worth the lookups
}

// deltaBits is about what a row takes as difference to the one before.
func (d *numbers) deltaBits(v *vector.Vector) int {
	n := min(v.Len, deltaSample)
	ints := make([]int64, n)
	for i := range ints {
		ints[i] = v.Int(i)
	}
	d.sample = appendDelta(d.sample[:0], ints, false)
	return len(d.sample) * 8 / n
}

// slotNumbers finds the different values of narrow integers.
func slotNumbers[T int8 | int16](d *numbers, v *vector.Vector, slots []T, bias int) bool {
	d.table = sized(d.table, 2*bias)
	clear(d.table)
	most := min(numberDict, v.Len/numberShare)
	nulls := v.HasNulls()
	for i, x := range slots[:v.Len] {
		if nulls && v.IsNull(i) {
			d.codes[i] = 0
			continue
		}
		at := &d.table[int(x)+bias]
		if *at == 0 {
			if len(d.values) == most {
				return false
			}
			d.values = append(d.values, uint64(v.Base+int64(x)))
			*at = uint32(len(d.values))
		}
		d.codes[i] = uint16(*at - 1)
	}
	return true
}

// floats finds the different doubles, bit by bit.
func (d *numbers) floats(v *vector.Vector) bool {
	const size = 4 * numberDict
	d.table = sized(d.table, size)
	clear(d.table)
	most := min(numberDict, v.Len/numberShare)
	nulls := v.HasNulls()
	for i, f := range v.Float64[:v.Len] {
		if nulls && v.IsNull(i) {
			d.codes[i] = 0
			continue
		}
		x := math.Float64bits(f)
		h, lo := bits.Mul64(x^x>>32, 0x9e3779b97f4a7c15)
		at := (h ^ lo) >> 40 & (size - 1)
		for d.table[at] != 0 && d.values[d.table[at]-1] != x {
			at = (at + 1) & (size - 1)
		}
		if d.table[at] == 0 {
			if len(d.values) == most || i >= numberTrial && i < 2*numberTrial && len(d.values) > i*4/5 {
				return false
			}
			d.values = append(d.values, x)
			d.table[at] = uint32(len(d.values))
		}
		d.codes[i] = uint16(d.table[at] - 1)
	}
	return true
}

// numberDictionary writes the page.
func (e *encoder) numberDictionary(typ int32) error {
	e.body = e.body[:0]
	for _, x := range e.nums.values {
		if typ == typeInt32 {
			e.body = binary.LittleEndian.AppendUint32(e.body, uint32(x))
		} else {
			e.body = binary.LittleEndian.AppendUint64(e.body, x)
		}
	}
	return e.put(pageDict, len(e.nums.values), encPlain, nil)
}

// numberDictionary reads the page.
func (d *decoder) numberDictionary() error {
	b, err := d.unpacked(d.dict)
	if err != nil {
		return err
	}
	n := int(d.dict.values)
	typ, _ := d.c.physical()
	size := 8
	if typ == typeInt32 {
		size = 4
	} else if typ != typeInt64 && typ != typeDouble {
		return fmt.Errorf("%w: dictionary of type %d", ErrCorrupt, typ)
	}
	if n < 1 || n > numberDict || len(b) != n*size {
		return fmt.Errorf("%w: dictionary of %d numbers", ErrCorrupt, n)
	}
	d.numbers = sized(d.numbers, n)
	for i := range d.numbers {
		if size == 4 {
			d.numbers[i] = uint64(int64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
		} else {
			d.numbers[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
	return nil
}
