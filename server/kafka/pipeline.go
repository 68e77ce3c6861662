package kafka

import (
	"sync"

	"millrace/server/kafka/api"
)

// maxPipelined bounds the Produce requests of one connection that wait for
// their sync. librdkafka sends as many as it can; more only waits elsewhere.
const maxPipelined = 256

// pipeline keeps the order of answers: places are taken in the order of
// requests, and answers written in that order once ready.
//
// The connection's goroutine pushes and waits; complete comes from anywhere
// and never blocks; the connection's writer takes what is ready.
type pipeline struct {
	mu     sync.Mutex
	moved  sync.Cond // places were freed, or broken
	slots  []slot
	head   int // slots[:head] are free
	broken bool
	ready  chan struct{} // capacity 1: the first place may be ready
	ended  chan struct{} // closed with broken
}

type slot struct {
	answer api.Pipelined
	ready  bool
}

func (p *pipeline) init() {
	p.moved.L = &p.mu
	p.ready = make(chan struct{}, 1)
	p.ended = make(chan struct{})
}

// push takes the next place, waiting for room; false when the connection broke.
func (p *pipeline) push(a api.Pipelined) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.slots)-p.head >= maxPipelined && !p.broken {
		p.moved.Wait()
	}
	if p.broken {
		return false
	}
	if p.head > 0 && len(p.slots) == cap(p.slots) {
		n := copy(p.slots, p.slots[p.head:])
		clear(p.slots[n:])
		p.slots, p.head = p.slots[:n], 0
	}
	p.slots = append(p.slots, slot{answer: a})
	return true
}

// complete says that a can be written. It does not block.
func (p *pipeline) complete(a api.Pipelined) {
	p.mu.Lock()
	for i := p.head; i < len(p.slots); i++ { // nearly always the first
		if p.slots[i].answer == a {
			p.slots[i].ready = true
			if i == p.head {
				select {
				case p.ready <- struct{}{}:
				default:
				}
			}
			break
		}
	}
	p.mu.Unlock()
}

// take appends the answers that are next and ready to dst; they keep their places until free.
func (p *pipeline) take(dst []api.Pipelined) []api.Pipelined {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := p.head; i < len(p.slots) && p.slots[i].ready; i++ {
		dst = append(dst, p.slots[i].answer)
	}
	return dst
}

// free gives up the first n places, whose answers were written.
func (p *pipeline) free(n int) {
	p.mu.Lock()
	clear(p.slots[p.head : p.head+n])
	p.head += n
	if p.head == len(p.slots) {
		p.slots, p.head = p.slots[:0], 0
	} else if p.slots[p.head].ready {
		select { // became ready while the others were written
		case p.ready <- struct{}{}:
		default:
		}
	}
	p.moved.Broadcast()
	p.mu.Unlock()
}

// wait returns once every place is free; false when the connection broke.
func (p *pipeline) wait() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.head < len(p.slots) && !p.broken {
		p.moved.Wait()
	}
	return !p.broken
}

// breakOff makes every waiter return: nothing will be written any more.
func (p *pipeline) breakOff() {
	p.mu.Lock()
	if !p.broken {
		p.broken = true
		close(p.ended)
	}
	p.moved.Broadcast()
	p.mu.Unlock()
}
