package group

// What members say of themselves stays in memory as long as they are members, so it has a bound.
const (
	// maxMemberDataBytes is what all members of a group together may have. It is more than
	// maxGroupDataBytes, which the store allows for one protocol of the several that members offer.
	maxMemberDataBytes = 4 * maxGroupDataBytes
	// smallMemberBytes are always taken: as many members as there may be do no harm with that, and nothing is added up.
	smallMemberBytes = 4 << 10
)

func protocolBytes(protocols []Protocol) (n int) {
	for _, p := range protocols {
		n += len(p.Name) + len(p.Metadata)
	}
	return n
}

// room says whether a member may have so many bytes beside what the others have.
func (g *group) room(memberID string, bytes int) bool {
	if bytes <= smallMemberBytes {
		return true
	}
	for _, m := range g.order {
		if m.id != memberID {
			bytes += protocolBytes(m.protocols)
		}
	}
	return bytes <= maxMemberDataBytes
}

func (g *consumerGroup) room(memberID string, bytes int) bool {
	if bytes <= smallMemberBytes {
		return true
	}
	for _, m := range g.members {
		if m.id == memberID {
			continue
		}
		bytes += topicBytes(m.topics)
		if m.classic != nil {
			bytes += protocolBytes(m.classic.protocols)
		}
	}
	return bytes <= maxMemberDataBytes
}

// topicBytes counts a string's header, too, which is more than a short name.
func topicBytes(names []string) (n int) {
	for _, s := range names {
		n += 16 + len(s)
	}
	return n
}
