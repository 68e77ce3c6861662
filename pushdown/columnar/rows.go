package columnar

import (
	"errors"
	"io"

	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
)

// Rows are the rows of a plan that it runs, for the engine's nodes above. It closes it.
func (p *Plan) Rows(it exec.Iter) sql.RowIter { return &columnRows{iter: it, plan: p} }

// columnRows turns batches into rows of the engine.
type columnRows struct {
	iter  exec.Iter
	plan  *Plan
	batch *exec.Batch
	read  []func(i int) any
	next  int
	slab  []any
}

// slabRows is how many rows share an allocation.
const slabRows = 128

// Next implements sql.RowIter.
func (it *columnRows) Next(ctx *sql.Context) (sql.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // a join above may do much for each row
	}
	for it.batch == nil || it.next >= it.batch.Rows() {
		if it.iter == nil {
			return nil, io.EOF
		}
		b, err := it.iter.Next(ctx)
		if err != nil {
			it.batch, it.read = nil, nil
			return nil, asMySQL(err)
		}
		it.batch, it.next = b, 0
		it.read = it.read[:0]
		for _, c := range it.plan.Columns {
			it.read = append(it.read, c.Form.Cell(&b.Cols[c.At], it.plan.Zone))
		}
	}
	w := len(it.read)
	if len(it.slab) < w {
		it.slab = make([]any, w*min(slabRows, it.batch.Rows()-it.next))
	}
	row := sql.Row(it.slab[:w:w])
	it.slab = it.slab[w:]
	i := it.next
	if it.batch.Sel != nil {
		i = int(it.batch.Sel[i])
	}
	for c, read := range it.read {
		row[c] = read(i)
	}
	it.next++
	return row, nil
}

// Close implements sql.RowIter.
func (it *columnRows) Close(*sql.Context) error {
	if it.iter != nil {
		it.iter.Close()
		it.iter, it.batch = nil, nil
	}
	return nil
}

// asMySQL keeps the end of rows apart from errors.
func asMySQL(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return err
}
