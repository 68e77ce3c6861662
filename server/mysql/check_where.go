package mysql

import "github.com/dolthub/vitess/go/vt/sqlparser"

// checkWhere refuses aggregates in WHERE, which the engine fails at while it runs.
func checkWhere(stmt sqlparser.Statement) error {
	var err error
	inWhere := astWalk{node: func(n any) bool {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			return false // with aggregates of its own
		case *sqlparser.FuncExpr:
			if n.IsAggregate() && n.Over == nil {
				err = newError(1111, "HY000", "Invalid use of group function")
			}
		}
		return err == nil
	}}
	w := astWalk{node: func(n any) bool {
		if s, ok := n.(*sqlparser.Select); ok && s.Where != nil {
			inWhere.nodes, inWhere.depth, inWhere.chain = 0, 0, 0
			where := s.Where
			inWhere.statement(&sqlparser.Select{Where: where})
		}
		return err == nil
	}}
	w.statement(stmt)
	return err
}
