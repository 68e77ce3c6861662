package group

import (
	"bytes"
	"testing"
	"time"

	"millrace/server/kafka/group/assign"
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

// FuzzRestoreConsumer reads the records of consumer groups as they lie on disk: what is taken comes back as it was written.
func FuzzRestoreConsumer(f *testing.F) {
	topic := uuid.NewSHA1(uuid.Nil, []byte("t"))
	tp := func(p int32) state.TopicPartition { return state.TopicPartition{Topic: topic, Partition: p} }
	set := func(ps ...int32) assign.Partitions {
		out := assign.Partitions{}
		for _, p := range ps {
			out[tp(p)] = struct{}{}
		}
		return out
	}
	opts := Options{DisableExpirationLoop: true, MinSessionTimeout: time.Hour, ConsumerSessionTimeout: time.Hour}
	c, err := New(newFakeStore(), opts)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	g := newConsumerGroup(c, "g")
	f.Add(g.encode()) // nobody
	g.epoch, g.targetEpoch, g.assignor, g.hash = 7, 6, "uniform", 1<<63+1
	for _, m := range []*consumerMember{
		{
			id: "settled", instanceID: "static", rackID: "r", clientID: "c", clientHost: "/127.0.0.1", rebalanceTimeout: time.Minute,
			topics: []string{"a", "t"}, epoch: 7, previousEpoch: 6, assigned: set(0, 1), revoking: set(), target: set(0, 1),
		},
		{
			id: "revoking", regex: "t.*", resolved: []string{"t"}, assignor: "range", rebalanceTimeout: time.Minute,
			epoch: 6, previousEpoch: 5, state: unrevoked, assigned: set(2), revoking: set(3, 300), target: set(2),
		},
		{id: "waiting", epoch: 7, previousEpoch: 7, state: unreleased, assigned: set(), revoking: set(), target: set(3)},
		{id: "left for a while", instanceID: "back soon", epoch: -2, previousEpoch: -1, assigned: set(), revoking: set(), target: set()},
	} {
		g.add(m)
	}
	f.Add(g.encode())
	g.speaks(g.members["settled"], &classicSide{session: 2 * time.Hour, protocols: []Protocol{
		{Name: "range", Metadata: subscription("a", "t")}, {Name: "other", Metadata: []byte{0, 3}},
	}})
	whole := g.encode()
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(append(bytes.Clone(whole), 0))
	f.Add([]byte{consumerRecordVersion})
	f.Add([]byte{consumerRecordVersion, 1, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	restore := func(data []byte) ([]byte, int, error) {
		g, err := c.restoreConsumer("g", data)
		if err != nil {
			return nil, 0, err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, m := range g.members {
			m.session.Stop()
			m.endTurn()
		}
		return g.encode(), len(g.members), nil
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, n, err := restore(data)
		if err != nil {
			return
		}
		if n > len(data)/16 {
			t.Fatalf("%d members in %d bytes", n, len(data))
		}
		// The order of members and partitions is any.
		again, m, err := restore(first)
		if err != nil || m != n || len(again) != len(first) {
			t.Fatalf("%d members in %d bytes come back as %d in %d: %v", n, len(first), m, len(again), err)
		}
	})
}
