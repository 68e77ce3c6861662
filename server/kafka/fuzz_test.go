package kafka

import (
	"bufio"
	"bytes"
	"testing"

	"millrace/server/kafka/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The door for request frames: whatever comes in, no panic and no memory out of
// proportion.
func FuzzRequestFrame(f *testing.F) {
	s := &Server{o: Options{MaxRequestBytes: 1 << 20}, metrics: newMetrics(nil)}
	table, err := newAPITable(s.apis(), s.metrics)
	if err != nil {
		f.Fatal(err)
	}
	s.table = table
	for _, a := range table {
		if a == nil {
			continue
		}
		for _, v := range []int16{a.min, a.max} {
			req := kmsg.RequestForKey(a.key)
			req.SetVersion(v)
			fillFailing(req)
			f.Add(kmsg.NewRequestFormatter(kmsg.FormatterClientID("seed")).AppendRequest(nil, req, 1))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		c := &conn{s: s, br: bufio.NewReaderSize(bytes.NewReader(in), readBufferBytes)}
		size, key, version, err := wire.PeekFrame(c.br)
		if err != nil {
			return
		}
		a, err := c.admitRequest(size, key, version)
		if err != nil || version < a.min || version > a.max {
			return
		}
		nothing := func(int) error { return nil }
		frame, err := wire.ReadFrame(c.br, size, len(in)%2*size, nothing, func() error { return nil })
		if err != nil {
			return
		}
		_, body, err := wire.ParseHeader(frame, a.isFlexible(version))
		if err != nil {
			return
		}
		req := kmsg.RequestForKey(key)
		req.SetVersion(version)
		_ = req.ReadFrom(body)
	})
}
