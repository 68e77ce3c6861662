package pushdown_test

import (
	"fmt"
	"strings"
	"testing"

	"millrace/internal/recordbatch"
)

func repeat(n int, value string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = value
	}
	return out
}

func TestQuotedNumberSeenLateKeepsItsText(t *testing.T) { // C01
	b := newBench(t)
	id := b.topic("c01", 1, nil)
	for range 3 {
		b.values(id, 0, repeat(10_000, `{"a":1}`)...)
	}
	b.values(id, 0, `{"a":"007"}`, `{"a":""}`)
	b.want("SELECT a FROM c01 WHERE _offset>=29999 ORDER BY _offset", "1", "007", "")
	b.want("SELECT COUNT(*) FROM c01 WHERE a='007'", "1")
	b.want("SELECT COUNT(*) FROM c01 WHERE a=''", "1")
	b.want("SELECT COUNT(*) FROM c01", "30002")
	b.want("SELECT COUNT(*) FROM c01 WHERE _error IS NOT NULL", "0")
}

func TestIntegerBeyondBigintWidensExactly(t *testing.T) { // C02, without SUM, which is the server's
	b := newBench(t)
	id := b.topic("c02", 1, nil)
	for range 3 {
		b.values(id, 0, repeat(10_000, `{"a":1}`)...)
	}
	b.values(id, 0, `{"a":9223372036854775808}`)
	b.want("SELECT COUNT(*),MIN(a),MAX(a) FROM c02", "30001,1,9223372036854775808")
	b.want("SELECT COUNT(*) FROM c02 WHERE a=9223372036854775808", "1")
	b.want("SELECT COUNT(*) FROM c02 WHERE a>1.5", "1")
}

func TestAllDigitsOfAnIntegerAreKept(t *testing.T) { // C03
	b := newBench(t)
	id := b.topic("c03", 1, nil)
	b.values(id, 0, `{"n":2942420318599003496251392,"name":"Ann"}`)
	b.want("SELECT n,name FROM c03", "2942420318599003496251392,Ann")
	b.want("SELECT COUNT(*) FROM c03 WHERE n=2942420318599003496251392", "1")
	b.want("SELECT COUNT(*) FROM c03 WHERE n<>2942420318599003496251392", "0")
	b.want("SELECT COUNT(*) FROM c03 WHERE n>2942420318599003496251391", "1")
}

func TestDecimalsKeepTheirScale(t *testing.T) { // C05
	b := newBench(t)
	id := b.topic("c05", 1, map[string]string{"millrace.columns": "price DECIMAL(10,2)"})
	b.values(id, 0, `{"price":12}`, `{"price":12.1}`, `{"price":10.0}`)
	b.want("SELECT price FROM c05 ORDER BY _offset", "12.00", "12.10", "10.00")
	b.want("SELECT price FROM c05 WHERE price>12.005", "12.10")
	b.want("SELECT price FROM c05 WHERE price>=12.1", "12.10")
	b.want("SELECT price FROM c05 WHERE price=12", "12.00")
	b.want("SELECT price FROM c05 WHERE price<>12.105 ORDER BY _offset", "12.00", "12.10", "10.00")
	b.want("SELECT MIN(price),MAX(price) FROM c05", "10.00,12.10")
}

func TestBigIntegersAreComparedExactly(t *testing.T) { // C06, C26
	b := newBench(t)
	id := b.topic("c06", 1, nil)
	b.values(id, 0, `{"id":9007199254740993,"p":1.10}`, `{"id":9007199254740992}`)
	b.want("SELECT id FROM c06 WHERE id=9007199254740993", "9007199254740993")
	b.want("SELECT id FROM c06 WHERE id<9007199254740993", "9007199254740992")
	b.want("SELECT COUNT(*) FROM c06 WHERE id IN (9007199254740992,5)", "1")
}

func TestKeysThatDifferOnlyByCaseAreTwoColumns(t *testing.T) { // C07
	b := newBench(t)
	id := b.topic("c07", 1, nil)
	b.values(id, 0, `{"id":1,"Id":2}`)
	b.want("SELECT id FROM c07", "1")
	b.want("SELECT `Id~2` FROM c07", "2")
	b.want("SELECT COUNT(*) FROM information_schema.columns WHERE table_name='c07' AND LOWER(column_name) LIKE 'id%'", "2")
}

func TestLoneSurrogateIsAnErrorOfItsRowOnly(t *testing.T) { // C12
	b := newBench(t)
	id := b.topic("c12", 1, nil)
	b.values(id, 0, `{"s":"ok"}`, `{"s":"\ud83d"}`, `{"s":"\ud83d\ude00"}`)
	b.want("SELECT COUNT(*),COUNT(s),COUNT(_error) FROM c12", "3,2,1")
	b.want("SELECT HEX(s) FROM c12 WHERE _offset=2", "F09F9880")
	b.want("SELECT _value FROM c12 WHERE _offset=1", `{"s":"\ud83d"}`)
	b.want("SELECT _offset FROM `c12$errors`", "1")
	b.want("SELECT COUNT(*),MIN(_offset) FROM `c12$errors`", "1,1")
}

func TestEscapedNulIsPartOfTheText(t *testing.T) { // C13
	b := newBench(t)
	id := b.topic("c13", 1, nil)
	b.values(id, 0, `{"a":"A\u0000B"}`, `{"a":"C"}`)
	b.want("SELECT HEX(a),LENGTH(a) FROM c13 ORDER BY _offset", "410042,3", "43,1")
	b.want("SELECT COUNT(*) FROM c13 WHERE a='A'", "0")
}

func TestBytesThatAreNotUTF8(t *testing.T) { // C14
	b := newBench(t)
	id := b.topic("c14", 1, nil)
	b.produce(id, 0, record{value: "{\"s\":\"\xff\"}", key: "k\xfe"}, record{value: `{"s":"b"}`})
	b.want("SELECT s IS NULL,_error IS NOT NULL FROM c14 ORDER BY _offset", "1,1", "0,0")
	b.want("SELECT HEX(value) FROM `c14$raw` ORDER BY _offset", "7B2273223A22FF227D", "7B2273223A2262227D")
	b.want("SELECT _value FROM c14 WHERE _offset=0", "{\"s\":\"\uFFFD\"}")
	b.want("SELECT HEX(`key`) FROM `c14$raw` WHERE `key` IS NOT NULL", "6BFE")
	b.want("SELECT _offset FROM c14 WHERE _key='k\uFFFD'", "0")
}

func TestTombstonesAndEmptyValuesAreRows(t *testing.T) { // C15
	b := newBench(t)
	id := b.topic("c15", 1, nil)
	b.produce(id, 0, record{key: "k1", noValue: true}, record{key: "k2"}, record{key: "k3", value: "null"},
		record{key: "k4", value: "{}"}, record{key: "k5", value: `{"a":1}`})
	b.want("SELECT _key,_value IS NULL,LENGTH(_value),a IS NULL,_error IS NOT NULL FROM c15 ORDER BY _offset",
		"k1,1,NULL,1,0", "k2,0,0,1,1", "k3,0,4,1,0", "k4,0,2,1,0", "k5,0,7,0,0")
	b.want("SELECT COUNT(*) FROM c15", "5")
	b.want("SELECT COUNT(*) FROM c15 WHERE _value IS NULL", "1")
	b.want("SELECT COUNT(*) FROM c15 WHERE _key IN ('k1','k3',NULL)", "2")
}

func TestMalformedRecordsBlockNothing(t *testing.T) { // C16
	b := newBench(t)
	id := b.topic("c16", 1, nil)
	b.values(id, 0, `{"id":1}`, `{"id":2`, `{"id":3}`, `{"id":4}x`, `{"id":5}{"id":6}`, `[1,2]`, `7`)
	b.want("SELECT id FROM c16 ORDER BY _offset", "1", "NULL", "3", "NULL", "NULL", "NULL", "NULL")
	b.want("SELECT COUNT(*),COUNT(id),COUNT(_error) FROM c16", "7,2,3")
	b.want("SELECT _offset FROM c16 WHERE _error IS NOT NULL", "1", "3", "4")
}

func TestDottedKeyIsNoPath(t *testing.T) { // C17
	b := newBench(t)
	id := b.topic("c17", 1, nil)
	b.values(id, 0, `{"a.b":1,"a":{"b":2}}`, `{"a.b":3}`, `{"a":{"b":4}}`)
	b.want("SELECT `a~1b`,`a.b` FROM c17 ORDER BY _offset", "1,2", "3,NULL", "NULL,4")
	b.want("SELECT COUNT(DISTINCT column_name) FROM information_schema.columns WHERE table_name='c17' AND column_name LIKE 'a%b%'", "2")
}

func TestAbsentNullAndNullParentReadAsNull(t *testing.T) { // C18
	b := newBench(t)
	id := b.topic("c18", 1, nil)
	b.values(id, 0, `{"v":{"x":1}}`, `{"v":{"x":1,"y":null}}`, `{"v":null}`, `{}`, `{"v":[]}`)
	b.want("SELECT COUNT(*),COUNT(`v.x`) FROM c18", "5,2")
	b.want("SELECT COUNT(*) FROM c18 WHERE _error IS NOT NULL", "0")
}

func TestNotInOverBlocksOlderThanTheColumn(t *testing.T) { // C20
	b := newBench(t)
	id := b.topic("c20", 1, nil)
	b.values(id, 0, `{"id":1}`, `{"id":2}`)
	b.seal()
	b.values(id, 0, `{"id":3,"x":1}`, `{"id":4,"x":9}`, `{"id":5,"x":null}`)
	b.want("SELECT id FROM c20 WHERE x NOT IN (1,2) ORDER BY id", "4")
	b.want("SELECT COUNT(*) FROM c20 WHERE x IS NULL", "3")
	b.want("SELECT COUNT(*) FROM c20 WHERE NOT (x=1)", "1")
}

func TestRangesAndNegationsMindNull(t *testing.T) { // C21
	b := newBench(t)
	id := b.topic("c21", 1, nil)
	b.values(id, 0, `{"id":1,"n":5}`, `{"id":2,"n":null}`, `{"id":3,"n":9}`)
	for filter, ids := range map[string]string{
		"n<=9": "1,3", "NOT(n<7)": "3", "n<>5": "3", "n<=>NULL": "2", "n BETWEEN 0 AND NULL": "",
		"n IS NULL OR n>5": "2,3", "NOT(n<=>5)": "2,3", "n IN (5,NULL)": "1", "NOT(n BETWEEN 6 AND 10)": "1",
		"7>n": "1", "n<9.5": "1,3", "n=9.0": "3", "n=8.5": "", "n<>8.5": "1,3", "n>5.0 AND n<1e1": "3",
		"n > -1": "1,3", "n >= 9223372036854775807": "", "n<18446744073709551615": "1,3", "n='9'": "3",
	} {
		var want []string
		if ids != "" {
			want = strings.Split(ids, ",")
		}
		b.want("SELECT id FROM c21 WHERE "+filter+" ORDER BY id", want...)
	}
}

func TestOddFloatsAreNotPrunedAway(t *testing.T) { // C23
	b := newBench(t)
	id := b.topic("c23", 1, map[string]string{"millrace.columns": "x DOUBLE"})
	b.values(id, 0, `{"x":3.0}`, `{"x":1e400}`, `{"x":3.0}`)
	b.seal()
	b.values(id, 0, `{"x":-0.0}`, `{"x":5e-324}`)
	b.want("SELECT COUNT(*) FROM c23 WHERE x<>3", "2")
	b.want("SELECT COUNT(*) FROM c23 WHERE x IS NULL", "1")
	b.want("SELECT COUNT(*) FROM c23 WHERE x=0", "1")
	b.want("SELECT COUNT(*) FROM c23 WHERE x=0.0", "1")
	b.want("SELECT COUNT(*) FROM c23 WHERE x>0.5", "2")
	b.want("SELECT MAX(x) FROM c23", "3")
}

func TestNegatedPatternsMindNull(t *testing.T) { // C24
	b := newBench(t)
	id := b.topic("c24", 1, nil)
	b.values(id, 0, `{"s":"some1"}`, `{"s":"some2"}`, `{"s":null}`, `{"s":"other"}`)
	b.seal()
	b.values(id, 0, `{"s":"some3"}`, `{"s":"some4"}`)
	b.want("SELECT COUNT(*) FROM c24 WHERE s NOT LIKE 'some%'", "1")
	b.want("SELECT COUNT(*) FROM c24 WHERE s IS NULL OR s NOT LIKE 'some%'", "2")
	b.want("SELECT COUNT(*) FROM c24 WHERE (s>'a') IS NULL", "1")
}

func TestStringsCompareByTheReportedCollation(t *testing.T) { // C25
	b := newBench(t)
	id := b.topic("c25", 1, nil)
	ci := b.topic("c25ci", 1, map[string]string{"millrace.collation": "utf8mb4_0900_ai_ci"})
	for _, id := range []([16]byte){id, ci} {
		b.values(id, 0, `{"s":"a"}`, `{"s":"A"}`, `{"s":"a "}`)
		b.seal()
		b.values(id, 0, `{"s":"b"}`)
	}
	b.want("SELECT COUNT(*) FROM c25 WHERE s='a'", "1")
	b.want("SELECT COUNT(*) FROM c25 WHERE s COLLATE utf8mb4_0900_ai_ci='a'", "2")
	b.want("SELECT COUNT(*) FROM c25ci WHERE s='a'", "2")
	b.want("SELECT COUNT(DISTINCT s) FROM c25", "4")
	b.want("SELECT s FROM c25 WHERE s>'A' ORDER BY _offset", "a", "a ", "b")
	b.want("SELECT s,COUNT(*) FROM c25 GROUP BY s ORDER BY s", "A,1", "a,1", "a ,1", "b,1")
}

func TestInListWithNull(t *testing.T) { // C31
	b := newBench(t)
	id := b.topic("c31", 1, nil)
	b.values(id, 0, `{"id":1,"k":"keep"}`, `{"id":2,"k":"key"}`, `{"id":3}`, `{"id":4,"k":"keep"}`)
	b.want("SELECT COUNT(*) FROM c31 WHERE k IN ('keep',NULL)", "2")
	b.want("SELECT COUNT(*) FROM c31 WHERE k NOT IN ('keep',NULL)", "0")
}

func TestTopicNamesWithDashAndDot(t *testing.T) { // C42
	b := newBench(t)
	id := b.topic("my-topic.v1", 1, nil)
	b.values(id, 0, `{"a":1}`)
	b.want("SELECT a FROM `my-topic.v1`", "1")
	b.want("SHOW TABLES LIKE 'my-topic.v1'", "my-topic.v1")
	b.want("SELECT COUNT(*) FROM information_schema.tables WHERE table_name='my-topic.v1'", "1")
}

func TestTimeFiltersNeverCutByOffset(t *testing.T) { // C43
	b := newBench(t)
	for _, zone := range []string{"+00:00", "+05:30", "-08:00", "Europe/Berlin"} {
		b.zone = zone
		name := fmt.Sprintf("c43_%d", b.topics)
		id := b.topic(name, 1, nil)
		b.produce(id, 0, record{ts: 1000, value: "{}"}, record{ts: 2000, value: "{}"}, record{ts: 3000, value: "{}"})
		b.want("SELECT COUNT(*) FROM "+name+" WHERE _timestamp>FROM_UNIXTIME(3)", "0")
		b.want("SELECT COUNT(*) FROM "+name+" WHERE _timestamp<FROM_UNIXTIME(1)", "0")
		b.want("SELECT COUNT(*) FROM "+name+" WHERE _timestamp BETWEEN FROM_UNIXTIME(2) AND FROM_UNIXTIME(3)", "2")
		unordered := name + "u"
		id = b.topic(unordered, 1, nil)
		b.produce(id, 0, record{ts: 3000, value: "{}"})
		b.produce(id, 0, record{ts: 1000, value: "{}"})
		b.produce(id, 0, record{ts: 2000, value: "{}"}, record{ts: -1, value: "{}"})
		b.want("SELECT _offset FROM "+unordered+" WHERE _timestamp<FROM_UNIXTIME(3) ORDER BY _offset", "1", "2")
		b.want("SELECT _offset FROM "+unordered+" WHERE _timestamp IS NULL", "3")
		b.want("SELECT _offset FROM "+unordered+" WHERE NOT (_timestamp<FROM_UNIXTIME(2)) ORDER BY _offset", "0", "2")
	}
}

func TestHeadersKeepOrderInRawAndTheLastWinsInTheObject(t *testing.T) {
	b := newBench(t)
	id := b.topic("h", 1, nil)
	b.produce(id, 0, record{value: "{}", headers: []recordbatch.Header{
		{Key: "source", Value: []byte("web")}, {Key: "n", Value: nil}, {Key: "source", Value: []byte(`a"b`)},
	}})
	b.want("SELECT _headers FROM h", `{"source":"a\"b","n":null}`)
	b.want("SELECT headers FROM `h$raw`", `[["source","web"],["n",null],["source","a\"b"]]`)
}

func TestOrderByOffsetDescendingReadsTheNewestRows(t *testing.T) {
	b := newBench(t)
	id := b.topic("newest", 3, nil)
	for p := range int32(3) {
		for i := range 20 {
			b.values(id, p, fmt.Sprintf(`{"v":%d}`, i), fmt.Sprintf(`{"v":%d}`, i*10))
		}
	}
	b.want("SELECT _partition,_offset,v FROM newest ORDER BY _offset DESC LIMIT 4", "0,39,190", "1,39,190", "2,39,190", "0,38,19")
	b.want("SELECT _partition,_offset FROM newest ORDER BY _partition DESC,_offset DESC LIMIT 2 OFFSET 1", "2,38", "2,37")
	b.want("SELECT _partition,_offset FROM newest WHERE v=0 ORDER BY _offset LIMIT 3", "0,0", "1,0", "2,0")
	b.want("SELECT _offset FROM newest WHERE v=50 ORDER BY _offset DESC LIMIT 1", "11")
	b.want("SELECT v+1 FROM newest WHERE _partition=1 ORDER BY _offset DESC LIMIT 2 OFFSET 1", "20", "181")
	b.want("SELECT v+1 FROM newest ORDER BY v DESC,_partition LIMIT 3", "191", "191", "191")
	b.few = 0 // the default
	b.close()
	b.open()
	b.want("SELECT v+1 FROM newest WHERE _partition=1 ORDER BY _offset DESC LIMIT 2 OFFSET 1", "20", "181")
	if s := b.explain("SELECT v+1 FROM newest WHERE _partition=1 ORDER BY _offset DESC LIMIT 2 OFFSET 1"); !strings.Contains(s, "(newest rows of each partition)") {
		t.Error(s)
	}
	b.want("SELECT _partition,_offset FROM newest LIMIT 2 OFFSET 39", "0,39", "1,0")
	b.want("SELECT _partition,_offset FROM newest WHERE v>180 LIMIT 2", "0,39", "1,39")
}

func TestCountsAndExtremesOfOffsetsComeFromBounds(t *testing.T) {
	b := newBench(t)
	id := b.topic("bounds", 4, nil)
	for p := range int32(3) {
		b.values(id, p, repeat(int(p)*10+1, `{"v":1}`)...)
	}
	b.want("SELECT COUNT(*),COUNT(_offset),MIN(_offset),MAX(_offset) FROM bounds", "33,33,0,20")
	b.want("SELECT _partition,COUNT(*),MAX(_offset)+1 FROM bounds GROUP BY _partition", "0,1,1", "1,11,11", "2,21,21")
	b.want("SELECT COUNT(*) FROM bounds WHERE _offset>=5 AND _offset<10 OR _partition=0", "11")
	b.want("SELECT MIN(_offset),MAX(_offset),COUNT(*) FROM bounds WHERE _partition=3", "NULL,NULL,0")
	b.want("SELECT MIN(_offset),MAX(_offset),COUNT(*) FROM bounds WHERE _offset<>20 AND _partition IN (1,2)", "0,19,31")
	if s := b.explain("SELECT _partition,COUNT(*) FROM bounds WHERE _offset>3 GROUP BY _partition"); !strings.Contains(s, "counts from partition bounds") {
		t.Error(s)
	}
}

func TestFilterOnPartitionAndKeyReadsOnlyThatPartition(t *testing.T) {
	b := newBench(t)
	id := b.topic("audit", 3, nil)
	for p := range int32(3) {
		b.produce(id, p, record{key: "audit", value: `{"v":1}`}, record{key: "other", value: `{"v":2}`})
	}
	b.want("SELECT _partition,_offset,v FROM audit WHERE _partition=2 AND _key='audit'", "2,0,1")
	s := b.explain("SELECT v FROM audit WHERE _partition=2 AND _key='audit'")
	for _, line := range []string{"partitions: 2 of 3", "blocks: 1 of 3 (2 pruned", "pushed: ((_partition = 2) AND (_key = 'audit'))"} {
		if !strings.Contains(s, line) {
			t.Errorf("no %q in\n%s", line, s)
		}
	}
}

func TestJoinsSubqueriesAndUnionsAgree(t *testing.T) {
	b := newBench(t)
	l, r := b.topic("l", 2, nil), b.topic("r", 2, nil)
	for i := range 10 {
		b.values(l, int32(i%2), fmt.Sprintf(`{"id":%d,"g":"g%d"}`, i, i%3))
		b.values(r, int32(i%2), fmt.Sprintf(`{"id":%d,"v":%d}`, i*2, i))
	}
	b.want("SELECT l.id,r.v FROM l JOIN r ON l.id=r.id WHERE l.id>2 AND r.v<4 ORDER BY l.id", "4,2", "6,3")
	b.want("SELECT id FROM l WHERE id IN (SELECT id FROM r WHERE v>2) ORDER BY id", "6", "8")
	b.want("SELECT id FROM l x WHERE EXISTS (SELECT 1 FROM r WHERE r.id=x.id AND r.v>=2) AND x.id<8 ORDER BY id", "4", "6")
	b.want("SELECT g,COUNT(*),MIN(id),MAX(id) FROM l WHERE id>=1 GROUP BY g ORDER BY g", "g0,3,3,9", "g1,3,1,7", "g2,3,2,8")
	b.want("SELECT g,c FROM (SELECT g,COUNT(*) c FROM l GROUP BY g) t WHERE c>3", "g0,4")
	b.want("SELECT id FROM l WHERE id<2 UNION ALL SELECT v FROM r WHERE v=9 ORDER BY 1", "0", "1", "9")
	b.want("WITH q AS (SELECT id FROM l WHERE id>7) SELECT COUNT(*) FROM q", "2")
	b.want("SELECT g FROM l GROUP BY g HAVING COUNT(*)>(SELECT COUNT(*) FROM r WHERE v<3) ORDER BY g", "g0")
	b.want("SELECT a.id FROM l a JOIN l b ON a.id=b.id WHERE a.id=3 AND b.g='g0'", "3")
	b.want("SELECT (SELECT MAX(v) FROM r WHERE r.id<=l.id) m FROM l WHERE id=5", "2")
	b.want("SELECT DISTINCT g FROM l WHERE g<>'g1' ORDER BY g", "g0", "g2")
	b.want("SELECT l.id, r.v FROM l LEFT JOIN r ON l.id=r.id AND r.v>2 WHERE l.id IN (4,6) ORDER BY l.id", "4,NULL", "6,3")
	b.want("SELECT COUNT(*) FROM l WHERE id=3 OR g='g1' AND NOT id<5", "2")
	b.want("SELECT AVG(id)>0 FROM l WHERE g='nope'", "NULL")
}

func TestPrefixPatternsFindEveryContinuation(t *testing.T) {
	b := newBench(t)
	id := b.topic("pre", 1, nil)
	b.values(id, 0, `{"s":"some"}`, `{"s":"some1"}`, `{"s":"some😀"}`, `{"s":"some\uffff!"}`, `{"s":"somf"}`, `{"s":"Some"}`, `{"s":null}`)
	const like = "LIKE 'some%' ESCAPE '\\\\'"
	b.want("SELECT _offset FROM pre WHERE s "+like+" ORDER BY _offset", "0", "1", "2", "3")
	b.want("SELECT _offset FROM pre WHERE s NOT "+like+" ORDER BY _offset", "4", "5")
	b.want("SELECT _offset FROM pre WHERE s LIKE 'some' ESCAPE '|'", "0")
	b.want("SELECT _offset FROM pre WHERE s LIKE 'so_e%' ESCAPE '|' ORDER BY _offset", "0", "1", "2", "3")
	b.want("SELECT _offset FROM pre WHERE s LIKE '%' ESCAPE '|' ORDER BY _offset", "0", "1", "2", "3", "4", "5")
	if s := b.explain("SELECT _offset FROM pre WHERE s " + like); strings.Contains(s, "not pushed") {
		t.Error(s)
	}
}

func TestBooleansStandAsConditions(t *testing.T) {
	b := newBench(t)
	id := b.topic("flags", 1, nil)
	b.values(id, 0, `{"b":true,"n":0}`, `{"b":false,"n":7}`, `{"n":-1}`)
	b.want("SELECT _offset FROM flags WHERE b", "0")
	b.want("SELECT _offset FROM flags WHERE NOT b", "1")
	b.want("SELECT _offset FROM flags WHERE n ORDER BY _offset", "1", "2")
	b.want("SELECT _offset FROM flags WHERE b=TRUE OR n=7 ORDER BY _offset", "0", "1")
	b.want("SELECT _offset FROM flags WHERE b IS TRUE", "0")
	b.want("SELECT _offset FROM flags WHERE b IS NOT TRUE ORDER BY _offset", "1", "2")
}

func TestRelativeTimesPrune(t *testing.T) {
	b := newBench(t)
	id := b.topic("rel", 1, nil)
	b.produce(id, 0, record{ts: 1_700_000_000_000, value: "{}"})
	b.produce(id, 0, record{ts: 1_700_003_600_000, value: "{}"})
	for _, where := range []string{
		"_timestamp > NOW() - INTERVAL 1 HOUR", "_timestamp >= '2090-01-01'", "_timestamp > DATE_SUB(NOW(), INTERVAL 5 MINUTE)",
		"_timestamp BETWEEN FROM_UNIXTIME(1800000000) AND FROM_UNIXTIME(1800003600)", "_timestamp < TIMESTAMP('2020-01-01')",
	} {
		b.want("SELECT COUNT(*) FROM rel WHERE "+where, "0")
		if s := b.explain("SELECT _key FROM rel WHERE " + where); !strings.Contains(s, "blocks: 0 of 1 (1 pruned") {
			t.Errorf("%s\n%s", where, s)
		}
	}
}
