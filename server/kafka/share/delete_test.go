package share

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"millrace/store/state"
)

// inStore says whether the store knows group g.
func (h *harness) inStore() bool {
	synctest.Wait()
	found := false
	h.st.Groups(func(name string, _ []byte) { found = found || name == "g" })
	return found
}

func (h *harness) remove() error {
	done := make(chan error, 1)
	h.c.Delete("g", func(err error) { done <- err })
	return <-done
}

func TestADeletedGroupDoesNotComeBackByWhatItsMembersStillSay(t *testing.T) {
	bubble(t, 1, Options{}, func(h *harness) {
		h.produce(0, 3)
		h.heartbeat("a", 0, "t")
		s := h.session("a")
		h.want(h.fetch(s, 0, 100), "0-2×1")
		h.heartbeat("a", -1)
		if err := h.remove(); err != nil {
			t.Fatal(err)
		}
		if err := h.acknowledge(s, 0, 1, Accept); !errors.Is(err, ErrGroupNotFound) {
			t.Errorf("got %v", err)
		}
		s.Close()
		time.Sleep(time.Hour) // all locks run out
		if h.inStore() {
			t.Error("the group is back")
		}
	})
}

// late holds commits back until it is told.
type late struct {
	Store
	hold chan struct{}
}

func (l *late) Submit(ctx context.Context, intent state.Intent, payload [][]byte, done func(any, error)) error {
	if _, ok := intent.(state.CommitOffsets); ok {
		<-l.hold
	}
	return l.Store.Submit(ctx, intent, payload, done)
}

func TestADeletionWaitsForWhatIsOnItsWayToTheStore(t *testing.T) {
	for name, remove := range map[string]func(h *harness, reply func(error)){
		"group":   func(h *harness, reply func(error)) { h.c.Delete("g", reply) },
		"offsets": func(h *harness, reply func(error)) { h.c.DeleteOffsets("g", h.topic.ID, reply) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, Options{}, func(h *harness) {
				h.produce(0, 3)
				h.heartbeat("a", 0, "t")
				s := h.session("a")
				h.want(h.fetch(s, 0, 100), "0-2×1")
				h.heartbeat("a", -1)
				synctest.Wait()
				l := &late{Store: h.st, hold: make(chan struct{})}
				h.c.store = l
				acknowledged, removed := make(chan error, 1), make(chan error, 1)
				go s.Acknowledge(h.tp(0), []AckBatch{{First: 0, Last: 0, Kinds: []Ack{Accept}}}, false, func(err error) { acknowledged <- err })
				synctest.Wait() // its write is about to be submitted
				remove(h, func(err error) { removed <- err })
				synctest.Wait()
				close(l.hold)
				if err := errors.Join(<-acknowledged, <-removed); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if offsets, _ := h.st.CommittedOffsets("g"); len(offsets) > 0 {
					t.Errorf("left: %v", offsets)
				}
			})
		})
	}
}
