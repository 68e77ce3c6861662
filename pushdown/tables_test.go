package pushdown_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/store/state"
)

func TestInvisibleColumnsAreMarkedAndLeftOutOfTheVisibleOnes(t *testing.T) {
	b := newBench(t)
	id := b.topic("inv", 1, nil)
	b.values(id, 0, `{"a":1}`)
	ctx, stmt := b.context(true)
	names, ok, err := b.provider.VisibleColumns(ctx, "kafka", "inv")
	stmt.Release()
	if want := []string{"_partition", "_offset", "_timestamp", "_key", "a"}; err != nil || !ok || !slices.Equal(names, want) {
		t.Errorf("%v %v %v", names, ok, err)
	}
	b.want("SHOW COLUMNS FROM inv",
		"_partition,int,NO,PRI,NULL,", "_offset,bigint,NO,PRI,NULL,", "_timestamp,timestamp(3),YES,,NULL,",
		"_key,varchar(16383),YES,,NULL,", "_headers,json,YES,,NULL,INVISIBLE", "_value,longtext,YES,,NULL,INVISIBLE",
		"_error,text,YES,,NULL,INVISIBLE", "a,bigint,YES,,NULL,")
	ctx, stmt = b.context(true)
	defer stmt.Release()
	if _, ok, err := b.provider.VisibleColumns(ctx, "kafka", "nope"); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

func TestColumnTypesAreReportedAsDeclared(t *testing.T) {
	b := newBench(t)
	b.topic("typed", 1, map[string]string{"millrace.columns": "a TINYINT, b SMALLINT UNSIGNED, c DECIMAL(10,2), d VARCHAR(20), e DATETIME(6), f DATE, g TIME(3), h YEAR, i DOUBLE, j JSON, k BOOLEAN, l TIMESTAMP, m ENUM('x','y'), n LONGTEXT, o FLOAT"})
	got, err := b.query(true, "SELECT column_name,column_type,collation_name FROM information_schema.columns WHERE table_schema='kafka' AND table_name='typed' AND ordinal_position>7 ORDER BY ordinal_position")
	if err != nil {
		t.Fatal(err)
	}
	t.Log(strings.Join(got, "\n"))
	for i, want := range []string{"a,tinyint", "b,smallint unsigned", "c,decimal(10,2)", "d,varchar(20)", "e,datetime(6)", "f,date", "g,time", "h,year", "i,double", "j,json", "k,tinyint(1)", "l,timestamp", "m,enum('x','y')", "n,longtext", "o,float"} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("column %d: want %s", i, want)
		}
	}
}

func TestDeclaredTypesReadAndFilterExactly(t *testing.T) {
	b := newBench(t)
	id := b.topic("typed", 1, map[string]string{"millrace.columns": "a TINYINT, b BIGINT UNSIGNED, c DECIMAL(10,2), e DATETIME(6), f DATE, g TIME(3), h YEAR, l TIMESTAMP(6), m ENUM('x','y'), o FLOAT"})
	b.values(id, 0,
		`{"a":-5,"b":18446744073709551615,"c":1.25,"e":"2024-02-29T01:02:03.000004Z","f":"2024-02-29","g":"-01:02:03.5","h":2024,"l":"2024-02-29T01:02:03+02:00","m":"y","o":0.1}`,
		`{"a":200,"b":-1,"c":"2.5","m":"z"}`)
	for _, zone := range []string{"+00:00", "+03:00"} {
		b.zone = zone
		wall := map[string]string{"+00:00": "2024-02-28 23:02:03", "+03:00": "2024-02-29 02:02:03"}[zone]
		b.want("SELECT a,b,c,e,f,h,l,m,o FROM typed WHERE _offset=0", "-5,18446744073709551615,1.25,2024-02-29 01:02:03.000004,2024-02-29,2024,"+wall+",y,0.1")
		b.want("SELECT COUNT(*) FROM typed WHERE l='"+wall+"'", "1")
		b.want("SELECT COUNT(*) FROM typed WHERE l>'"+wall+"'", "0")
	}
	b.want("SELECT a,b,c,m FROM typed WHERE _offset=1", "NULL,NULL,2.50,NULL")
	b.want("SELECT COUNT(*) FROM typed WHERE b=18446744073709551615", "1")
	b.want("SELECT COUNT(*) FROM typed WHERE b>-1", "1")
	b.want("SELECT COUNT(*) FROM typed WHERE b<18446744073709551615", "0")
	b.want("SELECT COUNT(*) FROM typed WHERE f='2024-02-29' AND e>'2024-02-29' AND e<='2024-02-29 01:02:03.000004'", "1")
	b.want("SELECT COUNT(*) FROM typed WHERE f>='2024-02-28 12:00:00' AND f<'2024-02-29 00:00:01'", "1")
	b.want("SELECT COUNT(*) FROM typed WHERE m='y' OR h=2024", "1")
	b.want("SELECT MIN(e),MAX(f),MIN(m) FROM typed", "2024-02-29 01:02:03.000004,2024-02-29,y")
	b.want("SELECT COUNT(*) FROM typed WHERE a<0 AND c>1.2", "1")
}

func TestAStatementSeesOneSnapshot(t *testing.T) {
	b := newBench(t)
	id := b.topic("snap", 1, nil)
	b.values(id, 0, `{"a":1}`)
	ctx, stmt := b.context(true)
	defer stmt.Release()
	_, iter, _, err := b.engine.Query(ctx, "SELECT x.a FROM snap x JOIN snap y ON x.a>=y.a")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := iter.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	b.values(id, 0, `{"a":2}`, `{"a":"text","new":1}`)
	rows := 0
	for {
		if _, err := iter.Next(ctx); err != nil {
			break
		}
		rows++
	}
	if rows != 1 {
		t.Errorf("%d rows", rows)
	}
	b.want("SELECT a,new FROM snap WHERE a='text'", "text,1")
}

func TestNamesAreCaseSensitive(t *testing.T) {
	b := newBench(t)
	b.values(b.topic("Orders", 1, nil), 0, `{"userId":1}`)
	b.values(b.topic("orders", 1, nil), 0, `{"a":2}`, `{"a":3}`)
	b.want("SELECT userid,USERID FROM Orders", "1,1")
	b.want("SELECT COUNT(*) FROM orders", "2")
	if _, err := b.query(true, "SELECT * FROM ORDERS"); err == nil {
		t.Error("another spelling found a table")
	}
}

func TestSystemTablesAnswer(t *testing.T) {
	b := newBench(t)
	id := b.topic("sys", 2, map[string]string{"retention.ms": "1000"})
	b.values(id, 1, `{"a":1}`, `{"a":2}`)
	b.want("SELECT name,partitions,configs FROM millrace.topics WHERE name='sys'", `sys,2,{"retention.ms": "1000"}`)
	b.want("SELECT topic,`partition`,log_start,end_offset FROM millrace.partitions WHERE topic='sys'", "sys,0,0,0", "sys,1,0,2")
	b.want("SELECT COUNT(*) FROM millrace.groups", "0")
	b.want("SELECT COUNT(*) FROM millrace.connections", "0")
	b.want("SELECT healthy FROM millrace.storage", "1")
	b.want("SHOW TABLES FROM millrace", "acls", "client_errors", "columns", "configs", "connections", "consumer_groups", "consumer_lag", "expansions", "group_members", "partitions",
		"producers", "queries", "quotas", "segments", "statements", "storage", "topics", "transactions", "users")
}

func TestCreateAndInsertSayThatTheyAreNotSupported(t *testing.T) {
	b := newBench(t)
	b.values(b.topic("ro", 1, nil), 0, `{"a":1}`)
	for _, q := range []string{"CREATE TABLE x (a INT)", "INSERT INTO ro (a) VALUES (1)", "UPDATE ro SET a=1", "DELETE FROM ro"} {
		_, err := b.query(true, q)
		if err == nil {
			t.Errorf("%s succeeded", q)
			continue
		}
		t.Log(err)
	}
}

func TestDaylightSavingChangesNoAnswer(t *testing.T) {
	b := newBench(t)
	b.zone = "Europe/Berlin"
	id := b.topic("dst", 1, nil)
	// 2023-10-29: at 01:00 UTC the clock goes from 03:00 back to 02:00.
	for _, ts := range []int64{1698534000000, 1698537600000, 1698539400000, 1698541200000, 1698543000000, 1698546600000} {
		b.produce(id, 0, record{ts: ts, value: "{}"})
	}
	b.want("SELECT _timestamp FROM dst ORDER BY _offset", "2023-10-29 01:00:00", "2023-10-29 02:00:00", "2023-10-29 02:30:00",
		"2023-10-29 02:00:00", "2023-10-29 02:30:00", "2023-10-29 03:30:00")
	b.want("SELECT _offset FROM dst WHERE _timestamp<'2023-10-29 02:30:00' ORDER BY _offset", "0", "1", "3")
	b.want("SELECT _offset FROM dst WHERE _timestamp='2023-10-29 02:30:00' ORDER BY _offset", "2", "4")
	b.want("SELECT _offset FROM dst WHERE NOT (_timestamp<'2023-10-29 02:30:00') ORDER BY _offset", "2", "4", "5")
	b.want("SELECT MIN(_timestamp),MAX(_timestamp) FROM dst", "2023-10-29 01:00:00,2023-10-29 03:30:00")
	s := b.explain("SELECT _offset FROM dst WHERE _timestamp>'2023-10-29 03:30:00'")
	if !strings.Contains(s, "each(") || !strings.Contains(s, "timestamps: [2023-10-29T01:30:00.000Z, -]") {
		t.Error(s)
	}
}

func TestWhatTheColumnLimitsLeaveOutIsInRest(t *testing.T) {
	b := newBench(t)
	id := b.topic("wide", 1, nil)
	var members []string
	for i := range 300 {
		members = append(members, fmt.Sprintf(`"m%03d":%d`, i, i))
	}
	b.values(id, 0, `{"m000":7}`, "{"+strings.Join(members, ",")+"}")
	b.want("SELECT _offset,m000,_rest IS NULL FROM wide ORDER BY _offset", "0,7,1", "1,0,0")
	got, err := b.query(true, "SELECT _rest FROM wide WHERE _offset=1")
	if err != nil || !strings.Contains(got[0], `"m299":299`) {
		t.Errorf("%q %v", got, err)
	}
	b.want("SELECT _offset FROM wide WHERE _rest IS NOT NULL", "1")
}

func TestALongKeyMakesTheColumnLong(t *testing.T) {
	b := newBench(t)
	id := b.topic("longkeys", 1, nil)
	b.produce(id, 0, record{key: "k", value: "{}"})
	b.want("SELECT column_type FROM information_schema.columns WHERE table_name='longkeys' AND column_name='_key'", "varchar(16383)")
	b.produce(id, 0, record{key: strings.Repeat("ä", 17000), value: "{}"})
	b.want("SELECT column_type FROM information_schema.columns WHERE table_name='longkeys' AND column_name='_key'", "longtext")
	b.want("SELECT _offset,CHAR_LENGTH(_key) FROM longkeys WHERE _key>='k'", "0,1", "1,17000")
}

func TestInternalTopicsAreNoTables(t *testing.T) {
	b := newBench(t)
	b.values(b.topic("__consumer_offsets", 1, nil), 0, `{"a":1}`)
	b.want("SHOW TABLES")
	for _, q := range []string{"SELECT * FROM __consumer_offsets", "DROP TABLE __consumer_offsets", "SELECT * FROM `__consumer_offsets$raw`"} {
		if _, err := b.query(true, q); err == nil {
			t.Errorf("%s succeeded", q)
		}
	}
}

func TestDeletedRecordsAreGone(t *testing.T) { // C54
	b := newBench(t)
	id := b.topic("c54", 1, nil)
	var recs []record
	for i := range 10 {
		recs = append(recs, record{value: fmt.Sprintf(`{"v":%d}`, i)})
	}
	b.produce(id, 0, recs...)
	res, err := b.store.Commit(context.Background(), state.AdvanceLogStart{Partitions: []state.LogStartMove{
		{TopicPartition: state.TopicPartition{Topic: id}, Before: 3},
	}})
	if err != nil || res.(state.AdvanceLogStartResult).Partitions[0].Err != nil {
		t.Fatal(res, err)
	}
	b.want("SELECT COUNT(*),MIN(_offset) FROM c54", "7,3")
	b.want("SELECT _offset,v FROM c54 WHERE v<5", "3,3", "4,4")
	b.want("SELECT COUNT(v),MIN(v) FROM c54 WHERE _offset<5", "2,3")
	b.want("SELECT _offset FROM c54 ORDER BY _offset LIMIT 1", "3")
}
