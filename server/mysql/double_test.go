package mysql

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func TestDoublesAreSentInMySQLsSpelling(t *testing.T) {
	ctx := sql.NewEmptyContext()
	e := newEncoder(ctx, sql.Schema{
		{Name: "d", Type: types.Float64}, {Name: "e", Type: types.Float64}, {Name: "f", Type: types.Float32}, {Name: "g", Type: types.Float64}, {Name: "s", Type: types.LongText},
	})
	for _, c := range []struct {
		row  sql.Row
		want []string
	}{
		{sql.Row{4.94503303000079e+06, 1e10, float32(0.1), int64(5), 1e20}, []string{"4945033.03000079", "10000000000", "0.1", "5", "1e20"}},
		{sql.Row{1e15, 1e-16, float32(1e20), float32(2.5), "x"}, []string{"1e15", "1e-16", "1e20", "2.5", "x"}},
	} {
		got, err := e.encode(ctx, c.row)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if string(got[i]) != want {
				t.Errorf("%v: %s, want %s", c.row[i], got[i], want)
			}
		}
	}
}

func TestDoublesBecomeTextInMySQLsSpelling(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"d":4945033.03000079}`, `{"d":1e10}`, `{"d":1e-16}`)
	db := in.open("app", "", "")
	for query, want := range map[string]string{
		"SELECT CONCAT(d, '') FROM t ORDER BY _offset":                                       "4945033.03000079 / 10000000000 / 1e-16",
		"SELECT CAST(d AS CHAR) FROM t ORDER BY _offset":                                     "4945033.03000079 / 10000000000 / 1e-16",
		"SELECT CAST(1e20 AS CHAR), CONCAT(1e20, '/', 1e-5, '/', 1e14), CONVERT(1e15, CHAR)": "1e20,1e20/0.00001/100000000000000,1e15",
		"SELECT CONCAT_WS('/', 1e16, 1.25e0), REPEAT(1e15, 2)":                               "1e16/1.25,1e151e15",
		"SELECT CAST(1.50 AS CHAR), CAST(7 AS CHAR), CAST('äbc' AS CHAR(2)), CAST(1.25e0 AS CHAR(2)), CAST(NULL AS CHAR), CAST('abc' AS CHAR(0)), CAST('ab' AS CHAR(2))": "1.50,7,äb,1.,NULL,,ab",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
