package group

import (
	"bytes"
	"testing"

	"millrace/store/state"

	"github.com/google/uuid"
)

// FuzzSubscription reads what members say of themselves when they join.
func FuzzSubscription(f *testing.F) {
	f.Add(subscription("orders", "t"))
	f.Add([]byte{0, 3, 0, 0, 0, 1, 0, 1, 't', 255, 255, 255, 255, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 1, 'r'})
	f.Add([]byte{0, 1, 127, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, ok := parseSubscription(b)
		if !ok {
			return
		}
		// Nothing is made that has no bytes of its own.
		if n := 2*len(s.topics) + 6*len(s.owned); n > len(b) {
			t.Fatalf("%d topics and %d owned in %d bytes", len(s.topics), len(s.owned), len(b))
		}
	})
}

// FuzzAssignment reads what leaders assign, and what it wrote itself.
func FuzzAssignment(f *testing.F) {
	topics := &topicList{list: []state.Topic{{ID: uuid.NewSHA1(uuid.Nil, []byte("t")), Name: "t", Partitions: 1 << 30}}}
	f.Add(appendAssignment(nil, 3, []state.TopicPartition{{Topic: topics.list[0].ID, Partition: 2}}, topics))
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 1, 't', 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		list, ok := parseAssignment(b)
		if !ok {
			return
		}
		first := appendAssignment(nil, 1, sorted(owned(list, topics)), topics)
		again, ok := parseAssignment(first)
		if !ok || !bytes.Equal(appendAssignment(nil, 1, sorted(owned(again, topics)), topics), first) {
			t.Fatalf("%x", first)
		}
	})
}
