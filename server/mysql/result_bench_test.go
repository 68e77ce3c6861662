package mysql

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rowsPerCPUSecond reads SELECT * of a topic over the text protocol with a client that only counts packets, and reports
// rows per second of processor time of the whole process (the client's included).
func rowsPerCPUSecond(b *testing.B, in *instance, set, query string) {
	r := dialRaw(b, in)
	r.send(0, append([]byte{0x03}, set...))
	r.packet()
	cpu := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	rows := 0
	run := func() {
		r.send(0, append([]byte{0x03}, query...))
		for range int(r.packet()[0]) {
			r.packet()
		}
		for {
			h, err := r.r.Peek(5)
			if err != nil {
				b.Fatal(err)
			}
			n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
			end := h[4] == 0xfe && n < 9
			if _, err := r.r.Discard(4 + n); err != nil {
				b.Fatal(err)
			}
			if end {
				return
			}
			rows++
		}
	}
	run() // columns and pages are in memory from here on
	rows = 0
	from := cpu()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(rows)/(cpu()-from).Seconds(), "rows/cpu-s")
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
}

func BenchmarkSelectStar(b *testing.B) {
	in := start(b, nil)
	in.topic("wide", nil, `{"id":-1,"uid":1,"ms":0.5,"country":"de","page":"/products/1","agent":"x","ok":true}`)
	const rows = 400_000
	values := make([]string, 0, 1000)
	for i := range rows {
		values = append(values, fmt.Sprintf(`{"id":%d,"uid":%d,"ms":%d.25,"country":"c%d","page":"/products/%d","agent":"%s","ok":%v}`,
			i, i*7919%300_000, i%1000, i%8, i%977, strings.Repeat("Mozilla/5.0 ", 8), i%2 == 0))
		if len(values) == cap(values) {
			in.produce(in.id("wide"), values...)
			values = values[:0]
		}
	}
	for name, set := range map[string]string{"columns": "SET millrace_pushdown=1", "rows": "SET millrace_pushdown=0"} {
		b.Run(name, func(b *testing.B) { rowsPerCPUSecond(b, in, set, "SELECT * FROM wide") })
	}
}
