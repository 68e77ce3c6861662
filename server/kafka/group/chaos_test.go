package group

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// world is what all members of the chaos test believe, checked as they go.
type world struct {
	t      *testing.T
	mu     sync.Mutex
	owners map[string]string // "generation/partition" -> member
	last   int32
}

const chaosPartitions = 6

// own records that member was given data in a generation; a partition has one owner.
func (w *world) own(generation int32, member string, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range data {
		key := fmt.Sprintf("%d/%d", generation, p)
		if other, ok := w.owners[key]; ok && other != member {
			w.t.Errorf("partition %s belongs to %s and %s", key, other, member)
		}
		w.owners[key] = member
	}
	w.last = max(w.last, generation)
}

// chaosMember behaves like a client that crashes, leaves, comes back and dawdles.
func (h *harness) chaosMember(w *world, r *rand.Rand, static string, stop time.Time) {
	id := ""
	ask := func(timeout time.Duration, f func(done func())) bool {
		ch := make(chan struct{})
		f(func() { close(ch) }) // closing twice panics: a request is answered once
		select {
		case <-ch:
			return true
		case <-time.After(timeout):
			return false // given up; the answer may still come
		}
	}
	for time.Now().Before(stop) {
		var j JoinResponse
		req := h.request(id, sessions(6*time.Second, 12*time.Second), instance(static), withProtocols("range", fmt.Sprint("p", r.IntN(2))))
		req.RequireMemberID = true
		if !ask(time.Duration(1+r.IntN(20))*time.Second, func(done func()) {
			h.c.Join(req, func(got JoinResponse) { j = got; done() })
		}) {
			id = ""
			continue
		}
		switch {
		case errors.Is(j.Err, ErrMemberIDRequired):
			id = j.MemberID
			continue
		case errors.Is(j.Err, ErrUnknownMember), errors.Is(j.Err, ErrFencedInstance):
			id = ""
			continue
		case j.Err != nil:
			time.Sleep(100 * time.Millisecond)
			continue
		}
		id = j.MemberID
		var assignments []Assignment
		if j.Leader == id && !j.SkipAssignment {
			plan := map[string][]byte{}
			for p := range chaosPartitions {
				m := j.Members[p%len(j.Members)].ID
				plan[m] = append(plan[m], byte(p))
			}
			for m, data := range plan {
				assignments = append(assignments, Assignment{m, data})
			}
		}
		if r.IntN(10) == 0 {
			time.Sleep(time.Duration(r.IntN(15)) * time.Second) // dawdles
		}
		var s SyncResponse
		answered := ask(15*time.Second, func(done func()) {
			h.c.Sync(SyncRequest{Group: "g", MemberID: id, InstanceID: static, Generation: j.Generation, Assignments: assignments}, func(got SyncResponse) { s = got; done() })
		})
		if !answered || s.Err != nil {
			if errors.Is(s.Err, ErrUnknownMember) || errors.Is(s.Err, ErrFencedInstance) {
				id = ""
			}
			continue
		}
		if static == "" { // a static member's assignment passes to its next incarnation
			w.own(j.Generation, id, s.Assignment)
		}
		for time.Now().Before(stop) {
			time.Sleep(time.Second)
			if err := h.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: id, InstanceID: static, Generation: j.Generation}); err != nil {
				if !errors.Is(err, ErrRebalanceInProgress) {
					id = ""
				}
				break
			}
			switch r.IntN(40) {
			case 0: // crashes, and is back at once or after its session
				id = ""
				time.Sleep(time.Duration(r.IntN(10)) * time.Second)
			case 1:
				_, _ = h.c.Leave("g", []Leaving{{MemberID: id, InstanceID: static}})
				id = ""
			}
			if id == "" {
				break
			}
		}
	}
}

func TestMembersThatComeGoAndCrashNeverShareAPartition(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHarness(t, Options{})
				w := &world{t: t, owners: map[string]string{}}
				stop := time.Now().Add(20 * time.Minute)
				var wg sync.WaitGroup
				for i := range 8 {
					static := ""
					if i < 2 {
						static = fmt.Sprint("static", i)
					}
					wg.Go(func() { h.chaosMember(w, rand.New(rand.NewPCG(seed, uint64(i))), static, stop) })
				}
				wg.Wait()
				if w.last < 10 {
					t.Errorf("only %d generations", w.last)
				}
				time.Sleep(10 * time.Minute) // everyone is gone
				synctest.Wait()
				if d, ok := h.c.Describe("g"); !ok || d.State != Empty || len(d.Members) != 0 {
					t.Errorf("left %+v", d)
				}
			})
		})
	}
}
