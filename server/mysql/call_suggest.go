package mysql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"millrace/blobexpand"
	"millrace/blobexpand/jsonval"
	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/rowrecord"
	"millrace/server/mysql/sqlerr"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

const (
	// suggestRows is how many of the newest records are looked at for a suggestion.
	suggestRows = 5000
	// suggestColumns bounds the columns of one look.
	suggestColumns = 500
	// fewValues is up to how many different values a column is of low cardinality.
	fewValues = 64
)

// suggest carries out CALL millrace.suggest('topic'): for each inferred column a declaration that its newest values fit, and
// why. Nothing is changed; the statement column holds the ALTER TABLE that would.
func (c *conn) suggest(ctx *sql.Context, params []sqlparser.Expr, bindings map[string]sql.Expression) (*answer, error) {
	if len(params) != 1 {
		return nil, sqlerr.New(1318, "42000", "Incorrect number of arguments for PROCEDURE millrace.suggest; expected 1, got %d", len(params))
	}
	name, ok := text(params[0], bindings)
	if !ok {
		return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to millrace.suggest: the name of a topic is needed")
	}
	if !mayRead(ctx, sqltable.KafkaDatabase, name) || !maySee(ctx, sqltable.KafkaDatabase, name) {
		return nil, errDenied(c.sess, "SELECT", name)
	}
	table, err := sqltable.StatementFrom(ctx).Bind(ctx, name)
	if errors.Is(err, state.ErrUnknownTopic) {
		return nil, sqlerr.NoTable(sqltable.KafkaDatabase, name)
	}
	if err != nil {
		return nil, err
	}
	var looks []*columnLook
	var list []string
	for _, col := range table.Expanded {
		if col.Declared || len(looks) == suggestColumns {
			continue
		}
		looks = append(looks, &columnLook{col: col, values: map[string]bool{}})
		list = append(list, quotedName(col.Name))
	}
	if len(looks) > 0 {
		query := fmt.Sprintf("SELECT %s FROM %s.%s ORDER BY _offset DESC LIMIT %d", strings.Join(list, ","), quotedName(sqltable.KafkaDatabase), quotedName(name), suggestRows)
		stmt, err := sqlparser.Parse(query)
		if err != nil {
			return nil, err
		}
		sel, ok := stmt.(sqlparser.SelectStatement)
		if !ok {
			return nil, sqlerr.ErrInternal
		}
		err = c.eachRow(ctx, sel, query, nil, func(_ sql.Schema, row sql.Row) error {
			for i, l := range looks {
				l.add(row[i])
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	schema := sql.Schema{
		textColumn("column"), textColumn("inferred"), textColumn("suggestion"), textColumn("reason"),
		{Name: "seen", Type: types.Int64},
		{Name: "distinct_values", Type: types.Int64, Nullable: true},
		textColumn("statement"),
	}
	var out []sql.Row
	for _, l := range looks {
		col, reason := l.suggestion()
		var distinct any
		if len(l.values) <= fewValues {
			distinct = int64(len(l.values))
		}
		out = append(out, sql.Row{
			l.col.Name, l.col.Type.String(), col.Type.String(), reason, l.seen, distinct,
			"ALTER TABLE " + quotedName(name) + " MODIFY COLUMN " + catalog.FormatColumn(col),
		})
	}
	return rows(schema, out), nil
}

// columnLook is what is known of a column's values.
type columnLook struct {
	col    blobexpand.Column
	seen   int64           // values that are not NULL
	values map[string]bool // different ones, one more than fewValues at most
	longest,
	whole, fraction int // characters; digits before and behind the point
	times, zoned, dates, numbers int64
	millis, seconds              int64 // integers that can be epochs of our time
}

func (l *columnLook) add(v any) {
	s, ok := rowrecord.PlainText(v)
	if v == nil || !ok {
		return
	}
	l.seen++
	if len(l.values) <= fewValues {
		l.values[s[:min(len(s), 256)]] = true
	}
	l.longest = max(l.longest, utf8.RuneCountInString(s))
	if jsonval.IsNumber([]byte(s)) && !strings.ContainsAny(s, "eE") {
		l.numbers++
		digits, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
		l.whole, l.fraction = max(l.whole, len(digits)), max(l.fraction, len(fraction))
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			if n > 1e12 && n < 2_147_483_647_000 {
				l.millis++
			}
			if n > 1e9 && n < 2_147_483_647 {
				l.seconds++
			}
		}
		return
	}
	for _, f := range []struct {
		layout string
		zoned  bool
	}{{time.RFC3339Nano, true}, {"2006-01-02T15:04:05.999999999", false}, {"2006-01-02 15:04:05.999999999", false}} {
		if t, err := time.Parse(f.layout, s); err == nil && t.Year() >= 1971 && t.Year() <= 2037 {
			l.times++
			if f.zoned {
				l.zoned++
			}
			return
		}
	}
	if _, err := time.Parse("2006-01-02", s); err == nil {
		l.dates++
	}
}

// timeWords are in the names of columns that hold times.
var timeWords = []string{"time", "date", "ts", "_at", "created", "updated", "when", "epoch"}

// suggestion is the declaration that fits all values that were looked at.
func (l *columnLook) suggestion() (col blobexpand.Column, reason string) {
	col = l.col
	named := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(strings.ToLower(col.Name), w) {
				return true
			}
		}
		return false
	}
	few := ""
	if l.seen >= 10*int64(len(l.values)) && len(l.values) <= fewValues {
		few = fmt.Sprintf("low cardinality: %d different values", len(l.values))
	}
	if l.seen == 0 {
		return col, "no values among the newest records"
	}
	decimalType := func() blobexpand.Type {
		scale := min(l.fraction, 10)
		return blobexpand.Type{Kind: blobexpand.Decimal, Precision: uint8(min(max(l.whole+scale+2, 10), 65)), Scale: uint8(scale)}
	}
	switch col.Type.Kind {
	case blobexpand.Int64:
		switch {
		case l.millis == l.seen:
			col.Type = blobexpand.Type{Kind: blobexpand.Timestamp, FSP: 3, Epoch: blobexpand.EpochMillis}
			return col, "epoch milliseconds"
		case l.seconds == l.seen && named(timeWords...):
			col.Type = blobexpand.Type{Kind: blobexpand.Timestamp, Epoch: blobexpand.EpochSeconds}
			return col, "epoch seconds, by its name"
		}
	case blobexpand.Float64:
		if l.numbers == l.seen && l.fraction <= 6 && l.whole <= 18 {
			col.Type = decimalType()
			return col, "exact sums and averages"
		}
	case blobexpand.Text:
		switch {
		case l.times == l.seen && l.zoned == l.seen:
			col.Type = blobexpand.Type{Kind: blobexpand.Timestamp, FSP: 6}
			return col, "ISO 8601 times with zone"
		case l.times == l.seen:
			col.Type = blobexpand.Type{Kind: blobexpand.DateTime, FSP: 6}
			return col, "times without zone: taken as UTC"
		case l.dates == l.seen:
			col.Type = blobexpand.Type{Kind: blobexpand.Date}
			return col, "dates"
		case l.numbers == l.seen && l.fraction == 0 && l.whole <= 18 && !named("id", "zip", "code", "phone"):
			col.Type = blobexpand.Type{Kind: blobexpand.Int64, Bits: 64}
			return col, "integers in strings"
		case l.numbers == l.seen && l.fraction > 0 && l.fraction <= 10 && l.whole <= 18:
			col.Type = decimalType()
			return col, "numbers in strings"
		}
	}
	if few != "" {
		return col, few
	}
	return col, "as inferred"
}
