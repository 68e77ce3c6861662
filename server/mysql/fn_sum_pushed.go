package mysql

import (
	"millrace/pushdown"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/shopspring/decimal"
)

var _ pushdown.SumAggregate = (*sum)(nil)

// SumArgument implements pushdown.SumAggregate.
func (s *sum) SumArgument() (sql.Expression, bool) { return s.child, s.window == nil }

// FinishSum implements pushdown.SumAggregate: what the accumulator makes of the same values.
func (s *sum) FinishSum(total any, count int64) (any, error) {
	a := newSumAccumulator(s.child.Type(), s.avg)
	a.count = count
	switch total := total.(type) {
	case decimal.Decimal:
		a.large = total
	case float64:
		a.float = total
	}
	return a.result(), nil
}
