// Package exec answers queries over topics by operators on vectors: scans with filters,
// projections, aggregates by hash, sorting and top rows, joins, unions and windows.
//
// A plan is a tree of Nodes, plain immutable data made by who knows SQL (package pushdown).
// Run compiles it and returns batches. Work is cut into morsels (blocks of a scan) that run on
// Options.Parallel goroutines; every block looks at the context. Results do not depend on the
// number of goroutines: floating-point sums are merged in the order of blocks, groups come
// in the order of their first row, sorts are stable in scan order.
//
// What an operator holds is counted against Options.Budget. When it is used up, sort and join spill to
// Options.Spill, and an aggregate reads its input again for one part of the groups after another
// (which then come part by part); where they cannot, they fail with scan.ErrMemory.
package exec

import (
	"context"

	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/scan"
)

// Node is an operator of a plan.
type Node interface {
	// Schema is the types of the columns that the operator yields.
	Schema() []Type
}

// Scan reads columns of a topic in a snapshot.
type Scan struct {
	Table   *catalog.Table
	Source  Source
	Columns []scan.Column
	Types   []Type // one per column
	// Filter keeps the rows for which it is true; nil: all. It is over Columns. Its conjuncts
	// also prune blocks, by their statistics and Bloom filters.
	Filter Expr
	// Prune is the same filter as scan.Request has it, as far as it can be said so: partitions,
	// offsets and times that need not be read. nil: none.
	Prune scan.Expr
	// Reverse reads each partition from its end (partitions ascend all the same); with Limit
	// above, reading stops early.
	Reverse bool
}

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Child Node
	Cond  Expr
}

// Project computes expressions.
type Project struct {
	Child Node
	Exprs []Expr
}

// Aggregate groups by By (none: one group, also of no rows) and computes Aggs. It yields the
// keys, then the aggregates. NULLs are one group. Without Aggs it is DISTINCT.
type Aggregate struct {
	Child Node
	By    []Expr
	Aggs  []Agg
}

// Agg is one aggregate function over the rows of a group; NULLs are left out.
type Agg struct {
	Kind     AggKind
	Arg      Expr // nil for CountRows
	Distinct bool // each different value once
	T        Type // of the result; see AggKind
	// Of GroupConcat:
	Order     []SortKey
	Separator []byte
	MaxLen    int // bytes
}

// AggKind is an aggregate function.
type AggKind uint8

const (
	CountRows AggKind = iota + 1 // Int
	Count                        // Int
	Sum                          // Decimal256 of the argument's scale (exact) for Int, Uint, decimals; Float for Float. NULL of no values
	Avg                          // Decimal256 with the scale of T (Sum/Count, rounded half away from zero), or Float
	Min                          // as the argument
	Max
	VarPop // Float
	VarSamp
	StdPop
	StdSamp
	BitAnd // Uint
	BitOr
	BitXor
	AnyValue // the first row's
	GroupConcat
)

// SortKey is one criterion of an order. NULLs are lowest, as in MySQL.
type SortKey struct {
	Expr Expr
	Desc bool
}

// Sort orders rows. With Limit ≥ 0 only rows [Offset, Offset+Limit) are yielded, and kept.
type Sort struct {
	Child  Node
	Keys   []SortKey
	Offset int64
	Limit  int64 // -1: all
}

// Limit yields rows [Offset, Offset+Count) and stops its child.
type Limit struct {
	Child  Node
	Offset int64
	Count  int64 // -1: all
}

// Join combines rows with equal keys. The build side is Right unless the engine
// finds it larger. Yields Left's columns, then Right's; of kinds that only ask for a match, see there.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	LeftKeys    []Expr // over Left, of the same types as
	RightKeys   []Expr // over Right
	Residual    Expr   // over both; nil: none. Decides about a match, so also for Left and Anti.
}

// JoinKind is a kind of join.
type JoinKind uint8

const (
	Inner JoinKind = iota + 1
	LeftOuter
	Semi
	// Anti keeps left rows without a match (NOT EXISTS). AntiNull is NOT IN: nor with what could be one if NULLs were
	// known, so that a NULL on the left is kept only if the right is empty.
	Anti
	AntiNull
	// Mark keeps all left rows and adds a truth value: whether there is a match (EXISTS). MarkNull is IN: NULL where
	// there is none, but could be one if NULLs were known.
	Mark
	MarkNull
)

// onlyMatch says that the join asks for a match and does not yield it: Left's columns come out, of marks and a truth value.
func (k JoinKind) onlyMatch() bool { return k >= Semi }

// marks says that the join adds a truth value.
func (k JoinKind) marks() bool { return k == Mark || k == MarkNull }

// nulls says that NULLs among the keys count, of which there is at least one.
func (k JoinKind) nulls() bool { return k == AntiNull || k == MarkNull }

// Union yields all rows of its children, one child after the other; of one schema.
type Union struct{ Children []Node }

// Window adds a column per function to its child's. Rows stay in their order.
type Window struct {
	Child     Node
	Partition []Expr
	Order     []SortKey
	Funcs     []WindowFunc
}

// WindowFunc is a window function; the frame of aggregates is from the partition's start to the
// present row's peers (RANGE, MySQL's default with ORDER BY) or the whole partition (without).
type WindowFunc struct {
	Kind   WindowKind
	Agg    Agg   // of WindowAgg
	Arg    Expr  // of Lag, Lead, FirstValue, LastValue
	Offset int64 // of Lag and Lead
	Def    Expr  // of Lag and Lead; nil: NULL
	Rows   bool  // the frame of WindowAgg and LastValue counts rows, not peers
	Whole  bool  // the frame is the partition
	T      Type
}

// WindowKind is a window function.
type WindowKind uint8

const (
	RowNumber WindowKind = iota + 1
	Rank
	DenseRank
	Lag
	Lead
	FirstValue
	LastValue
	WindowAgg
)

// Values yields given rows (small constants, or what another engine computed).
type Values struct {
	Types []Type
	Cols  []vector.Vector
	Rows  int
}

// Batch is some rows of an operator. Cols have one length; Sel lists the rows that count, in
// ascending order, nil: all. Valid until the next call of the operator.
type Batch struct {
	Len  int
	Sel  []int32
	Cols []vector.Vector

	from int // of a scan's batch: which row of its block is row 0
	// origin, by row, is which row of the batch that came into a fragment it is of; nil: nobody asked.
	origin []int32
}

// Rows is how many rows count.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Len
}

// Source gives the blocks of a topic's partitions as one snapshot has them; package
// scan/columns implements it. Safe for concurrent use.
type Source interface {
	// Blocks lists what has to be read of table t for filter prune, in order of partition and offset.
	// Together they cover every visible record in range exactly once. cols are the columns that
	// will be opened.
	Blocks(ctx context.Context, t *catalog.Table, cols []scan.Column, prune scan.Expr) ([]Block, error)
}

// Block is a run of rows of one partition, at most MaxBlockRows.
type Block interface {
	// Rows is how many rows the block has at most.
	Rows() int
	// Stats of a column over the whole block, or false. They may be wider than the truth, never
	// narrower.
	Stats(c scan.Column) (Stats, bool)
	// MayContain is false when no row of the block has the value (kind Int or String) in column c.
	MayContain(c scan.Column, v Const) bool
	// Open returns the columns' vectors, in that order, and which rows [from, to) of them are
	// visible. The vectors stay valid until release.
	Open(ctx context.Context, cols []scan.Column) (vecs []*vector.Vector, from, to int, release func(), err error)
}

// Fetcher is a Block whose columns may be fetched before they are opened.
type Fetcher interface {
	// WillNeed begins to fetch what has to be read from the disk of rows [from, to) of these columns, and does not wait for it.
	WillNeed(cols []scan.Column, from, to int)
	// WillAsk does so with what MayContain reads to answer.
	WillAsk(c scan.Column, v Const)
}

// RowReader is a Block that may read columns of a few rows without those of the others.
type RowReader interface {
	// OpenRows returns columns of rows [from, to) of the block, right at from + each of rows, which ascend; what stands elsewhere does not
	// matter. ok is false when Open costs no more.
	OpenRows(ctx context.Context, cols []scan.Column, from, to int, rows []int32) (vecs []*vector.Vector, ok bool, err error)
}

// Stats are a column's bounds in a block. For strings Min and Max may be cut: Min is then a prefix
// of the least, and Max is absent.
type Stats struct {
	HasMin, HasMax bool
	Min, Max       Const
	Nulls          int  // -1: unknown
	Exact          bool // Min, Max and Nulls are exact and every row of the block is visible
	// Sum of the values that are not NULL, with Exact; kinds Int and Decimal128.
	HasSum bool
	Sum    Const // Decimal256, at the column's scale
}

// MaxBlockRows bounds a block.
const MaxBlockRows = 131072

// Types of the nodes' columns.
func (n *Scan) Schema() []Type    { return n.Types }
func (n *Filter) Schema() []Type  { return n.Child.Schema() }
func (n *Project) Schema() []Type { return typesOf(n.Exprs) }
func (n *Aggregate) Schema() []Type {
	out := typesOf(n.By)
	for _, a := range n.Aggs {
		out = append(out, a.T)
	}
	return out
}
func (n *Sort) Schema() []Type  { return n.Child.Schema() }
func (n *Limit) Schema() []Type { return n.Child.Schema() }
func (n *Join) Schema() []Type {
	out := append([]Type(nil), n.Left.Schema()...)
	switch {
	case n.Kind.marks():
		out = append(out, Bool)
	case !n.Kind.onlyMatch():
		out = append(out, n.Right.Schema()...)
	}
	return out
}
func (n *Union) Schema() []Type { return n.Children[0].Schema() }
func (n *Window) Schema() []Type {
	out := append([]Type(nil), n.Child.Schema()...)
	for _, f := range n.Funcs {
		out = append(out, f.T)
	}
	return out
}
func (n *Values) Schema() []Type { return n.Types }

func typesOf(exprs []Expr) []Type {
	out := make([]Type, len(exprs))
	for i, e := range exprs {
		out[i] = e.Type()
	}
	return out
}
