package sqltable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/internal/topicconfig"
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// drift is what the records of a topic have in one column.
type drift struct {
	counted          bool
	records, present int64
	first, last      seenAt
}

// seenAt is one record.
type seenAt struct {
	ok        bool
	partition int32
	offset    int64
	at        int64 // Unix ms; -1: unknown
}

// cells are those of driftColumns.
func (d drift) cells(zone *Zone) []any {
	if !d.counted {
		return make([]any, len(driftColumns))
	}
	var share, rest any
	if d.records > 0 {
		s := float64(d.present) / float64(d.records)
		share, rest = s, 1-s
	}
	out := []any{d.records, d.present, share, rest}
	for _, s := range []seenAt{d.first, d.last} {
		if !s.ok {
			out = append(out, nil, nil, nil)
			continue
		}
		out = append(out, s.partition, s.offset, wallOf(zone, s.at))
	}
	return out
}

// places of a block that is opened for what stands at the ends of its columns.
var placeScan = []scan.Column{{Kind: scan.Partition}, {Kind: scan.Offset}, {Kind: scan.Timestamp}}

// counted are the columns of a topic that are counted: the expanded ones, then _rest if there is one.
func counted(t *catalog.Table) []scan.Column {
	cols := make([]scan.Column, len(t.Expanded), len(t.Expanded)+1+len(placeScan))
	for i := range cols {
		cols[i] = scan.Column{Kind: scan.Expanded, Index: i}
	}
	if t.Rest {
		cols = append(cols, scan.Column{Kind: scan.Rest})
	}
	return cols
}

// driftOf counts the columns of a topic. Of blocks whose statistics say everything nothing is read but where a
// column begins and ends.
func driftOf(q topicQuery, t *catalog.Table) ([]drift, error) {
	cols := counted(t)
	out := make([]drift, len(cols))
	source := q.p.statement(q.ctx).Columns()
	if source == nil {
		return out, nil
	}
	for i := range out {
		out[i].counted = true
	}
	blocks, err := source.Blocks(q.ctx, t, append(cols, placeScan...), nil)
	if err != nil {
		return nil, err
	}
	d := drifter{ctx: q.ctx, cols: cols, out: out, present: make([][]int64, len(blocks)), ends: q.needsAny(driftColumns[4:])}
	for i, b := range blocks {
		if err := d.count(i, b); err != nil {
			return nil, err
		}
	}
	if d.ends {
		for i, b := range blocks {
			if err := d.look(i, b); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// drifter goes over the blocks of a topic.
type drifter struct {
	ctx     context.Context
	cols    []scan.Column
	out     []drift
	present [][]int64 // by block and column
	ends    bool      // first and last are wanted, too
}

// count adds up what block i has in each column. Those without statistics are opened together: what has to be
// expanded is expanded once.
func (d *drifter) count(i int, b exec.Block) error {
	present := make([]int64, len(d.cols))
	d.present[i] = present
	var open []scan.Column
	var opened []int // in d.cols
	rows := -1
	for c, col := range d.cols {
		st, ok := b.Stats(col)
		if !ok || !st.Exact || st.Nulls < 0 {
			open, opened = append(open, col), append(opened, c)
			continue
		}
		rows = b.Rows()
		present[c] = int64(rows - st.Nulls)
	}
	if len(open) > 0 {
		vecs, from, to, release, err := b.Open(d.ctx, open)
		if err != nil {
			return err
		}
		rows = to - from
		for k, c := range opened {
			present[c] = int64(to - from - nullsIn(vecs[k], from, to))
		}
		release()
	}
	for c := range d.out {
		d.out[c].records += int64(max(rows, 0))
		d.out[c].present += present[c]
	}
	return nil
}

// nullsIn counts the NULLs of rows [from, to).
func nullsIn(v *vector.Vector, from, to int) (n int) {
	if !v.HasNulls() {
		return 0
	}
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			n++
		}
	}
	return n
}

// look finds where columns begin and end in block i, where that may be before or after all that was found.
func (d *drifter) look(i int, b exec.Block) error {
	var open []scan.Column
	var opened []int // in d.cols
	for c, n := range d.present[i] {
		if n > 0 && d.mayMatter(c, b) {
			open, opened = append(open, d.cols[c]), append(opened, c)
		}
	}
	if len(open) == 0 {
		return nil
	}
	vecs, from, to, release, err := b.Open(d.ctx, append(open, placeScan...))
	if err != nil {
		return err
	}
	defer release()
	place := vecs[len(open):]
	record := func(row int) seenAt {
		at := int64(-1)
		if !place[2].IsNull(row) {
			at = place[2].Int(row)
		}
		return seenAt{true, int32(place[0].Int(row)), place[1].Int(row), at}
	}
	for k, c := range opened {
		o := &d.out[c]
		for row := from; row < to; row++ {
			if !vecs[k].IsNull(row) {
				if s := record(row); !o.first.ok || s.before(o.first) {
					o.first = s
				}
				break
			}
		}
		for row := to - 1; row >= from; row-- {
			if !vecs[k].IsNull(row) {
				if s := record(row); !o.last.ok || o.last.before(s) {
					o.last = s
				}
				break
			}
		}
	}
	return nil
}

// mayMatter says whether block b may hold an earlier first, or a later last record of column c than is known.
func (d *drifter) mayMatter(c int, b exec.Block) bool {
	o := &d.out[c]
	st, ok := b.Stats(placeScan[2])
	if !o.first.ok || !ok || !st.HasMin || !st.HasMax || o.first.at < 0 || o.last.at < 0 {
		return true
	}
	return st.Min.Int <= o.first.at || st.Max.Int >= o.last.at
}

// before orders records by time; without times by place.
func (s seenAt) before(o seenAt) bool {
	if s.at != o.at {
		return s.at < o.at
	}
	if s.partition != o.partition {
		return s.partition < o.partition
	}
	return s.offset < o.offset
}

// notedBlock is a block that keeps what was counted of its rows for the next who asks the same.
type notedBlock interface {
	Noted(of string, count func(partition int32, from, to int64) ([]int64, error)) ([]int64, error)
}

// misfitsOf counts the records whose value does not fit a column, by column. Inferred columns fit what they were
// inferred from, so that only declared ones have any. Of each block the records are read once for a declaration.
func misfitsOf(ctx context.Context, stmt *StatementSnapshot, t *catalog.Table) ([]int64, error) {
	out := make([]int64, len(t.Expanded))
	var declared []int // in Expanded
	for i, c := range t.Expanded {
		if c.Declared {
			declared = append(declared, i)
		}
	}
	if len(declared) == 0 {
		return out, nil
	}
	count := func(where scan.Expr) ([]int64, error) {
		all, err := countMisfits(ctx, stmt, t, where)
		if err != nil {
			return nil, err
		}
		few := make([]int64, len(declared))
		for k, i := range declared {
			few[k] = all[i]
		}
		return few, nil
	}
	add := func(few []int64) {
		for k, i := range declared {
			out[i] += few[k]
		}
	}
	source := stmt.Columns()
	if source == nil {
		few, err := count(nil)
		if err == nil {
			add(few)
		}
		return out, err
	}
	partition, offset := scan.Column{Kind: scan.Partition}, scan.Column{Kind: scan.Offset}
	blocks, err := source.Blocks(ctx, t, []scan.Column{offset}, nil)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("misfits %s %s", t.Config.ValueFormat, t.Config.Columns)
	for _, b := range blocks {
		n, ok := b.(notedBlock)
		if !ok {
			return nil, fmt.Errorf("sqltable: a block of %T keeps no counts", b)
		}
		few, err := n.Noted(of, func(p int32, from, to int64) ([]int64, error) {
			return count(scan.And{Args: []scan.Expr{
				scan.Compare{Column: partition, Op: scan.EQ, Value: scan.Literal{Int: int64(p)}},
				scan.Compare{Column: offset, Op: scan.GE, Value: scan.Literal{Int: from}},
				scan.Compare{Column: offset, Op: scan.LT, Value: scan.Literal{Int: to}},
			}})
		})
		if err != nil {
			return nil, err
		}
		add(few)
	}
	return out, nil
}

// countMisfits reads records for misfitsOf; where nil, all.
func countMisfits(ctx context.Context, stmt *StatementSnapshot, t *catalog.Table, where scan.Expr) ([]int64, error) {
	out := make([]int64, len(t.Expanded))
	count := misfitCounter(t, out)
	isError := scan.Column{Kind: scan.Error}
	r, err := scan.Open(scan.Request{
		Source: scan.FromSnapshot(stmt.Snapshot()), Table: t,
		Columns: []scan.Column{isError, {Kind: scan.RawValue}},
		Filter:  both(where, scan.Not{Arg: scan.IsNull{Column: isError}}),
	})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		texts, ok := b.Column(0).(array.StringLike)
		values, isBinary := b.Column(1).(*array.Binary)
		if !ok || !isBinary {
			b.Release()
			return nil, fmt.Errorf("sqltable: errors as %s, values as %s", b.Column(0).DataType(), b.Column(1).DataType())
		}
		for i := range int(b.NumRows()) {
			var value []byte
			if !values.IsNull(i) {
				value = values.Value(i)
			}
			count(texts.Value(i), value)
		}
		b.Release()
	}
}

// misfitCounter counts, in out, the columns that one record's error and value are about.
func misfitCounter(t *catalog.Table, out []int64) func(text string, value []byte) {
	if t.Config.ValueFormat == topicconfig.FormatCSV {
		return func(text string, _ []byte) {
			for part := range strings.SplitSeq(text, "; ") {
				for i, c := range t.Expanded {
					if strings.HasPrefix(part, c.Name+": found ") {
						out[i]++
						break
					}
				}
			}
		}
	}
	// The text names no more than a few columns, so each is asked again.
	whole := blobexpand.NewChecker(nil)
	single := make([]*blobexpand.Checker, len(t.Expanded))
	for i, c := range t.Expanded {
		if c.Declared {
			single[i] = blobexpand.NewChecker([]blobexpand.Column{c})
		}
	}
	return func(_ string, value []byte) {
		if whole.Check(value) != nil {
			return // no JSON: that is no column's fault
		}
		for i, c := range single {
			if c != nil && c.Check(value) != nil {
				out[i]++
			}
		}
	}
}

func fieldText(n int) string { return fmt.Sprintf("field %d", n) }

// isNoTable says that a topic is no table.
func isNoTable(err error) bool { return errors.Is(err, state.ErrUnknownTopic) }
