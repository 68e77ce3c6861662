package exec

import (
	"math"
	"sort"

	"millrace/internal/vector"
)

// Records come in the order of time, near enough, and people group them by minutes, hours, days. So thousands of rows on end
// have the same key. Where that is so it is found out from the bounds of such a run, without computing each row's key,
// and the run is added up as a whole.

// runLeast is how many rows a run has on average where runs are worth it.
const runLeast = 32

// runEvaluator is an evaluator that may know that its results come in runs.
type runEvaluator interface {
	evaluator
	// runs are the results of the rows of in as values with the first row of each; nil where they do not come so.
	runs(in *input) (vals *vector.Vector, starts []int32, err error)
}

// runAcc is an accumulator that takes in rows of one group without a list of groups.
type runAcc interface {
	addRun(v *vector.Vector, g uint32, n int) error
}

// bucketRuns cuts integers into runs of values that lie in one bucket.
type bucketRuns struct {
	starts []int32
	out    column
}

// of cuts v's n rows. bucket says for a value what stands for its bucket, and the least and the largest value of it; not ok
// where it does not know. It is nil when runs would be short or rows go to and fro.
func (r *bucketRuns) of(v *vector.Vector, n int, bucket func(x int64) (result, least, most int64, ok bool)) (*vector.Vector, []int32) {
	if v.HasNulls() || n == 0 {
		return nil, nil
	}
	vals := r.out.ints(n/runLeast + 1)
	r.starts = r.starts[:0]
	for at := 0; at < n; {
		x := v.Int(at)
		result, least, most, ok := bucket(x)
		if !ok || len(r.starts) == len(vals) {
			return nil, nil
		}
		end := n
		if v.Int(n-1) > most {
			end = at + 1 + sort.Search(n-at-1, func(i int) bool { return v.Int(at+1+i) > most })
		}
		if !v.Ascends { // the search believed it; whether that was right shows here
			part := v.Slice(at, end)
			if lo, hi := boundsOf(&part, end-at); lo < least || hi > most {
				return nil, nil
			}
		}
		vals[len(r.starts)] = result
		r.starts = append(r.starts, int32(at))
		at = end
	}
	k := len(r.starts)
	r.out.v.Len, r.out.v.Int64 = k, vals[:k]
	return &r.out.v, r.starts
}

func (e *divEval) runs(in *input) (*vector.Vector, []int32, error) {
	if e.rest {
		return nil, nil, nil
	}
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, nil, err
	}
	step := int64(e.by.step)
	vals, starts := e.cut.of(v, in.n, func(x int64) (q, least, most int64, ok bool) {
		if x < 0 { // truncated towards zero, which is in two buckets
			return 0, 0, 0, false
		}
		q = int64(e.by.quo(uint64(x)))
		least = q * step
		return q, least, least + min(step-1, math.MaxInt64-least), true
	})
	return vals, starts, nil
}

func (e *floorEval) runs(in *input) (*vector.Vector, []int32, error) {
	v, err := e.arg.eval(in)
	if err != nil || e.by.one {
		return nil, nil, err
	}
	from, step := max(e.from, e.by.least()), int64(e.by.step)
	vals, starts := e.cut.of(v, in.n, func(x int64) (start, least, most int64, ok bool) {
		if x < from {
			return 0, 0, 0, false
		}
		start = e.by.floor(x)
		return start, max(start, from), start + min(step-1, math.MaxInt64-max(start, 0)), true
	})
	return vals, starts, nil
}

// runKey computes a key of groups run by run: it is a bucket, or an expression of nothing but one.
type runKey struct {
	in     input
	bucket runEvaluator
	over   *program // of the bucket's value; nil: that itself
	batch  Batch
	wait   int // batches to come that are not looked at
	waits  int
}

// runKeyOf is nil if the key is none.
func runKeyOf(schema []Type, key Expr) (*runKey, error) {
	bucket := bucketIn(key)
	if bucket == nil {
		return nil, nil
	}
	ev, err := (&compiler{schema: schema}).kernel(bucket)
	if err != nil {
		return nil, err
	}
	k := &runKey{}
	var ok bool
	if k.bucket, ok = ev.(runEvaluator); !ok {
		return nil, nil
	}
	whole := Col{0, bucket.Type()}
	if rest := replaced(key, bucket, whole); rest != Expr(whole) {
		if k.over, err = newProgram([]Type{bucket.Type()}, []Expr{rest}); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// bucketIn is the bucket that key is made of; nil if it reads columns otherwise.
func bucketIn(key Expr) Expr {
	var found Expr
	walk(key, func(e Expr) {
		if found == nil && isBucket(e) {
			found = e
		}
	})
	if found == nil || len(columnsOf(replaced(key, found, Const{T: found.Type()}), nil)) > 0 {
		return nil
	}
	return found
}

// isBucket says whether e makes buckets of an integer.
func isBucket(e Expr) bool {
	switch e := e.(type) {
	case Arith:
		k, ok := e.R.(Const)
		return ok && e.Op == IntDiv && e.T.Kind == vector.Int && !k.Null && k.Int > 1 && len(columnsOf(e.L, nil)) > 0
	case Func:
		return e.Fn == FloorTo && len(columnsOf(e.Args[0], nil)) > 0
	}
	return false
}

// of is nil where the keys do not come in runs.
func (k *runKey) of(b *Batch) (*vector.Vector, []int32, error) {
	if k.wait > 0 {
		k.wait--
		return nil, nil, nil
	}
	k.in.set(b)
	vals, starts, err := k.bucket.runs(&k.in)
	if err != nil {
		return nil, nil, err
	}
	if vals == nil {
		const most = 64
		k.waits = min(2*k.waits+1, most)
		k.wait = k.waits
		return nil, nil, nil
	}
	k.waits = 0
	if k.over == nil {
		return vals, starts, nil
	}
	k.batch = Batch{Len: vals.Len, Cols: append(k.batch.Cols[:0], *vals)}
	k.over.in.set(&k.batch)
	vals, err = k.over.evs[0].eval(&k.over.in)
	return vals, starts, err
}

// addRuns takes in the batch of s.p.in, whose keys come in runs.
func (s *groupSink) addRuns(vals *vector.Vector, starts []int32) error {
	in := &s.p.in
	s.keys[0] = vals
	ids := s.group.ids(s.keys, len(starts))
	if n := s.group.len(); n > len(s.firsts) {
		s.met(ids, starts, n)
	}
	end := func(k int) int {
		if k+1 < len(starts) {
			return int(starts[k+1])
		}
		return in.n
	}
	var gids []uint32
	for i, acc := range s.accs {
		v, err := s.arg(i)
		if err != nil {
			return err
		}
		if acc, ok := acc.(runAcc); ok {
			for k, from := range starts {
				to := end(k)
				part := v
				if v != nil {
					rows := v.Slice(int(from), to)
					part = &rows
				}
				if err := acc.addRun(part, ids[k], to-int(from)); err != nil {
					return err
				}
			}
			continue
		}
		if gids == nil {
			gids = grown(&s.gids, in.n)
			for k, from := range starts {
				fillWith(gids[from:end(k)], ids[k])
			}
		}
		if err := acc.add(v, gids, in.n); err != nil {
			return err
		}
	}
	return nil
}
