package sqltable

import (
	"fmt"
	"strings"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
)

// driftColumns are the columns of millrace.columns that are counted.
var driftColumns = []string{
	"records", "present", "present_share", "null_share", "first_partition", "first_offset", "first_seen", "last_partition", "last_offset", "last_seen",
}

const colErrors = "errors"

func columnsTable() systemDef {
	return systemDef{
		name: "columns", doc: "The expanded columns of every topic, `_rest` where members have no column, and how its records keep to them. What is counted is counted when it is asked for, over all records there are, and NULL if more than 64 topics are asked for at once.",
		columns: []systemColumn{
			required("topic", sysText, ""),
			required("column_name", sysText, ""),
			required("position", sysInt, "as in information_schema.columns"),
			required("path", sysText, "the member it reads; of `_rest` the objects, at most four, with members that have no column"),
			required("type", sysText, "of the column: the declared type, else the inferred one"),
			required("declared", sysBool, "else inferred"),
			optional("declared_type", sysText, ""),
			optional("inferred_type", sysText, "the narrowest type of all values seen at the path, whatever is declared; NULL when none was seen or nothing is inferred"),
			optional("generated_from", sysText, "the expression of a column that does not read the member of its name"),
			required("comment", sysLong, ""),
			optional("records", sysBig, "of the topic"),
			optional("present", sysBig, "records in which the column is not NULL"),
			optional("present_share", sysFloat, "`present` / `records`"),
			optional("null_share", sysFloat, "1 − `present_share`"),
			optional("first_partition", sysInt, "where the earliest record with a value is, by its time"),
			optional("first_offset", sysBig, ""),
			optional("first_seen", sysTime, "its time"),
			optional("last_partition", sysInt, "where the latest record with a value is, by its time"),
			optional("last_offset", sysBig, ""),
			optional("last_seen", sysTime, "its time"),
			optional(colErrors, sysBig, "records whose value does not fit the type (they are in `topic$errors`); for declared columns all records have to be read"),
		},
		topic: &topicRows{"topic", columnRows},
	}
}

func columnRows(q topicQuery, t state.Topic, out []sql.Row) ([]sql.Row, error) {
	stmt := q.p.statement(q.ctx)
	bind := stmt.known
	if q.few {
		bind = stmt.Bind
	}
	table, err := bind(q.ctx, t.Name)
	if err != nil {
		if isNoTable(err) {
			return out, nil // an internal topic
		}
		return out, err
	}
	if len(table.Expanded) == 0 && !table.Rest {
		return out, nil
	}
	seen, err := stmt.cat.Inferred(q.ctx, stmt.Snapshot(), t.Name)
	if err != nil {
		return out, err
	}
	drift := make([]drift, len(counted(table)))
	if q.few && q.needsAny(driftColumns) {
		if drift, err = driftOf(q, table); err != nil {
			return out, err
		}
	}
	var errors []int64
	if q.few && q.needs(colErrors) {
		if errors, err = misfitsOf(q.ctx, stmt, table); err != nil {
			return out, err
		}
	}
	zone, err := SessionZone(q.ctx)
	if err != nil {
		return out, err
	}
	for i, c := range table.Expanded {
		row := make(sql.Row, 0, 21)
		var declared, inferred any
		if c.Declared {
			declared = c.Type.String()
		}
		if typ, ok := seen[catalog.PathText(c)]; ok && c.Field == 0 {
			inferred = typ.String()
		}
		row = append(row, t.Name, c.Name, int32(systemColumns+i+1), pathText(c), c.Type.String(), yes(c.Declared), declared, inferred,
			orNull(catalog.GeneratedFrom(c)), c.Comment)
		row = append(row, drift[i].cells(zone)...)
		var misfits any
		if errors != nil {
			misfits = errors[i]
		}
		out = append(out, append(row, misfits))
	}
	if table.Rest {
		row := sql.Row{
			t.Name, catalog.ColRest, int32(systemColumns + len(table.Expanded) + 1), clip(strings.Join(table.RestOf, ", ")), "JSON", yes(false), nil, nil, nil,
			restComment,
		}
		out = append(out, append(append(row, drift[len(drift)-1].cells(zone)...), nil))
	}
	return out, nil
}

// restComment tells what _rest is where a topic has it.
var restComment = fmt.Sprintf("members beyond the limits: %d of one object, %d columns, %d levels; ask for them as _rest->>'$.name'",
	blobexpand.MaxMembers, blobexpand.MaxColumns, blobexpand.MaxPathDepth)

// clip cuts a text to what sysText holds.
func clip(s string) string {
	if r := []rune(s); len(r) > sysTextLength {
		return string(r[:sysTextLength-1]) + "…"
	}
	return s
}

// systemColumns is how many columns stand before the expanded ones.
const systemColumns = 7

// pathText is what a column reads: a path, or a field of CSV.
func pathText(c blobexpand.Column) string {
	if c.Field > 0 {
		return fieldText(c.Field)
	}
	return catalog.PathText(c)
}
