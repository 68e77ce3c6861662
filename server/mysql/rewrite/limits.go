package rewrite

import (
	"reflect"

	"millrace/server/mysql/sqlerr"

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
	// MaxJoin is how many tables one FROM clause may join, as in MySQL.
	MaxJoin = 61
)

var (
	ErrTooComplex = sqlerr.New(1436, "HY000", "Statement is too complex: it nests deeper than %d levels or has more than %d parts", maxDepth, maxNodes)
	errJoin       = sqlerr.New(1116, "HY000", "Too many tables; MySQL can only use %d tables in a join", MaxJoin)
)

// CheckComplexity bounds a statement before anything works on it.
func CheckComplexity(stmt sqlparser.Statement) error {
	var err error
	common := false
	w := Walk{Node: func(n any) bool {
		if with := withOf(n); with != nil && *with != nil {
			common = true
		}
		if sel, ok := n.(*sqlparser.Select); ok && joinSize(sel) > MaxJoin {
			err = errJoin
		}
		return err == nil
	}}
	w.Statement(stmt)
	if w.tooComplex {
		return ErrTooComplex
	}
	if err == nil && common && queriesOf(stmt, nil) > maxQueries {
		return errQueries
	}
	return err
}

// joinSize is how many tables a SELECT's own FROM clause joins.
func joinSize(sel *sqlparser.Select) int {
	size := 0
	w := Walk{Node: func(n any) bool {
		switch n.(type) {
		case *sqlparser.AliasedTableExpr, *sqlparser.JSONTableExpr:
			size++
			return false // what is inside is a FROM clause by itself
		}
		return true
	}}
	for _, t := range sel.From {
		w.value(reflect.ValueOf(t))
	}
	return size
}
