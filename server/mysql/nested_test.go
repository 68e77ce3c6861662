package mysql

import "testing"

func TestAggregatesOfSubqueriesAreTheirOwn(t *testing.T) {
	in := start(t, nil)
	in.topic("t1", map[string]string{"millrace.columns": "id INT, n DECIMAL(10,2), s VARCHAR(10)"}, `{"id":1,"n":1.5,"s":"a"}`, `{"id":2,"n":2.25,"s":"b"}`, `{"id":3,"n":0.25,"s":"c"}`, `{"id":4,"s":"d"}`)
	cases{
		{"SELECT SUM(id),(SELECT SUM(id) FROM t1 WHERE id=1) FROM t1", "10,1"},
		{"SELECT MAX(id),(SELECT MAX(id) FROM t1 WHERE id<3),(SELECT COUNT(id) FROM t1 WHERE id<3),COUNT(id) FROM t1", "4,2,2,4"},
		{"SELECT MIN(s),(SELECT MIN(s) FROM t1 WHERE id>2),AVG(n),(SELECT AVG(n) FROM t1 WHERE id=2) FROM t1", "a,c,1.333333,2.250000"},
		{"SELECT COUNT(DISTINCT s),(SELECT COUNT(DISTINCT s) FROM t1 WHERE id=1) FROM t1", "4,1"},
		{"SELECT id%2 g,SUM(id) FROM t1 GROUP BY g HAVING SUM(id)>(SELECT SUM(id) FROM t1 WHERE id=3) ORDER BY g", "0,6 / 1,4"},
		{"SELECT id%2 g,MAX(id) FROM t1 GROUP BY g HAVING MAX(id) IN (SELECT MAX(id) FROM t1 WHERE id<4) ORDER BY g", "1,3"},
		{"SELECT id%2 g,SUM(id)/(SELECT SUM(id) FROM t1) FROM t1 GROUP BY g ORDER BY g", "0,0.6000 / 1,0.4000"},
		{"SELECT GROUP_CONCAT(s ORDER BY s),(SELECT GROUP_CONCAT(s ORDER BY s) FROM t1 WHERE id<3) FROM t1", "a,b,c,d,a,b"},
		{"SELECT SUM(id),(SELECT SUM(id)+(SELECT SUM(id) FROM t1 WHERE id=2) FROM t1 WHERE id=1) FROM t1", "10,3"},
		{"SELECT (SELECT SUM(m) FROM (SELECT MAX(id) AS m FROM t1 GROUP BY id%2) d), MAX(id) FROM t1", "7,4"},
		{"WITH c AS (SELECT id%2 g, SUM(id) x FROM t1 GROUP BY g) SELECT g FROM c WHERE x = (SELECT MAX(x) FROM c)", "0"},
	}.check(t, in)
}

func TestASubqueryThatStandsForAValueHasOneRow(t *testing.T) {
	in := start(t, nil)
	in.topic("t1", map[string]string{"millrace.columns": "id INT"}, `{"id":1}`, `{"id":2}`, `{"id":3}`, `{"id":4}`)
	const many = "error 1242: Error 1242 (21000): the subquery returned more than 1 row"
	cases{
		{"SELECT id FROM t1 WHERE id=(SELECT id FROM t1 WHERE id<3)", many},
		{"SELECT id FROM t1 WHERE id>(SELECT id FROM t1 WHERE id<3)", many},
		{"SELECT id FROM t1 WHERE id<>(SELECT id FROM t1 WHERE id<3)", many},
		{"SELECT id FROM t1 WHERE id=(SELECT id FROM t1 WHERE id=3)", "3"},
		{"SELECT id FROM t1 WHERE id>(SELECT AVG(id) FROM t1) ORDER BY id", "3 / 4"},
		{"SELECT id FROM t1 WHERE id>(SELECT id FROM t1 WHERE id>9)", ""},
		{"SELECT id FROM t1 o WHERE id=(SELECT MAX(id) FROM t1 i WHERE i.id%2=o.id%2) ORDER BY id", "3 / 4"},
	}.check(t, in)
}
