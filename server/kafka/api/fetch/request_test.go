package fetch

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The door for Fetch: whatever comes in, no panic, and what is taken is what the general decoder takes.
func FuzzRequest(f *testing.F) {
	for v := int16(4); v <= 18; v++ {
		req := kmsg.NewPtrFetchRequest()
		req.Version, req.SessionID, req.MinBytes, req.MaxBytes = v, 3, 1, 1<<20
		t := kmsg.NewFetchRequestTopic()
		t.Topic, t.TopicID = "t", [16]byte{1}
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = 2, 7, 1<<20
		t.Partitions = append(t.Partitions, p, p)
		req.Topics = append(req.Topics, t, t)
		gone := kmsg.NewFetchRequestForgottenTopic()
		gone.Topic, gone.TopicID, gone.Partitions = "t", [16]byte{1}, []int32{4, 5}
		req.ForgottenTopics = append(req.ForgottenTopics, gone)
		f.Add(v, req.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if version < 4 || version > 18 {
			return
		}
		req := kmsg.NewPtrFetchRequest()
		req.Version = version
		err := req.ReadFrom(body)
		if got, ours := decode(version, body); ours == nil {
			sameRequest(t, got, req, err)
		}
	})
}

func sameRequest(t *testing.T, got *request, want *kmsg.FetchRequest, err error) {
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
