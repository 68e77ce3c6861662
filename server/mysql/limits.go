package mysql

import (
	"reflect"

	"millrace/server/mysql/wire"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

const (
	// maxNodes of a parsed statement. The planner's time grows with it; 100,000 literals of
	// an IN list or a VALUES take well under a second.
	maxNodes = 200_000
	// maxDepth of nesting. The planner is quadratic in it: 1+1+… with 500 terms takes
	// 0.1 s, with 5,000 terms 20 s, and it cannot be interrupted.
	maxDepth = 600
	// maxChain is how many AND and OR a statement may have.
	maxChain = 4_000
	// maxJoin is how many tables one FROM clause may join, subqueries in its WHERE included, which
	// become joins. The planner tries all orders of up to 15, three to five times as many with each
	// table: 10 take 0.3 s, 14 more than a minute, and it cannot be interrupted.
	maxJoin = 10
	// maxPrepared statements of one connection, and maxCursors open ones.
	maxPrepared = 4096
	maxCursors  = 64
	// maxPreparedBytes of one connection: the texts of its prepared statements, and what
	// COM_STMT_SEND_LONG_DATA piles up on them.
	maxPreparedBytes = 16 << 20
	// maxFunctionBytes is the largest string a function may build (REPEAT, REPLACE, …); beyond it
	// the answer is NULL with warning 1301, as MySQL does with what exceeds max_allowed_packet.
	maxFunctionBytes = wire.MaxPacketBytes
)

// checkComplexity bounds a statement before anything works on it.
func checkComplexity(stmt sqlparser.Statement) error {
	var err error
	w := astWalk{node: func(n any) bool {
		if sel, ok := n.(*sqlparser.Select); ok && joinSize(sel) > maxJoin {
			err = errJoin
		}
		return err == nil
	}}
	w.statement(stmt)
	if w.tooComplex {
		return errTooComplex
	}
	return err
}

// joinSize is how many tables the planner finds an order for.
func joinSize(sel *sqlparser.Select) int {
	size := 0
	w := astWalk{node: func(n any) bool {
		switch n.(type) {
		case *sqlparser.AliasedTableExpr, *sqlparser.JSONTableExpr, *sqlparser.Subquery:
			size++
			return false // what is inside is planned by itself
		}
		return true
	}}
	for _, t := range sel.From {
		w.value(reflect.ValueOf(t))
	}
	if sel.Where != nil {
		w.value(reflect.ValueOf(sel.Where))
	}
	return size
}
