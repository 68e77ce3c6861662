package mysql

import "testing"

func TestFunctionsOfBitsAndUnits(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT, u BIGINT UNSIGNED, x DECIMAL(20,6)"}, `{"i":5,"u":18446744073709551615,"x":"12345678901234.567891"}`)
	cases{
		{"SELECT ~1, ~0, ~i, ~-1, ~'5', 5 & ~1, ~NULL, ~u FROM t", "18446744073709551614,18446744073709551615,18446744073709551610,0,18446744073709551610,4,NULL,0"},
		{"SELECT u & 3, u ^ 1, u >> 63, 1 << 63, 1 << 64, -1 | 0, 6 & 3, i | 2, u & NULL FROM t", "3,18446744073709551614,1,9223372036854775808,0,18446744073709551615,2,7,NULL"},
		{"SELECT DATE('2022-11-19 11:53:45') & 20221111, CAST('2013-05-01 09:30:17' AS DATETIME) | 0, CAST('01:02:03' AS TIME) | 0", "20221111,20130501093017,10203"},
		{"SELECT OCT(12), OCT(-1), OCT(NULL), OCT('12abc'), OCT(2.6), OCT('x')", "14,1777777777777777777777,NULL,14,2,0"},
		{"SELECT INSERT('Quadratic',3,4,'What'), INSERT('Quadratic',-1,4,'What'), INSERT('Quadratic',3,100,'What'), INSERT('Quadratic',3,0,'What'), INSERT('äöü',2,1,'x'), INSERT('a',1,1,NULL)", "QuWhattic,Quadratic,QuWhat,QuWhatadratic,äxü,NULL"},
		{"SELECT MAKE_SET(1,'a','b','c'), MAKE_SET(1 | 4,'hello','nice','world'), MAKE_SET(1 | 4,'hello','nice',NULL,'world'), MAKE_SET(0,'a'), MAKE_SET(NULL,'a')", "a,hello,world,hello,,NULL"},
		{"SELECT EXPORT_SET(5,'Y','N',',',4), EXPORT_SET(6,'1','0',',',10), LENGTH(EXPORT_SET(5,'Y','N'))", "Y,N,Y,N,0,1,1,0,0,0,0,0,0,0,127"},
		{"SELECT FORMAT_BYTES(512), FORMAT_BYTES(18446644073709551615), FORMAT_BYTES(1024), FORMAT_PICO_TIME(3501), FORMAT_PICO_TIME(188732396662000), FORMAT_PICO_TIME(5)", " 512 bytes,16.00 EiB,1.00 KiB,3.50 ns,3.15 min,  5 ps"},
		{"SELECT ROUND(x), ROUND(x,0), ROUND(x,2), ROUND(x,-2), ROUND(-1.5), ROUND(2.5), ROUND(x,9), ROUND(x,i) FROM t", "12345678901235,12345678901235,12345678901234.57,12345678901200,-2,3,12345678901234.567891000,12345678901234.567890"},
		{"SELECT JSON_STORAGE_SIZE('[100, \"sakila\", [1, 3, 5], 425.05]'), JSON_STORAGE_SIZE('{\"a\": 1000, \"b\": \"wxyz\", \"c\": \"[1, 3, 5, 7]\"}'), JSON_STORAGE_SIZE('[]'), JSON_STORAGE_SIZE('null'), JSON_STORAGE_FREE('{}')", "45,47,5,2,0"},
		{"SELECT HEX(AES_ENCRYPT('text','password')), AES_DECRYPT(AES_ENCRYPT('text','password'),'password'), AES_DECRYPT('abc','k'), AES_ENCRYPT(NULL,'k')", "F6BD0FA8DCB7F8CD4A2FAABC54668044,text,NULL,NULL"},
	}.check(t, in)
}

func TestFunctionsOfTheSessionAndOfStatements(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT"}, `{"i":5}`)
	cases{
		{"SELECT CURRENT_ROLE(), BENCHMARK(1000,MD5('a')), BENCHMARK(2,i), BENCHMARK(-1,1), BENCHMARK(NULL,1), UUID_SHORT()<UUID_SHORT() FROM t", "NONE,0,0,NULL,NULL,1"},
		{"SELECT LENGTH(STATEMENT_DIGEST('SELECT 1')), STATEMENT_DIGEST('SELECT 1')=STATEMENT_DIGEST('SELECT 2'), STATEMENT_DIGEST(NULL), STATEMENT_DIGEST_TEXT('SELECT a FROM b WHERE c = 1')", "64,1,NULL,select `a` from `b` where `c` = ?"},
		{"SELECT STATEMENT_DIGEST('SELEC')", `error 3676: Error 3676 (HY000): Could not parse argument to digest function: "syntax error at position 6 near 'SELEC'".`},
		{"SELECT /*+ MAX_EXECUTION_TIME(50) */ BENCHMARK(1000000000000,MD5('a'))", "error 3024: Error 3024 (HY000): Query execution was interrupted, maximum statement execution time exceeded: raise max_execution_time (milliseconds) or the server's --statement-timeout"},
	}.check(t, in)
	db := in.open("app", "", "")
	for _, c := range [][2]string{
		{"SELECT 1/0, CAST('x' AS SIGNED)", "NULL,0"},
		{"SELECT @@warning_count, @@error_count, @@session.warning_count", "2,0,2"},
		{"SHOW COUNT(*) WARNINGS", "2"}, // which were left
		{"SELECT i FROM t", "5"},
		{"SELECT @@warning_count", "0"},
	} {
		if got := ask(t, db, c[0]); got != c[1] {
			t.Error(c[0], got, c[1])
		}
	}
}
