package mysql

import (
	"fmt"
	"testing"
)

func BenchmarkSelectOne(b *testing.B) {
	in := start(b, nil)
	db := in.open("app", "", "")
	if err := db.Ping(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var n int
		if err := db.QueryRow("SELECT 1").Scan(&n); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPointLookup(b *testing.B) {
	in := start(b, nil)
	values := make([]string, 1000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"id":%d,"s":"value %d"}`, i, i)
	}
	in.topic("t", nil, `{"id":-1,"s":"x"}`)
	in.produce(in.id("t"), values...)
	db := in.open("app", "", "interpolateParams=true")
	b.ReportAllocs()
	for b.Loop() {
		var s string
		if err := db.QueryRow("SELECT s FROM t WHERE _partition=0 AND _offset=?", 500).Scan(&s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRows(b *testing.B) {
	in := start(b, nil)
	values := make([]string, 10_000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"id":%d,"s":"value %d","d":%d.5}`, i, i, i)
	}
	in.topic("t", nil, `{"id":-1,"s":"x"}`)
	for range 10 {
		in.produce(in.id("t"), values...)
	}
	db := in.open("app", "", "")
	b.ReportAllocs()
	for b.Loop() {
		r, err := db.Query("SELECT _offset, id, s, d FROM t")
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for r.Next() {
			n++
		}
		if err := r.Err(); err != nil || n < 100_000 {
			b.Fatal(n, err)
		}
		_ = r.Close()
	}
	b.ReportMetric(float64(b.N)*100_001/b.Elapsed().Seconds(), "rows/s")
}
