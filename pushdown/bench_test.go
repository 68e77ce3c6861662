package pushdown_test

import (
	"fmt"
	"testing"
)

// One million click events in 16 partitions.
func clicks(b *testing.B) *bench {
	be := newBench(b)
	const partitions, batches, records = 16, 64, 1000
	id := be.topic("clicks", partitions, map[string]string{
		"millrace.expand":  "declared",
		"millrace.columns": "id BIGINT, country VARCHAR(2), ms DOUBLE, price DECIMAL(10,2)",
	})
	n := 0
	for p := range int32(partitions) {
		for range batches {
			values := make([]string, records)
			for i := range values {
				values[i] = fmt.Sprintf(`{"id":%d,"country":"%c%c","ms":%d.5,"price":%d.25,"agent":"Mozilla/5.0 (X11; Linux x86_64)","page":"/products/%d"}`,
					n, 'a'+n%5, 'a'+n%7, n%1000, n%100, n%977)
				n++
			}
			be.values(id, p, values...)
		}
	}
	return be
}

func BenchmarkAggregateOverAMillionRows(b *testing.B) {
	be := clicks(b)
	for _, q := range []string{
		"SELECT COUNT(*) FROM clicks",
		"SELECT COUNT(*) FROM clicks WHERE _offset>=1000",
		"SELECT COUNT(*) FROM clicks WHERE _timestamp>'2020-01-01'",
		"SELECT COUNT(*) FROM clicks WHERE id>500000 AND country='aa'",
		"SELECT country,COUNT(*),FIRST(price),MAX(ms) FROM clicks WHERE id>=1000 GROUP BY country",
		"SELECT * FROM clicks ORDER BY _offset DESC LIMIT 3",
	} {
		for _, on := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/pushdown=%v", q, on), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := be.query(on, q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
