package boundplan

import (
	"millrace/pushdown/compare"
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// fixExpansions has text that is compared by a collation that expands characters (ß is ss) compared
// expanded, in whatever compares but the operators, which are fixExpanded's. LIKE stays: as MySQL's it
// compares character by character. nil: nothing to do.
func fixExpansions(ctx *sql.Context, e sql.Expression) sql.Expression {
	switch e := e.(type) {
	case *expression.Between, *function.StrCmp, *function.FindInSet:
		return expandedTogether(ctx, e, e.Children())
	case *expression.InTuple:
		list, ok := e.Right().(expression.Tuple)
		if !ok {
			return nil
		}
		operands := append([]sql.Expression{e.Left()}, list...)
		if !expandTogether(ctx, operands) {
			return nil
		}
		return expression.NewInTuple(operands[0], expression.Tuple(operands[1:]))
	case *expression.Case:
		return expandedCase(ctx, e)
	case *function.NullIf:
		if equal := fixExpanded(ctx, expression.NewEquals(e.LeftChild, e.RightChild)); equal != nil {
			return function.NewIf(equal, expression.NewLiteral(nil, types.Null), e.LeftChild)
		}
	}
	return nil
}

// fixExpanded is fixExpansions of an operator.
func fixExpanded(ctx *sql.Context, e expression.Comparer) sql.Expression {
	return expandedTogether(ctx, e, []sql.Expression{e.Left(), e.Right()})
}

func expandedTogether(ctx *sql.Context, e sql.Expression, operands []sql.Expression) sql.Expression {
	if !expandTogether(ctx, operands) {
		return nil
	}
	out, err := e.WithChildren(operands...)
	if err != nil {
		return nil
	}
	return out
}

// expandTogether expands operands if they are text that is compared together by a collation that
// expands. operands is changed.
func expandTogether(ctx *sql.Context, operands []sql.Expression) bool {
	var together sql.CollationID
	level := byte(0)
	for i, x := range operands {
		if x == nil || !sqlfn.IsText(x) {
			return false
		}
		c, l := sql.GetCoercibility(ctx, x)
		if i == 0 {
			together, level = c, l
		} else {
			together, level = sql.ResolveCoercibility(together, level, c, l)
		}
	}
	if !compare.Expands(together) {
		return false
	}
	changed := false
	for i, x := range operands {
		if y := compare.Expanded(x); y != x {
			operands[i], changed = y, true
		}
	}
	return changed
}

// expandedCase is CASE x WHEN y …, which compares x with every y.
func expandedCase(ctx *sql.Context, e *expression.Case) sql.Expression {
	if e.Expr == nil {
		return nil
	}
	operands := []sql.Expression{e.Expr}
	for _, b := range e.Branches {
		operands = append(operands, b.Cond)
	}
	if !expandTogether(ctx, operands) {
		return nil
	}
	branches := make([]expression.CaseBranch, len(e.Branches))
	for i, b := range e.Branches {
		branches[i] = expression.CaseBranch{Cond: operands[i+1], Value: b.Value}
	}
	return expression.NewCase(operands[0], branches, e.Else)
}
