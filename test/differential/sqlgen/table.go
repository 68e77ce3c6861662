package sqlgen

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Family is what the values of a column are compared with and what functions take them.
type Family uint8

const (
	integer Family = iota
	decimal
	double
	boolean
	text
	unsigned // beyond BIGINT
	wide     // as many digits as there can be
	date
	moment // date and time
	document
	enumeration
)

// Column is one of every table.
type Column struct {
	Name   string
	Type   string // as MySQL declares it
	family Family
	values []Value
}

// Value is one of a column, as a JSON member's and as a literal of SQL.
type Value struct{ JSON, SQL string }

// Null is an absent member, or null.
var Null = Value{"null", "NULL"}

// Columns are what every table has beside _partition and _offset.
var Columns = []Column{
	{"i", "BIGINT", integer, numbers("-9007199254740993", "-70000", "-7", "-2", "-1", "0", "1", "2", "3", "5", "7", "9", "100", "65536", "5000000000", "9007199254740993")},
	{"j", "INT", integer, numbers("-100", "-3", "-1", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")},
	{"n", "DECIMAL(12,2)", decimal, numbers("-99999.99", "-1.50", "-0.01", "0.00", "0.01", "0.10", "1.00", "1.50", "2.25", "1234567.89")},
	{"f", "DOUBLE", double, doubles("-1.5", "-0.25", "0.0", "0.1", "0.5", "1.0", "1.5", "2.5", "3.25", "10000000000.0", "123456.789")},
	{"b", "TINYINT(1)", boolean, []Value{{"false", "0"}, {"true", "1"}, {"0", "0"}, {"1", "1"}}},
	{"s", "VARCHAR(40)", text, texts("", "a", "A", "a ", "ab", "abc", "b", "B", "ä", "zoo", "x_y", "50%", "😀", "hello world", "7")},
	{"g", "VARCHAR(10)", text, texts("red", "green", "blue", "Red")},
	{"d", "DATE", date, texts("2023-12-31", "2024-01-01", "2024-02-29", "2024-03-01", "2025-06-15")},
	{"t", "DATETIME(3)", moment, texts("2023-12-31 23:59:59.999", "2024-01-01 00:00:00.000", "2024-01-01 00:00:59.500", "2024-02-29 12:34:56.789", "2025-06-15 06:00:00.000")},
	{"u", "BIGINT UNSIGNED", unsigned, numbers("0", "1", "2", "3", "10", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615")},
	{"w", "DECIMAL(65,30)", wide, numbers("0", "1.5", "-0.000000000000000000000000000001", "0.1", "12345678901234567890123456789012345.123456789012345678901234567891",
		"99999999999999999999999999999999999.999999999999999999999999999999", "-99999999999999999999999999999999999", "2")},
	{"o", "JSON", document, documents(`{"a": 1, "s": "x"}`, `{"a": 2, "s": "red", "b": {"c": [1, 2, 3]}}`, `{"a": 9007199254740993}`, `{"a": null, "s": ""}`, `{}`, `{"a": -5, "s": "ä", "b": {"c": []}}`)},
	{"e", "ENUM('small','large','Big')", enumeration, texts("small", "large", "Big")},
}

func column(name string) *Column {
	return &Columns[slices.IndexFunc(Columns, func(c Column) bool { return c.Name == name })]
}

func numbers(of ...string) (out []Value) {
	for _, s := range of {
		out = append(out, Value{s, s})
	}
	return out
}

func doubles(of ...string) (out []Value) {
	for _, s := range of {
		out = append(out, Value{s, s + "e0"})
	}
	return out
}

func texts(of ...string) (out []Value) {
	for _, s := range of {
		out = append(out, Value{strconv.Quote(s), quote(s)}) // there is nothing in them that JSON spells otherwise
	}
	return out
}

func documents(of ...string) (out []Value) {
	for _, s := range of {
		out = append(out, Value{s, quote(s)})
	}
	return out
}

// quote spells a string of SQL, in which a backslash stands for itself.
func quote(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", "''") + "'"
}

// Row has a value for each of Columns.
type Row []Value

// Rows draws n rows; some columns are often NULL, some never.
func Rows(r *rand.Rand, n int) []Row {
	nulls := make([]int, len(Columns)) // per cent
	for i := range nulls {
		nulls[i] = []int{0, 10, 10, 40}[r.IntN(4)]
	}
	out := make([]Row, n)
	for k := range out {
		row := make(Row, len(Columns))
		for i, c := range Columns {
			switch {
			case r.IntN(100) < nulls[i]:
				row[i] = Null
			case c.Name == "i" && r.IntN(10) < 3:
				s := strconv.Itoa(r.IntN(100) - 50)
				row[i] = Value{s, s}
			case c.Name == "s" && r.IntN(10) < 3:
				row[i] = texts("k" + strconv.Itoa(r.IntN(200)))[0]
			default:
				row[i] = c.values[r.IntN(len(c.values))]
			}
		}
		out[k] = row
	}
	return out
}

// JSON is the row as an object. A member that is NULL may be absent, a decimal may be text.
func (row Row) JSON(r *rand.Rand) string {
	var b strings.Builder
	for i, c := range Columns {
		v := row[i].JSON
		if v == Null.JSON && r.IntN(2) == 0 {
			continue
		}
		if (c.family == decimal || c.family == wide) && v != Null.JSON && r.IntN(2) == 0 {
			v = `"` + v + `"`
		}
		sep := byte(',')
		if b.Len() == 0 {
			sep = '{'
		}
		b.WriteByte(sep)
		b.WriteString(`"` + c.Name + `":` + v)
	}
	if b.Len() == 0 {
		return "{}"
	}
	return b.String() + "}"
}
