package mysql

import (
	"fmt"
	"strings"
	"testing"
)

// The groups of BI tools: of a minute, and of a week made a date again.
func TestTimesAreGroupedAsToolsWriteThem(t *testing.T) {
	in := start(t, nil)
	in.topic("rides", map[string]string{"millrace.columns": "at DATETIME, n BIGINT"},
		`{"at":"2026-01-01T10:00:05Z","n":1}`, `{"at":"2026-01-01T10:00:59Z","n":2}`, `{"at":"2026-01-03T10:01:00Z","n":3}`, `{"at":"2026-01-04T11:01:00Z","n":4}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT MINUTE(at), SUM(n) FROM rides GROUP BY MINUTE(at) ORDER BY 1", "0,3 / 1,7"},
		{
			"SELECT DATE_ADD(DATE(at), INTERVAL (HOUR(at)*60 + MINUTE(at)) MINUTE) AS at, SUM(n) FROM rides GROUP BY DATE_ADD(DATE(at), INTERVAL (HOUR(at)*60 + MINUTE(at)) MINUTE) ORDER BY at LIMIT 2",
			"2026-01-01 10:00:00,3 / 2026-01-03 10:01:00,3",
		},
		{
			"SELECT STR_TO_DATE(CONCAT(YEARWEEK(at), ' Sunday'), '%X%V %W') AS w, SUM(n) FROM rides GROUP BY STR_TO_DATE(CONCAT(YEARWEEK(at), ' Sunday'), '%X%V %W') ORDER BY 1",
			"2025-12-28,6 / 2026-01-04,4",
		},
		{"SELECT STR_TO_DATE(CONCAT(YEARWEEK(at, 3), ' monday'), '%x%v %W') AS w, SUM(n) FROM rides GROUP BY 1 ORDER BY 1", "2025-12-29,10"},
		{
			"SELECT STR_TO_DATE('200442 Monday', '%X%V %W'), STR_TO_DATE('202653 Friday', '%x%v %W'), STR_TO_DATE('202600 Monday', '%X%V %W'), STR_TO_DATE('2026 Monday', '%X%V %W'), STR_TO_DATE('202601 Moonday', '%X%V %W'), STR_TO_DATE(NULL, '%X%V %W')",
			"2004-10-18,2027-01-01,NULL,NULL,NULL,NULL",
		},
		{"SELECT STR_TO_DATE('3,2,2026', '%d,%m,%Y')", "2026-02-03"},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

// Drivers list their types in a UNION of forty; each was looked at twice as often as the one after it.
func TestAUnionOfManyIsPlannedInTime(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"n":1}`)
	db := in.open("app", "", "")
	parts := make([]string, 60)
	for i := range parts {
		parts[i] = fmt.Sprintf("SELECT %d AS a, 'x' AS b, NULL AS c", i)
	}
	query := "SELECT COUNT(*), SUM(a) FROM (" + strings.Join(parts, " UNION ") + " UNION SELECT n + 100, 'y', _key FROM t) u"
	if got := ask(t, db, query); got != "61,1871" {
		t.Error(got)
	}
}

func TestToolsFindTheDatabasesOfAServer(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"n":1}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'lower_case_table_names'", "0"},
		{"SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'time_zone'", "+00:00"},
		{"SELECT COUNT(*) FROM performance_schema.THREADS WHERE PROCESSLIST_ID = CONNECTION_ID() AND PROCESSLIST_INFO LIKE '%THREADS%'", "1"},
		{"SELECT DB, COMMAND, STATE FROM performance_schema.processlist WHERE ID = CONNECTION_ID()", "kafka,Query,executing"},
		{"SELECT mysql_version = VERSION() FROM sys.version", "1"},
		{"SELECT * FROM mysql.tables_priv", ""},
		{"SELECT Host, User, Routine_name, Proc_priv FROM mysql.procs_priv WHERE Db = 'kafka'", ""},
		{"SHOW FULL TRIGGERS FROM kafka", ""},
		{"SHOW TABLES FROM mysql", "columns_priv / db / default_roles / func / general_log / global_grants / procs_priv / proxies_priv / role_edges / slow_log / tables_priv / time_zone_name / user"},
		{"SELECT table_name FROM information_schema.tables WHERE table_schema = 'sys'", "innodb_lock_waits / processlist / schema_unused_indexes / session / statement_analysis / sys_config / version"},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

// What MariaDB's ODBC driver sends for SQLColumns, shortened.
func TestVariablesOfTheODBCDriverStandForTheirItems(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"n":1,"s":"x"}`)
	db := in.open("app", "", "")
	got := ask(t, db, "SELECT TABLE_SCHEMA AS TABLE_CAT, NULL AS TABLE_SCHEM, COLUMN_NAME, CASE DATA_TYPE WHEN 'bigint' THEN @dt:=(-5) WHEN 'varchar' THEN @dt:= IF(NUMERIC_SCALE IS NULL,-9, 3) ELSE @dt:=(-4)END AS DATA_TYPE,"+
		" CAST(CASE WHEN DATA_TYPE in ('int', 'bigint') THEN @ColSize:=NUMERIC_PRECISION ELSE @ColSize:=CHARACTER_MAXIMUM_LENGTH END AS UNSIGNED) AS COLUMN_SIZE,@tol:=CAST(CASE @dt WHEN (-5) THEN @ColSize + 1 ELSE 7 END AS SIGNED) AS BUFFER_LENGTH,"+
		" IF(DATA_TYPE='bigint', @tol, CONCAT('a,(', @dt)) AS X FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = BINARY 'kafka' AND TABLE_NAME LIKE 't' AND ORDINAL_POSITION > 7 ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION")
	if want := "kafka,NULL,n,-5,19,20,20 / kafka,NULL,s,-9,16383,7,a,(-9"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
