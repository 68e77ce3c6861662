package mysql

import (
	"strings"
	"testing"
)

// Every table of the databases that tools look into can be read, and what there is tells the truth.
func TestTablesThatToolsLookIntoCanBeRead(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1}`)
	db := in.open("app", "", "")
	for _, name := range []string{"mysql", "performance_schema", "sys"} {
		for _, tbl := range strings.Split(ask(t, db, "SHOW TABLES FROM "+name), " / ") {
			if _, err := table(t, db, "SELECT * FROM "+name+".`"+tbl+"` LIMIT 3"); err != nil {
				t.Errorf("%s.%s: %v", name, tbl, err)
			}
		}
	}
	for i := range 3 {
		ask(t, db, "SELECT a FROM t WHERE a="+string(rune('0'+i)))
	}
	for query, want := range map[string]string{
		"SELECT COUNT_STAR FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE 'select `a` from `t`%'": "3",
		"SELECT exec_count FROM sys.statement_analysis WHERE query LIKE 'select `a` from `t`%'":                                       "3",
		"SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME='Threads_connected'":                         "1",
		"SELECT VARIABLE_VALUE < 600 FROM performance_schema.session_status WHERE VARIABLE_NAME='Uptime'":                             "1",
		"SELECT user, command FROM sys.session":              "app,Query",
		"SELECT COUNT(*) FROM performance_schema.data_locks": "0",
		"SHOW REPLICAS":             "",
		"SHOW ERRORS":               "",
		"SHOW OPEN TABLES":          "",
		"SHOW ENGINE INNODB STATUS": "",
		"SELECT SESSION_USER()=USER(), SEC_TO_TIME(3661), MAKEDATE(2024,60)": "1,01:01:01,2024-02-29",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{"EXPLAIN FORMAT=TREE SELECT a FROM t", "EXPLAIN FORMAT=JSON SELECT a FROM t", "EXPLAIN ANALYZE SELECT a FROM t", "EXPLAIN ANALYZE FORMAT=TREE SELECT a FROM t"} {
		if got := ask(t, db, query); !strings.Contains(got, "Scan t") {
			t.Errorf("%s: %s", query, got)
		}
	}
}

func TestShowTableStatusIsOfTheTablesAskedFor(t *testing.T) {
	in := start(t, nil)
	in.topic("orders", map[string]string{"retention.ms": "5000"}, `{"a":1}`, `{"a":2}`)
	in.topic("other", nil)
	db := in.open("app", "", "")
	for query, want := range map[string]string{
		"SHOW TABLE STATUS LIKE 'ord%'":                  "orders,2",
		"SHOW TABLE STATUS FROM kafka LIKE 'none'":       "",
		"SHOW TABLE STATUS WHERE Name='other'":           "other,0",
		"SHOW TABLE STATUS WHERE `Rows` > 1":             "orders,2",
		"SHOW TABLE STATUS FROM millrace LIKE 'storage'": "storage,0",
	} {
		r, err := table(t, db, query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		var got []string
		for _, row := range r {
			got = append(got, row[0]+","+row[4])
		}
		if strings.Join(got, " / ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	if got := ask(t, db, "SELECT table_comment, create_options FROM information_schema.tables WHERE table_name='orders'"); got != "retention.ms=5000,partitioned" {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT LENGTH(create_time), create_time > NOW() - INTERVAL 1 HOUR FROM information_schema.tables WHERE table_name='orders'"); got != "19,1" {
		t.Error(got)
	}
	if _, err := table(t, db, "SHOW TABLE STATUS FROM nowhere"); errNumber(err) != 1049 {
		t.Error(err)
	}
}

func TestInformationSchemaTellsOfItself(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1}`)
	cases{
		{"SELECT table_name, table_type, engine, version, row_format FROM information_schema.tables WHERE table_schema='information_schema' AND table_name='TABLES'", "TABLES,SYSTEM VIEW,NULL,10,NULL"},
		{"SELECT COUNT(*) > 70 FROM information_schema.tables WHERE table_schema='information_schema'", "1"},
		{"SELECT column_name, column_type FROM information_schema.columns WHERE table_schema='information_schema' AND table_name='TABLES' AND column_name IN ('VERSION','TABLE_SCHEMA') ORDER BY 1", "TABLE_SCHEMA,varchar(64) / VERSION,int"},
		{"SHOW TABLES FROM information_schema LIKE 'TABLE\\_C%'", "TABLE_CONSTRAINTS / TABLE_CONSTRAINTS_EXTENSIONS"},
		{"SELECT COUNT(*) FROM INFORMATION_SCHEMA.`tables` WHERE table_name='t'", "1"},
	}.check(t, in)
}

func TestShowReadsEscapesInItsPatterns(t *testing.T) {
	in := start(t, nil)
	in.topic("a_b", map[string]string{"millrace.columns": "x_y INT, xzy INT"})
	in.topic("acb", nil)
	cases{
		{"SHOW TABLES LIKE 'a\\_b'", "a_b"},
		{"SHOW TABLES LIKE 'a_b'", "a_b / acb"},
		{"SHOW FULL TABLES FROM `kafka` LIKE 'a\\_%'", "a_b,BASE TABLE"},
		{"SHOW TABLE STATUS LIKE 'a\\_b\\_c'", ""},
		{"SHOW COLUMNS FROM a_b LIKE 'x\\_y'", "x_y,int,YES,,NULL,"},
		{"SHOW DATABASES LIKE 'information\\_schema'", "information_schema"},
		{"SHOW VARIABLES LIKE 'lower\\_case\\_table%'", "lower_case_table_names,0"},
		{"SHOW CHARACTER SET LIKE 'utf8mb\\_'", ""},
	}.check(t, in)
}

func TestShowVariablesTakesConditionsOnValues(t *testing.T) {
	in := start(t, nil)
	cases{
		{"SHOW VARIABLES WHERE Value='ON' AND Variable_name LIKE 'autocom%'", "autocommit,ON"},
		{"SHOW SESSION VARIABLES WHERE `Variable_name` IN ('AUTOCOMMIT', 'time_zone') OR Value = 'nobody has this'", "autocommit,ON / time_zone,+00:00"},
		{"SHOW GLOBAL VARIABLES WHERE Variable_name = 'autocommit' AND Value = 'OFF'", ""},
		{"SELECT variable_value FROM performance_schema.session_variables WHERE variable_name='autocommit'", "ON"},
	}.check(t, in)
}

func TestThePrimaryKeyIsReported(t *testing.T) {
	in := start(t, nil)
	in.topic("my.keys", nil, `{"a":1}`)
	cases{
		{"SELECT index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics WHERE table_schema='kafka' AND table_name='my.keys'", "PRIMARY,1,_partition,0 / PRIMARY,2,_offset,0"},
		{"SELECT constraint_name, column_name, ordinal_position FROM information_schema.key_column_usage WHERE table_schema='kafka'", "PRIMARY,_partition,1 / PRIMARY,_offset,2"},
		{"SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_schema='kafka'", "PRIMARY,PRIMARY KEY"},
	}.check(t, in)
	db := in.open("app", "", "")
	if got := ask(t, db, "SHOW KEYS FROM `my.keys`"); !strings.Contains(got, "PRIMARY,2,_offset") {
		t.Error(got)
	}
	if got := ask(t, db, "SHOW CREATE TABLE `my.keys`"); strings.Count(got, "PRIMARY KEY") != 1 {
		t.Error(got)
	}
	if got := ask(t, db, "SHOW CREATE TABLE `my.keys$latest`"); strings.Count(got, "PRIMARY KEY") != 1 {
		t.Error(got)
	}
}
