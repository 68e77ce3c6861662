package mysql

import "testing"

func TestLateralTablesMayFilterByOuterColumnsAlone(t *testing.T) {
	in := start(t, nil)
	in.topic("a", nil, `{"i":1}`, `{"i":2}`, `{"i":3}`)
	in.topic("b", nil, `{"k":1,"v":10}`, `{"k":2,"v":20}`)
	cases{
		{"SELECT a.i, l.x FROM a LEFT JOIN LATERAL (SELECT a.i x FROM (SELECT 1) y WHERE a.i > 1) l ON TRUE ORDER BY a.i", "1,NULL / 2,2 / 3,3"},
		{"SELECT a.i, l.x FROM a, LATERAL (SELECT a.i*2 x FROM b WHERE a.i > 1 LIMIT 1) l ORDER BY a.i", "2,4 / 3,6"},
		{"SELECT a.i, l.x FROM a, LATERAL (SELECT COUNT(*) x FROM b WHERE a.i > 1) l ORDER BY a.i", "1,0 / 2,2 / 3,2"},
		{"SELECT a.i, l.x FROM a, LATERAL (SELECT SUM(v) x FROM b WHERE b.k = a.i AND a.i > 1) l ORDER BY a.i", "1,NULL / 2,20 / 3,NULL"},
		{"SELECT a.i, l.v FROM a JOIN LATERAL (SELECT v FROM b WHERE a.i = 3 ORDER BY v DESC LIMIT 1) l ORDER BY a.i", "3,20"},
		{"SELECT i FROM a WHERE EXISTS (SELECT 1 FROM b, LATERAL (SELECT 1 FROM b c WHERE a.i > 2) l) ORDER BY i", "3"},
		{"SELECT a.i, l.x FROM a, LATERAL (SELECT 1 x WHERE a.i = 2 UNION ALL SELECT 2 WHERE a.i > 1) l ORDER BY a.i, l.x", "2,1 / 2,2 / 3,2"},
	}.check(t, in)
}
