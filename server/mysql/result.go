package mysql

import (
	"errors"
	"io"
	"math"
	"time"

	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// write sends an answer as it is produced: memory holds one row and one write buffer, and a client
// that reads slowly slows the statement down. more: another statement's result follows.
// failed: an error was answered, in place of the result or after some of its rows. err ends the
// connection.
func (c *conn) write(r *running, a *answer, binary, more bool) (failed bool, err error) {
	defer a.close(r.ctx)
	status := c.status()
	if more {
		status |= wire.MoreResultsExists
	}
	if a.schema == nil {
		ok := a.ok
		ok.Status, ok.Warnings = status, c.warnings()
		return false, c.wc.WriteOK(ok)
	}
	if a.columns != nil {
		return c.writeColumns(r, a, binary, status)
	}
	// The first row before the columns: what fails at once fails without a result set.
	row, rerr := next(r.ctx, a.iter)
	if rerr != nil && !errors.Is(rerr, io.EOF) {
		return true, c.writeError(r.ctx, rerr)
	}
	e := newEncoder(r.ctx, a.schema)
	a.origins.name(e.columns)
	if err := c.wc.WriteColumns(e.columns, status, c.warnings()); err != nil {
		return false, err
	}
	sent := int64(0)
	for rerr == nil {
		values, verr := e.encode(r.ctx, row)
		if verr != nil {
			return true, c.writeError(r.ctx, verr)
		}
		if binary {
			err = c.wc.WriteBinaryRow(e.columns, values)
		} else {
			err = c.wc.WriteTextRow(values)
		}
		if err != nil {
			return false, err
		}
		sent++
		row, rerr = next(r.ctx, a.iter)
	}
	c.s.metrics.rows.Add(float64(sent))
	r.sent = sent
	if !errors.Is(rerr, io.EOF) {
		return true, c.writeError(r.ctx, rerr)
	}
	if cerr := a.iter.Close(r.ctx); cerr != nil {
		a.iter = nil
		return true, c.writeError(r.ctx, cerr)
	}
	a.iter = nil
	found := sent
	if a.found != nil {
		found = a.found.found
	}
	c.sess.SetLastQueryInfoInt(sql.FoundRows, found)
	return false, c.wc.WriteEnd(status, c.warnings())
}

// next returns the next row. The end of rows in a cancelled statement is no end: some of the
// engine's iterators cannot tell the two apart.
func next(ctx *sql.Context, iter sql.RowIter) (sql.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	row, err := iter.Next(ctx)
	if err != nil {
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
	}
	return row, err
}

// encoder turns rows into the texts of the protocol; its buffers are reused row by row.
type encoder struct {
	schema  sql.Schema
	columns []wire.Column
	values  [][]byte
	scratch []byte
}

func newEncoder(ctx *sql.Context, schema sql.Schema) *encoder {
	return &encoder{schema: schema, columns: columns(ctx, schema), values: make([][]byte, len(schema)), scratch: make([]byte, 0, 4096)}
}

// encode returns the row's values, valid until the next call.
func (e *encoder) encode(ctx *sql.Context, row sql.Row) ([][]byte, error) {
	e.scratch = e.scratch[:0]
	for i, col := range e.schema {
		v := row[i]
		if v == nil {
			e.values[i] = nil
			continue
		}
		if t, ok := v.(time.Time); ok && isTime(col.Type) {
			e.values[i] = e.time(t, &e.columns[i])
			continue
		}
		if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
			return nil, sqlerr.New(1690, "22003", "DOUBLE value is out of range in column '%s'", col.Name)
		}
		if types.IsFloat(col.Type) || types.IsTextOnly(col.Type) {
			if b, ok, err := e.double(ctx, v, col.Type); err != nil {
				return nil, err
			} else if ok {
				e.values[i] = b
				continue
			}
		}
		if j, ok := v.(sql.JSONWrapper); ok {
			text, err := sqltable.TextOfJSON(j)
			if err != nil {
				return nil, err
			}
			at := len(e.scratch)
			e.scratch = append(e.scratch, text...)
			e.values[i] = e.scratch[at:len(e.scratch):len(e.scratch)]
			continue
		}
		at := len(e.scratch)
		s, err := col.Type.SQL(ctx, e.scratch[at:at], v)
		if err != nil {
			return nil, err
		}
		if s.IsNull() {
			e.values[i] = nil
			continue
		}
		b := s.ToBytes()
		if b == nil {
			b = []byte{}
		}
		e.values[i] = b
		// Whether the value lies in scratch or elsewhere, its room is not used again.
		if at+len(b) <= cap(e.scratch) {
			e.scratch = e.scratch[:at+len(b)]
		}
	}
	return e.values, nil
}

// double spells a value of a column of type t that is a floating-point number or, in a text column,
// happens to be one; false for any other.
func (e *encoder) double(ctx *sql.Context, v any, t sql.Type) ([]byte, bool, error) {
	if types.IsFloat(t) {
		c, _, err := t.Convert(ctx, v)
		if err != nil {
			return nil, false, err
		}
		v = c
	}
	at := len(e.scratch)
	switch f := v.(type) {
	case float64:
		e.scratch = sqltable.AppendDouble(e.scratch, f, 64)
	case float32:
		e.scratch = sqltable.AppendDouble(e.scratch, float64(f), 32)
	default:
		return nil, false, nil
	}
	return e.scratch[at:len(e.scratch):len(e.scratch)], true, nil
}

// time formats with as many fraction digits as the column has; one of computed times with six, which is what the
// engine says of most, shows what there is.
func (e *encoder) time(t time.Time, col *wire.Column) []byte {
	layout := "2006-01-02 15:04:05"
	switch {
	case col.Type == wire.TypeDate:
		layout = "2006-01-02"
	case col.Decimals > 0 && (col.Decimals < 6 || col.Table != "" && col.Schema != ""):
		layout += ".000000"[:1+int(col.Decimals)]
	case t.Nanosecond() != 0:
		layout += ".000000"
	}
	at := len(e.scratch)
	if t.Year() <= 0 {
		// The zero date, which has no other spelling in Go.
		zero := []byte("0000-00-00 00:00:00")
		if col.Type == wire.TypeDate {
			zero = zero[:10]
		}
		e.scratch = append(e.scratch, zero...)
	} else {
		e.scratch = t.AppendFormat(e.scratch, layout)
	}
	return e.scratch[at:len(e.scratch):len(e.scratch)]
}

// isTime says whether t is DATE, DATETIME or TIMESTAMP.
func isTime(t sql.Type) bool {
	_, ok := t.(sql.DatetimeType)
	return ok
}
