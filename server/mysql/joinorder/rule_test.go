package joinorder

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

func TestAPanicOfTheSearchIsToldAndCostsOnlyItsOrder(t *testing.T) {
	search := func(*sql.Context, *analyzer.Analyzer, sql.Node, *plan.Scope, analyzer.RuleSelector, *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		panic("lost")
	}
	var told []any
	rule := Rule(search, func(_ *sql.Context, p any) { told = append(told, p) })
	join := plan.NewLeftOuterJoin(plan.NewResolvedDualTable(), plan.NewResolvedDualTable(), always)
	out, _, err := rule(sql.NewEmptyContext(), nil, join, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if j, ok := out.(*plan.JoinNode); !ok || j.Op != plan.JoinTypeLeftOuter {
		t.Errorf("the join became %v", out)
	}
	if len(told) != 1 || told[0] != "lost" {
		t.Errorf("told %v, want one panic", told)
	}
}
