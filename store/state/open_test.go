package state

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The first open offset agrees with looking at all, and what is kept of closed transactions is bounded.
func TestTheFirstOpenTransactionOfAPartitionIsKnownWhateverIsClosed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := New()
		p := &partition{}
		for i := range int64(8) {
			s.transactionOf[i] = &transaction{producerID: i}
		}
		model := map[int64]int64{}
		check := func() {
			want := p.end
			for _, first := range model {
				want = min(want, first)
			}
			if got := p.bounds().LastStable; got != want {
				rt.Fatalf("last stable %d, want %d of %v", got, want, model)
			}
			if len(p.opened) > 2*len(p.open)+minOpened+1 {
				rt.Fatalf("%d kept of %d open", len(p.opened), len(p.open))
			}
		}
		for range rapid.IntRange(0, 200).Draw(rt, "steps") {
			id := rapid.Int64Range(0, 7).Draw(rt, "producer")
			if _, open := model[id]; open && rapid.Bool().Draw(rt, "close") {
				p.end++
				p.close(id)
				delete(model, id)
			} else {
				if !open {
					model[id] = p.end
				}
				s.noteTransactional(p, &AppliedBatch{Batch: Batch{ProducerID: id}, BaseOffset: p.end})
				p.end++
			}
			check()
			if rapid.IntRange(0, 20).Draw(rt, "clone") == 0 {
				p = &(&topic{partitions: []partition{*p}}).clone().partitions[0]
				check()
			}
		}
	})
}

// The index of the groups in transactions is what looking at all transactions gives.
func checkHolders(t interface{ Fatalf(string, ...any) }, s *State) {
	want := map[string]int{}
	for _, x := range s.transactions {
		for group := range x.offsets {
			want[group]++
			if _, ok := s.holders[group][x]; !ok {
				t.Fatalf("the transaction of %s does not hold group %s", x.id, group)
			}
		}
	}
	got := map[string]int{}
	for group, of := range s.holders {
		got[group] = len(of)
	}
	if !maps.Equal(got, want) {
		t.Fatalf("holders %v, want %v", got, want)
	}
}

func TestPendingOffsetsAreFoundByGroup(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := New()
		apply := func(now int64, in Intent) any {
			e, res := s.Decide(now, in, nil)
			if e != nil {
				if err := s.Apply(e); err != nil {
					rt.Fatal(err)
				}
			}
			return res
		}
		topic := TopicID{1}
		apply(0, CreateTopic{ID: topic, Name: "t", Partitions: 3})
		refs := map[string]TransactionRef{}
		model := map[string]map[string]map[TopicPartition]struct{}{} // by group, by id
		names := []string{"a", "b", "c"}
		for _, id := range names {
			r := apply(0, InitTransaction{TransactionalID: id, TimeoutMillis: 1000, ProducerID: -1, ProducerEpoch: -1}).(ProducerIDResult)
			refs[id] = TransactionRef{TransactionalID: id, ProducerID: r.ProducerID, ProducerEpoch: r.ProducerEpoch}
		}
		groups := []string{"g", "h"}
		for _, g := range groups {
			model[g] = map[string]map[TopicPartition]struct{}{}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"commit offsets": func(rt *rapid.T) {
				id, g := rapid.SampledFrom(names).Draw(rt, "id"), rapid.SampledFrom(groups).Draw(rt, "group")
				tp := TopicPartition{Topic: topic, Partition: rapid.Int32Range(0, 2).Draw(rt, "partition")}
				apply(1, CommitTransactionOffsets{TransactionRef: refs[id], Group: g, AddGroup: true, Offsets: []OffsetCommit{{TopicPartition: tp, Offset: 1, ExpireAt: -1}}})
				if model[g][id] == nil {
					model[g][id] = map[TopicPartition]struct{}{}
				}
				model[g][id][tp] = struct{}{}
			},
			"add group": func(rt *rapid.T) {
				apply(1, AddGroupToTransaction{refs[rapid.SampledFrom(names).Draw(rt, "id")], rapid.SampledFrom(groups).Draw(rt, "group")})
			},
			"end": func(rt *rapid.T) {
				id := rapid.SampledFrom(names).Draw(rt, "id")
				apply(2, EndTransaction{TransactionRef: refs[id], Commit: rapid.Bool().Draw(rt, "commit")})
				for _, g := range groups {
					delete(model[g], id)
				}
			},
			"delete group": func(rt *rapid.T) {
				g := rapid.SampledFrom(groups).Draw(rt, "group")
				apply(3, DeleteGroup{Group: g})
				model[g] = map[string]map[TopicPartition]struct{}{}
			},
			"clone": func(*rapid.T) { s = s.Clone() },
			"decode": func(rt *rapid.T) {
				again, err := Decode(s.Encode(nil))
				if err != nil {
					rt.Fatal(err)
				}
				s = again
			},
			"": func(rt *rapid.T) {
				checkHolders(rt, s)
				for _, g := range groups {
					want := map[TopicPartition]struct{}{}
					for _, of := range model[g] {
						maps.Copy(want, of)
					}
					got := s.PendingOffsets(g)
					if !maps.Equal(got, want) {
						rt.Fatalf("group %s: %v, want %v", g, slices.Collect(maps.Keys(got)), fmt.Sprint(want))
					}
				}
			},
		})
	})
}
