package state

import (
	"fmt"
	"testing"
)

// BenchmarkEncode is what a checkpoint does under the publish lock.
func BenchmarkEncode(b *testing.B) {
	change := func(s *State, in Intent) {
		e, _ := s.Decide(1, in, nil)
		if err := s.Apply(e); err != nil {
			b.Fatal(err)
		}
	}
	partitions := func() *State {
		s := New()
		for t := range 100 {
			topic := id(byte(t + 1))
			change(s, CreateTopic{ID: topic, Name: fmt.Sprintf("topic-%02d", t), Partitions: 100})
			for p := range int32(100) {
				batch := idem(p, 1, int64(t), 0, 0)
				batch.Topic = topic
				change(s, Produce{Batches: []Batch{batch}})
			}
		}
		return s
	}
	groups := func() *State {
		s := newWithTopic(b, 6)
		for g := range 10_000 {
			c := CommitOffsets{Group: fmt.Sprintf("group-%05d", g)}
			for p := range int32(6) {
				c.Offsets = append(c.Offsets, OffsetCommit{TopicPartition: TopicPartition{id(1), p}, Offset: 7, LeaderEpoch: -1, ExpireAt: -1})
			}
			change(s, c)
		}
		return s
	}
	for _, of := range []struct {
		name string
		make func() *State
	}{{"10,000 partitions", partitions}, {"10,000 groups", groups}} {
		b.Run(of.name, func(b *testing.B) {
			s := of.make()
			size := len(s.Encode(nil))
			b.ReportAllocs()
			b.ReportMetric(float64(size), "bytes")
			buf := make([]byte, 0, size)
			for b.Loop() {
				s.Encode(buf)
			}
		})
	}
}
