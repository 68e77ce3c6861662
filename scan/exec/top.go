package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"millrace/internal/vector"
	"millrace/scan/exec/spill"
)

// topRows is up to how many rows a Sort with a limit keeps the best ones only, instead of sorting all.
const topRows = 1 << 16

// topOp is a Sort of which the first rows are wanted. Every goroutine keeps the best of its morsels;
// a row is looked at closely only if its first key can be better than the worst of the kept.
type topOp struct {
	run *runner
	n   *Sort

	ready bool
	items []topRow
	sinks []sink
	at    int
	late  *topLate // nil: the items have their rows
	rows  rowBatch
}

// cutRows is how many rows more than twice those that are kept are gathered before the worse half is dropped.
const cutRows = 64

// topRow is a kept row of a sink.
type topRow struct{ key, row []byte }

func (t *topOp) next(ctx context.Context) (*Batch, error) {
	if !t.ready {
		if err := t.gather(ctx); err != nil {
			return nil, err
		}
		t.ready = true
	}
	if t.at == len(t.items) {
		return nil, io.EOF
	}
	t.rows.reset(t.n.Schema())
	if t.late != nil {
		n, err := t.late.batch(ctx, t.items[t.at:], &t.rows)
		if err != nil {
			return nil, err
		}
		t.at += n
		return t.rows.batch(), nil
	}
	for ; !t.rows.full() && t.at < len(t.items); t.at++ {
		t.rows.add(t.items[t.at].row)
	}
	return t.rows.batch(), nil
}

func (t *topOp) gather(ctx context.Context) error {
	most := int(max(t.n.Offset, 0) + t.n.Limit)
	if most == 0 {
		return nil
	}
	var err error
	var bound *topBound
	schema, by := t.n.Child.Schema(), t.n.Keys
	newSink := func(int) (sink, error) {
		keys, err := newSortKeys(schema, by)
		return &topSink{keys: keys, most: most, held: holding{account: &t.run.memory}, shared: bound, late: t.late != nil}, err
	}
	if p := pipelineOf(t.n.Child); p != nil {
		var used []Expr // nil: all columns
		whole := p
		if few, own := keysOnly(p, by); few != nil {
			p, by, schema = few, own, few.scan.Types
			for _, k := range own {
				used = append(used, k.Expr)
			}
		}
		m, err := t.run.morsels(ctx, p, used)
		if err != nil {
			return err
		}
		if p != whole {
			if t.late, err = newTopLate(m, whole); err != nil {
				return err
			}
		}
		bound = topBoundOf(p, by)
		m.limit(bound)
		t.sinks, err = t.run.driveMorsels(ctx, &fragment{p: p}, m, newSink)
		if err != nil {
			return err
		}
	} else if t.sinks, err = t.run.drive(ctx, t.n.Child, newSink); err != nil {
		return err
	}
	// All have their best in order: merge.
	for _, s := range t.sinks {
		s := s.(*topSink)
		if err := s.cut(); err != nil {
			return err
		}
	}
	next := make([]int, len(t.sinks))
	for len(t.items) < most {
		var best topRow
		from := -1
		for i, s := range t.sinks {
			s := s.(*topSink)
			if next[i] == len(s.buf.Items) {
				continue
			}
			key, row, _ := spill.Split(s.buf.Record(s.buf.Items[next[i]]))
			if from < 0 || bytes.Compare(key, best.key) < 0 {
				best, from = topRow{key, row}, i
			}
		}
		if from < 0 {
			break
		}
		next[from]++
		t.items = append(t.items, best)
	}
	t.items = t.items[min(int(max(t.n.Offset, 0)), len(t.items)):]
	return nil
}

func (t *topOp) close() {
	for _, s := range t.sinks {
		_ = s.(*topSink).held.set(0)
	}
	if t.late != nil {
		t.late.close()
	}
	t.items, t.sinks, t.ready, t.late = nil, nil, true, nil
}

// topSink keeps the best rows, for one goroutine. Behind each key stands where the row came from, so
// that no two are equal and ties go by the order of the scan.
type topSink struct {
	keys *sortKeys
	most int
	buf  spill.Buffer
	old  spill.Buffer // the memory of buf before the last cut
	held holding
	late bool // rows are read when they are known: only their keys are kept

	morsel, row uint32
	worst       []byte        // key of the last row that is kept; nil: everything is
	bound       vector.Vector // its first key
	shared      *topBound     // which is told of it; nil: nobody is
	key, enc    []byte
	pass        []int32
	vals        []int64
	few         []int32
}

func (s *topSink) begin(morsel int) error {
	s.morsel, s.row = uint32(morsel), 0
	return nil
}

func (s *topSink) end(int) error { return nil }

func (s *topSink) add(b *Batch) error {
	if err := s.keys.set(b); err != nil {
		return err
	}
	rows := b.rows()
	for _, k := range s.best(s.candidates(len(rows))) {
		s.key = s.keys.append(s.key[:0], int(k))
		s.key = binary.BigEndian.AppendUint32(s.key, s.morsel)
		at := s.row + uint32(k)
		if s.late {
			at = uint32(b.from) + uint32(rows[k])
		}
		s.key = binary.BigEndian.AppendUint32(s.key, at)
		if s.worst != nil && bytes.Compare(s.key, s.worst) >= 0 {
			continue
		}
		if s.enc = s.enc[:0]; !s.late {
			s.enc = appendRow(s.enc, b.Cols, int(rows[k]))
		}
		if err := s.buf.Add(s.key, s.enc, func(n int64) error { return s.held.set(n + s.old.Size()) }); err != nil {
			return err
		}
		// The first bound as soon as there can be one; then cut when that is worth a sort.
		if n := len(s.buf.Items); n >= 2*s.most+cutRows || s.worst == nil && n > s.most {
			if err := s.cut(); err != nil {
				return err
			}
		}
	}
	s.row += uint32(len(rows))
	return nil
}

// candidates are the rows whose first key is not worse than that of the worst kept row.
func (s *topSink) candidates(n int) []int32 {
	if s.worst == nil || len(s.keys.vecs) == 0 {
		return allRows[:n]
	}
	v, desc := s.keys.vecs[0], s.keys.desc[0]
	pass := s.pass[:0]
	switch {
	case s.bound.IsNull(0):
		if desc {
			return allRows[:n] // NULL comes last
		}
		for k := range n { // only NULLs are as good
			if v.IsNull(k) {
				pass = append(pass, int32(k))
			}
		}
	case v.HasNulls() || v.Const:
		for k := range n {
			c := compareRows(v, k, &s.bound, 0)
			if c == 0 || c < 0 != desc {
				pass = append(pass, int32(k))
			}
		}
	case v.Kind == vector.Int:
		pass = intCandidates(v, n, s.bound.Int(0), desc, pass)
	case v.Kind == vector.Float:
		bound := s.bound.Float64[0]
		for k, x := range v.Float64[:n] {
			if x == bound || x < bound != desc {
				pass = append(pass, int32(k))
			}
		}
	default:
		for k := range n {
			c := compareRows(v, k, &s.bound, 0)
			if c == 0 || c < 0 != desc {
				pass = append(pass, int32(k))
			}
		}
	}
	s.pass = pass
	return pass
}

// best leaves out candidates that others of the same batch surpass: in a scan that meets ever better rows
// all are candidates. Numbers only; there each costs a few steps, and an encoded row many.
func (s *topSink) best(cand []int32) []int32 {
	if len(cand) <= 4*s.most || len(s.keys.vecs) == 0 {
		return cand
	}
	v, desc := s.keys.vecs[0], s.keys.desc[0]
	if v.HasNulls() || v.Const || v.Kind != vector.Int && v.Kind != vector.Float {
		return cand
	}
	// As numbers of which the least are wanted.
	vals := grown(&s.vals, 2*len(cand))
	num, scratch := vals[:len(cand)], vals[len(cand):]
	for i, k := range cand {
		x := uint64(0)
		if v.Kind == vector.Int {
			x = uint64(v.Int(int(k)))
		} else {
			x = sortableFloat(v.Float64[k]) ^ signBit
		}
		if desc {
			x = ^x
		}
		num[i] = int64(x)
	}
	copy(scratch, num)
	bound := nth(scratch, s.most-1)
	few := s.few[:0]
	for i, k := range cand {
		if num[i] <= bound {
			few = append(few, k)
		}
	}
	s.few = few
	return few
}

// nth is the n-th least of vals, counted from 0; it changes their order.
func nth(vals []int64, n int) int64 {
	for len(vals) > 1 {
		a, b, c := vals[0], vals[len(vals)/2], vals[len(vals)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(vals)-1
		for i <= j {
			for vals[i] < pivot {
				i++
			}
			for vals[j] > pivot {
				j--
			}
			if i <= j {
				vals[i], vals[j] = vals[j], vals[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			vals = vals[:j+1]
		case n >= i:
			vals, n = vals[i:], n-i
		default:
			return pivot
		}
	}
	return vals[0]
}

func intCandidates(v *vector.Vector, n int, bound int64, desc bool, pass []int32) []int32 {
	switch {
	case v.Int8 != nil:
		return betterInts(v.Int8[:n], v.Base, bound, desc, pass)
	case v.Int16 != nil:
		return betterInts(v.Int16[:n], v.Base, bound, desc, pass)
	case v.Int32 != nil:
		return betterInts(v.Int32[:n], v.Base, bound, desc, pass)
	case v.Int64 != nil:
		return betterInts(v.Int64[:n], 0, bound, desc, pass)
	}
	if v.Base == bound || v.Base < bound != desc {
		return append(pass, allRows[:n]...)
	}
	return pass
}

func betterInts[T int8 | int16 | int32 | int64](vals []T, base, bound int64, desc bool, pass []int32) []int32 {
	if desc {
		for k, x := range vals {
			if base+int64(x) >= bound {
				pass = append(pass, int32(k))
			}
		}
		return pass
	}
	for k, x := range vals {
		if base+int64(x) <= bound {
			pass = append(pass, int32(k))
		}
	}
	return pass
}

// cut sorts, and keeps the best.
func (s *topSink) cut() error {
	s.buf.Sort()
	if len(s.buf.Items) < s.most || s.most == 0 {
		return nil
	}
	s.old.Reset()
	var key []byte
	for _, it := range s.buf.Items[:s.most] {
		k, row, _ := spill.Split(s.buf.Record(it))
		key = k
		if err := s.old.Add(key, row, func(n int64) error { return s.held.set(n + s.buf.Size()) }); err != nil {
			return err
		}
	}
	s.worst = append(s.worst[:0], key...)
	if len(s.keys.types) > 0 {
		s.bound = decodeSortKey(key, s.keys.types[0], s.keys.desc[0])
		if s.shared != nil {
			k := Const{T: s.keys.types[0], Null: true}
			if !s.bound.IsNull(0) {
				k = constOf(&s.bound, 0, k.T)
			}
			s.shared.tighten(k)
		}
	}
	s.buf, s.old = s.old, s.buf
	return nil
}
