package mysql

import (
	"context"
	"database/sql"
	flags "flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/store/state"

	"github.com/google/uuid"
)

var (
	differentialQueries = flags.Int("differential.queries", 10_000, "how many generated queries are compared")
	differentialSeed    = flags.Uint64("differential.seed", 1, "what the queries are generated from")
)

// topicOf makes a topic of two partitions, in which batches of many kinds lie: sealed and not, of transactions
// that were committed and aborted.
func (in *instance) mixedTopic(name string, configs map[string]string, r *rand.Rand, rows int, value func() (key, json string, ts int64)) {
	in.t.Helper()
	id := uuid.New()
	configs = maps.Clone(configs)
	if configs == nil {
		configs = map[string]string{}
	}
	configs["retention.ms"] = "-1" // the records are old, and the test may be slow
	res, err := in.store.Commit(context.Background(), state.CreateTopic{ID: id, Name: name, Partitions: 2, Configs: configs})
	if err != nil || res.(state.TopicResult).Err != nil {
		in.t.Fatal(res, err)
	}
	for rows > 0 {
		var rb recordbatch.Builder
		n := 1 + r.IntN(20)
		lo, hi := int64(math.MaxInt64), int64(-1)
		for range n {
			k, v, ts := value()
			var key []byte
			if k != "" {
				key = []byte(k)
			}
			rb.Append(ts, key, []byte(v), nil)
			lo, hi = min(lo, ts), max(hi, ts)
		}
		rows -= n
		b := state.Batch{
			TopicPartition: state.TopicPartition{Topic: id, Partition: int32(r.IntN(2))}, Records: int32(n),
			MinTimestamp: lo, MaxTimestamp: hi, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		}
		raw := rb.Build()
		b.SizeBytes = int32(len(raw))
		kind := r.IntN(6)
		if kind > 1 {
			in.submit(state.Produce{Batches: []state.Batch{b}}, raw)
			if kind == 2 {
				if err := in.store.Seal(context.Background()); err != nil {
					in.t.Fatal(err)
				}
			}
			continue
		}
		tx := fmt.Sprintf("%s-%d", name, rows)
		res, err := in.store.Commit(context.Background(), state.InitTransaction{TransactionalID: tx, TimeoutMillis: 60_000, ProducerID: -1, ProducerEpoch: -1})
		if err != nil || res.(state.ProducerIDResult).Err != nil {
			in.t.Fatal(res, err)
		}
		p := res.(state.ProducerIDResult)
		raw[22] |= 0x10
		recordbatch.SetProducer(raw, p.ProducerID, p.ProducerEpoch, 0)
		b.ProducerID, b.ProducerEpoch, b.FirstSequence, b.Transactional = p.ProducerID, p.ProducerEpoch, 0, true
		in.submit(state.Produce{TransactionalID: tx, AddPartitions: true, Batches: []state.Batch{b}}, raw)
		res, err = in.store.Commit(context.Background(), state.EndTransaction{
			TransactionRef: state.TransactionRef{TransactionalID: tx, ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch}, Commit: kind == 1,
		})
		if err != nil || res.(state.ProducerIDResult).Err != nil {
			in.t.Fatal(res, err)
		}
	}
}

func (in *instance) submit(p state.Produce, raw []byte) {
	in.t.Helper()
	done := make(chan error, 1)
	err := in.store.Submit(context.Background(), p, [][]byte{raw}, func(result any, err error) {
		if r, ok := result.(state.ProduceResult); ok && err == nil {
			err = r.Batches[0].Err
		}
		done <- err
	})
	if err == nil {
		err = <-done
	}
	if err != nil {
		in.t.Fatal(err)
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// generator makes SQL from a random source.
type generator struct{ *rand.Rand }

// otherRows is a condition on rows of another topic.
func (g generator) otherRows() string {
	if g.chance(50) {
		on := g.one("l.k=r.k", "l.w=r.w", "l.b=r.b AND l.k<r.k", "l.n>r.n AND l.u<r.u", "l.d=r.d AND l.s<>r.s", "l.k=r.k AND l.w=r.w", "l.k+1=r.k")
		return "EXISTS (SELECT 1 FROM auto r WHERE " + on + g.one("", " AND "+g.condition("r.", 0)) + ")"
	}
	return g.one("l.k IN (SELECT k", "l.w NOT IN (SELECT w", "l.i IN (SELECT n", "l.d NOT IN (SELECT d", "l.u IN (SELECT i", "(l.k,l.w) NOT IN (SELECT k,w", "(l.b,l.n) IN (SELECT b,n") +
		" FROM auto r WHERE " + g.condition("r.", 0) + ")"
}

func (g generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// event is a record with members of all kinds, some of them null or absent.
func (g generator) event() (key, json string, ts int64) {
	var m []string
	add := func(name, value string) {
		switch n := g.IntN(12); n {
		case 0:
		case 1:
			m = append(m, `"`+name+`":null`)
		default:
			m = append(m, `"`+name+`":`+value)
		}
	}
	add("i", g.one("-3", "-1", "0", "1", "2", "7", "42", "100000", "9007199254740993", "-9223372036854775808", "9223372036854775807", strconv.Itoa(g.IntN(1000))))
	add("k", strconv.Itoa(g.IntN(5)))
	add("n", strconv.Itoa(g.IntN(256)-128))
	add("u", g.one("0", "1", "7", "18446744073709551615", "9223372036854775808", strconv.Itoa(g.IntN(100))))
	add("d", g.one("0", "1.5", "-2.25", "10.005", "123456789.125", "-0.001", fmt.Sprintf("%d.%03d", g.IntN(100), g.IntN(1000))))
	add("f", g.one("0.5", "-1.5", "0.1", "2", "3.25", "1e10", "-7.125", fmt.Sprint(float64(g.IntN(1000))/8)))
	add("b", g.one("true", "false"))
	add("s", g.one(`""`, `"a"`, `"A"`, `"a "`, `"b"`, `"ä"`, `"some1"`, `"some2"`, `"😀"`, `"7"`, `"12.5x"`, `"x_y%z"`))
	add("w", fmt.Sprintf(`"w%d"`, g.IntN(40)))
	add("dt", g.one(`"2024-02-29T01:02:03.000004Z"`, `"1999-12-31T23:59:59Z"`, fmt.Sprintf(`"2024-0%d-1%dT%02d:%02d:00Z"`, 1+g.IntN(9), g.IntN(10), g.IntN(24), g.IntN(60))))
	add("da", g.one(`"2024-02-29"`, `"2000-01-01"`, `"2024-12-31"`))
	add("t", g.one(`"2024-03-31T00:59:59.999Z"`, `"2024-10-27T00:30:00Z"`, `"2024-10-27T01:30:00Z"`, fmt.Sprintf(`"2024-0%d-02T%02d:%02d:%02d.500Z"`, 1+g.IntN(9), g.IntN(24), g.IntN(60), g.IntN(60))))
	add("y", strconv.Itoa(1990+g.IntN(60)))
	add("e", g.one(`"small"`, `"large"`))
	add("p", fmt.Sprintf(`{"q":%d,"r":"%s"}`, g.IntN(4), g.one("x", "y")))
	add("a", `[1,{"z":2}]`)
	key = g.one("", "a", "b", "ä", "key")
	ts = int64(1_711_843_000_000) + int64(g.IntN(7200_000))
	if g.chance(20) {
		ts = 1_729_987_200_000 + int64(g.IntN(10_800_000)) // the end of summer time in Europe
	}
	return key, "{" + strings.Join(m, ",") + "}", ts
}

const differentialColumns = "i BIGINT, k INT, n TINYINT, u BIGINT UNSIGNED, d DECIMAL(14,3), f DOUBLE, b BOOLEAN, s VARCHAR(50), w VARCHAR(20), dt DATETIME(6), da DATE, t TIMESTAMP(3), y YEAR, e ENUM('small','large')"

// number is a numeric expression.
func (g generator) number(q string, depth int) string {
	if depth <= 0 || g.chance(35) {
		switch g.IntN(10) {
		case 0:
			return g.one("0", "1", "-1", "2", "7", "0.5", "1.5", "-2.25", "1e1", "100", "9223372036854775807")
		case 1:
			return q + g.one("_offset", "_partition")
		default:
			return q + g.one("i", "k", "n", "u", "d", "f", "k", "n", "`p.q`", "d", "f")
		}
	}
	switch g.IntN(16) {
	case 0, 1, 2:
		return "(" + g.number(q, depth-1) + g.one("+", " - ", "*") + g.number(q, depth-1) + ")"
	case 3:
		return "(" + g.number(q, depth-1) + g.one(" DIV ", "%", "/") + g.one("2", "3", "7", "10", "-1", "0", "0.5") + ")"
	case 4:
		return g.one("ABS", "FLOOR", "CEIL", "ROUND", "SIGN") + "(" + g.number(q, depth-1) + ")"
	case 5:
		return "ROUND(" + g.number(q, depth-1) + ",1)"
	case 6:
		return "IFNULL(" + g.number(q, depth-1) + "," + g.number(q, depth-1) + ")"
	case 7:
		return "COALESCE(" + g.number(q, depth-1) + "," + g.number(q, depth-1) + ",0)"
	case 8:
		return "NULLIF(" + g.number(q, depth-1) + "," + g.number(q, depth-1) + ")"
	case 9:
		return "IF(" + g.condition(q, depth-1) + "," + g.number(q, depth-1) + "," + g.number(q, depth-1) + ")"
	case 10:
		return "CASE WHEN " + g.condition(q, depth-1) + " THEN " + g.number(q, depth-1) + " WHEN " + g.condition(q, depth-1) + " THEN " + g.number(q, depth-1) + " ELSE " + g.number(q, depth-1) + " END"
	case 11:
		return "CASE " + q + "k WHEN 1 THEN " + g.number(q, depth-1) + " WHEN 2 THEN " + g.number(q, depth-1) + " END"
	case 12:
		return g.one("LENGTH", "CHAR_LENGTH") + "(" + g.text(q, depth-1) + ")"
	case 13:
		return g.one("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "DAYOFWEEK", "QUARTER", "WEEKDAY", "DAYOFYEAR") + "(" + g.time(q, depth-1) + ")"
	case 14:
		return g.one("UNIX_TIMESTAMP("+q+"_timestamp) DIV 60", "UNIX_TIMESTAMP("+q+"_timestamp) DIV 3600*3600", "UNIX_TIMESTAMP("+q+"dt)", "UNIX_TIMESTAMP("+q+"t)")
	default:
		return "CAST(" + g.text(q, depth-1) + " AS SIGNED)"
	}
}

func (g generator) text(q string, depth int) string {
	if depth <= 0 || g.chance(40) {
		if g.chance(15) {
			return g.one("'a'", "'some'", "''", "'ä'", "'z'")
		}
		return q + g.one("s", "w", "_key", "`p.r`", "s")
	}
	switch g.IntN(10) {
	case 0:
		return g.one("UPPER", "LOWER", "REVERSE", "TRIM") + "(" + g.text(q, depth-1) + ")"
	case 1:
		return "SUBSTRING(" + g.text(q, depth-1) + ",2,2)"
	case 2:
		return "CONCAT(" + g.text(q, depth-1) + ",'-'," + g.text(q, depth-1) + ")"
	case 3:
		return "CONCAT(" + q + "w,':'," + q + g.one("k", "n", "i", "d", "e") + ")"
	case 4:
		return "IFNULL(" + g.text(q, depth-1) + ",'none')"
	case 5:
		return "IF(" + g.condition(q, depth-1) + "," + g.text(q, depth-1) + "," + g.text(q, depth-1) + ")"
	case 6:
		return "CASE WHEN " + g.condition(q, depth-1) + " THEN " + g.text(q, depth-1) + " ELSE " + g.text(q, depth-1) + " END"
	case 7:
		return "DATE_FORMAT(" + g.time(q, 0) + "," + g.one("'%Y-%m-%d %H:00'", "'%H:%i'", "'%Y-%m'", "'%a %b %e'", "'%T.%f'") + ")"
	case 8:
		return "CAST(" + g.number(q, depth-1) + " AS CHAR)"
	default:
		return "LEFT(" + g.text(q, depth-1) + ",1)"
	}
}

func (g generator) time(q string, depth int) string {
	if depth <= 0 || g.chance(60) {
		return q + g.one("_timestamp", "dt", "t", "da")
	}
	switch g.IntN(4) {
	case 0:
		return "DATE(" + g.time(q, depth-1) + ")"
	case 1:
		return "DATE_ADD(" + g.time(q, 0) + ", INTERVAL " + g.one("1 DAY", "90 MINUTE", "1 MONTH") + ")"
	case 2:
		return "FROM_UNIXTIME(UNIX_TIMESTAMP(" + q + "_timestamp) DIV 300 * 300)"
	default:
		return "IFNULL(" + q + "dt," + q + "dt)"
	}
}

func (g generator) condition(q string, depth int) string {
	op := func() string { return " " + g.one("=", "<>", "<", "<=", ">", ">=", "<=>") + " " }
	if depth > 0 {
		switch g.IntN(8) {
		case 0:
			return "(" + g.condition(q, depth-1) + " AND " + g.condition(q, depth-1) + ")"
		case 1:
			return "(" + g.condition(q, depth-1) + " OR " + g.condition(q, depth-1) + ")"
		case 2:
			return "(NOT " + g.condition(q, depth-1) + ")"
		case 3:
			return "(" + g.condition(q, depth-1) + " XOR " + g.condition(q, depth-1) + ")"
		}
	}
	switch g.IntN(14) {
	case 0, 1:
		return g.number(q, depth) + op() + g.number(q, depth)
	case 2:
		return q + g.one("i", "k", "n", "u", "d", "f", "_offset") + op() + g.one("0", "1", "7", "1.5", "-1", "1e1", "9223372036854775808", "NULL", "42")
	case 3, 4:
		return g.text(q, depth) + op() + g.text(q, depth)
	case 5:
		return q + g.one("s", "w", "_key") + op() + g.one("'a'", "'A'", "'some1'", "'w3'", "7", "''", "NULL")
	case 6:
		return g.time(q, depth) + op() + g.one("'2024-03-31 00:30:00'", "'2024-06-01'", "'2024-10-27 02:30:00'", "'2024-02-29 01:02:03.000004'", "FROM_UNIXTIME(1711846800)")
	case 7:
		return q + g.one("i", "k", "n", "d", "u") + g.one("", " NOT") + " IN (1,2," + g.one("7", "NULL", "1.5", "-1") + ")"
	case 8:
		return q + g.one("s", "w", "_key") + g.one("", " NOT") + " IN ('a','w1'," + g.one("'ä'", "NULL", "'some1'") + ")"
	case 9:
		return q + g.one("s", "w", "`p.r`", "_key", "e") + g.one("", " NOT") + " LIKE " + g.one("'a%'", "'%o%'", "'_'", "'some_'", "'w1%'", "'%'", "'x\\_y\\%z'", "'w'")
	case 10:
		return g.number(q, depth) + g.one("", " NOT") + " BETWEEN " + g.number(q, 0) + " AND " + g.number(q, 0)
	case 11:
		return g.one(q+"b", "NOT "+q+"b", q+"b=TRUE", q+"b IS TRUE", q+"b IS NOT FALSE", q+"k")
	case 12:
		return "(" + g.any(q, depth) + ") IS" + g.one("", " NOT") + " NULL"
	default:
		return q + "e" + op() + "'small'"
	}
}

// any is an expression of any type that can be grouped by.
func (g generator) any(q string, depth int) string {
	switch g.IntN(6) {
	case 0, 1:
		return g.number(q, depth)
	case 2, 3:
		return g.text(q, depth)
	case 4:
		return g.time(q, depth)
	default:
		return q + g.one("b", "y", "e", "da", "k", "w")
	}
}

func (g generator) aggregate(q string) string {
	switch g.IntN(14) {
	case 0, 1:
		return "COUNT(*)"
	case 12:
		return g.one("BIT_AND", "BIT_OR", "BIT_XOR") + "(" + q + g.one("i", "k", "u", "b", "_offset") + ")"
	case 2:
		return "COUNT(" + g.any(q, 1) + ")"
	case 3, 4:
		return "SUM(" + q + g.one("i", "k", "n", "u", "d", "f", "b") + ")"
	case 5:
		return "AVG(" + q + g.one("k", "n", "d", "f", "u") + ")"
	case 6, 7:
		return g.one("MIN", "MAX") + "(" + g.any(q, 1) + ")"
	case 8:
		return "COUNT(DISTINCT " + g.any(q, 1) + ")"
	case 9:
		return g.one("STDDEV", "VAR_POP", "STDDEV_SAMP", "VAR_SAMP") + "(" + q + g.one("k", "n", "f") + ")"
	case 10:
		return g.one("SUM", "AVG", "COUNT") + "(DISTINCT " + q + g.one("k", "n", "d") + ")"
	case 11:
		return "GROUP_CONCAT(" + g.one("", "DISTINCT ") + q + g.one("s", "w") + " ORDER BY " + q + "w," + q + "s" + g.one("", " DESC") + " SEPARATOR '|')"
	default:
		return "SUM(CASE WHEN " + g.condition(q, 1) + " THEN " + g.one("1", q+"k", q+"d") + " ELSE 0 END)"
	}
}

// window is a function over a window.
func (g generator) window() string {
	order := " ORDER BY " + g.any("", 1) + g.one("", " DESC") + g.one("", ",k", ",_partition,_offset")
	over := " OVER (" + g.one("", "PARTITION BY "+g.any("", 0), "PARTITION BY w,b")
	frame := g.one("", "", " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", " ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING", " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")
	switch g.IntN(5) {
	case 0:
		return g.one("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST") + "()" + over + order + ")"
	case 1:
		return g.one("LAG", "LEAD") + "(" + g.any("", 1) + g.one("", ",1", ",2", ",0") + ")" + over + order + ")"
	case 2:
		return g.one("LAG(k,1,0)", "LEAD(i,2,NULL)", "LAG(s,1,'none')", "LEAD(k,3,k)", "LAG(d,1,0)") + over + order + ")"
	case 3:
		return g.one("FIRST_VALUE", "LAST_VALUE") + "(" + g.any("", 1) + ")" + over + order + frame + ")"
	default:
		f := g.one("COUNT(*)", "COUNT("+g.any("", 1)+")", "SUM("+g.one("i", "k", "n", "u", "d", "f")+")", "AVG("+g.one("k", "n", "d")+")", "MIN("+g.any("", 1)+")", "MAX("+g.any("", 1)+")")
		if g.chance(30) {
			return f + over + ")"
		}
		return f + over + order + frame + ")"
	}
}

// statement is a query; ordered says that the order of its rows is told.
func (g generator) statement() (query string, ordered bool) {
	from := g.one("ev", "ev", "auto")
	where := ""
	if g.chance(70) {
		where = " WHERE " + g.condition("", 2)
	}
	limit := g.one("", "", " LIMIT 5", " LIMIT 3 OFFSET 2")
	switch g.IntN(10) {
	case 0, 1:
		order := g.one("", " ORDER BY "+g.any("", 1)+g.one("", " DESC")+",_partition,_offset")
		return "SELECT _offset," + g.any("", 2) + " x," + g.any("", 2) + " y FROM " + from + where + order + limit, true
	case 2, 3, 4:
		keys := []string{g.any("", 1)}
		if g.chance(40) {
			keys = append(keys, g.any("", 1))
		}
		var sel []string
		for i, k := range keys {
			sel = append(sel, fmt.Sprintf("%s g%d", k, i))
		}
		for range 1 + g.IntN(3) {
			sel = append(sel, g.aggregate(""))
		}
		q := "SELECT " + strings.Join(sel, ",") + " FROM " + from + where + " GROUP BY " + g.one("g0", "1")
		if len(keys) > 1 {
			q += ",g1"
		}
		if g.chance(25) {
			q += " HAVING COUNT(*)>" + g.one("1", "2", "5")
		}
		if g.chance(50) {
			q += " ORDER BY COUNT(*) DESC, g0" + g.one("", " DESC")
			if len(keys) > 1 {
				q += ",g1"
			}
			q += limit
		}
		return q, true
	case 5:
		return "SELECT " + g.aggregate("") + "," + g.aggregate("") + "," + g.aggregate("") + " FROM " + from + where, true
	case 6:
		return "SELECT DISTINCT " + g.any("", 1) + " x," + g.one("k", "b", "w") + " FROM " + from + where + limit, true
	case 7:
		if g.chance(50) {
			t := g.number("", 1)
			return "SELECT " + t + " x FROM " + from + where + " UNION " + g.one("ALL", "") + " SELECT " + t + " FROM ev WHERE " + g.condition("", 1), true
		}
		return "SELECT x,COUNT(*),MAX(z) FROM (SELECT " + g.any("", 1) + " x," + g.number("", 1) + " z FROM " + from + where + ") q GROUP BY x" + g.one("", " HAVING COUNT(*)>1"), true
	case 8:
		return "SELECT _offset," + g.window() + " x," + g.window() + " y," + g.any("", 1) + " z FROM " + from + where + g.one("", " ORDER BY x,y,_partition,_offset", " ORDER BY y DESC,_partition,_offset LIMIT 7"), true
	default:
		on := g.one("l.k=r.k", "l.w=r.w", "l.i=r.i AND l.n>r.n", "l._key=r._key AND l._offset=r._offset", "l.d=r.d", "l.b=r.b AND l.k=r.k")
		kind := g.one("JOIN", "LEFT JOIN")
		if g.chance(40) {
			others := g.otherRows()
			switch g.IntN(4) {
			case 0:
				return "SELECT l._offset," + others + " x,(SELECT " + g.one("COUNT(*)", "MAX(r.n)", "SUM(r.d)", "MIN(r.w)") + " FROM auto r WHERE " + g.one("l.k=r.k", "l.w=r.w", "l.b=r.b AND l.k=r.k") + ") y FROM ev l", false
			case 1:
				return "SELECT l.b,SUM(" + others + "),COUNT(DISTINCT l.k,l.w) FROM ev l WHERE " + g.condition("l.", 0) + " OR " + g.otherRows() + " GROUP BY l.b", false
			}
			return "SELECT _offset,w FROM ev l WHERE " + g.one("", "NOT ") + others + " AND " + g.condition("l.", 0), false
		}
		if g.chance(50) {
			return "SELECT l.k,COUNT(*),SUM(r.n) FROM ev l " + kind + " auto r ON " + on + " WHERE " + g.condition("l.", 1) + " GROUP BY l.k", false
		}
		return "SELECT l._offset,r._offset,l.w,r.s FROM ev l " + kind + " auto r ON " + on + " WHERE " + g.condition("l.", 1), false
	}
}

// near says whether two cells are the same, but for the last digits of a floating-point sum, which depend on
// the order of the addends.
func near(a, b string) bool {
	if a == b {
		return true
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil || !strings.ContainsAny(a+b, ".e") {
		return false
	}
	return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y), 1e-6)
}

func sameRows(a, b [][]string) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool { return slices.EqualFunc(x, y, near) })
}

func sorted(rows [][]string) [][]string {
	out := slices.Clone(rows)
	slices.SortFunc(out, func(a, b []string) int { return slices.Compare(a, b) })
	return out
}

func answerOf(t *testing.T, db *sql.DB, q string, prepared bool) ([][]string, error) {
	if !prepared {
		return table(t, db, q)
	}
	st, err := db.Prepare(q)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	r, err := st.Query()
	if err != nil {
		return nil, err
	}
	return collect(r)
}

// Carried out in columns or row by row, over the text protocol or the binary one: every generated query
// gives the same rows, or the same error.
func TestColumnsNeverChangeAnAnswer(t *testing.T) {
	seed := *differentialSeed
	g := generator{newRand(seed)}
	in := start(t, nil)
	in.mixedTopic("ev", map[string]string{"millrace.columns": differentialColumns}, g.Rand, 150, g.event)
	in.mixedTopic("auto", nil, g.Rand, 60, g.event)
	open := func(on bool) *sql.DB {
		db := in.open("app", "", "")
		if _, err := db.Exec(fmt.Sprintf("SET millrace_pushdown=%d", map[bool]int{true: 1}[on])); err != nil {
			t.Fatal(err)
		}
		return db
	}
	on, off := open(true), open(false)
	total := map[string]int{}
	for _, from := range []string{"ev", "auto"} {
		n, err := strconv.Atoi(ask(t, off, "SELECT COUNT(*) FROM "+from))
		if err != nil {
			t.Fatal(err)
		}
		total[from] = n
	}
	queries := *differentialQueries
	if testing.Short() {
		queries = 1000
	}
	failures, answered := 0, 0
	fail := func(q string, got, want any) {
		t.Errorf("seed %d: %s\n columns %v\n rows    %v", seed, q, got, want)
		if failures++; failures > 20 {
			t.FailNow()
		}
	}
	zones := []string{"+00:00", "+05:30", "Europe/Berlin", "America/New_York"}
	for n := range queries {
		if n%500 == 0 {
			for _, db := range []*sql.DB{on, off} {
				if _, err := db.Exec("SET time_zone='" + zones[n/500%len(zones)] + "'"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n%10 == 0 {
			// Ternary logic: a condition is true, false or NULL. And what a filter keeps is what a sum
			// over all rows counts.
			from, c := g.one("ev", "auto"), g.condition("", 2)
			q := fmt.Sprintf("SELECT (SELECT COUNT(*) FROM %[1]s WHERE %[2]s)+(SELECT COUNT(*) FROM %[1]s WHERE NOT (%[2]s))+(SELECT COUNT(*) FROM %[1]s WHERE (%[2]s) IS NULL)", from, c)
			if got := ask(t, on, q); got != strconv.Itoa(total[from]) && !strings.HasPrefix(got, "error 1690") {
				fail(q, got, total[from])
			}
			kept := ask(t, on, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s", from, c))
			q = fmt.Sprintf("SELECT COALESCE(SUM(CASE WHEN %s THEN 1 ELSE 0 END),0) FROM %s", c, from)
			if got := ask(t, on, q); got != kept && !strings.HasPrefix(got, "error 1690") && !strings.HasPrefix(kept, "error 1690") {
				fail(q, got, kept)
			}
		}
		q, ordered := g.statement()
		want, offErr := answerOf(t, off, q, n%3 == 0)
		got, onErr := answerOf(t, on, q, n%3 == 0)
		if onErr != nil || offErr != nil {
			// With a LIMIT, or where a row's values are not needed, not every row is computed.
			if errNumber(onErr) != errNumber(offErr) && errNumber(onErr) != 1690 && errNumber(offErr) != 1690 {
				fail(q, onErr, offErr)
			}
			continue
		}
		answered++
		if !ordered {
			got, want = sorted(got), sorted(want)
		}
		if !sameRows(got, want) {
			fail(q, got, want)
		}
	}
	if answered < queries*8/10 {
		t.Errorf("only %d of %d queries have an answer", answered, queries)
	}
}
