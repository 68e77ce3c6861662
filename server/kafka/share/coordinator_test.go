package share

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"millrace/ingest"
	"millrace/internal/vfs"
	"millrace/store"
	"millrace/store/state"

	"github.com/google/uuid"
)

// failing is a store whose writes can be made to fail.
type failing struct {
	*store.Store
	mu  sync.Mutex
	err error
}

func (f *failing) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *failing) Submit(ctx context.Context, intent state.Intent, payload [][]byte, done func(any, error)) error {
	f.mu.Lock()
	err := f.err
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.Store.Submit(ctx, intent, payload, done)
}

// harness is a coordinator over a real store in memory, with topic t.
type harness struct {
	t     *testing.T
	fs    vfs.FS
	o     Options
	st    *failing
	c     *Coordinator
	topic state.Topic
}

// bubble runs f with a faked clock.
func bubble(t *testing.T, partitions int32, o Options, f func(h *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, fs: vfs.NewMem(), o: o}
		if h.o.GroupConfig == nil {
			h.o.GroupConfig = func(string) map[string]string {
				return map[string]string{"share.auto.offset.reset": "earliest"}
			}
		}
		h.open()
		res, err := h.st.Commit(t.Context(), state.CreateTopic{ID: uuid.NewSHA1(uuid.Nil, []byte("t")), Name: "t", Partitions: partitions})
		if err != nil {
			t.Fatal(err)
		}
		h.topic = res.(state.TopicResult).Topic
		defer h.close()
		f(h)
	})
}

func (h *harness) open() {
	h.t.Helper()
	st, err := store.Open(context.Background(), store.Options{Dir: "/data", FS: h.fs})
	if err != nil {
		h.t.Fatal(err)
	}
	h.st = &failing{Store: st}
	h.c = New(h.st, h.o)
}

func (h *harness) close() {
	h.c.Close()
	if err := h.st.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *harness) restart() { h.close(); h.open() }

func (h *harness) tp(p int32) state.TopicPartition {
	return state.TopicPartition{Topic: h.topic.ID, Partition: p}
}

// produce appends n records, a batch each, to a partition.
func (h *harness) produce(p int32, n int) {
	h.t.Helper()
	in := ingest.New(h.st.Store, ingest.Options{})
	topic, err := in.Topic(h.topic)
	if err != nil {
		h.t.Fatal(err)
	}
	for i := range n {
		if _, err := in.Append(h.t.Context(), topic, []ingest.Record{{Partition: p, Value: fmt.Append(nil, i)}}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *harness) heartbeat(member string, epoch int32, topics ...string) HeartbeatResponse {
	h.t.Helper()
	res, err := h.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: member, Epoch: epoch, Topics: topics})
	if err != nil {
		h.t.Fatal(err)
	}
	return res
}

// session joins a member and opens its session over all partitions.
func (h *harness) session(member string) *Session {
	h.t.Helper()
	h.heartbeat(member, 0, "t")
	var tps []state.TopicPartition
	for p := range h.topic.Partitions {
		tps = append(tps, h.tp(p))
	}
	s, err := h.c.Open("g", member, tps)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// fetch is what a member acquires, as "first-last×deliveries" of every partition in turn.
func (h *harness) fetch(s *Session, wait time.Duration, max int) []string {
	h.t.Helper()
	return h.fetchBytes(s, wait, max, 1)
}

// fetchBytes is fetch with a number of bytes to wait for.
func (h *harness) fetchBytes(s *Session, wait time.Duration, max, minBytes int) []string {
	h.t.Helper()
	var got []string
	for _, f := range s.Fetch(h.t.Context(), FetchRequest{
		MaxWait: wait, MinBytes: minBytes, MaxBytes: 1 << 20, MaxRecords: max,
		May:       func(state.TopicPartition) error { return nil },
		Reserve:   func(_ context.Context, n int) (int, error) { return n, nil },
		Unreserve: func(int) {},
	}) {
		if f.Err != nil {
			h.t.Fatal(f.Err)
		}
		for _, a := range f.Acquired {
			got = append(got, fmt.Sprintf("%d-%d×%d", a.First, a.Last, a.DeliveryCount))
		}
		f.Result.Release()
	}
	return got
}

func (h *harness) acknowledge(s *Session, first, last int64, kind Ack) error {
	done := make(chan error, 1)
	s.Acknowledge(h.tp(0), []AckBatch{{first, last, []Ack{kind}}}, true, func(err error) { done <- err })
	return <-done
}

func (h *harness) want(got []string, want ...string) {
	h.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Fatalf("%v, want %v", got, want)
	}
}

func (h *harness) start() int64 {
	offsets, _ := h.c.Offsets("g")
	return offsets[h.tp(0)].Start
}

func TestPartitionsAreSpreadOverMembersAndMembersOverPartitions(t *testing.T) {
	for _, c := range []struct{ partitions, members, least, most int }{{4, 2, 2, 2}, {3, 2, 1, 2}, {2, 5, 1, 2}, {1, 1, 1, 1}} {
		bubble(t, int32(c.partitions), Options{}, func(h *harness) {
			for i := range c.members {
				h.heartbeat(fmt.Sprint("m", i), 0, "t")
			}
			d, _ := h.c.Describe("g")
			covered := map[int32]bool{}
			for _, m := range d.Members {
				n := 0
				for _, a := range m.Assignment {
					n += len(a.Partitions)
					for _, p := range a.Partitions {
						covered[p] = true
					}
				}
				if n < c.least || n > c.most {
					t.Errorf("%d partitions, %d members: %s has %d", c.partitions, c.members, m.ID, n)
				}
			}
			if len(covered) != c.partitions {
				t.Errorf("%d of %d partitions are somebody's", len(covered), c.partitions)
			}
		})
	}
}

func TestAMemberThatIsSilentIsRemovedAndRejoins(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		epoch := h.heartbeat("a", 0, "t").Epoch
		time.Sleep(44 * time.Second)
		h.heartbeat("a", epoch)
		time.Sleep(44 * time.Second)
		h.heartbeat("a", epoch)
		time.Sleep(46 * time.Second)
		synctest.Wait()
		if _, err := h.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: "a", Epoch: epoch}); !errors.Is(err, ErrUnknownMember) {
			t.Fatal(err)
		}
		h.heartbeat("a", 0, "t")
	})
}

func TestHeartbeatsThatAreRefused(t *testing.T) {
	bubble(t, 1, Options{MaxSize: 1}, func(h *harness) {
		epoch := h.heartbeat("a", 0, "t").Epoch
		for _, c := range []struct {
			req  HeartbeatRequest
			want error
		}{
			{HeartbeatRequest{Group: "g", MemberID: "b", Epoch: 0, Topics: []string{"t"}}, ErrGroupMaxSize},
			{HeartbeatRequest{Group: "g", MemberID: "a", Epoch: epoch + 7}, ErrFencedMemberEpoch},
			{HeartbeatRequest{Group: "g", MemberID: "b", Epoch: -1}, ErrUnknownMember},
			{HeartbeatRequest{Group: "", MemberID: "b", Epoch: 0, Topics: []string{"t"}}, ErrInvalidRequest},
			{HeartbeatRequest{Group: "g", MemberID: "b", Epoch: 0}, ErrInvalidRequest},
			{HeartbeatRequest{Group: "none", MemberID: "b", Epoch: 3}, ErrUnknownMember},
		} {
			if _, err := h.c.Heartbeat(c.req); !errors.Is(err, c.want) {
				t.Errorf("%+v: %v, want %v", c.req, err, c.want)
			}
		}
	})
}

func TestTheEpochOfASessionTiesItsRequestsTogether(t *testing.T) {
	bubble(t, 1, Options{MaxSessions: 1}, func(h *harness) {
		old := h.session("a")
		if _, err := h.c.Continue("g", "a", 2); !errors.Is(err, ErrInvalidSessionEpoch) {
			t.Error(err)
		}
		if s, err := h.c.Continue("g", "a", 1); err != nil || s != old {
			t.Error(err)
		}
		if _, err := h.c.Continue("g", "b", 1); !errors.Is(err, ErrSessionNotFound) {
			t.Error(err)
		}
		if _, err := h.c.Open("g", "b", nil); !errors.Is(err, ErrSessionLimit) {
			t.Error(err)
		}
		again, err := h.c.Open("g", "a", nil) // in the place of the old one
		if err != nil || !old.Ended() || again.Ended() {
			t.Error(err, old.Ended(), again.Ended())
		}
	})
}

func TestALockThatRunsOutGivesTheRecordToAWaitingMember(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 3)
		a, b := h.session("a"), h.session("b")
		h.want(h.fetch(a, 0, 100), "0-2×1")
		if err := h.acknowledge(a, 1, 1, Accept); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		h.want(h.fetch(b, time.Minute, 100), "0-0×2", "2-2×2")
		if waited := time.Since(began); waited != 30*time.Second {
			t.Errorf("after %s", waited)
		}
		if err := h.acknowledge(a, 0, 0, Accept); !errors.Is(err, ErrInvalidRecordState) {
			t.Errorf("who held it before: %v", err)
		}
	})
}

func TestARenewedLockIsKept(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 1)
		a, b := h.session("a"), h.session("b")
		h.want(h.fetch(a, 0, 100), "0-0×1")
		time.Sleep(20 * time.Second)
		if err := h.acknowledge(a, 0, 0, Renew); err != nil {
			t.Fatal(err)
		}
		h.want(h.fetch(b, 29*time.Second, 100))
		if err := h.acknowledge(a, 0, 0, Accept); err != nil {
			t.Fatal(err)
		}
	})
}

func TestARecordIsDeliveredFiveTimesAndNoMore(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 2)
		a := h.session("a")
		for i := range 5 {
			h.want(h.fetch(a, time.Minute, 1), fmt.Sprintf("0-0×%d", i+1))
			if err := h.acknowledge(a, 0, 0, Release); err != nil {
				t.Fatal(err)
			}
		}
		h.want(h.fetch(a, 0, 1), "1-1×1")
		if h.start() != 1 {
			t.Errorf("start %d", h.start())
		}
	})
}

func TestWhatAMemberHeldComesBackWhenItsSessionCloses(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 2)
		a, b := h.session("a"), h.session("b")
		h.want(h.fetch(a, 0, 100), "0-1×1")
		go func() { time.Sleep(time.Second); a.Close(); a.Close() }()
		h.want(h.fetch(b, time.Minute, 100), "0-1×1")
	})
}

func TestAFetchWaitsForEnoughBytesOrTheTime(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 1) // some 70 bytes
		a := h.session("a")
		began := time.Now()
		go func() { time.Sleep(2 * time.Second); h.produce(0, 1); time.Sleep(time.Second); h.produce(0, 1) }()
		h.want(h.fetchBytes(a, 10*time.Second, 100, 180), "0-2×1")
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("after %s", waited)
		}
		h.produce(0, 1)
		began = time.Now()
		h.want(h.fetchBytes(a, 10*time.Second, 100, 180), "3-3×1")
		if waited := time.Since(began); waited != 10*time.Second {
			t.Errorf("after %s", waited)
		}
		h.want(h.fetchBytes(a, 10*time.Second, 100, 180)) // nothing at all
	})
}

func TestAFetchOfNoBytesAcquiresNothing(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 2)
		a := h.session("a")
		for _, f := range a.Fetch(h.t.Context(), FetchRequest{MaxWait: time.Hour, MaxRecords: 100}) {
			h.t.Fatal(f)
		}
		h.want(h.fetch(a, 0, 100), "0-1×1")
	})
}

func TestARestartKeepsWhatWasAcknowledgedAndGivesTheRestAgain(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 5)
		a := h.session("a")
		h.want(h.fetch(a, 0, 100), "0-4×1")
		for _, o := range []int64{0, 2} {
			if err := h.acknowledge(a, o, o, Accept); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.acknowledge(a, 3, 3, Release); err != nil {
			t.Fatal(err)
		}
		h.restart()
		if _, err := h.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: "a", Epoch: 1}); !errors.Is(err, ErrUnknownMember) {
			t.Fatal(err)
		}
		a = h.session("a")
		h.want(h.fetch(a, 0, 100), "1-1×1", "3-3×2", "4-4×1")
	})
}

func TestAnAcknowledgementThatIsNotStoredFailsAndTheRecordIsDeliveredAgain(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 3)
		a := h.session("a")
		h.want(h.fetch(a, 0, 100), "0-2×1")
		if err := h.acknowledge(a, 0, 0, Accept); err != nil {
			t.Fatal(err)
		}
		h.st.fail(errors.New("the disk is full"))
		if err := h.acknowledge(a, 1, 1, Accept); !errors.Is(err, ErrStorage) {
			t.Fatal(err)
		}
		h.st.fail(nil)
		h.want(h.fetch(a, 0, 100), "1-2×1")
		if err := h.acknowledge(a, 1, 2, Accept); err != nil || h.start() != 3 {
			t.Fatal(err, h.start())
		}
	})
}

func TestPartitionsOfADeletedTopicAreForgotten(t *testing.T) {
	bubble(t, 2, Options{}, func(h *harness) {
		h.produce(0, 1)
		a := h.session("a")
		h.want(h.fetch(a, 0, 100), "0-0×1")
		if _, err := h.st.Commit(h.t.Context(), state.DeleteTopic{ID: h.topic.ID}); err != nil {
			t.Fatal(err)
		}
		epoch := h.heartbeat("a", 1).Epoch
		if d, _ := h.c.Describe("g"); len(d.Members) != 1 || len(d.Members[0].Assignment) != 0 || d.Members[0].Epoch != epoch {
			t.Errorf("%+v", d)
		}
		if offsets, _ := h.c.Offsets("g"); len(offsets) != 0 {
			t.Errorf("%v", offsets)
		}
	})
}

func TestAGroupIsDeletedOnceItHasNoMembers(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		remove := func() error {
			done := make(chan error, 1)
			h.c.Delete("g", func(err error) { done <- err })
			return <-done
		}
		h.heartbeat("a", 0, "t")
		if err := remove(); !errors.Is(err, ErrNonEmptyGroup) {
			t.Fatal(err)
		}
		h.heartbeat("a", -1)
		if err := remove(); err != nil || h.c.Has("g") {
			t.Fatal(err)
		}
		h.restart()
		if h.c.Has("g") {
			t.Error("back after a restart")
		}
	})
}
