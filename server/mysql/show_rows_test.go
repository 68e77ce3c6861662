package mysql

import (
	"strings"
	"testing"
)

func TestShowAnswersAsMySQLDoes(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "id INT, at TIMESTAMP(3)"}, `{"id":1}`)
	in.topic("orders", nil, `{"id":1,"odd, \n`+"`"+`name":2}`)
	db := in.open("app", "", "")
	got := ask(t, db, "SHOW CREATE TABLE orders")
	for _, want := range []string{
		"  `_timestamp` timestamp(3) NULL DEFAULT NULL,\n", "  `_headers` json DEFAULT NULL /*!80023 INVISIBLE */,\n", "  `_value` longtext /*!80023 INVISIBLE */,\n",
		"  `_error` text /*!80023 INVISIBLE */,\n", "  `id` bigint DEFAULT NULL /* inferred */,\n", "  PRIMARY KEY (`_partition`,`_offset`)\n) ENGINE=InnoDB DEFAULT",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if n := strings.Count(got, "INVISIBLE"); n != 3 {
		t.Errorf("%d invisible columns in %s", n, got)
	}
	const tableStatus = "Name,Engine,Version,Row_format,Rows,Avg_row_length,Data_length,Max_data_length," +
		"Index_length,Data_free,Auto_increment,Create_time,Update_time,Check_time,Collation,Checksum,Create_options,Comment"
	for query, want := range map[string]string{
		"SHOW COLLATION LIKE 'utf8mb4_bin'":                              "Collation,Charset,Id,Default,Compiled,Sortlen,Pad_attribute",
		"SHOW COLLATION WHERE Charset = 'utf8mb4' AND `Default` = 'Yes'": "Collation,Charset,Id,Default,Compiled,Sortlen,Pad_attribute",

		"SHOW TABLE STATUS": tableStatus,
	} {
		r, err := db.Query(query)
		if err != nil {
			t.Fatal(query, err)
		}
		names, err := r.Columns()
		if err != nil || strings.Join(names, ",") != want {
			t.Errorf("%s: %s (%v)", query, strings.Join(names, ","), err)
		}
		if !r.Next() {
			t.Errorf("%s: no rows (%v)", query, r.Err())
		}
		_ = r.Close()
	}
	if got := ask(t, db, "SHOW STATUS LIKE 'Threads_connected'"); got != "Threads_connected,1" {
		t.Error(got)
	}
	if got := ask(t, db, "SHOW STATUS LIKE 'Ssl_cipher'"); got != "Ssl_cipher," {
		t.Error(got)
	}
	secure := in.open("app", "", "tls=skip-verify")
	if got := ask(t, secure, "SHOW STATUS LIKE 'Ssl_cipher'"); !strings.HasPrefix(got, "Ssl_cipher,TLS_") {
		t.Error(got)
	}
	if got := ask(t, secure, "SHOW STATUS LIKE 'Ssl_version'"); got != "Ssl_version,TLSv1.3" {
		t.Error(got)
	}
	if got := ask(t, secure, "SHOW GLOBAL STATUS LIKE 'Threads_connected'"); got != "Threads_connected,2" {
		t.Error(got)
	}
	if got := ask(t, db, "SHOW STATUS LIKE 'Threads_running'"); got != "Threads_running,1" {
		t.Error(got)
	}
}

func TestFlushTablesIsForThoseWhoMayChangeThem(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"id":1}`)
	db := in.open("app", "", "")
	for _, q := range []string{"FLUSH TABLES", "FLUSH TABLE t", "FLUSH TABLES t WITH READ LOCK", "FLUSH LOCAL TABLES"} {
		if _, err := db.Exec(q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	if _, err := db.Exec("FLUSH PRIVILEGES"); errNumber(err) != 1227 {
		t.Error(err)
	}
}

func TestSwitchesAreShownAsOnAndOff(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "")
	for query, want := range map[string]string{
		"SHOW VARIABLES LIKE 'autocommit'":                    "autocommit,ON",
		"SHOW GLOBAL VARIABLES LIKE 'partial_revokes'":        "partial_revokes,OFF",
		"SHOW VARIABLES WHERE Variable_name = 'local_infile'": "local_infile,OFF",
		"SHOW VARIABLES LIKE 'lower_case_table_names'":        "lower_case_table_names,0",
		"SHOW VARIABLES LIKE 'wait_timeout'":                  "wait_timeout,28800",
		"SELECT @@autocommit, @@partial_revokes":              "1,0",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	r, err := db.Query("SHOW PLUGINS")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if names, err := r.Columns(); err != nil || strings.Join(names, ",") != "Name,Status,Type,Library,License" {
		t.Errorf("SHOW PLUGINS: %v %v", names, err)
	}
}
