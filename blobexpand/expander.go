package blobexpand

import (
	"fmt"
	"math"
	"unicode/utf8"

	"millrace/blobexpand/jsonval"

	"github.com/apache/arrow-go/v18/arrow"
)

// Expander shreds values into arrow vectors for a chosen set of columns. Not safe for
// concurrent use; reused over batches.
//
// Between two Takes at most 2 GiB - 1 of values may be appended: arrow's string
// vectors have 32-bit offsets (see Bytes).
type Expander struct {
	w     walker
	o     ExpanderOptions
	out   int       // vectors given out; those after it are only checked
	vecs  []builder // asked columns, then columns checked for _error
	texts []int     // those of out that must be written for NULLs too
	errs  builder
	rest  builder
	rows  int
	room  int // rows the vectors have room for
	next  int // rows of the last batch: the next one will likely be as large
	bytes int64
	isCSV bool   // values are CSV records: columns have Fields
	csv   []byte // the current record's fields
}

// firstRows is the room of a new expander; later it follows the size of the last
// batch.
const firstRows = 64

// ExpanderOptions choose what is produced beside the columns.
type ExpanderOptions struct {
	Errors bool // produce the error vector (why a row's expansion failed, any column of all); costs full validation against all
	// All is the full column list of the table: _error covers every column, not only the asked ones.
	All  []Column
	Rest bool // produce _rest
}

// NewExpander for columns cols, in that order.
func NewExpander(cols []Column, o ExpanderOptions) *Expander {
	e := &Expander{o: o, out: len(cols)}
	e.w.root = newNode()
	e.w.wantRest = o.Rest
	for i, c := range cols {
		v := newBuilder(c, e.slotFor(c))
		if v.variable() {
			e.texts = append(e.texts, i)
		}
		e.vecs = append(e.vecs, v)
	}
	if o.Errors || o.Rest {
		asked := map[string]bool{}
		for _, c := range cols {
			asked[c.Name] = true
		}
		for _, c := range o.All {
			if asked[c.Name] {
				continue
			}
			v := newBuilder(c, e.slotFor(c))
			if o.Errors {
				v.reserve(1)
				e.vecs = append(e.vecs, v)
			}
		}
	}
	e.w.root.stopAtDeclared()
	text := Column{Type: Type{Kind: Text}}
	e.errs = newBuilder(text, -1)
	e.rest = newBuilder(text, -1)
	return e
}

// slotFor makes the path's nodes and gives its value a place.
func (e *Expander) slotFor(col Column) int32 {
	if col.Field > 0 {
		e.isCSV = true
		for len(e.w.slots) < col.Field {
			e.w.slots = append(e.w.slots, span{})
		}
		return int32(col.Field - 1)
	}
	n := e.w.root
	for _, p := range col.Path {
		n.stop = false
		c := n.child(p)
		if c == nil {
			c = newNode()
			c.stop = !e.o.Rest
			n.add(p, c)
		}
		n = c
	}
	if n.slot < 0 {
		n.slot = int32(len(e.w.slots))
		e.w.slots = append(e.w.slots, span{})
	}
	n.declared = n.declared || col.Declared
	return n.slot
}

// stopAtDeclared lets the walker step over objects that a declared column shows as a
// whole: nothing in them is looked for, not even for _rest.
func (n *node) stopAtDeclared() {
	if n.declared && len(n.edges) == 0 {
		n.stop = true
	}
	for i := range n.edges {
		n.edges[i].child.stopAtDeclared()
	}
}

// Append shreds one value as the next row; nil is a tombstone (all NULL, no error).
func (e *Expander) Append(value []byte) {
	r := e.rows
	if r == e.room {
		e.grow()
	}
	e.rows++
	if e.bytes += int64(len(value)); e.bytes > math.MaxInt32 {
		panic("blobexpand: more than 2 GiB appended without a Take")
	}
	if len(e.vecs) == 0 && !e.o.Errors && !e.o.Rest {
		return
	}
	if value == nil {
		e.nullRow(r)
		return
	}
	if e.isCSV {
		e.appendCSV(value, r)
		return
	}
	object, bad, ok := e.w.walk(value)
	if !ok {
		e.nullRow(r)
		if e.o.Errors {
			e.errs.data = append(e.errs.data, jsonval.Explain(value, bad).Error()...)
			e.errs.putText(r)
		}
		return
	}
	if !object {
		e.nullRow(r)
		return
	}

	misfits := e.putRow(value, r)
	if e.o.Errors {
		e.endErrors(misfits, r)
	}
	if e.o.Rest {
		e.appendRest(value, r)
	}
}

// putRow converts the spans of the current row, which lie in b, and says how many
// did not fit.
func (e *Expander) putRow(b []byte, r int) (misfits int) {
	row, slots := e.w.row, e.w.slots
	for i := range e.vecs {
		v := &e.vecs[i]
		s := &slots[v.slot]
		if i >= e.out {
			if s.row == row && s.kind != vNull && !v.check(b, s) {
				misfits = e.misfit(misfits, v, b, s)
			}
			continue
		}
		if s.row != row || s.kind == vNull {
			v.putNull(r)
			continue
		}
		if v.quick != general && v.putQuick(b, s, r) {
			continue
		}
		if !v.put(b, s, r) {
			v.putNull(r)
			if e.o.Errors {
				misfits = e.misfit(misfits, v, b, s)
			}
		}
	}
	return misfits
}

// endErrors closes the row's error text.
func (e *Expander) endErrors(misfits, r int) {
	if misfits == 0 {
		e.errs.putNull(r)
	} else {
		e.errs.putText(r)
	}
}

// check is put for a column that nobody asked for.
func (v *builder) check(b []byte, s *span) (fits bool) {
	if v.col.Type.Kind == Text && !v.col.Declared {
		return s.flags&jsonval.LoneSurrogate == 0 || s.kind != vString
	}
	v.data = v.data[:0]
	return v.put(b, s, 0)
}

// nullRow makes row r NULL throughout.
func (e *Expander) nullRow(r int) {
	for _, i := range e.texts {
		e.vecs[i].putNull(r)
	}
	if e.o.Errors {
		e.errs.putNull(r)
	}
	if e.o.Rest {
		e.rest.putNull(r)
	}
}

// maxMisfits bounds how many misfits of one row _error words.
const maxMisfits = 3

// misfit adds one to the row's error text.
func (e *Expander) misfit(n int, v *builder, b []byte, s *span) int {
	d := e.errs.data
	switch {
	case n == maxMisfits:
		d = append(d, "; …"...)
	case n < maxMisfits:
		if n > 0 {
			d = append(d, "; "...)
		}
		found := string(snippet(b, s))
		switch {
		case v.col.Type.Kind == Text && s.flags&jsonval.LoneSurrogate != 0 && s.kind == vString:
			d = fmt.Appendf(d, "%s: found half a surrogate pair in %s, expected characters", v.col.Name, found)
		default:
			d = fmt.Appendf(d, "%s: found %s, expected %s", v.col.Name, found, v.col.Type)
		}
	}
	e.errs.data = d
	return n + 1
}

// maxSnippet bounds the quoted part of a value in bytes.
const maxSnippet = 80

func snippet(b []byte, s *span) []byte {
	from, to := s.start, s.end
	if s.kind == vString {
		from--
		to++
	}
	if to-from <= maxSnippet {
		return b[from:to]
	}
	cut := b[from : from+maxSnippet]
	for len(cut) > 0 && !utf8.RuneStart(b[int(from)+len(cut)]) {
		cut = cut[:len(cut)-1]
	}
	return append(append([]byte(nil), cut...), "…"...)
}

// Rows appended since the last Take.
func (e *Expander) Rows() int { return e.rows }

// Bytes of values appended since the last Take.
func (e *Expander) Bytes() int64 { return e.bytes }

func (e *Expander) grow() {
	if e.room == 0 {
		e.room = max(e.next, firstRows)
	} else {
		e.room *= 2
	}
	for i := range e.vecs[:e.out] {
		e.vecs[i].reserve(e.room)
	}
	if e.o.Errors {
		e.errs.reserve(e.room)
	}
	if e.o.Rest {
		e.rest.reserve(e.room)
	}
}

// Take returns one arrow array per column in order (then the error vector,
// String, and the rest vector, String, if asked for) and starts anew. The
// caller releases them.
func (e *Expander) Take() []arrow.Array {
	if e.room == 0 {
		e.grow()
	}
	out := make([]arrow.Array, 0, e.out+2)
	for i := range e.vecs[:e.out] {
		out = append(out, e.vecs[i].take(e.rows))
	}
	if e.o.Errors {
		out = append(out, e.errs.take(e.rows))
	}
	if e.o.Rest {
		out = append(out, e.rest.take(e.rows))
	}
	e.restart()
	return out
}

// restart begins the next batch.
func (e *Expander) restart() {
	e.next = (e.rows + 63) &^ 63
	e.room, e.rows, e.bytes = 0, 0, 0
}
