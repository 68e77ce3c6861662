package sqlfn

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

const (
	// maxLockName is MySQL's, in characters.
	maxLockName = 64
	// maxLocks that one session may hold; beyond it GET_LOCK fails with error 1206.
	maxLocks = 1000
)

// Locks are the locks of GET_LOCK. The engine's cannot be interrupted while they wait, poll
// ten thousand times a second, and remember every name for ever.
type Locks struct {
	mu     sync.Mutex
	byName map[string]*userLock // those that are held
	held   map[uint32]int       // how many, by thread
	freed  chan struct{}        // closed, and made anew, when one is free
}

type userLock struct {
	owner uint32
	count int64
}

func NewLocks() *Locks {
	return &Locks{byName: make(map[string]*userLock), held: make(map[uint32]int), freed: make(chan struct{})}
}

// take gives the lock to thread id, waiting up to timeout (negative: for ever); false when it
// did not come free. The error is ctx's, or that the thread holds too many.
func (l *Locks) take(ctx context.Context, id uint32, name string, timeout time.Duration) (bool, error) {
	var expired <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		expired = t.C
	}
	for {
		l.mu.Lock()
		lock := l.byName[name]
		switch {
		case lock == nil && l.held[id] >= maxLocks:
			l.mu.Unlock()
			return false, sqlerr.New(1206, "HY000", "The total number of locks exceeds the lock table size")
		case lock == nil:
			l.byName[name] = &userLock{owner: id, count: 1}
			l.held[id]++
			l.mu.Unlock()
			return true, nil
		case lock.owner == id:
			lock.count++
			l.mu.Unlock()
			return true, nil
		}
		freed := l.freed
		l.mu.Unlock()
		if timeout == 0 {
			return false, nil
		}
		select {
		case <-freed:
		case <-expired:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// release undoes one take of thread id; known is false when nobody holds such a lock, mine when
// another does.
func (l *Locks) release(id uint32, name string) (known, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.byName[name]
	if lock == nil || lock.owner != id {
		return lock != nil, false
	}
	if lock.count--; lock.count == 0 {
		l.free(id, name)
	}
	return true, true
}

// free is called with mu held.
func (l *Locks) free(id uint32, name string) {
	delete(l.byName, name)
	if l.held[id]--; l.held[id] == 0 {
		delete(l.held, id)
	}
	close(l.freed)
	l.freed = make(chan struct{})
}

// ReleaseAll frees what thread id holds and says how many takes that undid.
func (l *Locks) ReleaseAll(id uint32) (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[id] == 0 {
		return 0
	}
	for name, lock := range l.byName {
		if lock.owner == id {
			n += lock.count
			l.free(id, name)
		}
	}
	return n
}

// owner is who holds a lock; 0 for nobody.
func (l *Locks) owner(name string) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock := l.byName[name]; lock != nil {
		return lock.owner
	}
	return 0
}

func lockName(ctx *sql.Context, v any) (string, error) {
	name, ok := v.(string)
	if v != nil && !ok {
		s, err := ToText(ctx, v, nil)
		if err != nil {
			return "", err
		}
		name = s
	}
	if name == "" || utf8.RuneCountInString(name) > maxLockName {
		return "", sqlerr.New(3057, "42000", "Incorrect user-level lock name '%s'.", sqlerr.Clip(name))
	}
	return strings.ToLower(name), nil
}

func lockFunctions(l *Locks) []sql.Function {
	named := func(name string, args int, result sql.Type, eval func(ctx *sql.Context, name string, args []any) (any, error)) sql.Function {
		return scalarFunction(scalar{name: name, typeOf: fixed(result), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			lock, err := lockName(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return eval(ctx, lock, args)
		}}, args, args)
	}
	return []sql.Function{
		named("get_lock", 2, types.Int64, func(ctx *sql.Context, name string, args []any) (any, error) {
			if args[1] == nil {
				return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to get_lock")
			}
			seconds, err := toFloat(ctx, args[1])
			if err != nil {
				return nil, err
			}
			timeout := time.Duration(-1)
			if seconds >= 0 {
				timeout = time.Duration(min(seconds, 1e9) * float64(time.Second))
			}
			got, err := l.take(ctx, ctx.Session.ID(), name, timeout)
			return int64(flag(got)), err
		}),
		named("release_lock", 1, types.Int64, func(ctx *sql.Context, name string, _ []any) (any, error) {
			known, mine := l.release(ctx.Session.ID(), name)
			if !known {
				return nil, nil
			}
			return int64(flag(mine)), nil
		}),
		named("is_free_lock", 1, types.Int64, func(_ *sql.Context, name string, _ []any) (any, error) {
			return int64(flag(l.owner(name) == 0)), nil
		}),
		named("is_used_lock", 1, types.Uint64, func(_ *sql.Context, name string, _ []any) (any, error) {
			if id := l.owner(name); id != 0 {
				return uint64(id), nil
			}
			return nil, nil
		}),
		scalarFunction(scalar{name: "release_all_locks", typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, _ []any, _ []sql.Expression) (any, error) {
			return l.ReleaseAll(ctx.Session.ID()), nil
		}}, 0, 0),
	}
}
