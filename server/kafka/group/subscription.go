package group

import (
	"encoding/binary"
	"math"
	"slices"

	"millrace/store/state"
)

// consumerProtocolType is the one protocol type whose metadata the coordinator looks into.
const consumerProtocolType = "consumer"

// consumerSubscription is what a consumer says of itself when it joins by the classic protocol:
//
//	version          int16
//	topics           int32 count, strings
//	user data        bytes, or null
//	owned            int32 count, then a string and int32 count, int32s each   (version 1)
//	generation       int32                                                    (2)
//	rack             string, or null                                          (3)
//
// Strings have an int16 length before them, bytes an int32; -1 is null.
type consumerSubscription struct {
	topics []string
	owned  []topicPartitions
	rack   string // "" none
}

// topicPartitions are partitions of one topic, as the classic protocol names them.
type topicPartitions struct {
	topic      string
	partitions []int32
}

// names are the topics, sorted, once each.
func (s *consumerSubscription) names() []string {
	return slices.Compact(slices.Sorted(slices.Values(s.topics)))
}

// parseSubscription reads a subscription; false: it is none. What a later version has at its
// end is not looked at, and a client may stop where version 0 ends.
func parseSubscription(b []byte) (consumerSubscription, bool) {
	r := wireReader{b: b}
	var s consumerSubscription
	version := r.int16()
	for n := r.int32(); n > 0 && !r.bad; n-- {
		s.topics = append(s.topics, r.string())
	}
	r.bytes()
	if version >= 1 && len(r.b) > 0 {
		s.owned = r.topicPartitions()
	}
	if version >= 2 && len(r.b) > 0 {
		r.int32()
	}
	if version >= 3 && len(r.b) > 0 {
		s.rack = r.string()
	}
	return s, !r.bad && version >= 0
}

// parseAssignment reads what a leader assigned: version int16, partitions as in a subscription,
// user data. No bytes at all assign nothing. False: it is no assignment.
func parseAssignment(b []byte) ([]topicPartitions, bool) {
	if len(b) == 0 {
		return nil, true
	}
	r := wireReader{b: b}
	version := r.int16()
	list := r.topicPartitions()
	return list, !r.bad && version >= 0
}

// appendAssignment writes an assignment, without topics that are no more. list is in order.
func appendAssignment(b []byte, version int16, list []state.TopicPartition, topics Topics) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	count := len(b)
	b = binary.BigEndian.AppendUint32(b, 0)
	n := uint32(0)
	for len(list) > 0 {
		end := 1
		for end < len(list) && list[end].Topic == list[0].Topic {
			end++
		}
		if t, ok := topics.ByID(list[0].Topic); ok {
			n++
			b = binary.BigEndian.AppendUint16(b, uint16(len(t.Name)))
			b = append(b, t.Name...)
			b = binary.BigEndian.AppendUint32(b, uint32(end))
			for _, tp := range list[:end] {
				b = binary.BigEndian.AppendUint32(b, uint32(tp.Partition))
			}
		}
		list = list[end:]
	}
	binary.BigEndian.PutUint32(b[count:], n)
	return binary.BigEndian.AppendUint32(b, math.MaxUint32) // no user data
}

// wireReader reads the consumer's formats; after a fault bad is set and everything is zero.
type wireReader struct {
	b   []byte
	bad bool
}

func (r *wireReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *wireReader) int16() int16 {
	if v := r.take(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (r *wireReader) int32() int32 {
	if v := r.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

// string is "" for null.
func (r *wireReader) string() string { return string(r.take(max(0, int(r.int16())))) }

func (r *wireReader) bytes() []byte { return r.take(max(0, int(r.int32()))) }

func (r *wireReader) topicPartitions() []topicPartitions {
	var list []topicPartitions
	for n := r.int32(); n > 0 && !r.bad; n-- {
		l := topicPartitions{topic: r.string()}
		for n := r.int32(); n > 0 && !r.bad; n-- {
			l.partitions = append(l.partitions, r.int32())
		}
		list = append(list, l)
	}
	return list
}

// subscribedTopics is the union of what the members of a consumer group are
// subscribed to, by the metadata of the chosen protocol; nil when it cannot be known
// (another protocol type, or metadata that is not a subscription).
func (g *group) subscribedTopics() map[string]struct{} {
	if g.protocolType != consumerProtocolType {
		return nil
	}
	topics := map[string]struct{}{}
	for _, m := range g.order {
		// Only the topics matter, which are at the head: what follows may be anything.
		r := wireReader{b: m.metadata(g.protocol)}
		r.int16()
		for n := r.int32(); n > 0 && !r.bad; n-- {
			topics[r.string()] = struct{}{}
		}
		if r.bad {
			return nil
		}
	}
	return topics
}

// subscribedTo reports whether members may be reading the topic; when the
// subscription of a consumer group cannot be known, they may.
func (g *group) subscribedTo(topic string) bool {
	if len(g.order) == 0 || g.protocolType != consumerProtocolType {
		return false
	}
	if g.subscribed == nil {
		return true
	}
	_, ok := g.subscribed[topic]
	return ok
}
