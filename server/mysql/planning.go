package mysql

import (
	"errors"
	"io"
	"slices"

	"millrace/server/mysql/joinorder"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// ownRules replaces rules of the planner by ours. Its list of rules is every analyzer's, and is changed in a copy. searchPanicked is told
// of panics in its search for an order of joins, which cost no more than that order.
func ownRules(a *analyzer.Analyzer, searchPanicked func(ctx *sql.Context, p any)) {
	for _, batch := range a.Batches {
		// Ours is boundplan's check_grouping.go.
		batch.Rules = slices.DeleteFunc(slices.Clone(batch.Rules), func(r analyzer.Rule) bool { return r.Id.String() == "validateGroupBy" })
		for i, r := range batch.Rules {
			switch r.Id.String() {
			case "optimizeJoins":
				batch.Rules[i].Apply = joinorder.Rule(r.Apply, searchPanicked)
			case "hoistOutOfScopeFilters":
				batch.Rules[i].Apply = hoistWherePossible(r.Apply)
			}
		}
	}
	interruptible(a)
}

// hoistWherePossible leaves conditions where they are that the planner's rule cannot move out of a subquery: those of a derived table with
// LATERAL that read outer columns only have no place above it, of which the rule makes an error.
func hoistWherePossible(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		out, same, err := apply(ctx, a, n, scope, sel, flags)
		if err != nil {
			return n, transform.SameTree, nil // it knows no other error
		}
		return out, same, nil
	}
}

// interruptible lets a planner end with its statement: between any two of its rules it looks whether there is still one to
// plan for.
func interruptible(a *analyzer.Analyzer) {
	for _, batch := range a.Batches {
		for i, r := range batch.Rules {
			apply := r.Apply
			batch.Rules[i].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
				if err := ctx.Err(); err != nil {
					return n, transform.SameTree, err
				}
				return apply(ctx, a, n, scope, sel, flags)
			}
		}
	}
}

// subqueryValue is the value of a subquery, as boundplan.ValueOf.
type subqueryValue func(ctx *sql.Context, sub *plan.Subquery, flags *sql.QueryFlags) (any, bool, error)

// valueOf carries out a subquery of a statement that is being planned, after checking that its tables may be read. What is wrong with it,
// as that it has two rows, is told when a row asks for its value, and MySQL does not tell it before either.
func (e *engine) valueOf(ctx *sql.Context, sub *plan.Subquery, flags *sql.QueryFlags) (any, bool, error) {
	v, err := e.onlyValue(ctx, sub.Query, flags)
	if err == nil {
		return v, true, nil
	}
	return nil, false, ctx.Err()
}

func (e *engine) onlyValue(ctx *sql.Context, query sql.Node, flags *sql.QueryFlags) (_ any, err error) {
	node, err := e.planSubquery(ctx, query, flags)
	if err != nil {
		return nil, err
	}
	iter, err := e.Analyzer.ExecBuilder.Build(ctx, node, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := iter.Close(ctx); err == nil {
			err = cerr
		}
	}()
	row, err := next(ctx, iter)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := next(ctx, iter); err == nil {
		return nil, sql.ErrExpectedSingleRow.New()
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return sql.UnwrapAny(ctx, row[0])
}

// planSubquery plans a subquery of a statement that is being planned, and checks that its tables may be read.
func (e *engine) planSubquery(ctx *sql.Context, query sql.Node, flags *sql.QueryFlags) (sql.Node, error) {
	node, err := e.Analyzer.Analyze(ctx, query, nil, flags)
	if err != nil {
		return nil, err
	}
	return node, checkPlan(ctx, node, false)
}
