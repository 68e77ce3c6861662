package pushdown_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// randomValue draws the JSON text of a member, "" for an absent one.
func randomValue(t *rapid.T, kind string) string {
	if n := rapid.IntRange(0, 9).Draw(t, "absent"); n == 0 {
		return ""
	} else if n == 1 {
		return "null"
	}
	switch kind {
	case "int":
		return rapid.SampledFrom([]string{"-3", "-1", "0", "1", "2", "7", "9007199254740993", "9007199254740992", "-9223372036854775808", "9223372036854775807"}).Draw(t, "int")
	case "big":
		return rapid.SampledFrom([]string{"1", "18446744073709551615", "9223372036854775808", "-5", "99999999999999999999999999999999999999", "0"}).Draw(t, "big")
	case "float":
		return rapid.SampledFrom([]string{"0.5", "-0.0", "0.1", "1e300", "5e-324", "2", "7", "-1.5", "3.25"}).Draw(t, "float")
	case "bool":
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	}
	return rapid.SampledFrom([]string{`""`, `"a"`, `"A"`, `"a "`, `"b"`, `"ä"`, `"some1"`, `"😀"`, `"7"`}).Draw(t, "text")
}

var randomColumns = []struct{ name, kind string }{
	{"i", "int"}, {"n", "big"}, {"f", "float"}, {"b", "bool"}, {"s", "text"}, {"p.q", "int"},
}

func randomLiteral(t *rapid.T, kind string) string {
	if rapid.IntRange(0, 9).Draw(t, "nullLiteral") == 0 {
		return "NULL"
	}
	switch kind {
	case "int", "big", "float", "bool":
		return rapid.SampledFrom([]string{
			"0", "1", "-1", "2", "7", "0.5", "1.5", "-1.5", "7.0", "0.1", "200", "70000", "5000000000", "1e0", "1e1",
			"9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
			"99999999999999999999999999999999999999", "TRUE",
		}).Draw(t, "number")
	case "time":
		return rapid.SampledFrom([]string{
			"'2023-11-14 22:13:20'", "'2023-11-14 22:13:20.5'", "'2023-11-14'", "FROM_UNIXTIME(1700000001)", "'2024-01-01 00:00:00'",
			"'2023-10-29 02:30:00'",
		}).Draw(t, "time")
	}
	return rapid.SampledFrom([]string{"''", "'a'", "'A'", "'b'", "'ä'", "'some'", "'😀'", "'zz'"}).Draw(t, "string")
}

func randomPredicate(t *rapid.T, depth int) string {
	if depth > 0 {
		switch rapid.IntRange(0, 5).Draw(t, "shape") {
		case 0:
			return "(" + randomPredicate(t, depth-1) + " AND " + randomPredicate(t, depth-1) + ")"
		case 1:
			return "(" + randomPredicate(t, depth-1) + " OR " + randomPredicate(t, depth-1) + ")"
		case 2:
			return "NOT (" + randomPredicate(t, depth-1) + ")"
		}
	}
	type column struct{ sql, kind string }
	cols := []column{{"_partition", "int"}, {"_offset", "int"}, {"_key", "text"}, {"_timestamp", "time"}}
	for _, c := range randomColumns {
		cols = append(cols, column{"`" + c.name + "`", c.kind})
	}
	c := rapid.SampledFrom(cols).Draw(t, "column")
	switch rapid.IntRange(0, 6).Draw(t, "leaf") {
	case 0:
		return c.sql + " IS NULL"
	case 1:
		if c.kind != "time" {
			var list []string
			for range rapid.IntRange(1, 4).Draw(t, "list") {
				list = append(list, randomLiteral(t, c.kind))
			}
			not := rapid.SampledFrom([]string{"", " NOT"}).Draw(t, "not")
			return c.sql + not + " IN (" + strings.Join(list, ",") + ")"
		}
	case 2:
		return c.sql + " BETWEEN " + randomLiteral(t, c.kind) + " AND " + randomLiteral(t, c.kind)
	case 3:
		return randomLiteral(t, c.kind) + " >= " + c.sql
	}
	op := rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">=", "<=>"}).Draw(t, "op")
	return c.sql + " " + op + " " + randomLiteral(t, c.kind)
}

// count reads the only cell of an answer.
func count(t *rapid.T, rows []string) int {
	n, err := strconv.Atoi(rows[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Whatever is pushed down, the rows are the same, in the same order, and a filter, its
// negation and its NULLs part the rows (as in ternary logic partitioning).
func TestPushdownNeverChangesAnAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(rt)
		b.blockRows = 7
		b.close()
		b.open()
		b.zone = rapid.SampledFrom([]string{"+00:00", "+05:30", "Europe/Berlin", "America/New_York"}).Draw(rt, "zone")
		partitions := int32(rapid.IntRange(1, 3).Draw(rt, "partitions"))
		var configs map[string]string
		if rapid.Bool().Draw(rt, "declared") {
			configs = map[string]string{"millrace.columns": "f DOUBLE, n DECIMAL(38,0), b BOOLEAN, i BIGINT, s VARCHAR(100)"}
		}
		id := b.topic("t", partitions, configs)
		// All columns exist whatever is drawn.
		b.produce(id, 0, record{value: `{"i":1,"n":18446744073709551615,"f":0.5,"b":true,"s":"x","p":{"q":1}}`, key: "a"})
		for range rapid.IntRange(0, 6).Draw(rt, "batches") {
			var recs []record
			for range rapid.IntRange(1, 5).Draw(rt, "records") {
				var members []string
				for _, c := range randomColumns {
					v := randomValue(rt, c.kind)
					if v == "" {
						continue
					}
					if c.name == "p.q" {
						members = append(members, `"p":{"q":`+v+`}`)
					} else {
						members = append(members, `"`+c.name+`":`+v)
					}
				}
				recs = append(recs, record{
					value: "{" + strings.Join(members, ",") + "}",
					key:   rapid.SampledFrom([]string{"", "a", "b", "ä"}).Draw(rt, "key"),
					ts: rapid.SampledFrom([]int64{
						1_700_000_000_000, 1_700_000_000_500, 1_700_000_001_000, -1, 500,
						1_698_539_400_000, 1_698_543_000_000, 1_698_546_600_000,
					}).Draw(rt, "ts"),
				})
			}
			b.produce(id, int32(rapid.IntRange(0, int(partitions)-1).Draw(rt, "partition")), recs...)
			if rapid.IntRange(0, 4).Draw(rt, "seal") == 0 {
				b.seal()
			}
		}
		all, err := b.query(false, "SELECT COUNT(*) FROM t")
		if err != nil {
			rt.Fatal(err)
		}
		for range 4 {
			where := randomPredicate(rt, 2)
			var parts int
			for _, q := range []string{
				"SELECT _partition,_offset,_timestamp,_key,i,n,f,b,s,`p.q` FROM t WHERE " + where,
				"SELECT COUNT(*),COUNT(i),MIN(_offset),MAX(_offset),MIN(n),MAX(f),MIN(s),MAX(_key) FROM t WHERE " + where,
				"SELECT s,COUNT(*),MAX(i) FROM t WHERE " + where + " GROUP BY s",
				"SELECT b,COUNT(DISTINCT s),COUNT(DISTINCT i),COUNT(DISTINCT _offset) FROM t WHERE " + where + " GROUP BY b",
				"SELECT _partition,COUNT(*),COUNT(DISTINCT _offset),MAX(_offset)+1 FROM t WHERE " + where + " GROUP BY _partition",
				"SELECT COUNT(DISTINCT _key),COUNT(DISTINCT _partition) FROM t WHERE " + where,
				"SELECT _partition,b,COUNT(*) FROM t WHERE " + where + " GROUP BY _partition,b",
				"SELECT _partition,COUNT(*),MIN(_offset) FROM t WHERE " + where + " GROUP BY _partition",
				"SELECT _partition,_offset,s FROM t WHERE " + where + " ORDER BY _offset DESC LIMIT 3",
				"SELECT _offset FROM t WHERE " + where + " LIMIT 2 OFFSET 1",
				"SELECT COUNT(*) FROM t WHERE NOT (" + where + ")",
				"SELECT COUNT(*) FROM t WHERE (" + where + ") IS NULL",
				"SELECT COUNT(*) FROM t a JOIN t b ON a._offset=b._offset AND a._partition=b._partition WHERE b.i>0 AND a.s<>'b'",
			} {
				off, offErr := b.query(false, q)
				on, onErr := b.query(true, q)
				if (offErr == nil) != (onErr == nil) || !slices.Equal(off, on) {
					rt.Fatalf("%s\n on %q %v\noff %q %v", q, on, onErr, off, offErr)
				}
				var n int
				switch {
				case offErr != nil:
					rt.Fatalf("%s: %v", q, offErr)
				case strings.HasPrefix(q, "SELECT _partition,_offset,_timestamp"):
					parts += len(on)
				case strings.HasPrefix(q, "SELECT COUNT(*) FROM t WHERE"):
					n = count(rt, on)
					parts += n
				}
			}
			total := count(rt, all)
			if parts != total {
				rt.Fatalf("%s: true, false and NULL are %d of %d rows", where, parts, total)
			}
		}
	})
}
