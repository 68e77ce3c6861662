package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"

	"millrace/server"
	"millrace/test/differential/sqlgen"
)

// round is what one seed decides: a server with topics, the same rows in MariaDB, and the queries over them.
type round struct {
	seed  uint64
	each  int // queries
	only  int // the one to ask; < 0: all
	maria *sql.DB
	count *counts
	tell  func(difference)

	rand    *rand.Rand
	options server.Options
	server  *server.Server
	on, off *sql.DB // sessions that answer in columns, and by rows
	tables  []string
	queries []*asked
}

// asked is a query, and what must hold of its rows.
type asked struct {
	sqlgen.Query
	index  int
	checks []sqlgen.Check
	first  answer // by rows, from the tail
}

// difference is one that may not be.
type difference struct {
	seed        uint64
	index       int
	shape       string
	query       string
	left, right string // how it was answered
	a, b        answer
	ordered     bool
	shrunk      string // a shorter query that is answered in two ways, or ""
}

// counts of what was done.
type counts struct {
	queries, statements, answered, maria, checks, late int
	known                                              map[string]int
}

func (c *counts) add(o *counts) {
	c.queries += o.queries
	c.statements += o.statements
	c.answered += o.answered
	c.maria += o.maria
	c.checks += o.checks
	c.late += o.late
	for why, n := range o.known {
		c.known[why] += n
	}
}

// run asks all queries of the seed, three times: from the tail, sealed, and after a restart.
func (d *round) run(ctx context.Context) (err error) {
	d.rand = random(d.seed, 0)
	dir, err := os.MkdirTemp("", "differential-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop(), os.RemoveAll(dir)) }()
	o := server.DefaultOptions()
	o.Data = dir
	o.Kafka = []server.Listener{{Address: "127.0.0.1:0"}}
	o.MySQL, o.HTTP = "127.0.0.1:0", ""
	o.Logger = slog.New(slog.DiscardHandler)
	// Everything is worth columns, small tables have several blocks, and some statements have no room.
	o.MySQLWire.FewRows = -1
	o.Columns.BlockRows = []int{0, 4, 16, 64}[d.rand.IntN(4)]
	if d.rand.IntN(3) == 0 {
		o.MySQLWire.QueryBytes = 16 << 10
	}
	d.options = o
	if err := d.start(ctx); err != nil {
		return err
	}
	if err := d.load(ctx); err != nil {
		return err
	}
	d.draw()
	for stage, name := range []string{"hot", "sealed", "restarted"} {
		switch name {
		case "sealed":
			for _, t := range d.tables {
				if err := d.seal(ctx, t); err != nil {
					return err
				}
			}
		case "restarted":
			if err := d.stop(); err != nil {
				return err
			}
			if err := d.start(ctx); err != nil {
				return err
			}
		}
		for _, q := range d.queries {
			d.compare(ctx, q, name)
			if q.index%3 == stage {
				for _, c := range q.checks {
					d.check(ctx, q, c, name)
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

func (d *round) start(ctx context.Context) (err error) {
	if d.server, err = server.Start(ctx, d.options); err != nil {
		return err
	}
	session := func(pushdown int) (*sql.DB, error) {
		db, err := sql.Open("mysql", fmt.Sprintf("app@tcp(%s)/kafka?charset=utf8mb4&collation_connection=utf8mb4_0900_bin&group_concat_max_len=1048576"+
			"&max_execution_time=30000&time_zone=%%27%%2B00%%3A00%%27&millrace_pushdown=%d", d.server.MySQLAddr(), pushdown))
		if err == nil {
			db.SetMaxOpenConns(1)
		}
		return db, err
	}
	if d.on, err = session(1); err != nil {
		return err
	}
	d.off, err = session(0)
	return err
}

func (d *round) stop() error {
	var err error
	for _, db := range []*sql.DB{d.on, d.off} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if d.server != nil {
		err = errors.Join(err, d.server.Close())
	}
	d.on, d.off, d.server = nil, nil, nil
	return err
}

func (d *round) seal(ctx context.Context, topic string) error {
	_, err := d.on.ExecContext(ctx, "CALL millrace.seal(?)", topic)
	return err
}

// load makes t1, of some partitions, and t2, which is small. Now and then one of them has no rows, or not its first ones.
func (d *round) load(ctx context.Context) error {
	r := d.rand
	for _, t := range []struct {
		name       string
		partitions int32
		rows       int
	}{{"t1", 3, 40 + r.IntN(160)}, {"t2", 1, 5 + r.IntN(40)}} {
		if r.IntN(25) == 0 {
			t.rows = 0
		}
		rows, err := d.topic(ctx, t.name, t.partitions, sqlgen.Rows(r, t.rows))
		if err != nil {
			return err
		}
		if r.IntN(4) == 0 {
			start := int64(r.IntN(12))
			if _, err := d.on.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE _partition=0 AND _offset<%d", t.name, start)); err != nil {
				return err
			}
			rows = slices.DeleteFunc(rows, func(p placed) bool { return p.partition == 0 && p.offset < start })
		}
		if d.maria != nil {
			if err := table(ctx, d.maria, t.name, rows); err != nil {
				return err
			}
		}
		d.tables = append(d.tables, t.name)
	}
	return nil
}

// draw makes the queries; each has a random source of its own, so that any can be asked alone.
func (d *round) draw() {
	for i := range d.each {
		if d.only >= 0 && i != d.only {
			continue
		}
		g := &sqlgen.Gen{Rand: random(d.seed, i+1), Tables: d.tables, Small: "t2"}
		q := &asked{Query: g.Query(), index: i}
		q.checks = g.Checks(q.Query)
		d.queries = append(d.queries, q)
	}
}

// compare asks a query in all ways that a stage has.
func (d *round) compare(ctx context.Context, q *asked, stage string) {
	if stage == "hot" {
		d.count.queries++
		q.first = d.ask(ctx, d.off, q.SQL, false)
		if q.first.err == nil {
			d.count.answered++
		}
		if d.maria != nil {
			d.oracle(ctx, q)
		}
	}
	on := d.ask(ctx, d.on, q.SQL, stage == "sealed" && q.index%2 == 0)
	if !d.agree(q.first, on, q.Ordered) {
		d.differ(ctx, q, "hot, by rows", stage+", in columns", q.first, on, d.off, d.on, d.agree)
	}
}

// oracle compares with MariaDB.
func (d *round) oracle(ctx context.Context, q *asked) {
	theirs := d.ask(ctx, d.maria, q.SQL, false)
	d.count.maria++
	agree := func(ours, theirs answer, ordered bool) bool {
		if ours.late() || theirs.late() {
			return true
		}
		if ours.err != nil || theirs.err != nil {
			return ours.err != nil && theirs.err != nil
		}
		return sameRows(ours.rows, theirs.rows, ordered)
	}
	if agree(q.first, theirs, q.Ordered) {
		return
	}
	if why := listed(q.SQL, q.first, theirs); why != "" {
		d.count.known[why]++
		return
	}
	d.differ(ctx, q, "Millrace", "MariaDB", q.first, theirs, d.off, d.maria, agree)
}

// byValue are errors of a row's values (out of range, no date). With a LIMIT, or where a filter comes first, not every row's
// values are computed, so that one way of answering may meet them and another not.
var byValue = []uint16{1690, 1292}

// agree compares two answers of ours.
func (d *round) agree(a, b answer, ordered bool) bool {
	if a.late() || b.late() {
		d.count.late++
		return true
	}
	if a.err != nil || b.err != nil {
		return a.number() == b.number() || slices.Contains(byValue, a.number()) || slices.Contains(byValue, b.number())
	}
	return sameRows(a.rows, b.rows, ordered)
}

// check asks a statement and its parts.
func (d *round) check(ctx context.Context, q *asked, c sqlgen.Check, stage string) {
	db, how := d.on, "in columns"
	if q.index/3%8 == 0 {
		db, how = d.off, "by rows"
	}
	d.count.checks++
	whole := d.ask(ctx, db, c.Whole, false)
	parts := answer{}
	for _, p := range c.Parts {
		a := d.ask(ctx, db, p, false)
		if a.err != nil {
			parts = a
			break
		}
		parts.rows = append(parts.rows, a.rows...)
	}
	if c.Set {
		parts.rows = slices.CompactFunc(sorted(parts.rows), sameRow)
	}
	if !d.agree(whole, parts, false) {
		query := c.Whole + "\n"
		for _, p := range c.Parts {
			query += "      " + p + "\n"
		}
		d.tell(difference{seed: d.seed, index: q.index, shape: c.Name, query: query, left: stage + ", " + how + ", whole", right: "parts", a: whole, b: parts})
	}
}

func (d *round) ask(ctx context.Context, db *sql.DB, query string, prepared bool) answer {
	d.count.statements++
	return ask(ctx, db, query, prepared)
}

// differ tells of a difference, and looks for a shorter query that has it, too.
func (d *round) differ(ctx context.Context, q *asked, left, right string, a, b answer, l, r *sql.DB, agree func(a, b answer, ordered bool) bool) {
	at := difference{seed: d.seed, index: q.index, shape: q.Shape, query: q.SQL, left: left, right: right, a: a, b: b, ordered: q.Ordered}
	failed := a.err != nil || b.err != nil
	at.shrunk = shrink(q.SQL, func(query string) bool {
		if q.Ordered && !sameOrder(q.SQL, query) {
			return false
		}
		a, b := ask(ctx, l, query, false), ask(ctx, r, query, false)
		return (a.err != nil || b.err != nil) == failed && !agree(a, b, q.Ordered) && listed(query, a, b) == ""
	})
	d.tell(at)
}
