package mysql

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// interruptible lets a planner end with its statement: between any two of its rules it looks whether there is still one to
// plan for. Its list of rules is every analyzer's, and is changed in a copy.
func interruptible(a *analyzer.Analyzer) {
	for _, batch := range a.Batches {
		batch.Rules = slices.Clone(batch.Rules)
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
