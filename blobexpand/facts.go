package blobexpand

import "millrace/blobexpand/jsonval"

// facts are what was seen at a path. They only ever grow, and the type follows
// from them alone, so the order in which values were seen cannot matter:
// joining facts is OR and max.
type facts struct {
	seen      seenBits
	intDigits uint16 // most digits before the point of any number, saturating
	scale     uint16 // most digits after the point of any number, saturating
}

type seenBits uint16

const (
	seenBool seenBits = 1 << iota
	seenInt
	seenFraction // a number spelled with a point or an exponent
	seenString
	seenArray
	seenBig     // an integer outside BIGINT
	seenInexact // a number whose value a DOUBLE's shortest spelling does not give back
	seenLong    // a text longer than InferredTextLength
)

// Widest decimals: MySQL's.
const (
	maxPrecision = 65
	maxScale     = 30
)

func (f facts) join(o facts) facts {
	return facts{f.seen | o.seen, max(f.intDigits, o.intDigits), max(f.scale, o.scale)}
}

// typ is the narrowest type that holds all that was seen.
func (f facts) typ() Type {
	families := 0
	for _, bits := range [...]seenBits{seenBool, seenInt | seenFraction, seenString, seenArray} {
		if f.seen&bits != 0 {
			families++
		}
	}
	switch {
	case families != 1 || f.seen&seenString != 0:
		return f.text()
	case f.seen&seenBool != 0:
		return Type{Kind: Bool}
	case f.seen&seenArray != 0:
		return Type{Kind: JSON}
	case f.seen&seenFraction == 0:
		switch {
		case f.seen&seenBig == 0:
			return Type{Kind: Int64, Bits: 64}
		case f.intDigits <= 20:
			return Type{Kind: Decimal, Precision: 20}
		case f.intDigits <= 38:
			return Type{Kind: Decimal, Precision: 38}
		case f.intDigits <= maxPrecision:
			return Type{Kind: Decimal, Precision: maxPrecision}
		}
		return f.text()
	case f.seen&seenInexact == 0:
		return Type{Kind: Float64, Bits: 64}
	case f.scale <= maxScale && f.intDigits+f.scale <= 38:
		return Type{Kind: Decimal, Precision: 38, Scale: uint8(f.scale)}
	case f.scale <= maxScale && f.intDigits+f.scale <= maxPrecision:
		return Type{Kind: Decimal, Precision: maxPrecision, Scale: uint8(f.scale)}
	}
	return f.text()
}

func (f facts) text() Type {
	if f.seen&seenLong != 0 {
		return Type{Kind: Text}
	}
	return Type{Kind: Text, Length: InferredTextLength}
}

// saturation of the digit counts; far above maxPrecision and far below overflow of
// their sum.
const manyDigits = 10000

// factsOf one scalar or array; text is its spelling (with quotes for strings).
func factsOf(kind valueKind, fl jsonval.Flags, text []byte) (f facts) {
	switch kind {
	case vTrue, vFalse:
		f.seen = seenBool
	case vString:
		f.seen = seenString
		if stringLonger(text[1:len(text)-1], fl, InferredTextLength) {
			f.seen |= seenLong
		}
		return f
	case vArray:
		f.seen = seenArray
	case vNumber:
		var d jsonval.Decimal
		d.Set(text)
		f.intDigits = uint16(min(d.IntDigits(), manyDigits))
		f.scale = uint16(min(d.Scale(), manyDigits))
		if fl&jsonval.Exponent == 0 && fl&jsonval.Fraction != 0 {
			// As spelled: 1.10 has two.
			for i, c := range text {
				if c == '.' {
					f.scale = uint16(min(len(text)-i-1, manyDigits))
				}
			}
		}
		if d.Over {
			f.scale = manyDigits // more digits than any type holds
		}
		if fl&(jsonval.Fraction|jsonval.Exponent) != 0 {
			f.seen = seenFraction
		} else {
			f.seen = seenInt
			if d.Over || !fitsInt64(text) {
				f.seen |= seenBig
			}
			if d.Over {
				f.scale = 0
				f.intDigits = uint16(min(d.Exp, manyDigits))
			}
		}
		if _, exact := jsonval.Double(text, 64); !exact {
			f.seen |= seenInexact
		}
	}
	if len(text) > InferredTextLength {
		f.seen |= seenLong
	}
	return f
}

// stringLonger says whether the string spelled s has more than n characters.
func stringLonger(s []byte, fl jsonval.Flags, n int) bool {
	if len(s) <= n {
		return false
	}
	return textLonger(s, fl, n)
}

// fitsInt64 says whether an integer's text fits BIGINT.
func fitsInt64(text []byte) bool {
	_, ok := parseInt64(text)
	return ok
}
