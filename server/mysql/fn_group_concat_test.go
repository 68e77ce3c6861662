package mysql

import (
	"fmt"
	"strings"
	"testing"
)

func TestGroupConcatAnswersAsMySQLDoes(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"g":1,"s":"b","n":2}`, `{"g":1,"s":"a","n":10}`, `{"g":2,"s":"ä","n":1}`, `{"g":1,"s":"b","n":1}`, `{"g":2,"n":7}`, `{"g":3}`)
	db := in.open("app", "", "")
	for query, want := range map[string]string{
		"SELECT GROUP_CONCAT(s) FROM t":                                                                     "b,a,ä,b",
		"SELECT g, GROUP_CONCAT(s ORDER BY n) FROM t GROUP BY g ORDER BY g":                                 "1,b,b,a / 2,ä / 3,NULL",
		"SELECT g, GROUP_CONCAT(s ORDER BY s DESC, n SEPARATOR '-') x FROM t GROUP BY g HAVING x LIKE 'b%'": "1,b-b-a",
		"SELECT GROUP_CONCAT(DISTINCT s ORDER BY s SEPARATOR '') FROM t":                                    "abä",
		"SELECT GROUP_CONCAT(DISTINCT g ORDER BY 1 DESC) FROM t":                                            "3,2,1",
		"SELECT GROUP_CONCAT(s, ':', n ORDER BY n) FROM t":                                                  "ä:1,b:1,b:2,a:10",
		"SELECT GROUP_CONCAT(DISTINCT g, g ORDER BY g SEPARATOR ' ') FROM t":                                "11 22 33",
		"SELECT GROUP_CONCAT(n / 4e0 ORDER BY n DESC) FROM t":                                               "2.5,1.75,0.5,0.25,0.25",
		"SELECT GROUP_CONCAT(s) FROM t WHERE g > 9":                                                         "NULL",
		"SELECT GROUP_CONCAT(s SEPARATOR ','), GROUP_CONCAT(s SEPARATOR ':') FROM t":                        "b,a,ä,b,b:a:ä:b",
		"SELECT LENGTH(GROUP_CONCAT(s)), COUNT(*) FROM t":                                                   "8,6",
		"SELECT (SELECT GROUP_CONCAT(u.s) FROM t u WHERE u.g = t.g) FROM t WHERE n = 10":                    "b,a,b",
		"SELECT GROUP_CONCAT(DISTINCT CONVERT(x USING utf8mb4) COLLATE utf8mb4_0900_ai_ci) FROM (SELECT 'a' x UNION ALL SELECT 'A' UNION ALL SELECT 'b') d": "a,b",
		"SELECT JSON_ARRAYAGG(s) FROM t WHERE g = 1":                          `["b", "a", "b"]`,
		"SELECT JSON_OBJECTAGG(n, s) FROM t WHERE s = 'a'":                    `{"10": "a"}`,
		"SELECT JSON_ARRAYAGG(s), JSON_OBJECTAGG(g, s) FROM t WHERE g > 9":    "NULL,NULL",
		"SELECT g, JSON_ARRAYAGG(n) OVER (PARTITION BY g) FROM t WHERE g = 2": "2,[1, 7] / 2,[1, 7]",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	st, err := db.Prepare("SELECT GROUP_CONCAT(s ORDER BY n SEPARATOR '/') FROM t WHERE g = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for range 2 {
		if got := askPrepared(t, st, 1); got != "b/b/a" {
			t.Error(got)
		}
	}
	if got := ask(t, db, "SELECT `group_concat`(s, '-:') FROM t"); !strings.HasPrefix(got, "error 1305") && !strings.HasPrefix(got, "error 1064") {
		t.Error(got)
	}
}

func TestGroupConcatEndsAtItsLimit(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"i":0,"s":"0000000000"}`)
	values := make([]string, 20000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"i":%d,"s":"%010d"}`, i+1, i*7919%20000+1)
	}
	in.produce(in.id("t"), values...)
	db := in.open("app", "", "")
	if got := ask(t, db, "SELECT LENGTH(GROUP_CONCAT(s)), LENGTH(GROUP_CONCAT(s ORDER BY s DESC)) FROM t"); got != "1024,1024" {
		t.Error(got)
	}
	if got := ask(t, db, "SHOW WARNINGS"); !strings.HasPrefix(got, "Warning,1260,") {
		t.Error(got)
	}
	if _, err := db.Exec("SET group_concat_max_len = 32"); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT GROUP_CONCAT(s ORDER BY s) FROM t":                       "0000000000,0000000001,0000000002",
		"SELECT GROUP_CONCAT(DISTINCT s ORDER BY s DESC) FROM t":         "0000020000,0000019999,0000019998",
		"SELECT GROUP_CONCAT('äää', s SEPARATOR 'ö') FROM t WHERE i = 0": "äää0000000000",
		"SELECT GROUP_CONCAT('äääääääääääääääää') FROM t WHERE i = 0":    "ääääääääääääääää",
		"SELECT GROUP_CONCAT('xäääääääääääääääää') FROM t WHERE i = 0":   "xäääääääääääääää",
	} {
		got := ask(t, db, query)
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
