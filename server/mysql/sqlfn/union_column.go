package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// UnionColumn is one column of a set operation while its members are bound: it has the type of all that are so far, so
// that the planner finds its sides alike. Of one statement and one goroutine.
type UnionColumn struct{ typ sql.Type }

// UnionMember stands for one member's column in the parsed statement.
type UnionMember struct {
	Column *UnionColumn
	Text   string // as it was written
}

var _ sqlparser.Injectable = UnionMember{}

func (m UnionMember) String() string { return m.Text }

// WithResolvedChildren implements sqlparser.Injectable.
func (m UnionMember) WithResolvedChildren(children []any) (any, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 1)
	}
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, sql.ErrInvalidType.New("union member")
	}
	if _, star := e.(*expression.Star); star {
		return e, nil
	}
	if t := e.Type(); m.Column.typ == nil {
		m.Column.typ = t
	} else {
		m.Column.typ = UnionType(m.Column.typ, t)
	}
	return &unionMember{expression.UnaryExpression{Child: e}, m.Column}, nil
}

// unionMember is a bound member's column. It is there until the statement is bound: see WithoutWrapper.
type unionMember struct {
	expression.UnaryExpression
	column *UnionColumn
}

var (
	_ sql.Expression         = (*unionMember)(nil)
	_ sql.CollationCoercible = (*unionMember)(nil)
)

// WithoutWrapper is what e stands for, if it is there only until a statement is bound.
func WithoutWrapper(e sql.Expression) (sql.Expression, bool) {
	switch e := e.(type) {
	case *unionMember:
		return e.Child, true
	case *atDepth:
		return e.Child, true
	}
	return e, false
}

func (m *unionMember) Type() sql.Type { return m.column.typ }
func (m *unionMember) String() string { return m.Child.String() }

func (m *unionMember) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, m.Child)
}

func (m *unionMember) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 1)
	}
	return &unionMember{expression.UnaryExpression{Child: children[0]}, m.column}, nil
}

func (m *unionMember) Eval(ctx *sql.Context, row sql.Row) (any, error) { return m.Child.Eval(ctx, row) }
