package mysql

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// builtIns is a call of every function in MySQL 8.4's list that works.
var builtIns = []string{
	"ABS(-1)", "ACOS(1)", "ADDDATE('2024-01-01',1)", "ADDTIME('1:0:0','1')", "AES_DECRYPT('a','b')", "AES_ENCRYPT('a','b')", "ANY_VALUE(1)", "ASCII('a')",
	"ASIN(1)", "ATAN(1)", "ATAN2(1,2)", "AVG(i)", "BENCHMARK(1,1)", "BIN(5)", "BIN_TO_UUID(UUID_TO_BIN(UUID()))", "BIT_AND(i)", "BIT_COUNT(5)",
	"BIT_LENGTH('a')", "BIT_OR(i)", "BIT_XOR(i)", "CAST(1 AS CHAR)", "CEIL(1.5)", "CEILING(1.5)", "CHAR(65)", "CHARACTER_LENGTH('a')", "CHARSET('a')",
	"CHAR_LENGTH('a')", "COALESCE(1,2)", "COERCIBILITY('a')", "COLLATION('a')", "COMPRESS('a')", "CONCAT('a','b')", "CONCAT_WS(',','a')", "CONNECTION_ID()",
	"CONV(5,10,2)", "CONVERT('a' USING utf8mb4)", "CONVERT(1,CHAR)", "CONVERT_TZ('2024-01-01 00:00:00','+00:00','+01:00')", "COS(1)", "COT(1)",
	"COUNT(i)", "CRC32('a')", "CUME_DIST() OVER ()", "CURDATE()", "CURRENT_DATE()", "CURRENT_ROLE()", "CURRENT_TIME()", "CURRENT_TIMESTAMP(3)",
	"CURRENT_USER()", "CURTIME(2)", "DATABASE()", "DATE('2024-01-01')", "DATEDIFF('2024-01-01','2024-01-02')", "DATE_ADD('2024-01-01', INTERVAL 1 DAY)",
	"DATE_FORMAT('2024-01-01','%Y')", "DATE_SUB('2024-01-01', INTERVAL 1 DAY)", "DAY('2024-01-01')", "DAYNAME('2024-01-01')", "DAYOFMONTH('2024-01-01')",
	"DAYOFWEEK('2024-01-01')", "DAYOFYEAR('2024-01-01')", "DEFAULT(i)", "DEGREES(1)", "DENSE_RANK() OVER (ORDER BY i)", "ELT(1,'a')", "EXP(1)",
	"EXPORT_SET(5,'Y','N',',',4)", "EXTRACT(YEAR FROM '2024-01-01')", "FIELD('a','a')", "FIND_IN_SET('a','a,b')", "FIRST_VALUE(1) OVER ()", "FLOOR(1.5)",
	"FORMAT(1234.5,2)", "FORMAT(1234.5,2,'de_DE')", "FORMAT_BYTES(1024)", "FORMAT_PICO_TIME(1)", "FOUND_ROWS()", "FROM_BASE64('YQ==')", "FROM_DAYS(738000)",
	"FROM_UNIXTIME(1)", "GET_FORMAT(DATE,'USA')", "GET_LOCK('a',0)", "GREATEST(1,2)", "GROUP_CONCAT(i)", "GTID_SUBTRACT('3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5','3e11fa47-71ca-11e1-9e33-c80aa9429562:2')",
	"GeomCollection(Point(1,1))", "GeometryCollection(Point(1,1))", "HEX('a')", "HOUR('01:00:00')", "ICU_VERSION()", "IF(1,2,3)", "IFNULL(1,2)",
	"INET6_ATON('::1')", "INET6_NTOA(INET6_ATON('::1'))", "INET_ATON('1.2.3.4')", "INET_NTOA(1)", "INSERT('Quadratic',3,4,'What')", "INSTR('abc','b')",
	"ISNULL(1)", "IS_FREE_LOCK('a')", "IS_IPV4('1.2.3.4')", "IS_IPV4_COMPAT(INET6_ATON('::1'))", "IS_IPV4_MAPPED(INET6_ATON('::1'))", "IS_IPV6('::1')",
	"IS_USED_LOCK('a')", "IS_UUID('a')", "JSON_ARRAY(1)", "JSON_ARRAYAGG(1)", "JSON_ARRAYAGG(i)", "JSON_ARRAY_APPEND('[1]','$',2)", "JSON_ARRAY_INSERT('[1]','$[0]',2)",
	"JSON_CONTAINS('[1]','1')", "JSON_CONTAINS_PATH('{\"a\":1}','one','$.a')", "JSON_DEPTH('[1]')", "JSON_EXTRACT('[1]','$[0]')", "JSON_INSERT('{}','$.a',1)",
	"JSON_KEYS('{\"a\":1}')", "JSON_LENGTH('[1]')", "JSON_MERGE('[1]','[2]')", "JSON_MERGE_PATCH('{}','{\"a\":1}')", "JSON_MERGE_PRESERVE('[1]','[2]')",
	"JSON_OBJECT('a',1)", "JSON_OBJECTAGG('a',1)", "JSON_OVERLAPS('[1]','[1]')", "JSON_PRETTY('[1]')", "JSON_QUOTE('a')", "JSON_REMOVE('[1,2]','$[0]')",
	"JSON_REPLACE('{\"a\":1}','$.a',2)", "JSON_SEARCH('[\"a\"]','one','a')", "JSON_SET('{}','$.a',1)", "JSON_STORAGE_FREE('{}')", "JSON_STORAGE_SIZE('{}')",
	"JSON_TYPE('[1]')", "JSON_UNQUOTE('\"a\"')", "JSON_VALID('[1]')", "JSON_VALUE('{\"a\":1}','$.a')", "LAG(1) OVER (ORDER BY i)", "LAST_DAY('2024-02-01')",
	"LAST_INSERT_ID()", "LAST_VALUE(1) OVER ()", "LCASE('A')", "LEAD(1) OVER (ORDER BY i)", "LEAST(1,2)", "LEFT('abc',1)", "LENGTH('a')", "LN(2)",
	"LOAD_FILE('a')", "LOCALTIME()", "LOCALTIMESTAMP()", "LOCATE('b','abc')", "LOG(2)", "LOG10(2)", "LOG2(2)", "LOWER('A')", "LPAD('a',2,'b')",
	"LTRIM(' a')", "LineString(Point(1,1),Point(2,2))", "MAKEDATE(2024,1)", "MAKETIME(1,2,3)", "MAKE_SET(3,'a','b')", "MAX(i)", "MD5('a')", "MICROSECOND('2024-01-01 00:00:00.5')",
	"MID('abc',2)", "MID('abc',2,1)", "MIN(i)", "MINUTE('01:00:00')", "MOD(5,2)", "MONTH('2024-01-01')", "MONTHNAME('2024-01-01')", "MultiLineString(LineString(Point(1,1),Point(2,2)))",
	"MultiPoint(Point(1,1))", "MultiPolygon(Polygon(LineString(Point(0,0),Point(0,2),Point(2,2),Point(0,0))))", "NAME_CONST('a',1)", "NOW()", "NTH_VALUE(1,1) OVER ()",
	"NTILE(2) OVER (ORDER BY i)", "NULLIF(1,1)", "OCT(8)", "OCTET_LENGTH('a')", "ORD('a')", "PERCENT_RANK() OVER (ORDER BY i)", "PERIOD_ADD(202401,1)",
	"PERIOD_DIFF(202401,202402)", "PI()", "POSITION('b' IN 'abc')", "POW(2,2)", "POWER(2,2)", "Polygon(LineString(Point(0,0),Point(0,2),Point(2,2),Point(0,0)))",
	"QUARTER('2024-01-01')", "QUOTE('a')", "RADIANS(1)", "RAND(1)", "RANDOM_BYTES(1)", "RANK() OVER (ORDER BY i)", "REGEXP_INSTR('a','a')", "REGEXP_LIKE('a','a')",
	"REGEXP_REPLACE('a','a','b')", "REGEXP_SUBSTR('a','a')", "RELEASE_ALL_LOCKS()", "RELEASE_LOCK('a')", "REPEAT('a',2)", "REPLACE('a','a','b')",
	"REVERSE('ab')", "RIGHT('abc',1)", "ROUND(1.5)", "ROW_COUNT()", "ROW_NUMBER() OVER ()", "RPAD('a',2,'b')", "RTRIM('a ')", "SCHEMA()", "SECOND('01:00:00')",
	"SEC_TO_TIME(1)", "SESSION_USER()", "SHA('a')", "SHA1('a')", "SHA2('a',256)", "SIGN(-1)", "SIN(1)", "SLEEP(0)", "SOUNDEX('a')", "SPACE(1)",
	"SQRT(4)", "STATEMENT_DIGEST('SELECT 1')", "STATEMENT_DIGEST_TEXT('SELECT 1')", "STD(1)", "STDDEV(i)", "STDDEV_POP(i)", "STDDEV_SAMP(i)", "STRCMP('a','b')",
	"STR_TO_DATE('2024','%Y')", "ST_AsText(Point(1,1))", "SUBDATE('2024-01-01',1)", "SUBSTR('abc',2)", "SUBSTRING('abc' FROM 2 FOR 1)", "SUBSTRING_INDEX('a.b','.',1)",
	"SUBTIME('1:0:0','1')", "SUM(i)", "SYSDATE()", "SYSTEM_USER()", "TAN(1)", "TIME('01:02:03')", "TIMEDIFF('01:00:00','00:00:01')", "TIMESTAMP('2024-01-01')",
	"TIMESTAMP('2024-01-01','01:00:00')", "TIMESTAMPADD(DAY,1,'2024-01-01')", "TIMESTAMPDIFF(DAY,'2024-01-01','2024-01-02')", "TIME_FORMAT('01:02:03','%H')",
	"TIME_TO_SEC('01:00:00')", "TO_BASE64('a')", "TO_DAYS('2024-01-01')", "TO_SECONDS('2024-01-01')", "TRIM(BOTH 'x' FROM 'xax')", "TRUNCATE(1.55,1)",
	"UCASE('a')", "UNCOMPRESS(COMPRESS('a'))", "UNCOMPRESSED_LENGTH(COMPRESS('a'))", "UNHEX('41')", "UNIX_TIMESTAMP()", "UPPER('a')", "USER()",
	"UTC_DATE()", "UTC_TIME()", "UTC_TIMESTAMP()", "UUID()", "UUID_SHORT()", "UUID_TO_BIN(UUID())", "VALIDATE_PASSWORD_STRENGTH('a')", "VALUES(i)",
	"VARIANCE(i)", "VAR_POP(i)", "VAR_SAMP(i)", "VERSION()", "WEEK('2024-01-01')", "WEEKDAY('2024-01-01')", "WEEKOFYEAR('2024-01-01')", "YEAR('2024-01-01')",
	"YEARWEEK('2024-01-01')",
}

// notBuiltIn are those that docs/sql.md says are not supported.
var notBuiltIn = []string{
	"1 MEMBER OF('[1]')", "CAN_ACCESS_TABLE('a','b')", "EXTRACTVALUE('<a>1</a>','/a')", "GTID_SUBSET('a','b')", "INTERVAL(3,1,2,5)",
	"JSON_SCHEMA_VALID('{\"type\":\"object\"}','{}')", "JSON_SCHEMA_VALIDATION_REPORT('{\"type\":\"object\"}','{}')", "MATCH(s) AGAINST ('a')",
	"MBRContains(Point(1,1),Point(1,1))", "PS_CURRENT_THREAD_ID()", "PS_THREAD_ID(1)", "ROLES_GRAPHML()", "SOURCE_POS_WAIT('a',1)", "ST_Contains(Point(1,1),Point(1,1))",
	"ST_Distance_Sphere(Point(1,1),Point(1,1))", "ST_GeoHash(1,1,5)", "UPDATEXML('<a/>','/a','<b/>')", "WAIT_FOR_EXECUTED_GTID_SET('a')", "WEIGHT_STRING('a')",
}

func TestEveryFunctionOfMySQLWorksOrIsDocumentedAsNotSupported(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT, s VARCHAR(20)"}, `{"i":5,"s":"abc"}`)
	db := in.open("app", "", "")
	for _, call := range builtIns {
		if _, err := table(t, db, "SELECT "+call+" FROM t"); err != nil {
			t.Error(call, err)
		}
	}
	doc, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^(?:1 )?(\w+(?: OF)?)`)
	for _, call := range notBuiltIn {
		switch _, err := table(t, db, "SELECT "+call+" FROM t"); errNumber(err) {
		case 1305, 1064, 1105, 1235: // refused
		default:
			t.Error(call, err)
		}
		if n := name.FindStringSubmatch(call)[1]; !strings.Contains(string(doc), strings.ToUpper(n)) && !strings.Contains(string(doc), n) {
			t.Error("not in docs/sql.md:", n)
		}
	}
}
