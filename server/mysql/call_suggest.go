package mysql

import (
	"errors"
	"fmt"
	"slices"
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
	times, zoned, instants int64 // with a time of day; those of them with an offset, and those that a TIMESTAMP holds as well
	dates, numbers         int64
	epochs                 [len(epochUnits)]int64 // numbers that can be epochs of our time
	fineEpochs             int64                  // those of nanoseconds that are no whole microseconds
}

// epochUnits are the units of epochs that are recognised.
var epochUnits = [...]struct {
	unit      blobexpand.EpochUnit
	perSecond int64
	fsp       uint8 // digits of a second that whole numbers of it need
	name      string
	named     bool // as many integers of this size are something else, the column's name must speak of time
}{
	{blobexpand.EpochSeconds, 1, 0, "seconds", true},
	{blobexpand.EpochMillis, 1e3, 3, "milliseconds", false},
	{blobexpand.EpochMicros, 1e6, 6, "microseconds", true},
	{blobexpand.EpochNanos, 1e9, 6, "nanoseconds", true},
}

// Epochs of our time: 2001-09-09 to 2038-01-19, as TIMESTAMP ends there.
const epochFrom, epochTo = 1_000_000_000, 1<<31 - 1

func (l *columnLook) add(v any) {
	s, ok := rowrecord.PlainText(v)
	if v == nil || !ok {
		return
	}
	if f, is := v.(float64); is {
		s = strconv.FormatFloat(f, 'f', -1, 64) // its digits, without an exponent
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
		if whole, err := strconv.ParseInt(strings.TrimSuffix(s, "."+fraction), 10, 64); err == nil {
			for i, u := range epochUnits {
				if whole >= epochFrom*u.perSecond && whole < epochTo*u.perSecond {
					l.epochs[i]++
				}
			}
			if whole%1000 != 0 {
				l.fineEpochs++
			}
		}
		return
	}
	t, ok := blobexpand.ParseInstant([]byte(s))
	switch {
	case !ok:
	case t.HasTime && strings.ContainsAny(s, ":T"): // "2024-017 10" is something else
		l.times++
		if t.Zoned {
			l.zoned++
		}
		if t.InTimestamp() {
			l.instants++
		}
	case !t.HasTime && len(s) == len(time.DateOnly) && s[4] == '-' && s[7] == '-': // neither are "2024-017" and "2024W011"
		l.dates++
	}
}

// timeWords are in the names of columns that hold times, timeNames are such names themselves (of the member, not its path).
var (
	timeWords = []string{"time", "date", "ts", "_at", "created", "updated", "when", "epoch", "stamp", "sec", "millis", "micros", "nanos", "_ms", "_us", "_ns"}
	timeNames = []string{"at", "s", "ms", "us", "ns", "t"}
)

// speaksOfTime says whether the column's name is one of times.
func (l *columnLook) speaksOfTime() bool {
	name := strings.ToLower(l.col.Name)
	return slices.ContainsFunc(timeWords, func(w string) bool { return strings.Contains(name, w) }) ||
		slices.Contains(timeNames, name[strings.LastIndexByte(name, '.')+1:])
}

// epoch is the type of a column whose values are all epochs of one unit.
func (l *columnLook) epoch() (t blobexpand.Type, reason string, ok bool) {
	for i, u := range epochUnits {
		if l.epochs[i] != l.seen || u.named && !l.speaksOfTime() {
			continue
		}
		reason = "epoch " + u.name
		if u.named {
			reason += ", by its name"
		}
		fsp := u.fsp
		if l.fraction > 0 {
			fsp = 6
		}
		// A column holds no part of a microsecond; such values would be NULL.
		if u.unit == blobexpand.EpochNanos && (l.fineEpochs > 0 || l.fraction > 0) || int(u.fsp)+l.fraction > 6 {
			return l.col.Type, reason + ", but finer than the microseconds that a time holds", true
		}
		return blobexpand.Type{Kind: blobexpand.Timestamp, FSP: fsp, Epoch: u.unit}, reason, true
	}
	return t, "", false
}

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
	case blobexpand.Int64, blobexpand.Float64, blobexpand.Decimal, blobexpand.Text:
		if t, reason, ok := l.epoch(); ok {
			col.Type = t
			return col, reason
		}
	}
	switch col.Type.Kind {
	case blobexpand.Float64:
		if l.numbers == l.seen && l.fraction <= 6 && l.whole <= 18 {
			col.Type = decimalType()
			return col, "exact sums and averages"
		}
	case blobexpand.Text:
		switch {
		case l.zoned == l.seen && l.instants == l.seen:
			col.Type = blobexpand.Type{Kind: blobexpand.Timestamp, FSP: 6}
			return col, "ISO 8601 times with zone"
		case l.zoned == l.seen:
			col.Type = blobexpand.Type{Kind: blobexpand.DateTime, FSP: 6}
			return col, "ISO 8601 times with zone, some beyond what a TIMESTAMP holds: shown in UTC"
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
