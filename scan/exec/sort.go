package exec

import (
	"context"
	"errors"
	"io"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec/spill"
)

// sortOp is a Sort of many rows, stable in the order of its child. When the budget is used up, the
// rows there are go sorted into a spill file; in the end the files are merged.
type sortOp struct {
	run   *runner
	n     *Sort
	child operator
	keys  *sortKeys
	held  holding

	buf    spill.Buffer
	at     int // in buf
	runs   []*spill.Run
	merged *spill.Merge // of the runs; nil: all rows are in buf
	skip   int64
	left   int64 // rows to yield; −1: all

	ready bool
	rows  rowBatch
}

func (r *runner) sort(n *Sort) (operator, error) {
	if n.Limit >= 0 && n.Limit <= topRows && n.Offset <= topRows-n.Limit {
		return &topOp{run: r, n: n}, nil
	}
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	keys, err := newSortKeys(n.Child.Schema(), n.Keys)
	if err != nil {
		return nil, err
	}
	return &sortOp{run: r, n: n, child: child, keys: keys, held: holding{account: &r.memory}, skip: max(n.Offset, 0), left: n.Limit}, nil
}

func (s *sortOp) next(ctx context.Context) (*Batch, error) {
	if !s.ready {
		if err := s.gather(ctx); err != nil {
			return nil, err
		}
		s.ready = true
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.rows.reset(s.n.Schema())
	for !s.rows.full() && s.left != 0 {
		row, err := s.row()
		if err != nil {
			return nil, err
		}
		if row == nil {
			break
		}
		if s.skip > 0 {
			s.skip--
		} else {
			s.rows.add(row)
			s.left = max(s.left-1, -1)
		}
		if s.merged != nil {
			if err := s.merged.Advance(); err != nil {
				return nil, err
			}
		}
	}
	if s.rows.n == 0 {
		return nil, io.EOF
	}
	return s.rows.batch(), nil
}

// row is the next row, nil at the end. Of a merge it is valid until the merge advances.
func (s *sortOp) row() ([]byte, error) {
	if s.merged != nil {
		return s.merged.Row(), nil
	}
	if s.at == len(s.buf.Items) {
		return nil, nil
	}
	_, row, _ := spill.Split(s.buf.Record(s.buf.Items[s.at]))
	s.at++
	return row, nil
}

// gather reads the child.
func (s *sortOp) gather(ctx context.Context) error {
	var key, row []byte
	for {
		b, err := s.child.next(ctx)
		if done(err) {
			break
		}
		if err != nil {
			return err
		}
		if err := s.keys.set(b); err != nil {
			return err
		}
		for k, i := range b.rows() {
			key = s.keys.append(key[:0], k)
			row = appendRow(row[:0], b.Cols, int(i))
			err := s.buf.Add(key, row, s.held.set)
			if errors.Is(err, scan.ErrMemory) && s.run.opts.Spill != nil && len(s.buf.Items) > 0 {
				if err = s.spill(); err == nil {
					err = s.buf.Add(key, row, s.held.set)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	if len(s.runs) == 0 {
		s.buf.Sort()
		return nil
	}
	if len(s.buf.Items) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.buf = spill.Buffer{}
	if err := s.held.set(int64(len(s.runs)) * spill.BufferBytes); err != nil {
		return err
	}
	var err error
	s.merged, err = spill.NewMerge(s.runs)
	return err
}

// spill writes what is in memory as a run. The memory is kept for the next one.
func (s *sortOp) spill() error {
	s.buf.Sort()
	run, err := spill.Write(s.run.opts.Spill, &s.buf)
	if run != nil {
		s.runs = append(s.runs, run)
	}
	if err != nil {
		return err
	}
	if st := s.run.stats[s.n]; st != nil {
		st.Spilled += run.Size
	}
	s.buf.Reset()
	return nil
}

func (s *sortOp) close() {
	s.child.close()
	for _, r := range s.runs {
		_ = r.Close() // it is gone either way
	}
	s.buf, s.runs, s.merged = spill.Buffer{}, nil, nil
	_ = s.held.set(0)
}

// sortKeys evaluates the criteria of an order, for one goroutine.
type sortKeys struct {
	p     *program
	types []Type
	desc  []bool
	vecs  []*vector.Vector
}

func newSortKeys(schema []Type, keys []SortKey) (*sortKeys, error) {
	k := &sortKeys{vecs: make([]*vector.Vector, len(keys))}
	exprs := make([]Expr, len(keys))
	for i, s := range keys {
		exprs[i] = s.Expr
		k.types = append(k.types, s.Expr.Type())
		k.desc = append(k.desc, s.Desc)
	}
	var err error
	k.p, err = newProgram(schema, exprs)
	return k, err
}

// set evaluates the criteria for the rows of b that count.
func (k *sortKeys) set(b *Batch) error {
	k.p.in.set(b)
	for i, ev := range k.p.evs {
		v, err := ev.eval(&k.p.in)
		if err != nil {
			return err
		}
		k.vecs[i] = v
	}
	return nil
}

// append appends the key of the i-th row that counts.
func (k *sortKeys) append(dst []byte, i int) []byte {
	for c, v := range k.vecs {
		dst = appendSortKey(dst, v, i, k.desc[c])
	}
	return dst
}

// rowBatch makes a batch of encoded rows.
type rowBatch struct {
	cols  []builder
	n     int
	bytes int
	out   Batch
}

// batchBytes ends a batch of wide rows before it has chunkRows of them.
const batchBytes = 8 << 20

func (r *rowBatch) full() bool { return r.n == chunkRows || r.bytes >= batchBytes }

func (r *rowBatch) reset(schema []Type) {
	if r.cols == nil {
		r.cols = make([]builder, len(schema))
	}
	for i, t := range schema {
		r.cols[i].reset(t)
	}
	r.n, r.bytes = 0, 0
}

func (r *rowBatch) add(row []byte) {
	decodeRow(row, r.cols)
	r.n++
	r.bytes += len(row)
}

func (r *rowBatch) batch() *Batch {
	r.out.Len, r.out.Cols = r.n, r.out.Cols[:0]
	for i := range r.cols {
		r.out.Cols = append(r.out.Cols, r.cols[i].vector())
	}
	return &r.out
}
