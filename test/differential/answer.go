package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// kind is what a cell is compared as.
type kind uint8

const (
	null kind = iota
	exact
	double
	moment
	text
)

// cell is a value; numbers and times are spelled in one way.
type cell struct {
	kind kind
	s    string
	f    float64 // of numbers
}

func (c cell) String() string {
	if c.kind == null {
		return "NULL"
	}
	return c.s
}

func cellOf(k kind, v sql.RawBytes) cell {
	if v == nil {
		return cell{}
	}
	c := cell{kind: k, s: string(v)}
	switch k {
	case exact, double:
		c.f, _ = strconv.ParseFloat(c.s, 64)
		if k == exact && strings.IndexByte(c.s, '.') >= 0 {
			c.s = strings.TrimRight(strings.TrimRight(c.s, "0"), ".")
		}
		if c.s == "-0" || c.s == "-" || c.s == "" {
			c.s = "0"
		}
	case moment:
		if strings.IndexByte(c.s, '.') >= 0 {
			c.s = strings.TrimRight(strings.TrimRight(c.s, "0"), ".")
		}
	}
	return c
}

// kinds by the protocol's names of types; others are text.
var kinds = map[string]kind{
	"TINYINT": exact, "SMALLINT": exact, "MEDIUMINT": exact, "INT": exact, "BIGINT": exact, "YEAR": exact, "DECIMAL": exact,
	"UNSIGNED TINYINT": exact, "UNSIGNED SMALLINT": exact, "UNSIGNED MEDIUMINT": exact, "UNSIGNED INT": exact, "UNSIGNED BIGINT": exact,
	"FLOAT": double, "DOUBLE": double, "DATE": moment, "DATETIME": moment, "TIMESTAMP": moment, "TIME": moment,
}

// near is how far two floating-point numbers may be apart, in parts of the larger: sums depend on the order of what is added.
const near = 1e-9

func same(a, b cell) bool {
	if a.kind == b.kind && a.s == b.s {
		return true
	}
	number := func(c cell) bool { return c.kind == exact || c.kind == double }
	if !number(a) || !number(b) || a.kind == exact && b.kind == exact {
		return false
	}
	return a.f == b.f || math.Abs(a.f-b.f) <= max(near*max(math.Abs(a.f), math.Abs(b.f)), 1e-12)
}

func sameRow(a, b []cell) bool { return slices.EqualFunc(a, b, same) }

func byCells(a, b []cell) int {
	return slices.CompareFunc(a, b, func(x, y cell) int {
		switch {
		case x.f < y.f, x.f == y.f && x.kind == null && y.kind != null:
			return -1
		case x.f > y.f, x.f == y.f && y.kind == null && x.kind != null:
			return 1
		}
		return strings.Compare(x.s, y.s)
	})
}

// answer is what a statement was answered with.
type answer struct {
	rows [][]cell
	err  error
}

// late says that the statement had no time, or no room, for an answer.
func (a answer) late() bool { return slices.Contains([]uint16{1969, 3024, 1038}, a.number()) }

// number of the error; 0: none, 1: none of MySQL's.
func (a answer) number() uint16 {
	if a.err == nil {
		return 0
	}
	if e, ok := errors.AsType[*mysql.MySQLError](a.err); ok {
		return e.Number
	}
	return 1
}

// sorted are rows in an order of their own.
func sorted(rows [][]cell) [][]cell {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, byCells)
	return rows
}

// sameRows compares in order, or as bags.
func sameRows(a, b [][]cell, ordered bool) bool {
	if len(a) != len(b) {
		return false
	}
	if ordered {
		return slices.EqualFunc(a, b, sameRow)
	}
	a, b = sorted(a), sorted(b)
	if slices.EqualFunc(a, b, sameRow) {
		return true
	}
	// Numbers that are merely near can sort otherwise.
	for _, r := range a {
		i := slices.IndexFunc(b, func(o []cell) bool { return sameRow(r, o) })
		if i < 0 {
			return false
		}
		b = slices.Delete(b, i, i+1)
	}
	return true
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows", len(a.rows))
	for i, r := range a.rows {
		if i == 4 {
			b.WriteString(" …")
			break
		}
		fmt.Fprint(&b, " ", r)
	}
	return b.String()
}

// without is what a has and b has not; of ordered answers, from the first row that differs.
func (a answer) without(b answer, ordered bool) answer {
	if a.err != nil || b.err != nil {
		return a
	}
	out := answer{}
	if ordered {
		i := 0
		for i < len(a.rows) && i < len(b.rows) && sameRow(a.rows[i], b.rows[i]) {
			i++
		}
		out.rows = a.rows[i:]
		return out
	}
	left := slices.Clone(b.rows)
	for _, r := range a.rows {
		if i := slices.IndexFunc(left, func(o []cell) bool { return sameRow(r, o) }); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			out.rows = append(out.rows, r)
		}
	}
	return out
}

// ask carries a query out, as text or prepared.
func ask(ctx context.Context, db *sql.DB, query string, prepared bool) (a answer) {
	rows, done, err := open(ctx, db, query, prepared)
	if err != nil {
		return answer{err: err}
	}
	defer done()
	types, err := rows.ColumnTypes()
	if err != nil {
		return answer{err: err}
	}
	raw, into, of := make([]sql.RawBytes, len(types)), make([]any, len(types)), make([]kind, len(types))
	for i, t := range types {
		into[i] = &raw[i]
		k, ok := kinds[t.DatabaseTypeName()]
		if !ok {
			k = text
		}
		of[i] = k
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return answer{err: err}
		}
		row := make([]cell, len(raw))
		for i, v := range raw {
			row[i] = cellOf(of[i], v)
		}
		a.rows = append(a.rows, row)
	}
	if err := rows.Err(); err != nil {
		return answer{err: err}
	}
	return a
}

func open(ctx context.Context, db *sql.DB, query string, prepared bool) (*sql.Rows, func(), error) {
	if !prepared {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return nil, nil, err
		}
		return rows, func() { _ = rows.Close() }, nil
	}
	st, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	rows, err := st.QueryContext(ctx)
	if err != nil {
		_ = st.Close()
		return nil, nil, err
	}
	return rows, func() { _, _ = rows.Close(), st.Close() }, nil
}
