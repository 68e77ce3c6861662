package mysql

import (
	"strconv"
	"strings"
	"testing"
)

// What drivers are told of a column decides what type they make of it, and whether they expect NULL.
func TestComputedColumnsAreDescribedByWhatTheyMayHold(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1,"ok":true}`)
	db := in.open("app", "", "")
	for query, want := range map[string]string{
		"SELECT 'it''s', 'a\"b'":                            "it's TEXT,a\"b TEXT",
		"SELECT a = 1 AS x, 1 AS y, TRUE AS z FROM t":       "x BIGINT null,y BIGINT null,z BIGINT null",
		"SELECT MAX(a) AS x, MIN(_offset) AS y FROM t":      "x BIGINT null,y BIGINT null",
		"SELECT a + 0.5 AS x FROM t":                        "x DECIMAL(65,1)",
		"SELECT CURDATE() AS x, CURRENT_DATE AS y FROM t":   "x DATE null,y DATE null",
		"SELECT _offset, ok FROM t":                         "_offset BIGINT,ok TINYINT null",
		"SELECT b._offset AS x FROM t LEFT JOIN t b ON 1=0": "x BIGINT null",
	} {
		rows, err := db.Query(query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		cols, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range cols {
			s := c.Name() + " " + c.DatabaseTypeName()
			if p, sc, ok := c.DecimalSize(); ok && c.DatabaseTypeName() == "DECIMAL" {
				s += "(" + strconv.FormatInt(p, 10) + "," + strconv.FormatInt(sc, 10) + ")"
			} else if null, _ := c.Nullable(); null && c.DatabaseTypeName() != "TEXT" {
				s += " null"
			}
			got = append(got, s)
		}
		rows.Close()
		if s := strings.Join(got, ","); s != want {
			t.Errorf("%s: %s, want %s", query, s, want)
		}
	}
}
