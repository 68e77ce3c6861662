package group

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"millrace/store/state"
)

// classicClient is a consumer that speaks the classic protocol, eager or cooperative, and
// leads when it is told to.
type classicClient struct {
	c           *consumers
	id          string
	instance    string
	topics      []string
	cooperative bool

	generation int32
	owned      []state.TopicPartition
	joining    *future[JoinResponse]
	syncing    *future[SyncResponse]
	joins      int
	lost       int // times that it had to begin anew
}

func (c *consumers) classic(cooperative bool, topics ...string) *classicClient {
	return &classicClient{c: c, topics: topics, cooperative: cooperative, generation: -1}
}

func (m *classicClient) protocol() string {
	if m.cooperative {
		return "cooperative-sticky"
	}
	return "range"
}

func appendStrings(b []byte, names ...string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	for _, s := range names {
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
		b = append(b, s...)
	}
	return b
}

// metadata is a subscription of version 3, but for the assignment's version the same as an
// assignment in its middle.
func (m *classicClient) metadata() []byte {
	b := appendStrings(binary.BigEndian.AppendUint16(nil, 3), m.topics...)
	b = binary.BigEndian.AppendUint32(b, ^uint32(0)) // no user data
	var kept []state.TopicPartition
	if m.cooperative {
		kept = m.owned
	}
	slices.SortFunc(kept, state.TopicPartition.Compare)
	a := appendAssignment(nil, 0, kept, m.c.topics)
	b = append(b, a[2:len(a)-4]...)
	b = binary.BigEndian.AppendUint32(b, uint32(m.generation))
	return binary.BigEndian.AppendUint16(b, ^uint16(0)) // no rack
}

func (m *classicClient) join() {
	m.joins++
	if !m.cooperative {
		m.owned = nil
	}
	m.syncing = nil
	m.joining = m.c.join(m.id, instance(m.instance), func(r *JoinRequest) {
		r.RequireMemberID = true
		r.Protocols = []Protocol{{Name: m.protocol(), Metadata: m.metadata()}}
	})
}

func (m *classicClient) reset() {
	if m.generation >= 0 {
		m.lost++
	}
	m.id, m.owned, m.generation = "", nil, -1
	m.join()
}

func (m *classicClient) failed(err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, ErrUnknownMember), errors.Is(err, ErrIllegalGeneration), errors.Is(err, ErrFencedInstance):
		m.reset()
	case errors.Is(err, ErrRebalanceInProgress), errors.Is(err, ErrStorage), errors.Is(err, ErrNotAvailable), errors.Is(err, ErrClosed):
		m.join()
	default:
		m.c.t.Fatal(err)
	}
	return true
}

// tick does whatever is next, and does not wait.
func (m *classicClient) tick() {
	m.c.t.Helper()
	switch {
	case m.joining != nil:
		if !m.joining.done() {
			return
		}
		r := m.joining.get()
		m.joining = nil
		if errors.Is(r.Err, ErrMemberIDRequired) {
			m.id = r.MemberID
			m.join()
			return
		}
		if m.failed(r.Err) {
			return
		}
		m.id, m.generation = r.MemberID, r.Generation
		m.syncing = &future[SyncResponse]{t: m.c.t}
		sync := SyncRequest{Group: "g", MemberID: m.id, InstanceID: m.instance, Generation: m.generation, ProtocolType: "consumer", Protocol: r.Protocol}
		if r.Leader == m.id && !r.SkipAssignment {
			sync.Assignments = m.assign(r.Members)
		}
		m.c.c.Sync(sync, m.syncing.set)
	case m.syncing != nil:
		if !m.syncing.done() {
			return
		}
		r := m.syncing.get()
		m.syncing = nil
		if m.failed(r.Err) {
			return
		}
		list, ok := parseAssignment(r.Assignment)
		if !ok {
			m.c.t.Fatalf("bad assignment %x", r.Assignment)
		}
		got := sorted(owned(list, m.c.topics))
		revoked := slices.ContainsFunc(m.owned, func(tp state.TopicPartition) bool { return !slices.Contains(got, tp) })
		if m.owned = got; revoked {
			m.join()
		}
	case m.generation < 0:
		m.join()
	default:
		err := m.c.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: m.id, InstanceID: m.instance, Generation: m.generation})
		m.failed(err)
	}
}

// assign deals the partitions out in turn. A cooperative leader leaves out, for now, what another still has.
func (m *classicClient) assign(members []JoinMember) []Assignment {
	slices.SortFunc(members, func(a, b JoinMember) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
	plan := make([][]state.TopicPartition, len(members))
	has := map[state.TopicPartition]int{}
	subs := make([]consumerSubscription, len(members))
	for i, jm := range members {
		subs[i], _ = parseSubscription(jm.Metadata)
		for tp := range owned(subs[i].owned, m.c.topics) {
			has[tp] = i
		}
	}
	for _, t := range m.c.topics.list {
		var readers []int
		for i, s := range subs {
			if slices.Contains(s.topics, t.Name) {
				readers = append(readers, i)
			}
		}
		for p := range t.Partitions {
			if len(readers) == 0 {
				break
			}
			tp := state.TopicPartition{Topic: t.ID, Partition: p}
			to := readers[int(p)%len(readers)]
			if i, ok := has[tp]; ok && i != to && m.cooperative {
				continue
			}
			plan[to] = append(plan[to], tp)
		}
	}
	out := make([]Assignment, len(members))
	for i, jm := range members {
		slices.SortFunc(plan[i], state.TopicPartition.Compare)
		out[i] = Assignment{MemberID: jm.ID, Data: appendAssignment(nil, 1, plan[i], m.c.topics)}
	}
	return out
}

// fleet is all who are in group g.
type fleet struct {
	c        *consumers
	classics []*classicClient
	natives  []*consumer
}

// check holds that nobody shares a partition.
func (f *fleet) check() (all int) {
	f.c.t.Helper()
	owners := map[state.TopicPartition]string{}
	claim := func(who string, list []state.TopicPartition) {
		f.c.t.Helper()
		for _, tp := range list {
			if other := owners[tp]; other != "" {
				f.c.t.Fatalf("partition %d belongs to %s and %s", tp.Partition, other, who)
			}
			owners[tp] = who
		}
	}
	for i, m := range f.classics {
		claim(fmt.Sprintf("classic %d %s", i, m.id), m.owned)
	}
	for _, m := range f.natives {
		claim(m.id, m.owned)
	}
	return len(owners)
}

// round has everyone do one thing; errors of the consumer protocol make it begin anew, as clients do.
func (f *fleet) round() {
	f.c.t.Helper()
	for _, m := range f.classics {
		m.tick()
		f.check()
	}
	for _, m := range f.natives {
		if err := m.beat(); errors.Is(err, ErrUnknownMember) || errors.Is(err, ErrFencedMemberEpoch) {
			m.epoch, m.owned = 0, nil
		}
		f.check()
	}
}

// settle runs until every partition has its owner and nobody has anything to do.
func (f *fleet) settle(partitions int) {
	f.c.t.Helper()
	for range 60 {
		time.Sleep(time.Second)
		f.round()
	}
	if n := f.check(); n != partitions {
		d, _ := f.c.c.DescribeConsumer("g")
		e, _ := f.c.c.Describe("g")
		f.c.t.Fatalf("%d of %d partitions have an owner: %+v %+v", n, partitions, d, e)
	}
}

func (f *fleet) kind() string {
	h, err := f.c.c.find("g")
	switch {
	case err != nil:
		f.c.t.Fatal(err)
	case h.classic != nil && h.consumer == nil:
		return "classic"
	case h.consumer != nil && h.classic == nil:
		return "consumer"
	}
	return "none"
}

func (f *fleet) want(kind string, state State) {
	f.c.t.Helper()
	if f.kind() != kind {
		f.c.t.Fatalf("the group is %s, want %s", f.kind(), kind)
	}
	got := f.c.state()
	if kind == "consumer" {
		got = f.c.describe().State
	}
	if got != state {
		f.c.t.Fatalf("the group is %s, want %s", got, state)
	}
}

func TestAGroupRollsFromTheClassicToTheConsumerProtocolAndBack(t *testing.T) {
	for _, cooperative := range []bool{false, true} {
		t.Run(fmt.Sprint("cooperative ", cooperative), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newConsumers(t, newFakeStore(), Options{}, "t", 6)
				tp := c.st.topic("t", 6)
				f := &fleet{c: c}
				for range 3 {
					f.classics = append(f.classics, c.classic(cooperative, "t"))
				}
				f.settle(6)
				f.want("classic", Stable)
				before := f.classics[0].generation

				commit := func(memberID string, generation int32, offset int64) {
					t.Helper()
					if a := c.commit(memberID, generation, tp, offset).get(); a.err != nil || a.errs[0] != nil {
						t.Fatalf("commit of %d: %+v", offset, a)
					}
					if got := c.c.Committed("g")[tp].Offset; got != offset {
						t.Fatalf("committed %d, want %d", got, offset)
					}
				}
				commit(f.classics[0].id, before, 7)

				// One after the other is replaced.
				first := c.consumer("n0", "t")
				f.natives = append(f.natives, first)
				first.must()
				f.check()
				f.want("consumer", Reconciling)
				if got := c.c.Committed("g")[tp].Offset; got != 7 {
					t.Fatalf("the upgrade lost the offset: %d", got)
				}
				commit(f.classics[0].id, before, 8) // it has not heard of anything
				f.settle(6)
				f.want("consumer", Stable)
				if f.classics[0].generation <= before {
					t.Errorf("generation %d after %d", f.classics[0].generation, before)
				}
				commit(f.classics[0].id, f.classics[0].generation, 9)
				want(t, c.commit(f.classics[0].id, f.classics[0].generation-1, tp, 1).get().err, ErrIllegalGeneration)
				for _, m := range c.describe().Members {
					if m.Classic != (m.ID != "n0") {
						t.Errorf("%+v", m)
					}
				}
				for i := range 3 {
					_, err := c.c.Leave("g", []Leaving{{MemberID: f.classics[0].id}})
					if err != nil {
						t.Fatal(err)
					}
					f.classics = f.classics[1:]
					f.settle(6)
					f.want("consumer", Stable)
					if i < 2 {
						f.natives = append(f.natives, c.consumer(fmt.Sprint("n", i+1), "t"))
						f.settle(6)
					}
				}

				// And back.
				for len(f.natives) > 0 {
					f.classics = append(f.classics, c.classic(cooperative, "t"))
					f.settle(6)
					f.want("consumer", Stable)
					f.natives[0].leave(-1)
					f.natives = f.natives[1:]
					f.settle(6)
				}
				f.want("classic", Stable)
				if got := c.c.Committed("g")[tp].Offset; got != 9 {
					t.Errorf("the way there and back lost the offset: %d", got)
				}
				for _, m := range f.classics {
					if m.lost > 0 {
						t.Errorf("%s was thrown out", m.id)
					}
				}
				commit(f.classics[0].id, f.classics[0].generation, 10)
			})
		})
	}
}

func TestAnUpgradeInTheMiddleOfAClassicRebalanceLosesAndSharesNothing(t *testing.T) {
	for rounds := range 8 {
		for _, cooperative := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d rounds, cooperative %v", rounds, cooperative), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					c := newConsumers(t, newFakeStore(), Options{}, "t", 6)
					f := &fleet{c: c, classics: []*classicClient{c.classic(cooperative, "t"), c.classic(cooperative, "t")}}
					f.settle(6)
					f.classics = append(f.classics, c.classic(cooperative, "t"))
					for range rounds {
						f.round()
					}
					f.natives = append(f.natives, c.consumer("n", "t"))
					f.settle(6)
					f.want("consumer", Stable)
					if len(c.describe().Members) != 4 {
						t.Errorf("%+v", c.describe())
					}
				})
			})
		}
	}
}

func TestStaticMembersChangeTheirProtocolInPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		f := &fleet{c: c}
		for _, id := range []string{"i0", "i1"} {
			m := c.classic(true, "t")
			m.instance = id
			f.classics = append(f.classics, m)
		}
		f.settle(4)
		// The process of i0 stops without a word, and comes back with the other protocol.
		id := "i0"
		n := c.consumer("n0", "t")
		n.instance = &id
		f.classics, f.natives = f.classics[1:], append(f.natives, n)
		f.settle(4)
		f.want("consumer", Stable)
		if d := c.describe(); len(d.Members) != 2 {
			t.Fatalf("%+v", d)
		}
		// And back: a classic static member takes the place of whoever has its name.
		back := c.classic(true, "t")
		back.instance = id
		f.natives, f.classics = nil, append(f.classics, back)
		f.settle(4)
		f.want("classic", Stable)
		if d, _ := c.c.Describe("g"); len(d.Members) != 2 {
			t.Fatalf("%+v", d)
		}
		want(t, n.beat(), ErrNotConsumerGroup)
	})
}

func TestOnlyClassicConsumersCanGoOverToTheConsumerProtocol(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 1)
		ids := c.stable(1, func(r *JoinRequest) { r.ProtocolType = "connect" })
		want(t, c.consumer("n", "t").beat(), ErrNotConsumerGroup)
		if err := c.heartbeat(ids[0], 1); err != nil {
			t.Fatal(err)
		}
		_, _ = c.c.Leave("g", []Leaving{{MemberID: ids[0]}})
		// What says that it is a consumer must be one.
		bad := c.join("", func(r *JoinRequest) { r.Protocols = []Protocol{{Name: "range", Metadata: []byte{0, 1, 0, 0, 0, 9}}} })
		time.Sleep(time.Second)
		id := bad.get().MemberID
		want(t, c.consumer("n", "t").beat(), ErrNotConsumerGroup)
		_, _ = c.c.Leave("g", []Leaving{{MemberID: id}})
		n := c.consumer("n", "t")
		n.must()
		want(t, c.join("", func(r *JoinRequest) { r.Protocols = []Protocol{{Name: "range", Metadata: []byte{0}}} }).get().Err, ErrInconsistentProtocol)
		c.classic(false, "t").join()
		other := c.classic(true, "t")
		first := c.classic(false, "t")
		for range 3 {
			first.tick()
		}
		want(t, c.join(other.id, withProtocols("cooperative-sticky")).get().Err, ErrInconsistentProtocol)
	})
}

func TestAMemberThatDoesNotJoinWhenItMustIsOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		f := &fleet{c: c, classics: []*classicClient{c.classic(false, "t")}}
		f.settle(4)
		n := c.consumer("n", "t")
		n.must()
		slow := f.classics[0]
		end := time.Now().Add(31 * time.Second) // its rebalance timeout is 30 s
		for time.Now().Before(end) {
			err := c.heartbeat(slow.id, slow.generation)
			if !errors.Is(err, ErrRebalanceInProgress) && !errors.Is(err, ErrUnknownMember) {
				t.Fatal(err)
			}
			n.must()
			time.Sleep(time.Second)
		}
		n.must()
		want(t, c.heartbeat(slow.id, slow.generation), ErrUnknownMember)
		if len(n.owned) != 4 {
			t.Errorf("%+v", n)
		}
	})
}

func TestAJoinOfAMixedGroupIsAnsweredOnceItIsStored(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		n := c.consumer("n", "t")
		n.must()
		m := c.classic(false, "t")
		m.tick()
		c.st.hold()
		m.tick()
		m.tick()
		if m.joining == nil {
			t.Fatal("answered before it was stored")
		}
		c.st.release()
		m.tick()
		if m.joining != nil || m.syncing == nil {
			t.Fatalf("%+v", m)
		}
	})
}

func TestAMixedGroupComesBackFromItsRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		f := &fleet{c: c, classics: []*classicClient{c.classic(true, "t")}, natives: []*consumer{c.consumer("n", "t")}}
		f.settle(4)
		h, _ := c.c.hold("g")
		data := h.consumer.encode()
		h.unlock()
		back, err := c.c.restoreConsumer("g", data)
		if err != nil {
			t.Fatal(err)
		}
		side := back.members[f.classics[0].id].classic
		if back.native != 1 || side == nil || side.session != 10*time.Second || side.protocols[0].Name != "cooperative-sticky" || side.version() != 3 {
			t.Errorf("%+v", side)
		}
		for _, m := range back.members {
			m.stopTimers()
		}
		whole := 0
		for n := range data {
			if g, err := c.c.restoreConsumer("g", data[:n]); err == nil {
				whole++ // what was written before there were members of the classic protocol
				for _, m := range g.members {
					m.stopTimers()
				}
			}
		}
		if whole != 1 {
			t.Errorf("%d prefixes are taken for a record", whole)
		}
	})
}

// TestMixedGroupsThatChangeAllTheTimeNeverShareAPartition also restarts the coordinator and fails its writes.
func TestMixedGroupsThatChangeAllTheTimeNeverShareAPartition(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) { mixedChaos(t, rand.New(rand.NewPCG(seed, 3)), seed%2 == 0) })
		})
	}
}

func mixedChaos(t *testing.T, r *rand.Rand, cooperative bool) {
	st := newFakeStore()
	next := 0
	options := Options{NewMemberIDSuffix: func() string { next++; return fmt.Sprint(next) }}
	c := newConsumers(t, st, options, "t", 6)
	f := &fleet{c: c}
	pick := func() (native bool, i int) {
		n := r.IntN(len(f.classics) + len(f.natives))
		if n < len(f.natives) {
			return true, n
		}
		return false, n - len(f.natives)
	}
	for range 200 {
		f.check()
		switch n := r.IntN(14); {
		case n == 0 && len(f.natives) < 3:
			next++
			f.natives = append(f.natives, c.consumer(fmt.Sprint("n", next), "t"))
		case n == 1 && len(f.classics) < 3:
			f.classics = append(f.classics, c.classic(cooperative, "t"))
		case (n == 2 || n == 3) && len(f.classics)+len(f.natives) > 0: // leaves, or crashes
			native, i := pick()
			switch {
			case native && n == 2 && f.natives[i].epoch > 0:
				f.natives[i].leave(-1)
			case !native && n == 2 && f.classics[i].id != "":
				_, _ = c.c.Leave("g", []Leaving{{MemberID: f.classics[i].id}})
			}
			if native {
				f.natives = slices.Delete(f.natives, i, i+1)
			} else {
				f.classics = slices.Delete(f.classics, i, i+1)
			}
		case n == 4:
			c.open(t, st, options)
		case n == 5:
			st.setFailure(errors.New("disk"))
			f.round()
			st.setFailure(nil)
		default:
			time.Sleep(time.Duration(r.IntN(3000)) * time.Millisecond)
			f.round()
		}
	}
	if len(f.classics)+len(f.natives) == 0 {
		f.classics = append(f.classics, c.classic(cooperative, "t"))
	}
	f.settle(6)
	kind := "consumer"
	if len(f.natives) == 0 {
		kind = "classic"
	}
	f.want(kind, Stable)
	synctest.Wait()
}
