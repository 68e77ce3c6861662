package blobexpand

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"millrace/blobexpand/jsonval"
)

// put converts one member's value into row r. fits is false where the value does
// not fit the column's type exactly: the cell is then NULL and the row gets an
// error.
//
// Inferred columns take values of their own kind only: what they may meet was
// seen by inference. An object at an inferred column is no misfit: its members
// have columns of their own, and this one is NULL.
//
// Declared columns also read numbers and booleans from strings, never the other
// way round across kinds; text takes any scalar and arrays and objects as
// spelled.
func (v *builder) put(b []byte, s *span, r int) (fits bool) {
	t := &v.col.Type
	text := b[s.start:s.end]
	declared := v.col.Declared
	if s.kind == vObject && !declared {
		v.putNull(r)
		return true
	}
	switch t.Kind {
	case Int64, Year:
		if s.kind == vNumber && s.flags == 0 || declared && v.isNumber(s, text) {
			x, ok := parseInt64(text)
			if !ok && declared {
				x, ok = int64Scaled(text, 0)
			}
			if ok && inRange(t, x) {
				v.putWord(r, uint64(x))
				return true
			}
		}
	case Float64:
		if s.kind == vNumber || declared && v.isNumber(s, text) {
			size := 64
			if t.Bits == 32 {
				size = 32
			}
			if f, exact := jsonval.Double(text, size); exact {
				v.putFloat(r, f)
				return true
			}
		}
	case Text:
		return v.putString(b, s, text, r)
	case Bool:
		if x, ok := boolOf(s, text, declared); ok {
			v.putBool(r, x)
			return true
		}
	case Decimal:
		if s.kind == vNumber || declared && v.isNumber(s, text) {
			if w, neg, ok := parseScaled(text, int(t.Precision), int(t.Scale)); ok {
				v.putDecimal(r, w, neg)
				return true
			}
		}
	case Uint64:
		if declared && (s.kind == vNumber || v.isNumber(s, text)) {
			x, ok := uint64Of(text)
			if ok && (t.Bits == 0 || t.Bits >= 64 || x < 1<<t.Bits) {
				v.putWord(r, x)
				return true
			}
		}
	case JSON:
		if v.col.Field > 0 {
			if !jsonval.Valid(text) {
				return false
			}
		} else if s.kind == vString {
			text = b[s.start-1 : s.end+1]
		}
		v.data = append(v.data, text...)
		v.putText(r)
		return true
	case Binary:
		if s.kind == vString {
			if s.flags&jsonval.Escaped != 0 {
				text = jsonval.AppendUnescaped(nil, text)
			}
			from := len(v.data)
			data, err := base64.StdEncoding.Strict().AppendDecode(v.data, text)
			if err == nil && (t.Length == 0 || len(data)-from <= t.Length) {
				v.data = data
				v.putText(r)
				return true
			}
			v.data = v.data[:from]
		}
		v.putNull(r)
		return false
	case Date:
		if s.kind == vString && s.flags == 0 {
			if x, ok := ParseInstant(text); ok && mod(x.Micros, microsPerDay) == 0 {
				v.putDate(r, int32(x.Micros/microsPerDay))
				return true
			}
		}
	case Time:
		if s.kind == vString && s.flags == 0 {
			if x, ok := parseTimeSpan(text); ok && fitsFSP(x, t.FSP) {
				v.putWord(r, uint64(x))
				return true
			}
		}
	case DateTime, Timestamp:
		if x, ok := microsOf(t, s, text); ok && fitsFSP(x, t.FSP) {
			v.putWord(r, uint64(x))
			return true
		}
	}
	return false
}

// quick is which usual case of put is tried first.
type quick uint8

const (
	general    quick = iota
	quickInt         // integers spelled without point and exponent
	quickFloat       // DOUBLEs of few digits
	quickText        // strings without escapes, of columns without limits, as vectors
	quickBool        // true and false, as vectors
)

// quickOf a column; putQuick handles it.
func quickOf(v *builder) quick {
	switch t := &v.col.Type; {
	case t.Kind == Int64:
		return quickInt
	case t.Kind == Float64 && t.Bits != 32:
		return quickFloat
	case t.Kind == Text && v.shred && !v.col.Declared:
		return quickText
	case t.Kind == Bool && v.shred:
		return quickBool
	}
	return general
}

// putQuick is put in the usual cases; false: ask put.
func (v *builder) putQuick(b []byte, s *span, r int) bool {
	start, end := int(s.start), int(s.end)
	switch v.quick {
	case quickInt:
		if s.kind != vNumber || s.flags != 0 {
			return false
		}
		neg := b[start] == '-'
		if neg {
			start++
		}
		if end-start > jsonval.MaxShort {
			return false
		}
		x := int64(jsonval.Short(b, start, end))
		if neg {
			x = -x
		}
		if v.bits < 64 && !inRange(&v.col.Type, x) {
			return false
		}
		v.putWord(r, uint64(x))
		return true
	case quickFloat:
		if s.kind != vNumber || s.flags&jsonval.Exponent != 0 || s.flags != 0 && s.point == 0 {
			return false
		}
		point := 0
		if s.point != 0 {
			point = start + int(s.point)
		}
		f, ok := jsonval.ShortDouble(b, start, point, end)
		if ok {
			v.putFloat(r, f)
		}
		return ok
	case quickText:
		if s.kind != vString || s.flags != 0 {
			return false
		}
		v.texts.Put(r, b[start:end])
		v.setValid(r)
		return true
	case quickBool:
		switch s.kind {
		case vTrue:
			v.putWord(r, 1)
			return true
		case vFalse:
			v.putWord(r, 0)
			return true
		}
	}
	return false
}

// isNumber says whether a value is a number or a string that spells one.
func (v *builder) isNumber(s *span, text []byte) bool {
	return s.kind == vNumber || s.kind == vString && s.flags == 0 && jsonval.IsNumber(text)
}

// putString writes a Text cell: strings unescaped, everything else as spelled.
func (v *builder) putString(b []byte, s *span, text []byte, r int) bool {
	if s.flags&jsonval.LoneSurrogate != 0 {
		v.putNull(r)
		return false
	}
	if v.texts != nil && s.flags&jsonval.Escaped == 0 && (!v.col.Declared || v.textFits(text, s.kind)) {
		v.texts.Put(r, text)
		v.setValid(r)
		return true
	}
	from := len(v.data)
	if s.kind == vString && s.flags != 0 {
		v.data = jsonval.AppendUnescaped(v.data, text)
	} else {
		v.data = append(v.data, text...)
	}
	if v.col.Declared && !v.textFits(v.data[from:], s.kind) {
		v.data = v.data[:from]
		v.putNull(r)
		return false
	}
	v.putText(r)
	return true
}

// textFits checks the declared length (characters up to InferredTextLength, bytes
// above) and the members of an ENUM.
func (v *builder) textFits(text []byte, kind valueKind) bool {
	t := &v.col.Type
	if t.Enum != nil {
		if kind != vString {
			return false
		}
		for _, e := range t.Enum {
			if string(text) == e {
				return true
			}
		}
		return false
	}
	if t.Length == 0 || len(text) <= t.Length {
		return true
	}
	return t.Length <= InferredTextLength && utf8.RuneCount(text) <= t.Length
}

// textLonger says whether the inside of a JSON string stands for more than n
// characters.
func textLonger(s []byte, fl jsonval.Flags, n int) bool {
	chars := utf8.RuneCount(s)
	if chars <= n || fl&jsonval.Escaped == 0 {
		return chars > n
	}
	return utf8.RuneCount(jsonval.AppendUnescaped(nil, s)) > n
}

func boolOf(s *span, text []byte, declared bool) (value, ok bool) {
	switch s.kind {
	case vTrue:
		return true, true
	case vFalse:
		return false, true
	case vNumber:
		if declared {
			x, ok := int64Scaled(text, 0)
			return x == 1, ok && (x == 0 || x == 1)
		}
	case vString:
		if declared && s.flags == 0 {
			switch {
			case bytes.Equal(text, []byte("true")), bytes.Equal(text, []byte("1")):
				return true, true
			case bytes.Equal(text, []byte("false")), bytes.Equal(text, []byte("0")):
				return false, true
			}
		}
	}
	return false, false
}

// inRange checks MySQL's integer types and YEAR (0 and 1901 to 2155).
func inRange(t *Type, x int64) bool {
	if t.Kind == Year {
		return x == 0 || x >= 1901 && x <= 2155
	}
	if t.Bits == 0 || t.Bits >= 64 {
		return true
	}
	limit := int64(1) << (t.Bits - 1)
	return x >= -limit && x < limit
}

// Bounds of MySQL's TIMESTAMP in microseconds: 1970-01-01 00:00:01 to 2038-01-19
// 03:14:07.999999 UTC.
const (
	minTimestampMicros = microsPerSecond
	maxTimestampMicros = (1<<31-1)*microsPerSecond + microsPerSecond - 1
)

// microsOf reads a DATETIME or TIMESTAMP: ISO 8601 text (an offset is taken off, text
// without one is UTC), or an epoch in the declared unit, as a number or in a string.
func microsOf(t *Type, s *span, text []byte) (micros int64, ok bool) {
	switch {
	case t.Epoch != NoEpoch && (s.kind == vNumber || s.kind == vString && s.flags == 0 && jsonval.IsNumber(text)):
		if micros, ok = epochMicros(t.Epoch, text); !ok || micros < minMicros || micros > maxMicros {
			return 0, false
		}
	case s.kind == vString && s.flags == 0:
		x, ok := ParseInstant(text)
		if !ok {
			return 0, false
		}
		micros = x.Micros
	default:
		return 0, false
	}
	if t.Kind == Timestamp && !(Instant{Micros: micros}).InTimestamp() {
		return 0, false
	}
	return micros, true
}

func epochMicros(u EpochUnit, text []byte) (int64, bool) {
	switch u {
	case EpochSeconds:
		return int64Scaled(text, 6)
	case EpochMillis:
		return int64Scaled(text, 3)
	case EpochMicros:
		return int64Scaled(text, 0)
	}
	x, ok := int64Scaled(text, 0)
	return x / 1000, ok && x%1000 == 0
}

// fitsFSP says whether no digit would be lost.
func fitsFSP(micros int64, fsp uint8) bool {
	if fsp >= 6 {
		return true
	}
	return micros%int64(pow10u[6-fsp]) == 0
}

func mod(x, m int64) int64 { return (x%m + m) % m }
