package sqltable

import (
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
)

// Expansion is what the background worker is doing.
type Expansion struct {
	Topic string
	Since int64 // Unix ms
}

// States of an expansion.
const (
	expansionRunning = "running" // columns of the topic are being written right now
	expansionWaiting = "waiting" // there is something to do, when there is time or enough of it
	expansionDone    = "done"    // nothing is to do
)

// Reasons of an expansion.
const (
	reasonTypes   = "types changed"
	reasonRecords = "new records"
	reasonFew     = "too few records"
)

func expansionsTable() systemDef {
	return systemDef{
		name: "expansions", doc: "How far the background worker is with writing each topic's columns into files. It never holds up queries: what is in no file yet they expand themselves. Topics are here once their columns were asked for, or written.",
		columns: []systemColumn{
			required("topic", sysText, ""),
			required("state", sysText, "`running`, `waiting` (for time, or for enough new records to fill a file) or `done`: there is nothing to do"),
			optional("reason", sysText, "`types changed`: after ALTER TABLE, or because inference widened a type, blocks in files lack what the table has today; `new records`; of what is done `too few records`, where a partition has some in no file, fewer than are worth one; else NULL"),
			required("blocks_done", sysBig, "blocks whose columns are in files, with today's types"),
			required("blocks_total", sysBig, ""),
			required("rows_done", sysBig, ""),
			required("rows_total", sysBig, "decided records"),
			required("rows_outdated", sysBig, "in files, but not with today's types"),
			required("progress", sysFloat, "share of `rows_total` that is done, or too few for a file; 1 when there are none"),
			optional("started", sysTime, "since when it is running"),
		},
		topic: &topicRows{"topic", expansionRows},
	}
}

func expansionRows(q topicQuery, t state.Topic, out []sql.Row) ([]sql.Row, error) {
	if q.p.opts.Columns == nil {
		return out, nil
	}
	stmt := q.p.statement(q.ctx)
	known := false
	blocks, inFiles, outdated := 0, 0, 0
	rows, rowsDone, rowsOutdated, rowsFew := int64(0), int64(0), int64(0), int64(0)
	for i := range t.Partitions {
		b, err := stmt.Snapshot().Bounds(state.TopicPartition{Topic: t.ID, Partition: i})
		if err != nil {
			return out, err
		}
		if _, ok := q.p.opts.Columns.InFiles(state.TopicPartition{Topic: t.ID, Partition: i}, b); !ok {
			continue // cheaper to know than its columns
		}
		table, err := stmt.known(q.ctx, t.Name)
		if isNoTable(err) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		r, ok := q.p.opts.Columns.Report(table, i, b)
		if !ok {
			continue
		}
		known = true
		blocks, inFiles, outdated = blocks+r.Blocks, inFiles+r.InFiles, outdated+r.Outdated
		rows, rowsDone, rowsOutdated = rows+r.Rows, rowsDone+r.RowsInFiles, rowsOutdated+r.RowsOutdated
		if rest := r.Rows - r.RowsInFiles - r.RowsOutdated; rest < q.p.opts.Columns.WorthFile() {
			rowsFew += rest
		}
	}
	if !known {
		return out, nil
	}
	zone, err := SessionZone(q.ctx)
	if err != nil {
		return out, err
	}
	status, reason, started := expansionDone, any(nil), any(nil)
	switch {
	case outdated > 0:
		status, reason = expansionWaiting, reasonTypes
	case rowsDone+rowsFew < rows:
		status, reason = expansionWaiting, reasonRecords
	case rowsFew > 0:
		reason = reasonFew
	}
	if q.p.opts.Expanding != nil {
		if e, ok := q.p.opts.Expanding(); ok && e.Topic == t.Name {
			status, started = expansionRunning, wallOf(zone, e.Since)
			if outdated == 0 {
				reason = reasonRecords
			}
		}
	}
	progress := 1.0
	if rows > 0 {
		progress = float64(rowsDone+rowsFew) / float64(rows)
	}
	return append(out, sql.Row{
		t.Name, status, reason, int64(inFiles), int64(blocks), rowsDone, rows, rowsOutdated, progress, started,
	}), nil
}
