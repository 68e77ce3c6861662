package assign

import "millrace/store/state"

// Range gives each subscriber of a topic one run of its partitions. Topics with the same
// subscribers and as many partitions are cut alike, so that equal numbers meet at one member.
func Range(members []Member, topics []Topic) []Partitions {
	out := empty(len(members))
	subs := subscribers(members, order(members))
	for _, t := range topics {
		of := subs[t.ID]
		if len(of) == 0 {
			continue
		}
		each, more := int(t.Partitions)/len(of), int(t.Partitions)%len(of)
		p := int32(0)
		for k, i := range of {
			n := each
			if k < more {
				n++
			}
			for ; n > 0; n-- {
				out[i][state.TopicPartition{Topic: t.ID, Partition: p}] = struct{}{}
				p++
			}
		}
	}
	return out
}
