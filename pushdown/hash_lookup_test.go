package pushdown_test

import "testing"

func TestJoinsFindEqualValuesWhateverTheirRepresentation(t *testing.T) {
	b := newBench(t)
	id := b.topic("l", 1, map[string]string{"millrace.columns": "n DECIMAL(12,2), s VARCHAR(40), g VARCHAR(3), i BIGINT, d DATE"})
	b.values(id, 0, `{"n":1.5,"s":"hello world","g":"red","i":1,"d":"2024-02-29"}`, `{"n":0.01,"s":"red","i":2}`, `{"n":7,"g":"x","i":7}`)
	id = b.topic("r", 1, map[string]string{"millrace.columns": "n DECIMAL(12,2), m DECIMAL(20,4), s VARCHAR(40), j INT, f DOUBLE, t DATETIME(3)"})
	b.values(id, 0, `{"n":1.5,"m":1.5,"s":"hello world","j":7,"f":1.5,"t":"2024-02-29 00:00:00"}`, `{"n":0.01,"m":0.01,"s":"red"}`)
	for _, c := range []struct {
		q    string
		want []string
	}{
		{"SELECT l.n FROM l JOIN r ON l.n = r.n ORDER BY l.n", []string{"0.01", "1.50"}},
		{"SELECT l.n FROM l JOIN r ON l.n = r.m ORDER BY l.n", []string{"0.01", "1.50"}},
		{"SELECT l.n FROM l JOIN r ON l.n = r.f", []string{"1.50"}},
		{"SELECT l.i FROM l JOIN r ON l.n = r.j", []string{"7"}},
		{"SELECT l.i FROM l JOIN r ON l.g = r.s", []string{"1"}},
		{"SELECT l.i FROM l WHERE l.g IN (SELECT s FROM r)", []string{"1"}},
		{"SELECT l.i FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.s = l.g)", []string{"1"}},
		{"SELECT l.i FROM l JOIN r ON l.d = r.t", []string{"1"}},
		{"SELECT COUNT(*) FROM l LEFT JOIN r ON l.n = r.n AND l.s = r.s WHERE r.n IS NULL", []string{"1"}},
	} {
		b.want(c.q, c.want...)
	}
}
