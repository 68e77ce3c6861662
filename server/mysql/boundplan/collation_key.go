package boundplan

import (
	"encoding/hex"
	"strings"

	"millrace/pushdown/compare"
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// fixDistinct lets COUNT(DISTINCT …) count by its arguments' collations; the engine counts by their
// bytes. nil: nothing to do.
func fixDistinct(ctx *sql.Context, e *aggregation.CountDistinct) sql.Expression {
	changed := false
	out := make([]sql.Expression, len(e.Children()))
	for i, x := range e.Children() {
		out[i] = x
		if _, done := x.(*collationKey); done || !sqlfn.IsText(x) {
			continue
		}
		coll, _ := sql.GetCoercibility(ctx, x)
		if padsSpace(coll) {
			x, changed = withoutPadding(x), true
		}
		if sqlfn.FoldsText(coll) {
			x, changed = &collationKey{x, coll}, true
		}
		out[i] = x
	}
	if !changed {
		return nil
	}
	c, err := e.WithChildren(out...)
	if err != nil {
		return nil
	}
	return c
}

// fixFoldedEquality compares two columns by keys where their collation finds different text equal: a
// hash join would look them up by their bytes. nil: nothing to do.
func fixFoldedEquality(ctx *sql.Context, e expression.Comparer) sql.Expression {
	switch e.(type) {
	case *expression.Equals, *expression.NullSafeEquals:
	default:
		return nil
	}
	left, right := e.Left(), e.Right()
	for _, x := range []sql.Expression{left, right} {
		switch x := x.(type) {
		case *expression.Literal:
			if _, nullSafe := e.(*expression.NullSafeEquals); !nullSafe {
				return nil // compared value by value, which is right
			}
		case *expression.GetField:
			if strings.EqualFold(x.Database(), sql.InformationSchemaDatabaseName) {
				return nil
			}
		}
	}
	lc, lp := sql.GetCoercibility(ctx, left)
	rc, rp := sql.GetCoercibility(ctx, right)
	coll, _ := sql.ResolveCoercibility(lc, lp, rc, rp)
	if !sqlfn.FoldsText(coll) {
		return nil
	}
	out, err := e.WithChildren(&collationKey{left, coll}, &collationKey{right, coll})
	if err != nil {
		return nil
	}
	return out
}

// collationKey is text that is equal in its bytes where another is by its collation: the weights, in
// hexadecimal, since the engine wants text to be valid.
type collationKey struct {
	text      sql.Expression
	collation sql.CollationID
}

var keyType = types.CreateLongText(sql.Collation_utf8mb4_0900_bin)

var (
	_ sql.Expression         = (*collationKey)(nil)
	_ sql.CollationCoercible = (*collationKey)(nil)
)

func (k *collationKey) Resolved() bool             { return k.text.Resolved() }
func (k *collationKey) IsNullable() bool           { return k.text.IsNullable() }
func (k *collationKey) Children() []sql.Expression { return []sql.Expression{k.text} }
func (k *collationKey) String() string             { return k.text.String() }
func (k *collationKey) Type() sql.Type             { return keyType }

func (k *collationKey) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_utf8mb4_0900_bin, 2
}

func (k *collationKey) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(k, len(children), 1)
	}
	return &collationKey{children[0], k.collation}, nil
}

func (k *collationKey) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := k.text.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	key, err := foldedKey(ctx, v, k.text.Type(), k.collation)
	if err != nil {
		return nil, err
	}
	return key, nil
}

// foldedKey is the weights of v, which is not NULL, in hexadecimal.
func foldedKey(ctx *sql.Context, v any, t sql.Type, coll sql.CollationID) (string, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return "", err
	}
	s, err := sqlfn.ToText(ctx, v, t)
	if err != nil {
		return "", err
	}
	key, err := compare.AppendWeights(nil, coll, s)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(key), nil
}
