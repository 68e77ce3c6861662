package kafka

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Wherever a count could stand in a request, and whatever follows it, decoding takes no more memory than
// handle reserves for it.
func TestNoCountTakesMemoryOutOfProportion(t *testing.T) {
	s := &Server{o: Options{MaxRequestBytes: 1 << 20}, metrics: newMetrics(nil)}
	table, err := newAPITable(s.apis(), s.metrics)
	if err != nil {
		t.Fatal(err)
	}
	const n = 32 << 10
	fills := [][]byte{{0}, {1}, {1, 0}, {1, 1, 0}, {0, 0, 0, 0, 1, 0}}
	for _, a := range table {
		if a == nil {
			continue
		}
		for _, v := range []int16{a.min, a.max} {
			req := kmsg.RequestForKey(a.key)
			req.SetVersion(v)
			fillFailing(req)
			body := req.AppendTo(nil)
			for i := range len(body) + 1 {
				for _, fill := range fills {
					for _, count := range [][]byte{binary.BigEndian.AppendUint32(nil, n), binary.AppendUvarint(nil, n+1)} {
						bomb := append(append(append([]byte(nil), body[:i]...), count...), bytes.Repeat(fill, n/len(fill))...)
						var before, after runtime.MemStats
						runtime.ReadMemStats(&before)
						r := kmsg.RequestForKey(a.key)
						r.SetVersion(v)
						_ = r.ReadFrom(bomb)
						runtime.ReadMemStats(&after)
						if grown := after.TotalAlloc - before.TotalAlloc; grown > 2*decodedPerByte*n {
							t.Fatalf("%s version %d, a count at byte %d before %v: %d bytes for %d", a.name, v, i, fill, grown, len(bomb))
						}
					}
				}
			}
		}
	}
}

// S6: a request that was begun has to arrive.
func TestARequestThatTricklesInEndsTheConnection(t *testing.T) {
	e := start(t, func(o *Options) { o.RequestTimeout = 50 * time.Millisecond })
	r := e.raw()
	r.ask(kmsg.NewPtrApiVersionsRequest())
	r.write([]byte{0, 0, 1, 0, 0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0, 0}) // 256 bytes, of which 12 come
	r.closed()
}
