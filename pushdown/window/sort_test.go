package window

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func TestOnlyWhatComesOutTheSameIsSortedOnce(t *testing.T) {
	ordered := func(by func() sql.Expression) *Sort {
		return SortOf(&sql.WindowDefinition{OrderBy: sql.SortFields{{Column: by(), Order: sql.Ascending}}})
	}
	column := func() sql.Expression { return expression.NewGetField(0, types.Int64, "a", true) }
	other := func() sql.Expression { return expression.NewGetField(1, types.Int64, "b", true) }
	random := func() sql.Expression {
		e, err := function.NewRand()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if !ordered(column).Same(ordered(column)) {
		t.Error("two windows in the order of a column are sorted twice")
	}
	if ordered(column).Same(ordered(other)) {
		t.Error("two columns are taken for one")
	}
	if ordered(random).Same(ordered(random)) {
		t.Error("two RAND() are taken for one")
	}
}
