package sqlfn

import (
	"slices"
	"strings"
	"unicode/utf8"

	"millrace/pushdown/compare"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// NameGroupConcat is ours; the parser reads calls of the name as a form of its own, so that no user
// calls this one with arguments that rewriteGroupConcat did not make.
const NameGroupConcat = "group_concat"

// groupConcat is GROUP_CONCAT. Its child is the text.
type groupConcat struct {
	aggregate
	options   sql.Expression // the literal that the fields below were read from
	orders    []sql.Expression
	descends  []bool
	key       sql.Expression // nil: the text
	distinct  bool
	separator string
	memory    Memory
}

var (
	_ sql.Aggregation        = (*groupConcat)(nil)
	_ sql.FunctionExpression = (*groupConcat)(nil)
)

func groupConcatFunctions(memory Memory) []sql.Function {
	return []sql.Function{sql.FunctionN{Name: NameGroupConcat, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		return newGroupConcat(memory, args)
	}}}
}

func newGroupConcat(memory Memory, args []sql.Expression) (*groupConcat, error) {
	malformed := sqlerr.New(1582, "42000", "Incorrect parameter count in the call to native function 'GROUP_CONCAT'")
	if len(args) < 2 {
		return nil, malformed
	}
	lit, ok := args[1].(*expression.Literal)
	if !ok {
		return nil, malformed
	}
	options, _ := lit.Value().(string)
	letters, separator, ok := strings.Cut(options, ":")
	if !ok || letters == "" {
		return nil, malformed
	}
	g := &groupConcat{options: args[1], distinct: letters[0] != '-', separator: separator, memory: memory}
	g.name, g.child = NameGroupConcat, args[0]
	rest := args[2:]
	for _, d := range letters[1:] {
		g.descends = append(g.descends, d == 'd')
	}
	if len(rest) < len(g.descends) {
		return nil, malformed
	}
	g.orders, rest = rest[:len(g.descends)], rest[len(g.descends):]
	if letters[0] == 'k' {
		if len(rest) != 1 {
			return nil, malformed
		}
		g.key = rest[0]
	}
	return g, nil
}

func (g *groupConcat) Type() sql.Type {
	if types.IsBinaryType(g.child.Type()) {
		return types.LongBlob
	}
	return types.LongText
}

func (g *groupConcat) Resolved() bool { return expression.ExpressionsResolved(g.Children()...) }

func (g *groupConcat) String() string {
	var b strings.Builder
	b.WriteString("group_concat(")
	if g.distinct {
		b.WriteString("distinct ")
	}
	b.WriteString(g.child.String())
	for i, o := range g.orders {
		if i == 0 {
			b.WriteString(" order by ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(o.String())
		if g.descends[i] {
			b.WriteString(" desc")
		}
	}
	b.WriteString(" separator '" + strings.ReplaceAll(g.separator, "'", "''") + "')")
	return b.String()
}

func (g *groupConcat) Children() []sql.Expression {
	children := append([]sql.Expression{g.child, g.options}, g.orders...)
	if g.key != nil {
		children = append(children, g.key)
	}
	return children
}

func (g *groupConcat) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	n, err := newGroupConcat(g.memory, children)
	if err != nil {
		return nil, err
	}
	n.id, n.window = g.id, g.window
	return n, nil
}

func (g *groupConcat) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, g.child)
}

//nolint:staticcheck // the engine's name
func (g *groupConcat) WithId(id sql.ColumnId) sql.IdExpression {
	n := *g
	n.id = id
	return &n
}

func (g *groupConcat) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *g
	n.window = w
	return &n
}

// NewWindowFunction is never asked for: the parser takes no OVER after GROUP_CONCAT.
func (g *groupConcat) NewWindowFunction() (sql.WindowFunction, error) {
	return nil, sqlerr.Unsupported("GROUP_CONCAT(…) OVER")
}

func (g *groupConcat) NewBuffer() (sql.AggregationBuffer, error) {
	own, err := cloneExpr(g)
	if err != nil {
		return nil, err
	}
	b := &concatBuffer{g: own.(*groupConcat)}
	if g.distinct {
		b.seen = make(map[string]struct{})
	}
	return b, nil
}

// concatBuffer keeps of a group what its result can be made of: without an order its first
// group_concat_max_len bytes, with one little more than twice those that come first.
type concatBuffer struct {
	g       *groupConcat
	max     int // group_concat_max_len; 0: not read yet
	entries []concatEntry
	bytes   int // of the entries and the separators behind them
	seen    map[string]struct{}
	cut     bool // there is more than max
}

type concatEntry struct {
	text, key string
	orders    []any
}

// concatSlack is kept beyond twice the limit before a sorted group is cut, so that small limits do not
// sort often.
const concatSlack = 64 << 10

func (b *concatBuffer) Update(ctx *sql.Context, row sql.Row) error {
	if b.max == 0 {
		if err := b.readLimit(ctx); err != nil {
			return err
		}
	}
	full := len(b.g.orders) == 0 && b.bytes-len(b.g.separator) >= b.max
	if full && b.cut {
		return nil
	}
	e, ok, err := b.entry(ctx, row)
	if err != nil || !ok {
		return err
	}
	if full {
		b.cut = true
		return nil
	}
	if b.seen != nil {
		b.seen[e.key] = struct{}{}
	}
	if err := b.g.memory.Full(ctx); err != nil {
		return err
	}
	if err := b.g.memory.Admits(len(e.text) + len(e.key)); err != nil {
		return err
	}
	b.entries = append(b.entries, e)
	b.bytes += len(e.text) + len(b.g.separator)
	if len(b.g.orders) > 0 && b.bytes > 2*b.max+concatSlack {
		return b.drop(ctx)
	}
	return nil
}

func (b *concatBuffer) readLimit(ctx *sql.Context) error {
	v, err := ctx.GetSessionVariable(ctx, "group_concat_max_len")
	if err != nil {
		return err
	}
	b.max = maxFunctionBytes
	if n, ok := v.(uint64); ok && n < maxFunctionBytes {
		b.max = max(4, int(n))
	}
	return nil
}

// entry is what a row adds; false when that is nothing.
func (b *concatBuffer) entry(ctx *sql.Context, row sql.Row) (e concatEntry, ok bool, err error) {
	v, err := b.g.child.Eval(ctx, row)
	if err != nil || v == nil {
		return e, false, err
	}
	if e.text, err = longText(ctx, v); err != nil {
		return e, false, err
	}
	if b.seen != nil {
		by := b.g.child
		e.key = e.text
		if b.g.key != nil {
			by = b.g.key
			k, err := by.Eval(ctx, row)
			if err != nil {
				return e, false, err
			}
			if e.key, err = longText(ctx, k); err != nil {
				return e, false, err
			}
		}
		if c, _ := sql.GetCoercibility(ctx, by); IsText(by) && FoldsText(c) {
			weights, err := compare.AppendWeights(nil, c, e.key)
			if err != nil {
				return e, false, err
			}
			e.key = string(weights)
		}
		if _, there := b.seen[e.key]; there {
			return e, false, nil
		}
	}
	if len(e.text) > b.max+utf8.UTFMax {
		e.text = strings.Clone(e.text[:b.max+utf8.UTFMax])
	}
	for _, o := range b.g.orders {
		v, err := o.Eval(ctx, row)
		if err != nil {
			return e, false, err
		}
		if v, err = sql.UnwrapAny(ctx, v); err != nil {
			return e, false, err
		}
		e.orders = append(e.orders, v)
	}
	return e, true, nil
}

// sort brings the entries into order; those that are equal stay as they came.
func (b *concatBuffer) sort(ctx *sql.Context) error {
	var failed error
	slices.SortStableFunc(b.entries, func(x, y concatEntry) int {
		for i, o := range b.g.orders {
			c, err := compare.Values(ctx, o.Type(), x.orders[i], y.orders[i])
			if err != nil && failed == nil {
				failed = err
			}
			if b.g.descends[i] {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return failed
}

// drop forgets the entries that are behind the limit: what comes later can only move them further back.
func (b *concatBuffer) drop(ctx *sql.Context) error {
	if err := b.sort(ctx); err != nil {
		return err
	}
	bytes := 0
	for i, e := range b.entries {
		if bytes > b.max {
			for _, gone := range b.entries[i:] {
				delete(b.seen, gone.key)
			}
			clear(b.entries[i:])
			b.entries, b.bytes, b.cut = b.entries[:i], bytes, true
			return nil
		}
		bytes += len(e.text) + len(b.g.separator)
	}
	return nil
}

func (b *concatBuffer) Eval(ctx *sql.Context) (any, error) {
	if len(b.entries) == 0 {
		return nil, nil
	}
	if len(b.g.orders) > 0 {
		if err := b.sort(ctx); err != nil {
			return nil, err
		}
	}
	var out strings.Builder
	for i, e := range b.entries {
		if i > 0 {
			out.WriteString(b.g.separator)
		}
		out.WriteString(e.text)
		if out.Len() > b.max {
			break
		}
	}
	text := out.String()
	binary := types.IsBinaryType(b.g.Type())
	if len(text) > b.max {
		b.cut = true
		end := b.max
		for !binary && end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	if b.cut {
		ctx.Warn(1260, "A row was cut by GROUP_CONCAT(): group_concat_max_len is %d", b.max)
	}
	if binary {
		return []byte(text), nil
	}
	return text, nil
}

func (b *concatBuffer) Dispose() { expression.Dispose(b.g.child) }
