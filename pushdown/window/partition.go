package window

import (
	"millrace/pushdown/compare"
	"millrace/pushdown/number"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// partition is the rows of one partition of a window, in its order.
type partition struct {
	sort  *Sort
	order []int32   // which rows
	rows  []sql.Row // themselves

	starts []int32 // where the peers of a row start, by position
	ends   []int32
}

// newPartition finds out which of the rows at order are peers.
func newPartition(ctx *sql.Context, s *Sort, order []int32, all []sql.Row) (*partition, error) {
	p := &partition{sort: s, order: order, rows: make([]sql.Row, len(order)), starts: make([]int32, len(order)), ends: make([]int32, len(order))}
	start := 0
	for i, row := range order {
		p.rows[i] = all[row]
		if i > 0 && s.compare(ctx, order[i-1], row, s.partitions, len(s.exprs)) != 0 {
			for j := start; j < i; j++ {
				p.ends[j] = int32(i)
			}
			start = i
		}
		p.starts[i] = int32(start)
	}
	for j := start; j < len(order); j++ {
		p.ends[j] = int32(len(order))
	}
	return p, s.err
}

// peers are the positions [first, last) of the rows that the window's order does not tell from the one at pos.
func (p *partition) peers(pos int) (first, last int) { return int(p.starts[pos]), int(p.ends[pos]) }

// compute puts the results of c for the partition's rows into its values.
func (p *partition) compute(ctx *sql.Context, c *windowColumn) error {
	switch e := c.expr.(type) {
	case *Call:
		return p.call(ctx, e, c)
	case *aggregation.Count:
		return p.counts(ctx, e.Child, c)
	case *aggregation.Min:
		return p.extremes(ctx, e.Child, c, -1)
	case *aggregation.Max:
		return p.extremes(ctx, e.Child, c, 1)
	}
	return p.aggregate(ctx, c.expr.(sql.Aggregation), c)
}

// evaluate are the values of e for the partition's rows, by position.
func (p *partition) evaluate(ctx *sql.Context, e sql.Expression) ([]any, error) {
	out := make([]any, len(p.rows))
	for i, row := range p.rows {
		v, err := e.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if out[i], err = sql.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return out, nil
}

func (p *partition) call(ctx *sql.Context, e *Call, c *windowColumn) error {
	set := func(pos int, v any) { c.values[p.order[pos]] = v }
	switch e.Name {
	case RowNumber:
		for i := range p.rows {
			set(i, uint64(i+1))
		}
	case Rank:
		for i := range p.rows {
			set(i, uint64(p.starts[i])+1)
		}
	case DenseRank:
		rank := uint64(0)
		for i := range p.rows {
			if int(p.starts[i]) == i {
				rank++
			}
			set(i, rank)
		}
	case PercentRank:
		for i := range p.rows {
			v := 0.0
			if len(p.rows) > 1 {
				v = float64(p.starts[i]) / float64(len(p.rows)-1)
			}
			set(i, v)
		}
	case CumeDist:
		for i := range p.rows {
			set(i, float64(p.ends[i])/float64(len(p.rows)))
		}
	case Ntile:
		return p.ntile(ctx, e, set)
	case Lag, Lead:
		return p.neighbours(ctx, e, set)
	default:
		return p.nth(ctx, e, c.frame, set)
	}
	return nil
}

// ntile parts the rows into so many buckets, the first of which have a row more where it does not come out even.
func (p *partition) ntile(ctx *sql.Context, e *Call, set func(int, any)) error {
	n, err := e.Constant(ctx, 0, 1)
	if err != nil {
		return err
	}
	size, more := int64(len(p.rows))/n, int64(len(p.rows))%n
	for i := range p.rows {
		i64, bucket := int64(i), int64(0)
		if large := more * (size + 1); i64 < large {
			bucket = i64 / (size + 1)
		} else {
			bucket = more + (i64-large)/size
		}
		set(i, uint64(bucket+1))
	}
	return nil
}

// neighbours is LAG and LEAD.
func (p *partition) neighbours(ctx *sql.Context, e *Call, set func(int, any)) error {
	away := int64(1)
	var err error
	if len(e.Args) > 1 {
		if away, err = e.Constant(ctx, 1, 0); err != nil {
			return err
		}
	}
	away = min(away, int64(len(p.rows)))
	if e.Name == Lag {
		away = -away
	}
	values, err := p.evaluate(ctx, e.Args[0])
	if err != nil {
		return err
	}
	typ := e.Type()
	for i := range p.rows {
		var v any
		if at := int64(i) + away; at >= 0 && at < int64(len(p.rows)) {
			v = values[at]
		} else if len(e.Args) == 3 {
			if v, err = e.Args[2].Eval(ctx, p.rows[i]); err != nil {
				return err
			}
		}
		switch {
		case len(e.Args) < 3 || v == nil || typ.Equals(e.Args[0].Type()) && typ.Equals(e.Args[2].Type()):
		case types.IsDecimal(typ):
			v = number.InType(v, typ)
		default:
			if v, _, err = typ.Convert(ctx, v); err != nil {
				return err
			}
		}
		set(i, v)
	}
	return nil
}

// nth is FIRST_VALUE, LAST_VALUE and NTH_VALUE.
func (p *partition) nth(ctx *sql.Context, e *Call, f Frame, set func(int, any)) error {
	n := int64(1)
	var err error
	if e.Name == NthValue {
		if n, err = e.Constant(ctx, 1, 1); err != nil {
			return err
		}
	}
	frames, err := p.framer(ctx, f)
	if err != nil {
		return err
	}
	values, err := p.evaluate(ctx, e.Args[0])
	if err != nil {
		return err
	}
	for i := range p.rows {
		start, end, err := frames.at(i)
		if err != nil {
			return err
		}
		var v any
		switch {
		case int64(end-start) < n:
		case e.Name == LastValue:
			v = values[end-1]
		default:
			v = values[int64(start)+n-1]
		}
		set(i, v)
	}
	return nil
}

// counts is COUNT: the number of values before a frame's end without those before its start.
func (p *partition) counts(ctx *sql.Context, arg sql.Expression, c *windowColumn) error {
	frames, err := p.framer(ctx, c.frame)
	if err != nil {
		return err
	}
	values, err := p.evaluate(ctx, arg)
	if err != nil {
		return err
	}
	before := make([]int64, len(values)+1)
	for i, v := range values {
		before[i+1] = before[i]
		if v != nil {
			before[i+1]++
		}
	}
	for i := range values {
		start, end, err := frames.at(i)
		if err != nil {
			return err
		}
		c.values[p.order[i]] = before[end] - before[start]
	}
	return nil
}

// extremes is MIN (sign -1) and MAX (1). Neither end of a frame moves back: of the values seen, only
// those are kept that no later one beats, best first.
func (p *partition) extremes(ctx *sql.Context, arg sql.Expression, c *windowColumn, sign int) error {
	frames, err := p.framer(ctx, c.frame)
	if err != nil {
		return err
	}
	values, err := p.evaluate(ctx, arg)
	if err != nil {
		return err
	}
	typ := arg.Type()
	var best []int // positions
	seen := 0
	for i := range values {
		start, end, err := frames.at(i)
		if err != nil {
			return err
		}
		for ; seen < end; seen++ {
			if values[seen] == nil {
				continue
			}
			for len(best) > 0 {
				order, err := compare.Values(ctx, typ, values[best[len(best)-1]], values[seen])
				if err != nil {
					return err
				}
				if order*sign >= 0 {
					break
				}
				best = best[:len(best)-1]
			}
			best = append(best, seen)
		}
		for len(best) > 0 && best[0] < start {
			best = best[1:]
		}
		if len(best) > 0 && start < end {
			c.values[p.order[i]] = values[best[0]]
		}
	}
	return nil
}

// Slider is an aggregation's buffer out of which rows can be taken again.
type Slider interface {
	sql.AggregationBuffer
	// Remove takes row out; false, and nothing done, if the result would not be as if it had never been in.
	Remove(ctx *sql.Context, row sql.Row) (bool, error)
}

// aggregate is every other aggregate: its buffer grows with the frame, and starts anew where it cannot shrink.
func (p *partition) aggregate(ctx *sql.Context, e sql.Aggregation, c *windowColumn) error {
	frames, err := p.framer(ctx, c.frame)
	if err != nil {
		return err
	}
	var buf sql.AggregationBuffer
	start, end := 0, 0 // what buf holds
	var last any
	work := 0
	for i := range p.rows {
		from, to, err := frames.at(i)
		if err != nil {
			return err
		}
		changed := buf == nil || from != start || to != end
		if buf != nil && from != start {
			ok := from <= end
			if slider, can := buf.(Slider); ok && can {
				for ; ok && start < from; start++ {
					if ok, err = slider.Remove(ctx, p.rows[start]); err != nil {
						return err
					}
				}
			} else {
				ok = false
			}
			if !ok {
				buf.Dispose()
				buf = nil
			}
		}
		if buf == nil {
			if buf, err = e.NewBuffer(); err != nil {
				return err
			}
			start, end = from, from
		}
		for ; end < to; end++ {
			if err := buf.Update(ctx, p.rows[end]); err != nil {
				return err
			}
			if work++; work%cancelEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if changed {
			if last, err = buf.Eval(ctx); err != nil {
				return err
			}
		}
		c.values[p.order[i]] = last
	}
	if buf != nil {
		buf.Dispose()
	}
	return nil
}
