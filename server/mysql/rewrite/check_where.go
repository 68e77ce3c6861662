package rewrite

import (
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// CheckWhere refuses aggregates in WHERE, which the engine fails at while it runs.
func CheckWhere(stmt sqlparser.Statement) error {
	var err error
	inWhere := Walk{Node: func(n any) bool {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			return false // with aggregates of its own
		case *sqlparser.FuncExpr:
			if n.IsAggregate() && n.Over == nil {
				err = sqlerr.New(1111, "HY000", "Invalid use of group function")
			}
		}
		return err == nil
	}}
	w := Walk{Node: func(n any) bool {
		if s, ok := n.(*sqlparser.Select); ok && s.Where != nil {
			inWhere.nodes, inWhere.depth, inWhere.chain = 0, 0, 0
			where := s.Where
			inWhere.Statement(&sqlparser.Select{Where: where})
		}
		return err == nil
	}}
	w.Statement(stmt)
	return err
}
