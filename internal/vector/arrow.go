package vector

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ToArrow shows v as an Arrow array of type t, which must be one that Pack makes v's kind of, or
// for strings a dictionary of uint8, uint16 or uint32 codes that are as wide as v's own. Buffers of
// the same layout are shared: v must outlive the array. Values that t does not hold are cut to its
// width. The error wraps ErrType, or is about more than 2 GiB of text.
func ToArrow(v *Vector, t arrow.DataType) (arrow.Array, error) {
	wants, ok := kindOf(t)
	if !ok || wants != v.Kind {
		return nil, fmt.Errorf("%w: %s of kind %d", ErrType, t, v.Kind)
	}
	valid, nulls := v.validOf()
	var validity *memory.Buffer
	if nulls > 0 {
		validity = memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(valid))
	}
	bufs := []*memory.Buffer{validity, nil}
	var dict arrow.ArrayData
	switch t := t.(type) {
	case *arrow.BooleanType:
		bits := make([]uint64, words(v.Len))
		for i := range v.Len {
			if v.Int(i) != 0 {
				bits[i>>6] |= 1 << (i & 63)
			}
		}
		bufs[1] = memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(bits))
	case *arrow.Decimal128Type:
		if t.Scale != v.Scale {
			return nil, fmt.Errorf("%w: %s of scale %d", ErrType, t, v.Scale)
		}
		bufs[1] = memory.NewBufferBytes(arrow.Decimal128Traits.CastToBytes(repeated(v, v.Dec128)))
	case *arrow.Decimal256Type:
		if t.Scale != v.Scale {
			return nil, fmt.Errorf("%w: %s of scale %d", ErrType, t, v.Scale)
		}
		bufs[1] = memory.NewBufferBytes(arrow.Decimal256Traits.CastToBytes(repeated(v, v.Dec256)))
	case *arrow.StringType, *arrow.BinaryType:
		offsets, bytes, err := arrowTexts(v)
		if err != nil {
			return nil, err
		}
		bufs[1] = memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))
		bufs = append(bufs, memory.NewBufferBytes(bytes))
	case *arrow.DictionaryType:
		var err error
		if bufs[1], dict, err = arrowCodes(v, t); err != nil {
			return nil, err
		}
		defer dict.Release()
	default:
		switch t.ID() {
		case arrow.UINT64:
			bufs[1] = memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(repeated(v, v.Uint64)))
		case arrow.FLOAT64:
			bufs[1] = memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(repeated(v, v.Float64)))
		case arrow.INT64, arrow.TIMESTAMP, arrow.DURATION:
			bufs[1] = memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(v.Ints(nil)))
		case arrow.INT32, arrow.DATE32:
			bufs[1] = memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(copied[int32](v.Ints(nil))))
		case arrow.INT16:
			bufs[1] = memory.NewBufferBytes(arrow.Int16Traits.CastToBytes(copied[int16](v.Ints(nil))))
		case arrow.INT8:
			bufs[1] = memory.NewBufferBytes(arrow.Int8Traits.CastToBytes(copied[int8](v.Ints(nil))))
		case arrow.UINT32:
			bufs[1] = memory.NewBufferBytes(arrow.Uint32Traits.CastToBytes(copied[uint32](repeated(v, v.Uint64))))
		case arrow.UINT16:
			bufs[1] = memory.NewBufferBytes(arrow.Uint16Traits.CastToBytes(copied[uint16](repeated(v, v.Uint64))))
		case arrow.UINT8:
			bufs[1] = memory.NewBufferBytes(copied[uint8](repeated(v, v.Uint64)))
		case arrow.FLOAT32:
			bufs[1] = memory.NewBufferBytes(arrow.Float32Traits.CastToBytes(copied[float32](repeated(v, v.Float64))))
		}
	}
	if dict != nil {
		d := array.NewDataWithDictionary(t, v.Len, bufs, nulls, 0, dict.(*array.Data))
		defer d.Release()
		return array.NewDictionaryData(d), nil
	}
	d := array.NewData(t, v.Len, bufs, nil, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// kindOf is the kind that holds an Arrow type.
func kindOf(t arrow.DataType) (Kind, bool) {
	switch t.ID() {
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.DATE32, arrow.TIMESTAMP, arrow.DURATION:
		return Int, true
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return Uint, true
	case arrow.FLOAT32, arrow.FLOAT64:
		return Float, true
	case arrow.DECIMAL128:
		return Decimal128, true
	case arrow.DECIMAL256:
		return Decimal256, true
	case arrow.STRING, arrow.BINARY:
		return String, true
	case arrow.DICTIONARY:
		k, ok := kindOf(t.(*arrow.DictionaryType).ValueType)
		return k, ok && k == String
	}
	return 0, false
}

// repeated is a row's slot for every row: the buffer itself unless v is Const.
func repeated[T any](v *Vector, buf []T) []T {
	if !v.Const {
		return buf
	}
	out := make([]T, v.Len)
	for i := range out {
		out[i] = buf[0]
	}
	return out
}

// Ints is v's values (kind Int) at 64 bits: the buffer itself where v is not narrow,
// otherwise in dst, made larger if need be.
func (v *Vector) Ints(dst []int64) []int64 {
	if v.Int64 != nil && !v.Const {
		return v.Int64
	}
	if cap(dst) < v.Len {
		dst = make([]int64, v.Len)
	}
	dst = dst[:v.Len]
	switch {
	case v.Const || v.Int8 == nil && v.Int16 == nil && v.Int32 == nil:
		x := int64(0)
		if v.Len > 0 {
			x = v.Int(0)
		}
		for i := range dst {
			dst[i] = x
		}
	case v.Int8 != nil:
		widen(dst, v.Int8, v.Base)
	case v.Int16 != nil:
		widen(dst, v.Int16, v.Base)
	default:
		widen(dst, v.Int32, v.Base)
	}
	return dst
}

func widen[T int8 | int16 | int32](dst []int64, src []T, base int64) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = base + int64(x)
	}
}

// arrowTexts spells v out with Arrow's offsets.
func arrowTexts(v *Vector) (offsets []int32, bytes []byte, err error) {
	offsets = make([]int32, v.Len+1)
	if v.Dict == nil && !v.Const {
		from, to := v.Offsets[0], v.Offsets[v.Len]
		if to-from > maxArrowText {
			return nil, nil, ErrTextSize
		}
		for i, o := range v.Offsets[:v.Len+1] {
			offsets[i] = int32(o - from)
		}
		return offsets, v.Bytes[from:to], nil
	}
	total := 0
	for i := range v.Len {
		total += len(v.Text(i))
		if total > maxArrowText {
			return nil, nil, ErrTextSize
		}
		offsets[i+1] = int32(total)
	}
	bytes = make([]byte, 0, total)
	for i := range v.Len {
		bytes = append(bytes, v.Text(i)...)
	}
	return offsets, bytes, nil
}

// arrowCodes shows codes and dictionary as they are.
func arrowCodes(v *Vector, t *arrow.DictionaryType) (codes *memory.Buffer, dict arrow.ArrayData, err error) {
	id := t.IndexType.ID()
	switch {
	case v.Dict != nil && v.Code8 != nil && id == arrow.UINT8:
		codes = memory.NewBufferBytes(repeated(v, v.Code8))
	case v.Dict != nil && v.Code16 != nil && id == arrow.UINT16:
		codes = memory.NewBufferBytes(arrow.Uint16Traits.CastToBytes(repeated(v, v.Code16)))
	case v.Dict != nil && v.Code32 != nil && id == arrow.UINT32:
		codes = memory.NewBufferBytes(arrow.Uint32Traits.CastToBytes(repeated(v, v.Code32)))
	default:
		return nil, nil, fmt.Errorf("%w: %s has other codes", ErrType, t)
	}
	d := v.Dict
	if int64(len(d.Bytes)) > maxArrowText {
		return nil, nil, ErrTextSize
	}
	bufs := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Uint32Traits.CastToBytes(d.Offsets)), memory.NewBufferBytes(d.Bytes)}
	return codes, array.NewData(t.ValueType, d.Len(), bufs, nil, 0, 0), nil
}

// ArrowType is the Arrow type that shows v without copying: t itself unless v's strings have a
// dictionary, then a dictionary of t by v's codes.
func ArrowType(v *Vector, t arrow.DataType) arrow.DataType {
	if v.Kind != String || v.Dict == nil {
		return t
	}
	index := arrow.DataType(arrow.PrimitiveTypes.Uint32)
	switch {
	case v.Code8 != nil:
		index = arrow.PrimitiveTypes.Uint8
	case v.Code16 != nil:
		index = arrow.PrimitiveTypes.Uint16
	}
	return &arrow.DictionaryType{IndexType: index, ValueType: t}
}
