package pushdown_test

import "testing"

func TestDistinctTellsValuesApartAsComparisonsDo(t *testing.T) {
	b := newBench(t)
	id := b.topic("d", 3, map[string]string{"millrace.columns": "f DOUBLE, n DECIMAL(9,3), s VARCHAR(20), t DATETIME(3)"})
	for p := range int32(3) {
		b.values(id, p, `{"f":0,"n":1.5,"s":"<nil>","t":"0001-01-01 00:00:00"}`, `{"f":-0.0,"n":"1.500"}`, `{"n":7,"s":"","t":"9999-12-31 23:59:59.999"}`)
	}
	b.topic("e", 1, nil)
	b.values(b.topic("one", 1, nil), 0, `{"a":1}`, `{"a":1}`, `{"a":1}`)
	b.want("SELECT COUNT(*) FROM (SELECT DISTINCT f+0 FROM d) x", "2")
	b.want("SELECT COUNT(*) FROM (SELECT DISTINCT n, s FROM d) x", "3")
	b.want("SELECT COUNT(*) FROM (SELECT DISTINCT t FROM d) x", "3")
	b.want("SELECT DISTINCT _offset FROM d ORDER BY 1", "0", "1", "2")
	// The table is in the order of its partitions, not of its offsets.
	b.want("SELECT COUNT(*) FROM one o WHERE EXISTS (SELECT 1 FROM d WHERE d._offset=o._offset)", "3")
	b.want("SELECT COUNT(*) FROM one o WHERE o._offset IN (SELECT _offset FROM d)", "3")
}
