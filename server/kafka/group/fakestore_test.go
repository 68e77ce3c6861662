package group

import (
	"context"
	"sync"
	"time"

	"millrace/store/state"

	"github.com/google/uuid"
)

// fakeStore is the real state machine without a disk. Answers can be held back, as
// if the sync took long, or fail.
type fakeStore struct {
	mu      sync.Mutex
	st      *state.State
	held    bool
	waiting []func()
	fail    error
	puts    int
}

func newFakeStore() *fakeStore { return &fakeStore{st: state.New()} }

func (f *fakeStore) Submit(_ context.Context, intent state.Intent, _ [][]byte, done func(any, error)) error {
	f.mu.Lock()
	if _, ok := intent.(state.PutGroup); ok {
		f.puts++
	}
	var result any
	err := f.fail
	if err == nil {
		var entry []byte
		entry, result = f.st.Decide(time.Now().UnixMilli(), intent, nil)
		if entry != nil {
			if e := f.st.Apply(entry); e != nil {
				panic(e)
			}
		}
	}
	if f.held {
		f.waiting = append(f.waiting, func() { done(result, err) })
		f.mu.Unlock()
		return nil
	}
	f.mu.Unlock()
	done(result, err)
	return nil
}

func (f *fakeStore) hold() {
	f.mu.Lock()
	f.held = true
	f.mu.Unlock()
}

func (f *fakeStore) release() {
	f.mu.Lock()
	waiting := f.waiting
	f.waiting, f.held = nil, false
	f.mu.Unlock()
	for _, done := range waiting {
		done()
	}
}

func (f *fakeStore) setFailure(err error) {
	f.mu.Lock()
	f.fail = err
	f.mu.Unlock()
}

func (f *fakeStore) CommittedOffsets(name string) (map[state.TopicPartition]state.CommittedOffset, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.st.GroupOffsets(name)
}

func (f *fakeStore) Groups(fn func(string, []byte)) {
	f.mu.Lock()
	type rec struct {
		name string
		data []byte
	}
	var all []rec
	f.st.Groups(func(name string, data []byte) { all = append(all, rec{name, data}) })
	f.mu.Unlock()
	for _, r := range all {
		fn(r.name, r.data)
	}
}

// topic creates a topic with n partitions and returns its partition 0.
func (f *fakeStore) topic(name string, n int32) state.TopicPartition {
	id := uuid.NewSHA1(uuid.Nil, []byte(name))
	_ = f.Submit(context.Background(), state.CreateTopic{ID: id, Name: name, Partitions: n}, nil, func(any, error) {})
	return state.TopicPartition{Topic: id}
}
