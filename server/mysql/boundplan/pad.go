package boundplan

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// padsSpace says whether text compares by c as if it were as long as the other with spaces: all
// collations older than those of Unicode 9 do.
func padsSpace(c sql.CollationID) bool {
	return c != sql.Collation_Unspecified && c != sql.Collation_binary && !strings.Contains(c.Name(), "_0900_")
}

// fixPadding takes the spaces at the end off text that compares by a collation that pads; the
// engine's comparisons never do. nil: nothing to do.
func fixPadding(ctx *sql.Context, e expression.Comparer) sql.Expression {
	left, right := e.Left(), e.Right()
	lc, lp := sql.GetCoercibility(ctx, left)
	rc, rp := sql.GetCoercibility(ctx, right)
	if coll, _ := sql.ResolveCoercibility(lc, lp, rc, rp); !padsSpace(coll) {
		return nil
	}
	for _, x := range []sql.Expression{left, right} {
		// Names in information_schema end with no spaces, and are looked up.
		if f, ok := x.(*expression.GetField); ok && strings.EqualFold(f.Database(), sql.InformationSchemaDatabaseName) {
			return nil
		}
	}
	if withoutPadding(left) == left && withoutPadding(right) == right {
		return nil
	}
	out, err := e.WithChildren(withoutPadding(left), withoutPadding(right))
	if err != nil {
		return nil
	}
	return out
}

func withoutPadding(e sql.Expression) sql.Expression {
	switch x := e.(type) {
	case *unpadded:
		return e
	case *expression.Literal:
		if s, ok := x.Value().(string); ok && strings.HasSuffix(s, " ") {
			return expression.NewLiteral(strings.TrimRight(s, " "), x.Type())
		}
		return e
	}
	return &unpadded{e}
}

// unpadded is text without the spaces at its end.
type unpadded struct{ text sql.Expression }

var (
	_ sql.Expression         = (*unpadded)(nil)
	_ sql.CollationCoercible = (*unpadded)(nil)
)

func (u *unpadded) Resolved() bool             { return u.text.Resolved() }
func (u *unpadded) IsNullable() bool           { return u.text.IsNullable() }
func (u *unpadded) Children() []sql.Expression { return []sql.Expression{u.text} }
func (u *unpadded) String() string             { return u.text.String() }
func (u *unpadded) Type() sql.Type             { return u.text.Type() }

func (u *unpadded) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, u.text)
}

func (u *unpadded) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(u, len(children), 1)
	}
	return &unpadded{children[0]}, nil
}

func (u *unpadded) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := u.text.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if s, ok := v.(string); ok {
		return strings.TrimRight(s, " "), nil
	}
	c, _, err := types.LongText.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	if s, ok := c.(string); ok {
		return strings.TrimRight(s, " "), nil
	}
	return v, nil
}
