package group

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"millrace/store/state"
)

// harness drives a coordinator inside a synctest bubble: time stands still until
// everyone waits.
type harness struct {
	t  *testing.T
	st *fakeStore
	c  *Coordinator
}

func newHarness(t *testing.T, o Options) *harness { return newHarnessOver(t, newFakeStore(), o) }

func newHarnessOver(t *testing.T, st *fakeStore, o Options) *harness {
	t.Helper()
	n := 0
	var mu sync.Mutex
	if o.NewMemberIDSuffix == nil {
		o.NewMemberIDSuffix = func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprint(n)
		}
	}
	o.DisableExpirationLoop = true
	c, err := New(st, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &harness{t: t, st: st, c: c}
}

// bubble runs f with a faked clock.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// future is the answer to a request that may wait.
type future[T any] struct {
	t  *testing.T
	mu sync.Mutex
	v  T
	n  int
}

func (f *future[T]) set(v T) {
	f.mu.Lock()
	f.v, f.n = v, f.n+1
	f.mu.Unlock()
}

func (f *future[T]) done() bool {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n > 1 {
		f.t.Helper()
		f.t.Fatalf("answered %d times", f.n)
	}
	return f.n == 1
}

// get returns the answer, which must be there.
func (f *future[T]) get() T {
	f.t.Helper()
	if !f.done() {
		f.t.Fatal("not answered")
	}
	return f.v
}

func subscription(topics ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(len(topics)))
	for _, topic := range topics {
		b = binary.BigEndian.AppendUint16(b, uint16(len(topic)))
		b = append(b, topic...)
	}
	return binary.BigEndian.AppendUint32(b, 0) // user data
}

func protocols(names ...string) []Protocol {
	p := make([]Protocol, len(names))
	for i, name := range names {
		p[i] = Protocol{Name: name, Metadata: subscription("orders")}
	}
	return p
}

type joinOption func(*JoinRequest)

func instance(id string) joinOption { return func(r *JoinRequest) { r.InstanceID = id } }
func withProtocols(names ...string) joinOption {
	return func(r *JoinRequest) { r.Protocols = protocols(names...) }
}

func sessions(session, rebalance time.Duration) joinOption {
	return func(r *JoinRequest) { r.SessionTimeout, r.RebalanceTimeout = session, rebalance }
}

func (h *harness) request(memberID string, opts ...joinOption) JoinRequest {
	r := JoinRequest{
		Group: "g", MemberID: memberID, ClientID: "client", ClientHost: "/127.0.0.1",
		SessionTimeout: 10 * time.Second, RebalanceTimeout: 30 * time.Second,
		ProtocolType: "consumer", Protocols: protocols("range"), SkipAssignment: true,
	}
	for _, o := range opts {
		o(&r)
	}
	return r
}

func (h *harness) join(memberID string, opts ...joinOption) *future[JoinResponse] {
	f := &future[JoinResponse]{t: h.t}
	h.c.Join(h.request(memberID, opts...), f.set)
	return f
}

func (h *harness) sync(memberID string, generation int32, assignments ...Assignment) *future[SyncResponse] {
	f := &future[SyncResponse]{t: h.t}
	h.c.Sync(SyncRequest{Group: "g", MemberID: memberID, Generation: generation, Assignments: assignments}, f.set)
	return f
}

func (h *harness) heartbeat(memberID string, generation int32) error {
	return h.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: memberID, Generation: generation})
}

type commitAnswer struct {
	errs []error
	err  error
}

func (h *harness) commit(memberID string, generation int32, tp state.TopicPartition, offset int64) *future[commitAnswer] {
	f := &future[commitAnswer]{t: h.t}
	h.c.Commit(CommitRequest{
		Group: "g", MemberID: memberID, Generation: generation,
		Offsets: []state.OffsetCommit{{TopicPartition: tp, Offset: offset, LeaderEpoch: -1, ExpireAt: -1}},
	}, func(errs []error, err error) { f.set(commitAnswer{errs, err}) })
	return f
}

func (h *harness) state() State {
	d, _ := h.c.Describe("g")
	return d.State
}

// stable brings n members into generation 1 of group g, which each got the
// assignment "a<i>"; the first one leads.
func (h *harness) stable(n int, opts ...joinOption) []string {
	h.t.Helper()
	joins := make([]*future[JoinResponse], n)
	for i := range joins {
		joins[i] = h.join("", opts...)
	}
	time.Sleep(time.Second)
	return h.finish(joins)
}

// finish syncs the members whose joins are answered, and returns their ids.
func (h *harness) finish(joins []*future[JoinResponse]) []string {
	h.t.Helper()
	ids := make([]string, len(joins))
	var assignments []Assignment
	leader := ""
	for i, j := range joins {
		r := j.get()
		if r.Err != nil {
			h.t.Fatalf("join %d: %v", i, r.Err)
		}
		ids[i] = r.MemberID
		assignments = append(assignments, Assignment{MemberID: r.MemberID, Data: fmt.Appendf(nil, "a%d", i)})
		leader = r.Leader
	}
	generation := joins[0].get().Generation
	syncs := make([]*future[SyncResponse], len(joins))
	for i, id := range ids {
		if id == leader {
			continue
		}
		syncs[i] = h.sync(id, generation)
		if syncs[i].done() {
			h.t.Fatalf("follower %s got %+v before the leader assigned", id, syncs[i].get())
		}
	}
	for i, id := range ids {
		if id == leader {
			syncs[i] = h.sync(id, generation, assignments...)
		}
	}
	for i, s := range syncs {
		if r := s.get(); r.Err != nil || string(r.Assignment) != fmt.Sprintf("a%d", i) {
			h.t.Fatalf("sync %d: %+v", i, r)
		}
	}
	return ids
}
