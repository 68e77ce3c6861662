package mysql

import (
	"strings"
	"testing"
)

func TestFunctionsMakeNoTextWithoutBound(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"s":"ab","n":7,"x":1.50}`)
	cases{
		{"SELECT LENGTH(REPLACE(REPEAT('a',8000000),'a',REPEAT('b',60000)))", "NULL"},
		{"SELECT LENGTH(REPLACE(REPEAT('a',8000000),'a','b')), REPLACE('abcb','b','xy'), REPLACE('abc','','x'), REPLACE('abc','b',NULL), REPLACE('abc','b','')", "8000000,axycxy,abc,NULL,ac"},
		{"SELECT LENGTH(CONCAT(REPEAT('a',9000000),REPEAT('b',9000000)))", "NULL"},
		{"SELECT CONCAT(s,n,'-',x,NULL), CONCAT(s,n,'-',x), CONCAT('a'), CONCAT(CAST('2024-01-02 03:04:05' AS DATETIME)) FROM t", "NULL,ab7-1.5,a,2024-01-02 03:04:05"},
		{"SELECT CONCAT_WS(',',s,NULL,n,''), CONCAT_WS(NULL,'a'), CONCAT_WS('x','a','b') FROM t", "ab,7,,NULL,axb"},
		{"SELECT LENGTH(CONCAT_WS(REPEAT('x',9000000),'a','b','c'))", "NULL"},
		{"SELECT LENGTH(HEX(HEX(HEX(REPEAT('a',4000000))))), HEX('ab'), HEX(255), QUOTE('a\\'b'), TO_BASE64('abc')", `NULL,6162,FF,'a\'b',YWJj`},
		{"SELECT LENGTH(REPEAT('a',16777216)), LENGTH(REPEAT('a',16777217)), LENGTH(SPACE(16777217))", "16777216,NULL,NULL"},
	}.check(t, in)
	db := in.open("app", "", "")
	db.SetMaxOpenConns(1)
	ask(t, db, "SELECT LENGTH(REPLACE(REPEAT('a',8000000),'a','bbb'))")
	if got := ask(t, db, "SHOW WARNINGS"); !strings.HasPrefix(got, "Warning,1301,") {
		t.Error(got)
	}
}

func TestARowOfLongTextsNeedsMemory(t *testing.T) {
	in := start(t, func(o *Options) { o.MemoryBytes = 100 << 20 })
	many := "REPEAT('a',10000000)" + strings.Repeat(", REPEAT('a',10000000)", 50)
	if _, err := table(t, in.open("app", "", ""), "SELECT "+many); errNumber(err) != 1038 {
		t.Error(err)
	}
}

func TestTrimOfNothingIsNothing(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"g":"red","s":"xax"}`, `{"g":"","s":"b"}`)
	cases{
		{"SELECT TRIM(BOTH NULL FROM CASE g WHEN '' THEN s WHEN 'red' THEN 'x' ELSE s END), TRIM(BOTH 'x' FROM CASE g WHEN '' THEN s ELSE s END), TRIM(LEADING g FROM s), TRIM(NULL FROM s), TRIM('x' FROM NULL) FROM t", "NULL,a,xax,NULL,NULL / NULL,b,b,NULL,NULL"},
	}.check(t, in)
}
