package group

import "encoding/binary"

// consumerProtocolType is the one protocol type whose metadata the coordinator looks into.
const consumerProtocolType = "consumer"

// subscribedTopics is the union of what the members of a consumer group are
// subscribed to, by the metadata of the chosen protocol; nil when it cannot be known
// (another protocol type, or metadata that is not a subscription).
func (g *group) subscribedTopics() map[string]struct{} {
	if g.protocolType != consumerProtocolType {
		return nil
	}
	topics := map[string]struct{}{}
	for _, m := range g.order {
		if !addSubscription(topics, m.metadata(g.protocol)) {
			return nil
		}
	}
	return topics
}

// addSubscription reads the topic names at the head of a consumer subscription,
// which is the same in all its versions: version int16, count int32, then names as
// int16 length and bytes.
func addSubscription(topics map[string]struct{}, b []byte) bool {
	if len(b) < 6 {
		return false
	}
	n := int(int32(binary.BigEndian.Uint32(b[2:])))
	b = b[6:]
	for ; n > 0; n-- {
		if len(b) < 2 {
			return false
		}
		size := int(int16(binary.BigEndian.Uint16(b)))
		b = b[2:]
		if size < 0 || size > len(b) {
			return false
		}
		topics[string(b[:size])] = struct{}{}
		b = b[size:]
	}
	return true
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
