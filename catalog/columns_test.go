package catalog

import (
	"errors"
	"strings"
	"testing"

	"millrace/blobexpand"

	"github.com/google/go-cmp/cmp"
)

func TestDeclarationsAreReadAndWrittenBack(t *testing.T) {
	type b = blobexpand.Type
	for _, c := range []struct {
		ddl  string
		want []blobexpand.Column
	}{
		{"", nil},
		{"order_id BIGINT, status VARCHAR(20), amount DECIMAL(10,2) AS (_value->>'$.payment.amount') COMMENT 'what''s paid'", []blobexpand.Column{
			{Name: "order_id", Path: []string{"order_id"}, Type: b{Kind: blobexpand.Int64, Bits: 64}, Declared: true},
			{Name: "status", Path: []string{"status"}, Type: b{Kind: blobexpand.Text, Length: 20}, Declared: true},
			{Name: "amount", Path: []string{"payment", "amount"}, Type: b{Kind: blobexpand.Decimal, Precision: 10, Scale: 2}, Declared: true, Comment: "what's paid"},
		}},
		{"a TINYINT(1), b BOOL, c TINYINT UNSIGNED, d SMALLINT, e MEDIUMINT, f INT UNSIGNED, g BIT(5), y YEAR", []blobexpand.Column{
			{Name: "a", Path: []string{"a"}, Type: b{Kind: blobexpand.Bool}, Declared: true},
			{Name: "b", Path: []string{"b"}, Type: b{Kind: blobexpand.Bool}, Declared: true},
			{Name: "c", Path: []string{"c"}, Type: b{Kind: blobexpand.Uint64, Bits: 8}, Declared: true},
			{Name: "d", Path: []string{"d"}, Type: b{Kind: blobexpand.Int64, Bits: 16}, Declared: true},
			{Name: "e", Path: []string{"e"}, Type: b{Kind: blobexpand.Int64, Bits: 24}, Declared: true},
			{Name: "f", Path: []string{"f"}, Type: b{Kind: blobexpand.Uint64, Bits: 32}, Declared: true},
			{Name: "g", Path: []string{"g"}, Type: b{Kind: blobexpand.Uint64, Bits: 5}, Declared: true},
			{Name: "y", Path: []string{"y"}, Type: b{Kind: blobexpand.Year}, Declared: true},
		}},
		{"f FLOAT, d DOUBLE, n DECIMAL, j JSON, t TEXT, m MEDIUMTEXT, l LONGTEXT, vb VARBINARY(9), bl BLOB, e ENUM('a','b''c')", []blobexpand.Column{
			{Name: "f", Path: []string{"f"}, Type: b{Kind: blobexpand.Float64, Bits: 32}, Declared: true},
			{Name: "d", Path: []string{"d"}, Type: b{Kind: blobexpand.Float64, Bits: 64}, Declared: true},
			{Name: "n", Path: []string{"n"}, Type: b{Kind: blobexpand.Decimal, Precision: 10}, Declared: true},
			{Name: "j", Path: []string{"j"}, Type: b{Kind: blobexpand.JSON}, Declared: true},
			{Name: "t", Path: []string{"t"}, Type: b{Kind: blobexpand.Text, Length: 65535}, Declared: true},
			{Name: "m", Path: []string{"m"}, Type: b{Kind: blobexpand.Text, Length: 16777215}, Declared: true},
			{Name: "l", Path: []string{"l"}, Type: b{Kind: blobexpand.Text}, Declared: true},
			{Name: "vb", Path: []string{"vb"}, Type: b{Kind: blobexpand.Binary, Length: 9}, Declared: true},
			{Name: "bl", Path: []string{"bl"}, Type: b{Kind: blobexpand.Binary, Length: 65535}, Declared: true},
			{Name: "e", Path: []string{"e"}, Type: b{Kind: blobexpand.Text, Enum: []string{"a", "b'c"}}, Declared: true},
		}},
		{"d DATE, t TIME(3), dt DATETIME(6), ts TIMESTAMP(3) AS (FROM_UNIXTIME(_value->>'$.meta.\"at.ms\"'/1000)), s DATETIME AS (FROM_UNIXTIME(_value->'$.s'))", []blobexpand.Column{
			{Name: "d", Path: []string{"d"}, Type: b{Kind: blobexpand.Date}, Declared: true},
			{Name: "t", Path: []string{"t"}, Type: b{Kind: blobexpand.Time, FSP: 3}, Declared: true},
			{Name: "dt", Path: []string{"dt"}, Type: b{Kind: blobexpand.DateTime, FSP: 6}, Declared: true},
			{Name: "ts", Path: []string{"meta", "at.ms"}, Type: b{Kind: blobexpand.Timestamp, FSP: 3, Epoch: blobexpand.EpochMillis}, Declared: true},
			{Name: "s", Path: []string{"s"}, Type: b{Kind: blobexpand.DateTime, Epoch: blobexpand.EpochSeconds}, Declared: true},
		}},
		{"`weird ``name.x` BIGINT, v INT AS (JSON_EXTRACT(_value, '$.a.b'))", []blobexpand.Column{
			{Name: "weird `name.x", Path: []string{"weird `name.x"}, Type: b{Kind: blobexpand.Int64, Bits: 64}, Declared: true},
			{Name: "v", Path: []string{"a", "b"}, Type: b{Kind: blobexpand.Int64, Bits: 32}, Declared: true},
		}},
	} {
		got, err := ParseColumns(c.ddl)
		if err != nil {
			t.Errorf("%s: %v", c.ddl, err)
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.ddl, d)
		}
		again, err := ParseColumns(FormatColumns(got))
		if err != nil {
			t.Errorf("%s: %v", FormatColumns(got), err)
		}
		if d := cmp.Diff(got, again); d != "" {
			t.Errorf("%s: %s", FormatColumns(got), d)
		}
	}
}

func TestFaultyDeclarationsAreRefused(t *testing.T) {
	for _, ddl := range []string{
		"a", "a BIGINT)", "a BIGINT NOT NULL", "a BIGINT PRIMARY KEY", "a BIGINT, A INT", "_offset BIGINT", "a BIGINT DEFAULT 1",
		"a BIGINT AS (b+1)", "a BIGINT AS (_value->>'$.a[0]')", "a BIGINT AS (_value->>'$')", "a BIGINT AS (FROM_UNIXTIME(_value->>'$.t'))",
		"a DECIMAL(70,2)", "a SET('x')", "a VARCHAR(99999)", "a TEXT CHARACTER SET latin1", "a GEOMETRY", "a INT); DROP TABLE x; CREATE TABLE y (b INT",
		"a INT, KEY (a)", "a DECIMAL(10,2) UNSIGNED",
	} {
		if cols, err := ParseColumns(ddl); !errors.Is(err, ErrColumns) {
			t.Errorf("%s gives %v, %v", ddl, cols, err)
		}
	}
}

func TestFaultsOfDeclarationsAreToldByTheirOwnPlaces(t *testing.T) {
	long := strings.Repeat("a_long_name, ", 300)
	for _, c := range []struct{ ddl, want string }{
		{"a NOSUCH", "unknown type NOSUCH at line 1, column 3"},
		{"a BIGINT,\n  öö NOSUCH(3), c INT", "unknown type NOSUCH at line 2, column 6"},
		{"`a``b.c` NOSUCH COMMENT '\"'", "unknown type NOSUCH at line 1, column 10"},
		{"a NOSUCH COMMENT '" + long + "'", "unknown type NOSUCH at line 1, column 3"},
		{"payment.amount DECIMAL(10,2)", "column payment.amount: write a name with a dot in backticks: `payment.amount`"},
		{"a INT, x.y.z INT", "column x.y.z: write a name with a dot in backticks: `x.y.z`"},
		{"a INT b INT", `syntax error at line 1, column 7, near "b INT"`},
		{"a INT,\n\nselect INT", `syntax error at line 3, column 1, near "select INT"`},
		{"a DECIMAL(10,2 x)", `syntax error at line 1, column 16, near "x)"`},
		{"a", "something is missing at the end: a column has a name and a type"},
		{"a BIGINT,", "something is missing at the end: a column has a name and a type"},
		{"a BIGINT)", "a closing parenthesis too many"},
		{"a DECIMAL(10,2", "a closing parenthesis is missing at the end"},
		{"a INT /* x", "cannot be read: a quote or comment without its end?"},
	} {
		_, err := ParseColumns(c.ddl)
		if want := ErrColumns.Error() + ": " + c.want; !errors.Is(err, ErrColumns) || err.Error() != want {
			t.Errorf("%.60s:\n got %v\nwant %s", c.ddl, err, want)
		}
	}
}
