package joinorder

import (
	"math"
	"strings"

	"millrace/internal/sqlplan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

var always = expression.NewLiteral(true, types.Boolean)

// mostBegun is how many leaves a cluster may have for orders that begin with each of them to be tried. A FROM clause has 61, and each
// subquery of its WHERE may be another.
const mostBegun = 64

// cluster is what inner joins join, and all conditions about it, whichever join they were written at.
type cluster struct {
	leaves     []leaf
	conditions []condition
	last       []sql.Expression // asked of joined rows
}

type leaf struct {
	node       sql.Node
	cols       sql.ColSet
	rows, all  float64 // how many there are about, with and without its conditions
	conditions []int   // those that name it
	recursive  bool
}

type condition struct {
	expr   sql.Expression
	leaves []int // that it names
	equal  bool  // of something of one leaf and something of another
}

// within says that it names none but leaf i and those of have.
func (c condition) within(have []bool, i int) bool {
	for _, l := range c.leaves {
		if l != i && !have[l] {
			return false
		}
	}
	return true
}

// cluster puts n, inner joins maybe beneath conditions, in order.
func (b *builder) cluster(n sql.Node) (sql.Node, error) {
	c := &cluster{}
	var conditions []sql.Expression
	if err := b.flatten(n, c, &conditions); err != nil {
		return nil, err
	}
	c.nameRounds(conditions)
	for _, e := range conditions {
		c.add(e)
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		l.rows, l.all = size(b.ctx, l.node)
	}
	out := c.tree(c.order(), b)
	if len(c.last) > 0 {
		out = plan.NewFilter(expression.JoinAnd(c.last...), out)
	}
	return out, nil
}

// flatten adds what n joins, and its conditions.
func (b *builder) flatten(n sql.Node, c *cluster, conditions *[]sql.Expression) error {
	if clustered(n) {
		switch n := n.(type) {
		case *plan.Filter:
			*conditions = append(*conditions, conjuncts(n.Expression)...)
			return b.flatten(n.Child, c, conditions)
		case *plan.JoinNode:
			b.hinted = b.hinted || n.Comment() != ""
			*conditions = append(*conditions, conjuncts(n.Filter)...)
			if err := b.flatten(n.Left(), c, conditions); err != nil {
				return err
			}
			return b.flatten(n.Right(), c, conditions)
		}
	}
	node, err := b.build(n)
	if err != nil {
		return err
	}
	c.leaves = append(c.leaves, leaf{node: node, cols: sqlplan.Columns(node)})
	return nil
}

// add adds a condition: to the leaf that it is about, to those that it connects, or last.
func (c *cluster) add(e sql.Expression) {
	on := c.on(named(e))
	switch {
	case len(on) == 0 || restsOnQuery(e):
		c.last = append(c.last, e)
	case len(on) == 1:
		l := &c.leaves[on[0]]
		if f, ok := l.node.(*plan.Filter); ok {
			l.node = plan.NewFilter(expression.JoinAnd(f.Expression, e), f.Child)
		} else {
			l.node = plan.NewFilter(e, l.node)
		}
	default:
		x := condition{expr: e, leaves: on}
		if eq, ok := e.(*expression.Equals); ok && len(on) == 2 {
			x.equal = len(c.on(named(eq.Left()))) == 1 && len(c.on(named(eq.Right()))) == 1
		}
		for _, i := range on {
			c.leaves[i].conditions = append(c.leaves[i].conditions, len(c.conditions))
		}
		c.conditions = append(c.conditions, x)
	}
}

// nameRounds gives tables of recursive queries the columns by which conditions name them: those are numbered otherwise.
func (c *cluster) nameRounds(conditions []sql.Expression) {
	for i := range c.leaves {
		l := &c.leaves[i]
		name := roundName(l.node)
		if l.recursive = name != ""; !l.recursive {
			continue
		}
		var cols sql.ColSet
		for _, e := range conditions {
			sql.Inspect(e, func(e sql.Expression) bool {
				if f, ok := e.(*expression.GetField); ok && strings.EqualFold(f.Table(), name) {
					cols.Add(f.Id())
				}
				return true
			})
		}
		l.cols = l.cols.Union(cols)
	}
}

// on are the leaves that have some of these columns. Columns of none are those of the queries around.
func (c *cluster) on(cols sql.ColSet) []int {
	var out []int
	for i, l := range c.leaves {
		if l.cols.Intersects(cols) {
			out = append(out, i)
		}
	}
	return out
}

// order is the cheapest of the orders that begin with each leaf and then always take what leaves least; of a large cluster the one
// that begins with the leaf written first.
func (c *cluster) order() []int {
	if len(c.leaves) > mostBegun {
		order, _ := c.from(0)
		return order
	}
	var best []int
	least := math.Inf(1)
	for first := range c.leaves {
		if order, cost := c.from(first); cost < least || best == nil {
			best, least = order, cost
		}
	}
	return best
}

// from is an order that begins with the given leaf, and how many rows its joins read and give.
func (c *cluster) from(first int) (order []int, cost float64) {
	order = append(order, first)
	have, rows := make([]bool, len(c.leaves)), c.leaves[first].rows
	have[first] = true
	cost = rows
	for len(order) < len(c.leaves) {
		next, connected, out := -1, false, 0.0
		for i, l := range c.leaves {
			if have[i] {
				continue
			}
			x, is := c.step(have, rows, i)
			// A single row may come whenever it likes; what nothing connects is kept for the end.
			is = is || l.rows <= 1
			if next < 0 || is && !connected || is == connected && x < out {
				next, connected, out = i, is, x
			}
		}
		if c.leaves[next].recursive {
			// Only as the first one it is read but once a round.
			cost = math.Inf(1)
		}
		order = append(order, next)
		have[next] = true
		cost += out + c.leaves[next].rows
		rows = out
	}
	return order, cost
}

// step is how many rows there are about when leaf i joins those of have, and whether an equality connects them.
func (c *cluster) step(have []bool, rows float64, i int) (out float64, connected bool) {
	l := c.leaves[i]
	out = rows * l.rows
	// The first equality finds the rows of a key; others as a rule follow from it in part.
	share := 1.0
	for _, k := range l.conditions {
		x := c.conditions[k]
		if !x.within(have, i) {
			continue
		}
		if !x.equal {
			out *= rangeShare
			continue
		}
		connected = true
		other := c.leaves[x.leaves[0]]
		if x.leaves[0] == i {
			other = c.leaves[x.leaves[1]]
		}
		// A key has about as many values as the smaller of the two has rows: the other one refers to it.
		one := 1 / max(1, min(l.all, other.all))
		share = min(share, one) * math.Sqrt(max(share, one))
	}
	return max(1, out*share), connected
}

// tree is the joins in an order, each with all conditions that are about what it joins and were not asked before.
func (c *cluster) tree(order []int, b *builder) sql.Node {
	first := c.leaves[order[0]]
	out, cols, have := first.node, first.cols, make([]bool, len(c.leaves))
	have[order[0]] = true
	for _, i := range order[1:] {
		l := c.leaves[i]
		var on []sql.Expression
		equal := false
		for _, k := range l.conditions {
			if x := c.conditions[k]; x.within(have, i) {
				on, equal = append(on, x.expr), equal || x.equal
			}
		}
		have[i] = true
		b.loose = b.loose || len(on) > 0 && !equal
		out = joined(plan.JoinTypeInner, out, l.node, cols, l.cols, on)
		cols = cols.Union(l.cols)
	}
	return out
}
