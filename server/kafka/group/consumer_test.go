package group

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"millrace/server/kafka/group/assign"
	"millrace/store/state"

	"github.com/google/uuid"
)

// topicList is a set of topics; tests replace it, as the store does.
type topicList struct{ list []state.Topic }

func (l *topicList) All() []state.Topic { return l.list }
func (l *topicList) ByID(id state.TopicID) (state.Topic, bool) {
	for _, t := range l.list {
		if t.ID == id {
			return t, true
		}
	}
	return state.Topic{}, false
}

func (l *topicList) ByName(name string) (state.Topic, bool) {
	for _, t := range l.list {
		if t.Name == name {
			return t, true
		}
	}
	return state.Topic{}, false
}

// consumers drives consumer group g.
type consumers struct {
	*harness
	topics  *topicList
	present atomic.Pointer[topicList] // the same, for timers
}

func newConsumers(t *testing.T, st *fakeStore, o Options, topics ...any) *consumers {
	c := &consumers{topics: &topicList{}}
	c.present.Store(c.topics)
	c.open(t, st, o)
	for i := 0; i < len(topics); i += 2 {
		c.grow(topics[i].(string), topics[i+1].(int))
	}
	return c
}

// open starts a coordinator, again if there is one.
func (c *consumers) open(t *testing.T, st *fakeStore, o Options) {
	if c.harness != nil {
		c.c.Close()
	}
	o.Topics = func() Topics { return c.present.Load() }
	c.harness = newHarnessOver(t, st, o)
}

// grow makes a topic, or gives it more partitions.
func (c *consumers) grow(name string, n int) {
	next := &topicList{list: slices.Clone(c.topics.list)}
	next.list = slices.DeleteFunc(next.list, func(t state.Topic) bool { return t.Name == name })
	next.list = append(next.list, state.Topic{ID: uuid.NewSHA1(uuid.Nil, []byte(name)), Name: name, Partitions: int32(n)})
	c.topics = next
	c.present.Store(next)
}

// consumer is a client that does what it is told.
type consumer struct {
	c        *consumers
	id       string
	instance *string
	epoch    int32
	owned    []state.TopicPartition
	slow     bool // gives nothing up
	lost     bool // the last answer did not come
	topics   []string
	regex    *string
}

func (c *consumers) consumer(id string, topics ...string) *consumer {
	return &consumer{c: c, id: id, topics: topics}
}

func (m *consumer) request() ConsumerHeartbeat {
	r := ConsumerHeartbeat{Group: "g", MemberID: m.id, InstanceID: m.instance, Epoch: m.epoch, RebalanceTimeout: -1, Owned: m.owned}
	if m.lost { // as clients do after an error: they say everything
		r.Topics, r.Regex, r.RebalanceTimeout = m.topics, m.regex, 30*time.Second
	}
	if m.epoch == 0 {
		m.owned = nil
		r.Topics, r.Regex, r.Owned, r.RebalanceTimeout = m.topics, m.regex, []state.TopicPartition{}, 30*time.Second
	}
	if r.Owned == nil {
		r.Owned = []state.TopicPartition{}
	}
	return r
}

func (m *consumer) beat() error {
	m.c.t.Helper()
	f := &future[ConsumerHeartbeatResponse]{t: m.c.t}
	m.c.c.ConsumerHeartbeat(m.request(), f.set)
	res := f.get()
	m.lost = res.Err != nil
	if res.Err != nil {
		return res.Err
	}
	m.epoch = res.Epoch
	if res.Assigned {
		if m.slow {
			for _, tp := range res.Assignment {
				if !slices.Contains(m.owned, tp) {
					m.owned = append(m.owned, tp)
				}
			}
		} else {
			m.owned = res.Assignment
		}
	}
	return nil
}

func (m *consumer) must() {
	m.c.t.Helper()
	if err := m.beat(); err != nil {
		m.c.t.Fatal(err)
	}
}

func (m *consumer) leave(epoch int32) {
	m.c.t.Helper()
	m.epoch = epoch
	m.must()
	m.epoch, m.owned = 0, nil
}

func (c *consumers) describe() ConsumerDescription {
	c.t.Helper()
	d, err := c.c.DescribeConsumer("g")
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

func want(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestAPartitionMovesOnlyOnceItsOwnerGaveItUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		a, b := c.consumer("a", "t"), c.consumer("b", "t")
		a.must()
		if len(a.owned) != 4 || a.epoch != 1 || c.describe().State != Stable {
			t.Fatalf("%+v %v", a, c.describe().State)
		}
		b.must()
		if len(b.owned) != 0 || b.epoch != 2 || c.describe().State != Reconciling {
			t.Fatalf("%+v", b)
		}
		a.slow = true
		a.must() // is told, and still holds all
		a.must()
		b.must()
		if a.epoch != 1 || len(b.owned) != 0 {
			t.Fatalf("a %+v, b %+v", a, b)
		}
		a.slow, a.owned = false, append(a.owned[:0], c.describe().Members[0].Assignment...)
		a.must()
		b.must()
		if a.epoch != 2 || len(a.owned) != 2 || len(b.owned) != 2 || c.describe().State != Stable {
			t.Fatalf("a %+v, b %+v", a, b)
		}
	})
}

func TestAMemberThatGivesNothingUpIsFencedAfterItsRebalanceTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		a, b := c.consumer("a", "t"), c.consumer("b", "t")
		a.must()
		a.slow = true
		b.must()
		for range 9 {
			time.Sleep(5 * time.Second)
			if err := a.beat(); err != nil {
				want(t, err, ErrUnknownMember)
				b.must()
				if len(b.owned) != 4 {
					t.Fatalf("%+v", b)
				}
				return
			}
			b.must()
		}
		t.Fatal("never fenced")
	})
}

func TestASilentMemberLosesItsPartitionsWithItsSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		a, b := c.consumer("a", "t"), c.consumer("b", "t")
		a.must()
		for range 10 {
			time.Sleep(5 * time.Second)
			b.must()
		}
		if len(b.owned) != 4 {
			t.Fatalf("%+v", b)
		}
		want(t, a.beat(), ErrUnknownMember)
	})
}

func TestEpochsFence(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{ConsumerMaxSize: 2}, "t", 2)
		a := c.consumer("a", "t")
		a.must()
		a.epoch = 9
		want(t, a.beat(), ErrFencedMemberEpoch)
		a.epoch = 1
		b := c.consumer("b", "t")
		b.must()
		want(t, c.consumer("c", "t").beat(), ErrGroupMaxSize)
		// The answer with the new epoch is lost: the old one is good while nothing else is owned.
		c.grow("t", 4)
		a.must()
		if a.epoch != 2 && a.epoch != 1 {
			t.Fatalf("%+v", a)
		}
		tp := c.st.topic("t", 4)
		a.must()
		if got := c.commit("a", a.epoch, tp, 1).get(); got.err != nil {
			t.Fatal(got)
		}
		want(t, c.commit("a", a.epoch-1, tp, 1).get().err, ErrStaleMemberEpoch)
		want(t, c.commit("x", 1, tp, 1).get().err, ErrUnknownMember)
		want(t, c.commit("", -1, tp, 1).get().err, ErrUnknownMember)
		want(t, c.c.CheckFetch("g", "a", a.epoch+1), ErrStaleMemberEpoch)
		want(t, c.c.CheckFetch("g", "a", a.epoch), nil)
		x := c.consumer("x", "t")
		x.epoch = 1
		want(t, x.beat(), ErrUnknownMember)
		r := a.request()
		r.Assignor = new(string)
		f := &future[ConsumerHeartbeatResponse]{t: t}
		c.c.ConsumerHeartbeat(r, f.set)
		want(t, f.get().Err, ErrUnsupportedAssignor)
	})
}

func TestAStaticMemberComesBackToItsPartitions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		name := "i"
		a, b := c.consumer("a", "t"), c.consumer("b", "t")
		a.instance = &name
		for range 4 {
			a.must()
			b.must()
		}
		had, epoch := slices.Clone(a.owned), c.describe().Epoch
		twin := c.consumer("a2", "t")
		twin.instance = &name
		want(t, twin.beat(), ErrUnreleasedInstance)
		a.leave(leftForNow)
		twin.must()
		if !slices.Equal(twin.owned, had) || c.describe().Epoch != epoch {
			t.Fatalf("had %v, got %v", had, twin.owned)
		}
		a.epoch = epoch
		want(t, a.beat(), ErrFencedInstance)
	})
}

func TestAStaticMemberNeedNotRepeatItsInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 2)
		name, other := "one", "two"
		a := c.consumer("a", "t")
		a.instance = &name
		a.must()
		instance := func() string { t.Helper(); return c.describe().Members[0].InstanceID }

		a.instance = nil // null says: as before
		a.must()
		if got := instance(); got != name {
			t.Fatalf("instance %q after a heartbeat without one", got)
		}
		a.epoch = 0
		a.must()
		if got := instance(); got != name || len(a.owned) != 2 {
			t.Fatalf("instance %q, owns %v after it began anew without one", got, a.owned)
		}

		a.instance = &other // another than before only comes with a new beginning
		want(t, a.beat(), ErrUnknownMember)
		a.epoch = 0
		a.must()
		if got := instance(); got != other || len(a.owned) != 2 {
			t.Fatalf("instance %q, owns %v after it began anew as another", got, a.owned)
		}
		a.instance = &name
		want(t, a.beat(), ErrUnknownMember)
		b := c.consumer("b", "t")
		b.instance = &other
		want(t, b.beat(), ErrUnreleasedInstance)
		b.instance = &name // free again
		b.must()
	})
}

func TestARegularExpressionFollowsTheTopics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "orders-1", 1, "other", 3)
		a := c.consumer("a")
		re := "orders-.*"
		a.regex = &re
		a.must()
		if len(a.owned) != 1 {
			t.Fatalf("%+v", a)
		}
		c.grow("orders-2", 2)
		c.grow("my-orders-2", 2)
		a.must()
		if len(a.owned) != 3 {
			t.Fatalf("%+v", a)
		}
		bad := c.consumer("b")
		re2 := "a)(b"
		bad.regex = &re2
		want(t, bad.beat(), ErrInvalidRegex)
	})
}

func TestNamesBelongToOneProtocolWhileThereAreMembers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "orders", 1)
		ids := c.stable(1)
		a := c.consumer("a", "orders")
		_, _ = c.c.Leave("g", []Leaving{{MemberID: ids[0]}})
		a.must()
		want(t, c.join("", func(r *JoinRequest) { r.ProtocolType = "connect" }).get().Err, ErrInconsistentProtocol)
		if _, ok := c.c.Describe("g"); ok {
			t.Error("described as a classic group")
		}
		if l := c.c.List(); len(l) != 1 || !l[0].Consumer || l[0].State != Stable {
			t.Errorf("%+v", l)
		}
		deleted := &future[error]{t: t}
		c.c.Delete("g", deleted.set)
		want(t, deleted.get(), ErrNonEmptyGroup)
		a.leave(-1)
		c.stable(1)
	})
}

// TestConsumersThatComeGoAndCrashNeverShareAPartition also restarts the coordinator in the middle.
func TestConsumersThatComeGoAndCrashNeverShareAPartition(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) { consumerChaos(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func consumerChaos(t *testing.T, r *rand.Rand) {
	st := newFakeStore()
	c := newConsumers(t, st, Options{}, "t", 5, "u", 3)
	parts := 5
	var live []*consumer
	check := func() {
		t.Helper()
		owners := map[state.TopicPartition]string{}
		for _, m := range live {
			for _, tp := range m.owned {
				if other := owners[tp]; other != "" {
					t.Fatalf("%v belongs to %s and %s", tp, other, m.id)
				}
				owners[tp] = m.id
			}
		}
	}
	beat := func(m *consumer) {
		t.Helper()
		switch err := m.beat(); {
		case errors.Is(err, ErrUnknownMember), errors.Is(err, ErrFencedMemberEpoch):
			m.epoch, m.owned = 0, nil
		case err != nil:
			t.Fatal(err)
		}
		check()
	}
	next := 0
	for range 400 {
		switch n := r.IntN(30); {
		case n == 0 && len(live) < 8:
			next++
			topics := [][]string{{"t"}, {"u"}, {"t", "u"}}[r.IntN(3)]
			live = append(live, c.consumer(fmt.Sprint("m", next), topics...))
		case n == 1 && len(live) > 0:
			i := r.IntN(len(live))
			if live[i].epoch > 0 {
				live[i].leave(-1)
			}
			live = slices.Delete(live, i, i+1)
		case n == 2 && len(live) > 0: // crashes
			i := r.IntN(len(live))
			live = slices.Delete(live, i, i+1)
		case n == 3 && parts < 12:
			parts++
			c.grow("t", parts)
		case n == 4: // the server restarts; a state that is not stored was told to nobody
			c.open(t, st, Options{})
		case n == 5 && len(live) > 0: // the answer is lost
			m := live[r.IntN(len(live))]
			f := &future[ConsumerHeartbeatResponse]{t: t}
			c.c.ConsumerHeartbeat(m.request(), f.set)
			f.done()
			m.lost = true
		case n == 6:
			st.setFailure(errors.New("disk"))
			for _, m := range live {
				if err := m.beat(); errors.Is(err, ErrUnknownMember) || errors.Is(err, ErrFencedMemberEpoch) {
					m.epoch, m.owned = 0, nil
				}
				check()
			}
			st.setFailure(nil)
		default:
			time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
			for _, m := range live {
				if r.IntN(4) > 0 {
					beat(m)
				}
			}
		}
	}
	if len(live) == 0 {
		live = append(live, c.consumer("last", "t", "u"))
	}
	for range 40 {
		time.Sleep(5 * time.Second)
		for _, m := range live {
			beat(m)
		}
	}
	d := c.describe()
	if d.State != Stable {
		t.Fatalf("%+v", d)
	}
	wanted := 0
	for name, n := range map[string]int{"t": parts, "u": 3} {
		if slices.ContainsFunc(live, func(m *consumer) bool { return slices.Contains(m.topics, name) }) {
			wanted += n
		}
	}
	got := 0
	for _, m := range live {
		got += len(m.owned)
	}
	if got != wanted || len(d.Members) != len(live) {
		t.Fatalf("%d of %d partitions, %+v", got, wanted, d)
	}
}

func TestAConsumerGroupComesBackFromItsRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		a := c.consumer("a", "t")
		a.must()
		c.consumer("b", "t").must()
		c.c.mu.RLock()
		g := c.c.consumers["g"]
		c.c.mu.RUnlock()
		data := g.encode()
		back, err := c.c.restoreConsumer("g", data)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range back.members {
			was := g.members[m.id]
			if m.epoch != was.epoch || m.state != was.state || !equal(m.assigned, was.assigned) || !equal(m.target, was.target) {
				t.Errorf("%+v, was %+v", m, was)
			}
			m.stopTimers()
		}
		for n := range data {
			if _, err := c.c.restoreConsumer("g", data[:n]); err == nil {
				t.Fatalf("the first %d bytes are taken for a record", n)
			}
		}
	})
}

func TestWhatAFailedWriteWouldHaveSaidIsNotSaid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 4)
		a := c.consumer("a", "t")
		c.st.setFailure(context.DeadlineExceeded)
		want(t, a.beat(), ErrStorage)
		c.st.setFailure(nil)
		a.must()
		if len(a.owned) != 4 {
			t.Fatalf("%+v", a)
		}
		synctest.Wait()
	})
}

func TestAssignorsGiveEveryPartitionOnceAndUniformIsBalancedAndSticky(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		var topics []assign.Topic
		total := 0
		for i := range 1 + r.IntN(4) {
			n := 1 + r.IntN(9)
			total += n
			topics = append(topics, assign.Topic{ID: uuid.NewSHA1(uuid.Nil, []byte{byte(i)}), Partitions: int32(n)})
		}
		members := make([]assign.Member, 1+r.IntN(6))
		for i := range members {
			members[i].ID = strings.Repeat("m", i+1)
			for _, t := range topics {
				members[i].Topics = append(members[i].Topics, t.ID)
			}
		}
		for _, name := range []string{"range", "uniform"} {
			f := assign.ByName(name)
			for i := range members {
				members[i].Previous = nil
			}
			first := f(members, topics)
			seen := assign.Partitions{}
			low, high := total, 0
			for i, set := range first {
				for tp := range set {
					if _, ok := seen[tp]; ok {
						t.Fatalf("%s gives %v twice", name, tp)
					}
					seen[tp] = struct{}{}
				}
				low, high = min(low, len(set)), max(high, len(set))
				members[i].Previous = set
			}
			if len(seen) != total {
				t.Fatalf("%s gives %d of %d", name, len(seen), total)
			}
			if name != "uniform" {
				continue
			}
			if high-low > 1 {
				t.Fatalf("from %d to %d", low, high)
			}
			again := f(members, topics)
			for i := range again {
				if !equal(again[i], first[i]) {
					t.Fatalf("%v moved to %v", first[i], again[i])
				}
			}
			if len(members) > 1 { // one leaves: nobody else loses anything
				rest := f(members[1:], topics)
				for i := range rest {
					if !subset(first[i+1], rest[i]) {
						t.Fatalf("%v lost some: %v", first[i+1], rest[i])
					}
				}
			}
		}
	}
}
