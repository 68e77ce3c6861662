package groups

import (
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Member is a member of a group of any protocol.
type Member struct {
	ID, InstanceID, ClientID, ClientHost string
	Topics                               []string // subscribed to, where it is known
	Assignment                           []state.TopicPartition
}

// Members lists the members of a group, none of one that does not exist.
func (h *Handlers) Members(name string) (out []Member) {
	if h.Groups == nil {
		return nil
	}
	if d, ok := h.Groups.Describe(name); ok {
		topics := h.Store.Topics()
		for _, m := range d.Members {
			g := Member{ID: m.ID, InstanceID: m.InstanceID, ClientID: m.ClientID, ClientHost: m.ClientHost}
			if d.ProtocolType == "consumer" {
				var metadata kmsg.ConsumerMemberMetadata
				if metadata.ReadFrom(m.Metadata) == nil {
					g.Topics = metadata.Topics
				}
				var assignment kmsg.ConsumerMemberAssignment
				if assignment.ReadFrom(m.Assignment) == nil {
					for _, t := range assignment.Topics {
						topic, ok := topics.ByName(t.Topic)
						for _, p := range t.Partitions {
							if ok {
								g.Assignment = append(g.Assignment, state.TopicPartition{Topic: topic.ID, Partition: p})
							}
						}
					}
				}
			}
			out = append(out, g)
		}
		return out
	}
	if d, err := h.Groups.DescribeConsumer(name); err == nil {
		for _, m := range d.Members {
			out = append(out, Member{
				ID: m.ID, InstanceID: m.InstanceID, ClientID: m.ClientID, ClientHost: m.ClientHost, Topics: m.Topics, Assignment: m.Assignment,
			})
		}
		return out
	}
	if h.Shares == nil {
		return nil
	}
	if d, ok := h.Shares.Describe(name); ok {
		for _, m := range d.Members {
			g := Member{ID: m.ID, ClientID: m.ClientID, ClientHost: m.ClientHost, Topics: m.Topics}
			for _, a := range m.Assignment {
				for _, p := range a.Partitions {
					g.Assignment = append(g.Assignment, state.TopicPartition{Topic: a.Topic, Partition: p})
				}
			}
			out = append(out, g)
		}
	}
	return out
}
