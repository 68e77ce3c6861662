package assign

import (
	"slices"

	"millrace/store/state"
)

// Uniform gives every member as many partitions as every other, as far as subscriptions let it,
// and moves as few as that takes.
func Uniform(members []Member, topics []Topic) []Partitions {
	out := empty(len(members))
	if len(members) == 0 {
		return out
	}
	at := order(members)
	subs := subscribers(members, at)
	alike, total := true, 0
	count := map[state.TopicID]int32{}
	for _, t := range topics {
		if n := len(subs[t.ID]); n > 0 {
			alike = alike && n == len(members)
			total += int(t.Partitions)
			count[t.ID] = t.Partitions
		}
	}
	reads := make([]map[state.TopicID]struct{}, len(members))
	for i, m := range members {
		reads[i] = make(map[state.TopicID]struct{}, len(m.Topics))
		for _, t := range m.Topics {
			reads[i][t] = struct{}{}
		}
	}

	// Keep what may be kept. With equal subscriptions nobody keeps more than its share, so that
	// nothing has to move afterwards.
	owner := map[state.TopicPartition]int{}
	least, more := total/len(members), total%len(members)
	for _, i := range byLoad(at, members) {
		room := total
		if alike {
			room = least
			if more > 0 && len(members[i].Previous) > least {
				room++
			}
		}
		previous := make([]state.TopicPartition, 0, len(members[i].Previous))
		for tp := range members[i].Previous {
			previous = append(previous, tp)
		}
		slices.SortFunc(previous, state.TopicPartition.Compare)
		for _, tp := range previous {
			_, subscribed := reads[i][tp.Topic]
			_, taken := owner[tp]
			if !subscribed || taken || tp.Partition < 0 || tp.Partition >= count[tp.Topic] || len(out[i]) >= room {
				continue
			}
			owner[tp] = i
			out[i][tp] = struct{}{}
		}
		if alike && len(out[i]) > least {
			more--
		}
	}

	// The others go to whoever of their subscribers has least.
	fewest := func(of []int) int {
		best := of[0]
		for _, i := range of[1:] {
			if len(out[i]) < len(out[best]) {
				best = i
			}
		}
		return best
	}
	next := 0 // with equal subscriptions: at[next] is the first that may lack some
	for _, t := range topics {
		of := subs[t.ID]
		for p := int32(0); len(of) > 0 && p < t.Partitions; p++ {
			tp := state.TopicPartition{Topic: t.ID, Partition: p}
			if _, taken := owner[tp]; taken {
				continue
			}
			i := 0
			if alike {
				for next < len(at) && len(out[at[next]]) >= least {
					next++
				}
				if next < len(at) {
					i = at[next]
				} else {
					i = fewest(at) // at most as many of these as there are members
				}
			} else {
				i = fewest(of)
			}
			owner[tp] = i
			out[i][tp] = struct{}{}
		}
	}
	if alike {
		return out
	}
	// Subscriptions differ: level out, one partition at a time. Every move makes the sum of
	// squares smaller, so this ends.
	for moved := true; moved; {
		moved = false
		for _, t := range topics {
			of := subs[t.ID]
			for p := int32(0); len(of) > 0 && p < t.Partitions; p++ {
				tp := state.TopicPartition{Topic: t.ID, Partition: p}
				from, to := owner[tp], fewest(of)
				if len(out[from])-len(out[to]) < 2 {
					continue
				}
				delete(out[from], tp)
				out[to][tp] = struct{}{}
				owner[tp] = to
				moved = true
			}
		}
	}
	return out
}

// byLoad is at with those who had most before in front: they keep the odd ones.
func byLoad(at []int, members []Member) []int {
	at = slices.Clone(at)
	slices.SortStableFunc(at, func(i, j int) int { return len(members[j].Previous) - len(members[i].Previous) })
	return at
}
