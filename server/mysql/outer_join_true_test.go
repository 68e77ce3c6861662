package mysql

import "testing"

func TestOuterJoinsOnTrueKeepRowsWithoutPartners(t *testing.T) {
	in := start(t, nil)
	in.topic("a", map[string]string{"millrace.columns": "id INT, it JSON"}, `{"id":1,"it":[{"s":"a"},{"s":"b"}]}`, `{"id":2,"it":[]}`, `{"id":3,"it":null}`, `{"id":4}`)
	cases{
		{"SELECT a.id, j.s FROM a LEFT JOIN JSON_TABLE(a.it,'$[*]' COLUMNS(s VARCHAR(5) PATH '$.s')) j ON TRUE ORDER BY 1, 2", "1,a / 1,b / 2,NULL / 3,NULL / 4,NULL"},
		{"SELECT a.id, j.s FROM a JOIN JSON_TABLE(a.it,'$[*]' COLUMNS(s VARCHAR(5) PATH '$.s')) j ON TRUE ORDER BY 1, 2", "1,a / 1,b"},
		{"SELECT a.id, b.id FROM a LEFT JOIN (SELECT id FROM a WHERE id>9) b ON TRUE ORDER BY 1", "1,NULL / 2,NULL / 3,NULL / 4,NULL"},
		{"SELECT b.x, a.id FROM (SELECT id FROM a WHERE id>9) a RIGHT JOIN (SELECT 1 x) b ON TRUE", "1,NULL"},
		{"SELECT a.id, b.id FROM a LEFT JOIN a b ON TRUE WHERE a.id<3 AND b.id<3 ORDER BY 1, 2", "1,1 / 1,2 / 2,1 / 2,2"},
	}.check(t, in)
}

func TestGroupsByAConstantAndShowSchemas(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT"}, `{"i":1}`, `{"i":2}`)
	cases{
		{"SELECT COUNT(*) FROM t GROUP BY 'x'", "2"},
		{"SELECT COUNT(*) FROM t WHERE i>9 GROUP BY 'x'", ""},
		{"SELECT 'x', i, COUNT(*) FROM t GROUP BY 'x', i ORDER BY i", "x,1,1 / x,2,1"},
	}.check(t, in)
	db := in.open("app", "", "")
	for _, query := range []string{"SHOW SCHEMAS LIKE 'kaf%'", "show schemas like 'kaf%'", "SHOW DATABASES LIKE 'kaf%'"} {
		if got := ask(t, db, query); got != "kafka" {
			t.Errorf("%s: %s", query, got)
		}
	}
}
