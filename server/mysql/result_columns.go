package mysql

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"millrace/catalog/sqltable"
	"millrace/internal/vector"
	"millrace/pushdown"
	"millrace/pushdown/columnar"
	"millrace/pushdown/exact"
	"millrace/pushdown/form"
	"millrace/scan/exec"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// columnWriter sends a result from the batches that the vectorised engine yields: no row is made
// of interfaces, and memory holds one batch and one write buffer.
type columnWriter struct {
	res     *pushdown.Result
	columns []wire.Column
	binary  bool

	batch *exec.Batch
	cells []cell
	next  int
}

// cell appends row i of a vector to a packet, in the protocol's form; never called where it is NULL.
type cell func(b []byte, i int) ([]byte, error)

func newColumnWriter(ctx *sql.Context, res *pushdown.Result, schema sql.Schema, binary bool) *columnWriter {
	return &columnWriter{res: res, columns: columns(ctx, schema), binary: binary}
}

// sendsText says whether text goes to the client as it is stored.
func sendsText(ctx *sql.Context) bool {
	switch ctx.GetCharacterSetResults() {
	case sql.CharacterSet_Unspecified, sql.CharacterSet_utf8mb4, sql.CharacterSet_utf8mb3, sql.CharacterSet_binary:
		return true
	}
	return false
}

// load gets the next batch; io.EOF at the end.
func (w *columnWriter) load(ctx *sql.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := w.res.Next(ctx)
	if err != nil {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		return err
	}
	w.batch, w.next = b, 0
	return nil
}

// write sends up to most rows; io.EOF says that there are no more. failed: the error is the
// statement's, not the connection's.
func (w *columnWriter) write(ctx *sql.Context, wc *wire.Conn, most int64) (sent int64, failed bool, err error) {
	for sent < most {
		if w.batch == nil || w.next >= w.batch.Rows() {
			w.batch, w.cells = nil, nil
			if err := w.load(ctx); err != nil {
				return sent, true, err
			}
		}
		if w.cells == nil {
			w.bind(ctx)
		}
		n := min(int64(w.batch.Rows()-w.next), most-sent)
		if failed, err := w.rows(wc, int(n)); err != nil {
			return sent, failed, err
		}
		w.next += int(n)
		sent += n
	}
	return sent, false, nil
}

// ahead makes sure that a row waits; io.EOF when there is none.
func (w *columnWriter) ahead(ctx *sql.Context) error {
	if w.batch != nil && w.next < w.batch.Rows() {
		return nil
	}
	w.batch, w.cells = nil, nil
	return w.load(ctx)
}

func (w *columnWriter) bind(ctx *sql.Context) {
	w.cells = make([]cell, len(w.res.Columns))
	for i, o := range w.res.Columns {
		w.cells[i] = w.cell(ctx, o, &w.batch.Cols[o.At], &w.columns[i])
	}
}

func (w *columnWriter) rows(wc *wire.Conn, n int) (failed bool, err error) {
	sel := w.batch.Sel
	mask := (len(w.cells) + 7 + 2) / 8
	vecs := make([]*vector.Vector, len(w.cells))
	for c, o := range w.res.Columns {
		if v := &w.batch.Cols[o.At]; v.HasNulls() {
			vecs[c] = v
		}
	}
	for at := w.next; at < w.next+n; at++ {
		i := at
		if sel != nil {
			i = int(sel[at])
		}
		b := wc.BeginRow()
		bits := 0
		if w.binary {
			b = append(b, 0)
			bits = len(b)
			for range mask {
				b = append(b, 0)
			}
		}
		for c, put := range w.cells {
			if v := vecs[c]; v != nil && v.IsNull(i) {
				if w.binary {
					b[bits+(c+2)/8] |= 1 << ((c + 2) % 8)
				} else {
					b = append(b, 0xfb)
				}
				continue
			}
			if b, err = put(b, i); err != nil {
				wc.DropRow()
				if errors.Is(err, errNoValue) { // only known once it is looked at
					err = w.slow(wc, i)
				}
				if err != nil {
					return true, err
				}
				b = nil
				break
			}
		}
		if b == nil {
			continue
		}
		if err := wc.EndRow(b); err != nil {
			return false, err
		}
	}
	return false, nil
}

// errNoValue says that a value turned out to be NULL.
var errNoValue = errors.New("mysql: the value is NULL")

// slow writes row i with NULL for values that say so when they are looked at.
func (w *columnWriter) slow(wc *wire.Conn, i int) error {
	values := make([][]byte, len(w.cells))
	body := wc.BeginRow()
	bits := 0
	if w.binary {
		body = append(body, 0)
		bits = len(body)
		for range (len(w.cells) + 7 + 2) / 8 {
			body = append(body, 0)
		}
	}
	for c, put := range w.cells {
		null := w.batch.Cols[w.res.Columns[c].At].IsNull(i)
		if !null {
			b, err := put(values[c], i)
			if err != nil && !errors.Is(err, errNoValue) {
				wc.DropRow()
				return err
			}
			if null = err != nil; !null {
				body = append(body, b...)
				continue
			}
		}
		if w.binary {
			body[bits+(c+2)/8] |= 1 << ((c + 2) % 8)
		} else {
			body = append(body, 0xfb)
		}
	}
	return wc.EndRow(body)
}

// short appends a text of less than 251 bytes that put makes.
func short(put func(b []byte, i int) []byte) cell {
	return func(b []byte, i int) ([]byte, error) {
		at := len(b)
		b = put(append(b, 0), i)
		b[at] = byte(len(b) - at - 1)
		return b, nil
	}
}

// cell chooses the encoder of one column of a batch.
func (w *columnWriter) cell(ctx *sql.Context, o columnar.Column, v *vector.Vector, col *wire.Column) cell {
	switch o.Form.Kind {
	case form.Bool, form.Int:
		if types.IsYear(o.Form.SQL) {
			break
		}
		if w.binary {
			return binaryInt(v, col)
		}
		if v.Int64 != nil && !v.Const {
			ints := v.Int64
			return short(func(b []byte, i int) []byte { return strconv.AppendInt(b, ints[i], 10) })
		}
		return short(func(b []byte, i int) []byte { return strconv.AppendInt(b, v.Int(i), 10) })
	case form.Uint:
		at := func(i int) uint64 {
			if v.Const {
				i = 0
			}
			return v.Uint64[i]
		}
		if w.binary && col.Type == wire.TypeLongLong {
			return func(b []byte, i int) ([]byte, error) { return binary.LittleEndian.AppendUint64(b, at(i)), nil }
		}
		return w.text(col, func(b []byte, i int) []byte { return strconv.AppendUint(b, at(i), 10) })
	case form.Float:
		if o.Form.SQL == types.Float32 {
			break
		}
		return w.float(v, col)
	case form.Decimal:
		if exact.SpelledWith(o.Form.SQL, v.Scale) {
			return short(func(b []byte, i int) []byte { return appendDecimal(b, v, i) })
		}
	case form.Text, form.JSON, form.Bytes:
		if v.Dict == nil && !v.Const && v.Offsets != nil {
			offsets, bytes := v.Offsets, v.Bytes
			return func(b []byte, i int) ([]byte, error) {
				return wire.AppendText(b, bytes[offsets[i]:offsets[i+1]]), nil
			}
		}
		return func(b []byte, i int) ([]byte, error) { return wire.AppendText(b, v.Text(i)), nil }
	case form.Instant:
		zone, unit := w.res.Zone, o.Form.Unit
		return w.time(col, func(i int) time.Time { return zone.Wall(v.Int(i) * unit) })
	case form.Wall:
		unit := o.Form.Unit
		return w.time(col, func(i int) time.Time { return time.UnixMicro(v.Int(i) * unit).UTC() })
	}
	// The rest as rows have it.
	read := o.Form.Read(v, w.res.Zone)
	e := &encoder{schema: sql.Schema{{Type: o.Form.SQL}}, columns: []wire.Column{*col}, values: make([][]byte, 1)}
	return func(b []byte, i int) ([]byte, error) {
		values, err := e.encode(ctx, sql.Row{read(i)})
		switch {
		case err != nil:
			return b, err
		case values[0] == nil:
			return b, errNoValue
		case w.binary:
			return wire.AppendBinary(b, col, values[0])
		}
		return wire.AppendText(b, values[0]), nil
	}
}

// text writes what put spells, in the binary protocol as the column's type has it.
func (w *columnWriter) text(col *wire.Column, put func(b []byte, i int) []byte) cell {
	if !w.binary {
		return short(put)
	}
	var scratch []byte
	return func(b []byte, i int) ([]byte, error) {
		scratch = put(scratch[:0], i)
		return wire.AppendBinary(b, col, scratch)
	}
}

func binaryInt(v *vector.Vector, col *wire.Column) cell {
	switch col.Type {
	case wire.TypeTiny:
		return func(b []byte, i int) ([]byte, error) { return append(b, byte(v.Int(i))), nil }
	case wire.TypeShort, wire.TypeYear:
		return func(b []byte, i int) ([]byte, error) {
			return binary.LittleEndian.AppendUint16(b, uint16(v.Int(i))), nil
		}
	case wire.TypeLong, wire.TypeInt24:
		return func(b []byte, i int) ([]byte, error) {
			return binary.LittleEndian.AppendUint32(b, uint32(v.Int(i))), nil
		}
	case wire.TypeLongLong:
		return func(b []byte, i int) ([]byte, error) {
			return binary.LittleEndian.AppendUint64(b, uint64(v.Int(i))), nil
		}
	}
	var scratch []byte
	return func(b []byte, i int) ([]byte, error) {
		scratch = strconv.AppendInt(scratch[:0], v.Int(i), 10)
		return wire.AppendBinary(b, col, scratch)
	}
}

func (w *columnWriter) float(v *vector.Vector, col *wire.Column) cell {
	return func(b []byte, i int) ([]byte, error) {
		if v.Const {
			i = 0
		}
		f := v.Float64[i] + 0 // -0 is sent as 0
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return b, sqlerr.New(1690, "22003", "DOUBLE value is out of range in column '%s'", col.Name)
		}
		if w.binary {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(f)), nil
		}
		at := len(b)
		b = sqltable.AppendDouble(append(b, 0), f, 64)
		b[at] = byte(len(b) - at - 1)
		return b, nil
	}
}

// appendDecimal spells a decimal with all digits of its scale.
func appendDecimal(b []byte, v *vector.Vector, i int) []byte {
	if v.Const {
		i = 0
	}
	var n decimal256.Num
	if v.Dec128 != nil {
		d := v.Dec128[i]
		if hi, lo := d.HighBits(), d.LowBits(); hi == int64(lo)>>63 {
			return appendScaled(b, int64(lo), int(v.Scale))
		}
		n = decimal256.FromDecimal128(d)
	} else {
		n = v.Dec256[i]
		a := n.Array()
		if lo := int64(a[0]); a[1] == a[2] && a[2] == a[3] && a[1] == uint64(lo>>63) {
			return appendScaled(b, lo, int(v.Scale))
		}
	}
	digits := n.BigInt().String()
	if digits[0] == '-' {
		b, digits = append(b, '-'), digits[1:]
	}
	return appendPoint(b, digits, int(v.Scale))
}

func appendScaled(b []byte, n int64, scale int) []byte {
	var buf [20]byte
	u := uint64(n)
	if n < 0 {
		b, u = append(b, '-'), -u
	}
	return appendPoint(b, strconv.AppendUint(buf[:0], u, 10), scale)
}

// appendPoint sets the point into digits.
func appendPoint[T string | []byte](b []byte, digits T, scale int) []byte {
	if scale <= 0 {
		return append(b, digits...)
	}
	whole := len(digits) - scale
	if whole <= 0 {
		b = append(b, '0', '.')
		for range -whole {
			b = append(b, '0')
		}
		return append(b, digits...)
	}
	b = append(append(b, digits[:whole]...), '.')
	return append(b, digits[whole:]...)
}

// time writes times as encoder.time does; the date is spelled anew only when it changes.
func (w *columnWriter) time(col *wire.Column, at func(i int) time.Time) cell {
	e := &encoder{}
	var scratch []byte
	day, known := int64(0), false
	var date [10]byte
	return func(b []byte, i int) ([]byte, error) {
		t := at(i)
		secs := t.Unix()
		d := secs / 86400
		if secs%86400 < 0 {
			d--
		}
		if !known || d != day {
			e.scratch = e.scratch[:0]
			if spelled := e.time(t, col); len(spelled) >= 10 && t.Year() > 0 && t.Year() < 10000 {
				copy(date[:], spelled)
				day, known = d, true
			} else {
				known = false
				if w.binary {
					return wire.AppendBinary(b, col, spelled)
				}
				return wire.AppendText(b, spelled), nil
			}
		}
		scratch = append(scratch[:0], date[:]...)
		if col.Type != wire.TypeDate {
			rest := int(secs - d*86400)
			h, m, s := rest/3600, rest/60%60, rest%60
			scratch = append(scratch, ' ', digit(h/10), digit(h%10), ':', digit(m/10), digit(m%10), ':', digit(s/10), digit(s%10))
			places := 0
			switch {
			case col.Decimals > 0 && (col.Decimals < 6 || col.Table != "" && col.Schema != ""):
				places = int(col.Decimals)
			case t.Nanosecond() != 0:
				places = 6
			}
			if places > 0 {
				scratch = append(scratch, '.')
				us, unit := t.Nanosecond()/1000, 100000
				for range places {
					scratch = append(scratch, digit(us/unit%10))
					unit /= 10
				}
			}
		}
		if w.binary {
			return wire.AppendBinary(b, col, scratch)
		}
		return append(append(b, byte(len(scratch))), scratch...), nil
	}
}

func digit(n int) byte { return byte('0' + n) }

// writeColumns is write for a result in columns.
func (c *conn) writeColumns(r *running, a *answer, binary bool, status wire.Status) (failed bool, err error) {
	w := newColumnWriter(r.ctx, a.columns, a.schema, binary)
	a.origins.name(w.columns)
	// The first rows before the columns: what fails at once fails without a result set.
	rerr := w.ahead(r.ctx)
	if rerr != nil && !errors.Is(rerr, io.EOF) {
		return true, c.writeError(r.ctx, rerr)
	}
	if err := c.wc.WriteColumns(w.columns, status, c.warnings()); err != nil {
		return false, err
	}
	var sent int64
	if rerr == nil {
		sent, failed, rerr = w.write(r.ctx, c.wc, math.MaxInt64)
		if rerr != nil && !failed {
			return false, rerr
		}
		if err := c.wc.FlushRows(); err != nil {
			return false, err
		}
	}
	c.s.metrics.rows.Add(float64(sent))
	r.sent = sent
	if !errors.Is(rerr, io.EOF) {
		return true, c.writeError(r.ctx, rerr)
	}
	c.sess.SetLastQueryInfoInt(sql.FoundRows, sent)
	return false, c.wc.WriteEnd(status, c.warnings())
}
