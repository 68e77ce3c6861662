package exec

import (
	"unicode"
	"unicode/utf8"

	"millrace/internal/vector"
)

// lengthEval is Length and CharLength.
type lengthEval struct {
	arg   evaluator
	chars bool
	out   column
	valid []uint64
}

func (e *lengthEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	out := e.out.ints(in.n)
	valid := validOf(v, in.n, &e.valid)
	for i := range out {
		out[i] = 0
		if valid != nil && !bitSet(valid, i) {
			continue
		}
		if s := v.Text(i); e.chars {
			out[i] = int64(utf8.RuneCount(s))
		} else {
			out[i] = int64(len(s))
		}
	}
	e.out.setNulls(valid)
	return &e.out.v, nil
}

// foldEval is Lower and Upper.
type foldEval struct {
	arg   evaluator
	upper bool
	out   column
	valid []uint64
}

func (e *foldEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	valid := validOf(v, in.n, &e.valid)
	b := e.out.texts()
	for i := range in.n {
		if valid == nil || bitSet(valid, i) {
			e.out.bytes = e.append(e.out.bytes, v.Text(i))
		}
		if err := b.end(); err != nil {
			return nil, err
		}
	}
	b.done()
	e.out.setNulls(valid)
	return &e.out.v, nil
}

// append maps s, character by character; bytes that are no character stay as they are.
func (e *foldEval) append(dst, s []byte) []byte {
	for len(s) > 0 {
		if c := s[0]; c < utf8.RuneSelf {
			switch {
			case e.upper && 'a' <= c && c <= 'z':
				c -= 'a' - 'A'
			case !e.upper:
				c = lowerASCII(c)
			}
			dst = append(dst, c)
			s = s[1:]
			continue
		}
		r, n := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[0])
		case e.upper:
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		s = s[n:]
	}
	return dst
}

// substringEval is Substring.
type substringEval struct {
	arg     evaluator
	pos     int64
	length  int64
	limited bool
	out     column
	valid   []uint64
}

func (e *substringEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	valid := validOf(v, in.n, &e.valid)
	b := e.out.texts()
	for i := range in.n {
		if valid == nil || bitSet(valid, i) {
			e.out.bytes = append(e.out.bytes, e.cut(v.Text(i))...)
		}
		if err := b.end(); err != nil {
			return nil, err
		}
	}
	b.done()
	e.out.setNulls(valid)
	return &e.out.v, nil
}

func (e *substringEval) cut(s []byte) []byte {
	if e.pos == 0 || e.limited && e.length <= 0 {
		return nil
	}
	if e.pos > 0 {
		s = s[runes(s, e.pos-1):]
	} else {
		total := int64(utf8.RuneCount(s))
		if total+e.pos < 0 {
			return nil
		}
		s = s[runes(s, total+e.pos):]
	}
	if e.limited {
		s = s[:runes(s, e.length)]
	}
	return s
}

// runes is how many bytes the first n characters of s take.
func runes(s []byte, n int64) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRune(s[at:])
		at += size
	}
	return at
}

// operands evaluates arguments of which none may be NULL.
type operands struct {
	args  []evaluator
	parts []*vector.Vector
	all   []uint64
	one   []uint64
}

// of is the arguments' values in, and in which rows none is NULL; nil: in all.
func (o *operands) of(in *input) (parts []*vector.Vector, valid []uint64, err error) {
	o.parts = o.parts[:0]
	for _, a := range o.args {
		v, err := a.eval(in)
		if err != nil {
			return nil, nil, err
		}
		o.parts = append(o.parts, v)
		if av := validOf(v, in.n, &o.one); av != nil {
			if valid == nil {
				valid = onesOf(in.n, &o.all)
			}
			for i, w := range av {
				valid[i] &= w
			}
		}
	}
	return o.parts, valid, nil
}

// concatEval is Concat.
type concatEval struct {
	args operands
	out  column
}

func (e *concatEval) eval(in *input) (*vector.Vector, error) {
	n := in.n
	parts, valid, err := e.args.of(in)
	if err != nil {
		return nil, err
	}
	b := e.out.texts()
	for i := range n {
		if valid == nil || bitSet(valid, i) {
			for _, p := range parts {
				e.out.bytes = append(e.out.bytes, p.Text(i)...)
			}
		}
		if err := b.end(); err != nil {
			return nil, err
		}
	}
	b.done()
	e.out.setNulls(valid)
	return &e.out.v, nil
}
