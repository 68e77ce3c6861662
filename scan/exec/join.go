package exec

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"

	"millrace/internal/vector"
)

// joinOp is a hash join: one side is built into a table, the other probes it batch by batch, in its
// own order; matches come in the order of the built side.
type joinOp struct {
	run   *runner
	n     *Join
	side  *joinSide // nil: not built yet
	owns  bool      // side is to be given back
	probe operator
	parts joinParts // if it owns
	p     *program  // the probing side's keys
	look  *joinProbe
	res   *program // the residual, over both sides

	b       *Batch // the present batch of the probing side
	firsts  []int32
	keys    []*vector.Vector
	row     int   // the next of b's rows that count
	chain   int32 // where its chain goes on; -1: at its end, -2: not begun
	matched []bool
	loose   bool // b's unmatched rows are due

	lsel, rsel []int32 // the pairs being made: rows of b and of the table
	pairRow    []int32 // which of b's rows that count
	cols       []column
	vecs       []vector.Vector // of the pairs
	out        Batch
	passed     []int32
	origin     []int32
	truth      []int64  // of marks
	valid      []uint64 // of truth
	ended      bool
}

// joinSide is the built side of a join.
type joinSide struct {
	swapped bool // it is the left one (inner joins only)
	table   *joinTable
	held    holding
}

func checkJoin(n *Join) error {
	if len(n.LeftKeys) != len(n.RightKeys) {
		return fmt.Errorf("%w: join of %d and %d keys", ErrNotSupported, len(n.LeftKeys), len(n.RightKeys))
	}
	if n.Kind.nulls() && (len(n.LeftKeys) == 0 || n.Residual != nil) {
		return fmt.Errorf("%w: IN with a condition of its own", ErrNotSupported)
	}
	if n.Kind < Inner || n.Kind > MarkNull {
		return fmt.Errorf("%w: join of kind %d", ErrNotSupported, n.Kind)
	}
	for i := range n.LeftKeys {
		if n.LeftKeys[i].Type() != n.RightKeys[i].Type() {
			return fmt.Errorf("%w: join of keys of different types", ErrNotSupported)
		}
	}
	if err := checkExprs(n.Left.Schema(), n.LeftKeys...); err != nil {
		return err
	}
	if err := checkExprs(n.Right.Schema(), n.RightKeys...); err != nil {
		return err
	}
	return checkExprs(n.both(), n.Residual)
}

// both is what the residual looks at.
func (n *Join) both() []Type {
	return append(append([]Type(nil), n.Left.Schema()...), n.Right.Schema()...)
}

func (r *runner) join(n *Join) (operator, error) {
	return &joinOp{run: r, n: n}, nil
}

// joinSide builds one side of a join, or its rows that are in a part: the right one, but of an inner join the smaller.
func (r *runner) joinSide(ctx context.Context, n *Join, p part, seed maphash.Seed) (*joinSide, error) {
	s := &joinSide{held: holding{account: &r.memory}}
	build, keys := n.Right, n.RightKeys
	if n.Kind == Inner {
		left, err := r.estimate(ctx, n.Left)
		if err != nil {
			return nil, err
		}
		right, err := r.estimate(ctx, n.Right)
		if err != nil {
			return nil, err
		}
		if s.swapped = left < right; s.swapped {
			build, keys = n.Left, n.LeftKeys
		}
	}
	err := s.build(ctx, r, build, keys, p, seed)
	if err != nil {
		s.close()
	}
	return s, err
}

func (s *joinSide) close() {
	s.table = nil
	_ = s.held.set(0)
}

// probing is the side of a join that is not built, with its keys.
func (s *joinSide) probing(n *Join) (Node, []Expr) {
	if s.swapped {
		return n.Right, n.RightKeys
	}
	return n.Left, n.LeftKeys
}

// build reads one side into the table.
func (s *joinSide) build(ctx context.Context, r *runner, n Node, keys []Expr, only part, seed maphash.Seed) error {
	child, err := r.buildPart(n, keys, only, seed)
	if err != nil {
		return err
	}
	defer child.close()
	p, err := newProgram(n.Schema(), keys)
	if err != nil {
		return err
	}
	schema := n.Schema()
	cols, keyCols := make([]builder, len(schema)), make([]builder, len(keys))
	for i, t := range schema {
		cols[i].reset(t)
	}
	for i, k := range keys {
		keyCols[i].reset(k.Type())
	}
	rows, size := 0, int64(0)
	for {
		b, err := child.next(ctx)
		if done(err) {
			break
		}
		if err != nil {
			return err
		}
		coming := size
		for i := range cols {
			coming += textOf(&b.Cols[i], b.rows())
		}
		if err := s.held.set(coming); err != nil {
			return err
		}
		p.in.set(b)
		for i, ev := range p.evs {
			v, err := ev.eval(&p.in)
			if err != nil {
				return err
			}
			keyCols[i].appendAll(v, p.in.n)
		}
		for i := range cols {
			cols[i].appendRows(&b.Cols[i], b.rows())
		}
		rows += p.in.n
		size = int64(rows) * 40 // the table
		for i := range cols {
			size += cols[i].size()
			if schema[i].Kind == vector.String {
				size += cols[i].size() // there twice while it is coded
			}
			if err := cols[i].fits(); err != nil {
				return err
			}
		}
		for i := range keyCols {
			size += keyCols[i].size()
			if err := keyCols[i].fits(); err != nil {
				return err
			}
		}
		if err := s.held.set(size); err != nil {
			return err
		}
	}
	built, builtKeys := make([]vector.Vector, len(cols)), make([]vector.Vector, len(keyCols))
	for i := range cols {
		null := nullVector(schema[i], 1)
		cols[i].append1(&null, 0)
		built[i] = coded(cols[i].vector())
	}
	for i := range keyCols {
		builtKeys[i] = keyCols[i].vector()
	}
	s.table = newJoinTable(built, builtKeys, rows)
	return nil
}

// coded gives text a dictionary where that pays: rows of the built side come out again and again, and
// grouping them by codes costs less.
func coded(v vector.Vector) vector.Vector {
	if v.Kind != vector.String || v.Dict != nil || v.Const {
		return v
	}
	var t vector.Texts
	t.Reserve(v.Len)
	for i := range v.Len {
		if !v.IsNull(i) {
			t.Put(i, v.Text(i))
		}
	}
	return t.Take(v.Len, v.Valid)
}

// start readies the operator for a built side. The probing side's operator is set by the caller.
func (j *joinOp) start(s *joinSide) error {
	j.side, j.look = s, newJoinProbe(s.table)
	other, keys := s.probing(j.n)
	var err error
	if j.p, err = newProgram(other.Schema(), keys); err != nil {
		return err
	}
	if j.n.Residual != nil {
		if j.res, err = newProgram(j.n.both(), []Expr{j.n.Residual}); err != nil {
			return err
		}
	}
	j.keys = make([]*vector.Vector, len(keys))
	j.cols = make([]column, len(j.n.both()))
	return nil
}

func (j *joinOp) next(ctx context.Context) (*Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err // every row may be compared with every other one
		}
		if j.side == nil && !j.ended {
			if err := j.open(ctx); err != nil {
				return nil, err
			}
		}
		if j.b == nil {
			if j.ended {
				return nil, io.EOF
			}
			b, err := j.probe.next(ctx)
			if done(err) && j.owns {
				j.finish()
				continue
			}
			if err != nil {
				return nil, err
			}
			if err := j.begin(b); err != nil {
				return nil, err
			}
			if j.n.Kind.onlyMatch() && j.res == nil {
				j.b = nil
				if out, err := j.keep(ctx, b); out != nil || err != nil {
					return out, err
				}
				continue
			}
		}
		out, err := j.step(ctx)
		if err != nil {
			return nil, err
		}
		if out != nil {
			return out, nil
		}
	}
}

// begin looks a batch of the probing side up.
func (j *joinOp) begin(b *Batch) error {
	j.p.in.set(b)
	for i, ev := range j.p.evs {
		v, err := ev.eval(&j.p.in)
		if err != nil {
			return err
		}
		j.keys[i] = v
	}
	n := j.p.in.n
	if len(j.keys) == 0 { // every row matches every row
		j.firsts = grown(&j.look.first, n)
		first := int32(-1)
		if j.side.table.rows > 0 {
			first = 0
		}
		fillWith(j.firsts, first)
	} else {
		j.firsts = j.look.firsts(j.keys, n)
	}
	j.b, j.row, j.chain, j.loose = b, 0, -2, false
	if j.n.Kind != Inner {
		clear(grown(&j.matched, n))
	}
	return nil
}

// keep is the batch with the rows that a semi or anti join keeps, nil for none, or with marks.
func (j *joinOp) keep(ctx context.Context, b *Batch) (*Batch, error) {
	if j.n.Kind.marks() {
		return j.mark(ctx, b, func(k int) bool { return j.firsts[k] >= 0 })
	}
	rows := b.rows()
	kept := j.passed[:0]
	for k, first := range j.firsts {
		var keep bool
		switch j.n.Kind {
		case Semi:
			keep = first >= 0
		case Anti:
			keep = first < 0
		case AntiNull:
			if first < 0 {
				unknown, err := j.look.unknown(ctx, j.keys, k)
				if err != nil {
					return nil, err
				}
				keep = !unknown
			}
		}
		if keep {
			kept = append(kept, rows[k])
		}
	}
	j.passed = kept
	if len(kept) == 0 {
		return nil, nil
	}
	j.out = Batch{Len: b.Len, Sel: kept, Cols: b.Cols, origin: b.origin}
	return &j.out, nil
}

// mark is the batch with a column that says which of its rows have a match.
func (j *joinOp) mark(ctx context.Context, b *Batch, has func(k int) bool) (*Batch, error) {
	truth, valid := grown(&j.truth, b.Len), grown(&j.valid, words(b.Len))
	fillWith(valid, ^uint64(0))
	nulls := 0
	for k, row := range b.rows() {
		truth[row] = int64(b2i(has(k)))
		if truth[row] != 0 || j.n.Kind != MarkNull {
			continue
		}
		unknown, err := j.look.unknown(ctx, j.keys, k)
		if err != nil {
			return nil, err
		}
		if unknown {
			valid[row>>6] &^= 1 << (row & 63)
			nulls++
		}
	}
	v := vector.Vector{Kind: vector.Int, Len: b.Len, Int64: truth}
	if nulls > 0 {
		v.Valid, v.Nulls = valid, nulls
	}
	j.vecs = append(append(j.vecs[:0], b.Cols...), v)
	j.out = Batch{Len: b.Len, Sel: b.Sel, Cols: j.vecs, origin: b.origin}
	return &j.out, nil
}

// step makes the next batch of pairs, or of rows without a match; nil when it came to nothing.
func (j *joinOp) step(ctx context.Context) (*Batch, error) {
	if j.loose {
		b := j.b
		j.b = nil
		return j.unmatched(ctx, b)
	}
	j.pairs()
	if j.row == len(j.firsts) {
		if j.loose = j.n.Kind != Inner; !j.loose {
			defer func() { j.b = nil }()
		}
	}
	if len(j.lsel) == 0 {
		return nil, nil
	}
	b := j.assemble(j.b, j.lsel, j.rsel)
	if j.res != nil {
		j.res.in.set(b)
		v, err := j.res.evs[0].eval(&j.res.in)
		if err != nil {
			return nil, err
		}
		sel := j.passed[:0]
		for k := range b.Len {
			if !v.IsNull(k) && v.Int(k) != 0 {
				sel = append(sel, int32(k))
				if j.n.Kind != Inner {
					j.matched[j.pairRow[k]] = true
				}
			}
		}
		j.passed = sel
		if len(sel) == 0 {
			return nil, nil
		}
		b.Sel = sel
	} else if j.n.Kind == LeftOuter {
		for _, k := range j.pairRow {
			j.matched[k] = true
		}
	}
	if j.n.Kind.onlyMatch() {
		return nil, nil // only who matched is of interest
	}
	return b, nil
}

// pairs lists up to chunkRows matches of the present batch.
func (j *joinOp) pairs() {
	rows := j.b.rows()
	j.lsel, j.rsel, j.pairRow = j.lsel[:0], j.rsel[:0], j.pairRow[:0]
	if j.side.table.unique && j.n.Kind == LeftOuter && j.res == nil {
		// Each row comes out once, and so in its place.
		none := int32(j.side.table.rows)
		for k, first := range j.firsts {
			if first < 0 {
				first = none
			}
			j.lsel, j.rsel = append(j.lsel, rows[k]), append(j.rsel, first)
			j.matched[k] = true
		}
		j.row = len(j.firsts)
		return
	}
	if j.side.table.unique && j.n.Kind == Inner {
		l, r := grown(&j.lsel, len(j.firsts)), grown(&j.rsel, len(j.firsts))
		n := 0
		for k, first := range j.firsts {
			l[n], r[n] = rows[k], first
			n += b2i(first >= 0)
		}
		j.lsel, j.rsel, j.row = l[:n], r[:n], len(j.firsts)
		return
	}
	for ; j.row < len(j.firsts); j.row++ {
		if j.chain == -2 {
			j.chain = j.firsts[j.row]
		} else if j.n.Kind.onlyMatch() && j.matched[j.row] {
			j.chain = -1 // one match will do
		}
		for j.chain >= 0 {
			if len(j.lsel) == chunkRows {
				return
			}
			j.lsel = append(j.lsel, rows[j.row])
			j.rsel = append(j.rsel, j.chain)
			j.pairRow = append(j.pairRow, int32(j.row))
			if len(j.keys) == 0 {
				if j.chain++; int(j.chain) == j.side.table.rows {
					j.chain = -1
				}
			} else {
				j.chain = j.side.table.next[j.chain]
			}
		}
		j.chain = -2
	}
}

// assemble gathers rows of a batch of the probing side and of the table.
func (j *joinOp) assemble(probe *Batch, prows, trows []int32) *Batch {
	j.vecs = j.vecs[:0]
	left, right, lrows, rrows := probe.Cols, j.side.table.cols, prows, trows
	if j.side.swapped {
		left, right, lrows, rrows = right, left, rrows, lrows
	}
	for i := range left {
		j.vecs = append(j.vecs, j.gather(i, &left[i], lrows))
	}
	for i := range right {
		j.vecs = append(j.vecs, j.gather(len(left)+i, &right[i], rrows))
	}
	j.out = Batch{Len: len(prows), Cols: j.vecs}
	if probe.origin != nil {
		j.out.origin = take(&j.origin, probe.origin, prows)
	}
	return &j.out
}

// gather makes column c of the pairs; what nobody above looks at is NULL.
func (j *joinOp) gather(c int, v *vector.Vector, rows []int32) vector.Vector {
	if wants := j.run.wants[j.n]; wants != nil && !wants[c] {
		return nullVector(Type{Kind: v.Kind, Scale: v.Scale}, len(rows))
	}
	return *j.cols[c].gather(v, rows)
}

// unmatched are the rows of b, the present batch, without a match, with NULLs on the right, or as
// they are; of a semi join those with one, of marks all. nil for none.
func (j *joinOp) unmatched(ctx context.Context, b *Batch) (*Batch, error) {
	if j.n.Kind.marks() {
		return j.mark(ctx, b, func(k int) bool { return j.matched[k] })
	}
	rows := b.rows()
	j.lsel, j.rsel = j.lsel[:0], j.rsel[:0]
	for k, m := range j.matched[:len(j.firsts)] {
		if m == (j.n.Kind == Semi) {
			j.lsel, j.rsel = append(j.lsel, rows[k]), append(j.rsel, int32(j.side.table.rows))
		}
	}
	if len(j.lsel) == 0 {
		return nil, nil
	}
	if j.n.Kind != LeftOuter {
		j.out = Batch{Len: b.Len, Sel: j.lsel, Cols: b.Cols, origin: b.origin}
		return &j.out, nil
	}
	return j.assemble(b, j.lsel, j.rsel), nil
}

func (j *joinOp) close() {
	if j.owns {
		j.finish()
	} else if j.probe != nil {
		j.probe.close()
	}
	j.ended, j.b = true, nil
}

// estimate is about how many rows n yields at most, to choose the side of a join that is built.
func (r *runner) estimate(ctx context.Context, n Node) (int64, error) {
	switch n := n.(type) {
	case *Scan:
		blocks, err := n.Source.Blocks(ctx, n.Table, n.Columns, n.Prune)
		if err != nil {
			return 0, err
		}
		rows := int64(0)
		for _, b := range blocks {
			rows += int64(b.Rows())
		}
		return rows, nil
	case *Values:
		return int64(n.Rows), nil
	case *Limit:
		rows, err := r.estimate(ctx, n.Child)
		if n.Count >= 0 {
			rows = min(rows, n.Count)
		}
		return rows, err
	case *Sort:
		rows, err := r.estimate(ctx, n.Child)
		if n.Limit >= 0 {
			rows = min(rows, n.Limit)
		}
		return rows, err
	}
	total := int64(0)
	for _, c := range children(n) {
		rows, err := r.estimate(ctx, c)
		if err != nil {
			return 0, err
		}
		total += rows
	}
	if f, ok := n.(*Filter); ok && f != nil {
		total = (total + 1) / 2 // of two sides alike the filtered one is built
	}
	return total, nil
}
