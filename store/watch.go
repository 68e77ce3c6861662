package store

import (
	"sync"
	"sync/atomic"

	"millrace/store/state"
)

// watchList is the watchers of one partition.
type watchList struct {
	n  atomic.Int32 // len(list), readable without mu: most partitions have none
	mu sync.Mutex
	// A slice, because a partition has few watchers and is notified far more
	// often than they come and go.
	list []*Watcher
}

func (l *watchList) add(w *Watcher) {
	l.mu.Lock()
	l.list = append(l.list, w)
	l.n.Store(int32(len(l.list)))
	l.mu.Unlock()
}

func (l *watchList) remove(w *Watcher) {
	l.mu.Lock()
	for i, x := range l.list {
		if x == w {
			last := len(l.list) - 1
			l.list[i] = l.list[last]
			l.list[last] = nil
			l.list = l.list[:last]
			break
		}
	}
	l.n.Store(int32(len(l.list)))
	l.mu.Unlock()
}

func (l *watchList) notify() {
	if l.n.Load() == 0 {
		return
	}
	l.mu.Lock()
	for _, w := range l.list {
		w.signal()
	}
	l.mu.Unlock()
}

// Watcher tells that a watched partition changed since the last receive from C.
type Watcher struct {
	C <-chan struct{}

	c     chan struct{}
	parts []*partition
	once  sync.Once
}

func (w *Watcher) signal() {
	select {
	case w.c <- struct{}{}:
	default:
	}
}

// Close ends the registration.
func (w *Watcher) Close() {
	w.once.Do(func() {
		for _, p := range w.parts {
			p.watchers.remove(w)
		}
	})
}

// Watch registers w for the partitions: the next publish that moves one of their bounds
// (or deletes the topic) makes w.C ready (capacity 1, never blocks the
// publisher). The registration stays until Close. C is ready at once when one
// of the partitions does not exist. To miss nothing, watch first and look then.
func (s *Store) Watch(tps []state.TopicPartition) *Watcher {
	c := make(chan struct{}, 1)
	w := &Watcher{C: c, c: c, parts: make([]*partition, 0, len(tps))}
	// Under the publish lock, so that a topic cannot be deleted between the
	// look-up and the registration.
	s.pub.RLock()
	defer s.pub.RUnlock()
	for _, tp := range tps {
		p := s.pub.parts[tp]
		if p == nil {
			w.signal()
			continue
		}
		p.watchers.add(w)
		w.parts = append(w.parts, p)
	}
	return w
}
