package columns

import (
	"sync"

	"millrace/internal/vfs"
)

// defaultLeastAhead is Set.leastAhead.
const defaultLeastAhead = 16 << 10

// ahead is what is read of a block's file before it is asked for, by column of the file. It is for one query; what that does not take
// in the end the garbage collector frees.
type ahead struct {
	mu sync.Mutex
	of map[int]*vfs.Ahead
}

// start begins to read a column, if that was not begun before; false when it cannot be.
func (a *ahead) start(s *Set, x *sealed, i int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of[i] != nil {
		return true
	}
	r := x.f.r.Ahead(&s.reads, x.i, i)
	if r == nil {
		return false
	}
	if a.of == nil {
		a.of = map[int]*vfs.Ahead{}
	}
	a.of[i] = r
	s.m.ahead.Add(float64(x.block().Chunks[i].Size))
	return true
}

// take returns what start began, nil: nothing.
func (a *ahead) take(i int) *vfs.Ahead {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.of[i]
	delete(a.of, i)
	return r
}
