package kafka

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The door for request frames: whatever comes in, no panic and no memory out of
// proportion; and whatever a hand-written decoder takes, the general one takes alike.
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
		size, key, version, err := peekFrame(c.br)
		if err != nil {
			return
		}
		a, err := c.admitRequest(size, key, version)
		if err != nil || version < a.min || version > a.max {
			return
		}
		nothing := func(int) error { return nil }
		frame, err := readFrame(c.br, size, len(in)%2*size, nothing, func() error { return nil })
		if err != nil {
			return
		}
		h, body, err := parseHeader(frame, a.requestHeaderVersion(version))
		if err != nil {
			return
		}
		req := kmsg.RequestForKey(key)
		req.SetVersion(version)
		general := req.ReadFrom(body)
		switch key {
		case keyFetch:
			got, err := decodeFetch(version, body)
			if err == nil {
				sameFetch(t, got, req.(*kmsg.FetchRequest), general)
			}
		case keyProduce:
			call := &produceCall{s: s, version: h.version}
			refuse := func(t *produceTopic) { t.code = errUnknownTopicOrPartition }
			if err := call.scan(body, refuse); err == nil && general != nil {
				t.Fatalf("Produce version %d: only the general decoder fails: %v", version, general)
			}
		}
	})
}

func sameFetch(t *testing.T, got *fetchRequest, want *kmsg.FetchRequest, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("Fetch version %d: only the general decoder fails: %v", want.Version, err)
	}
	n := 0
	for _, topic := range want.Topics {
		for _, p := range topic.Partitions {
			g := got.parts[n]
			if g.name != topic.Topic || g.id != topic.TopicID || g.partition != p.Partition || g.offset != p.FetchOffset ||
				g.maxBytes != max(int(p.PartitionMaxBytes), 0) {
				t.Fatalf("Fetch version %d: %+v, want %+v of %q", want.Version, g, p, topic.Topic)
			}
			n++
		}
	}
	forgotten := 0
	for _, topic := range want.ForgottenTopics {
		forgotten += len(topic.Partitions)
	}
	if n != len(got.parts) || forgotten != len(got.forgotten) || got.minBytes > int(want.MinBytes) ||
		got.sessionID != want.SessionID && want.Version >= 7 {
		t.Fatalf("Fetch version %d: %+v, want %+v", want.Version, got, want)
	}
}
