package mysql

import (
	"strings"
	"testing"
)

func TestColumnsAreToldTheirTablesAndNames(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "a INT, s VARCHAR(9)"}, `{"a":1,"s":"x"}`)
	r := dialRaw(t, in)
	// schema, table, org_table, name, org_name
	for query, want := range map[string]string{
		"SELECT x.a, s AS b, a + 1 AS c FROM t AS x": "kafka x t a a,kafka x t b s,   c c",
		"SELECT a FROM t": "kafka t t a a",
		"SELECT x.a, y.a AS z FROM t x JOIN t y ON x.a = y.a ORDER BY 1 LIMIT 1":            "kafka x t a a,kafka y t z a",
		"SELECT s, COUNT(*) n FROM t x GROUP BY s HAVING n > 0":                             "kafka x t s s,   n n",
		"SELECT d.b FROM (SELECT a AS b FROM t) d":                                          " d d b b",
		"SELECT LPAD(s,2,'0') p, s q FROM t x WHERE RPAD(s,2,'0') <> '' AND a < RAND() + 9": "   p p,kafka x t q s",
	} {
		for _, pushdown := range []string{"1", "0"} {
			r.send(0, []byte("\x03SET millrace_pushdown="+pushdown))
			r.packet()
			r.send(0, append([]byte{3}, query...))
			count := r.packet()
			if len(count) != 1 {
				t.Fatalf("%s: %q", query, count)
			}
			var got []string
			for range count[0] {
				p := r.packet()
				var parts []string
				for range 6 {
					n := int(p[0])
					parts, p = append(parts, string(p[1:1+n])), p[1+n:]
				}
				got = append(got, strings.Join(parts[1:], " "))
			}
			if s := strings.Join(got, ","); s != want {
				t.Errorf("%s: %q, want %q", query, s, want)
			}
			for !isEnd(r.packet()) {
			}
		}
	}
}
