// Package assign spreads the partitions of topics over the members of a group: the
// server-side assignors of Kafka's newer group protocols, as functions of what they are given.
package assign

import (
	"slices"
	"strings"

	"millrace/store/state"
)

// Partitions is a set of partitions.
type Partitions map[state.TopicPartition]struct{}

// Member is who takes part. Topics are those it reads that exist, once each.
type Member struct {
	ID         string
	InstanceID string // "" for a dynamic member
	Topics     []state.TopicID
	Previous   Partitions // what it was given the last time; read only
}

// Topic is one topic with its number of partitions.
type Topic struct {
	ID         state.TopicID
	Partitions int32
}

// Func gives every partition that has a subscriber to exactly one of them. The result has one
// set for each of members, in their order, none of them nil.
type Func func(members []Member, topics []Topic) []Partitions

// ByName returns one of Kafka's assignors; nil when there is none of that name.
func ByName(name string) Func {
	switch name {
	case "uniform":
		return Uniform
	case "range":
		return Range
	}
	return nil
}

func empty(n int) []Partitions {
	out := make([]Partitions, n)
	for i := range out {
		out[i] = Partitions{}
	}
	return out
}

// order is the members' indexes: static members first, by instance id, so that a restarted
// one takes the same place, then the others by member id.
func order(members []Member) []int {
	at := make([]int, len(members))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(i, j int) int {
		a, b := members[i], members[j]
		switch {
		case a.InstanceID != "" && b.InstanceID != "":
			return strings.Compare(a.InstanceID, b.InstanceID)
		case a.InstanceID != "":
			return -1
		case b.InstanceID != "":
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	return at
}

// subscribers lists, for each topic, the indexes of its members in the given order.
func subscribers(members []Member, order []int) map[state.TopicID][]int {
	subs := map[state.TopicID][]int{}
	for _, i := range order {
		for _, t := range members[i].Topics {
			subs[t] = append(subs[t], i)
		}
	}
	return subs
}
