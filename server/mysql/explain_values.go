package mysql

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"millrace/pushdown"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// standIns are values in the place of those of subqueries that are computed before the rest is planned: EXPLAIN shows what would be
// done with one, and does not compute it.
type standIns struct {
	e      *engine
	access *pushdown.Builder
	lines  []string // how the subqueries are read
	texts  []string // pairs: how a stand-in is shown, and its subquery
	first  int      // the first one's number, drawn: a literal of the statement's that is the same would be taken for a subquery
}

func newStandIns(e *engine, access *pushdown.Builder) *standIns {
	// Seven digits, so that small decimals have it, too, and no number begins another.
	return &standIns{e: e, access: access, first: 1_000_000 + rand.IntN(8_000_000)}
}

// valueOf is a subqueryValue.
func (s *standIns) valueOf(ctx *sql.Context, sub *plan.Subquery, flags *sql.QueryFlags) (any, bool, error) {
	node, err := s.e.planSubquery(ctx, sub.Query, flags)
	if err != nil {
		return nil, false, err
	}
	query := fmt.Sprintf("(select #%d)", len(s.texts)/2+2) // as MySQL numbers them
	value, shown := standIn(sub.Type(), s.first+len(s.texts)/2)
	if value == nil {
		return nil, false, nil
	}
	s.texts = append(s.texts, shown, query)
	s.lines = append(s.lines, "Computed first: "+query)
	how, err := accessLines(ctx, s.access, node)
	for _, l := range how {
		s.lines = append(s.lines, "  "+l)
	}
	return value, true, err
}

// standIn is the value of a type that a number stands for, and how it is shown; nil: the type has none.
func standIn(t sql.Type, number int) (value any, shown string) {
	switch {
	case types.IsDecimal(t):
		return decimal.NewFromInt(int64(number)), fmt.Sprint(number)
	case types.IsFloat(t):
		return float64(number), fmt.Sprint(number)
	case types.IsInteger(t):
		return int64(number), fmt.Sprint(number)
	case types.IsTextOnly(t):
		shown = fmt.Sprintf("⟨%d⟩", number)
		return shown, "'" + shown + "'"
	case types.IsTime(t):
		at := time.Unix(int64(number), 0).UTC()
		if types.IsDateType(t) {
			at = time.Date(1000, 1, 1+number%3_000_000, 0, 0, 0, 0, time.UTC)
		}
		return at, at.Format(time.DateTime)
	}
	return nil, ""
}

// named shows in a line of EXPLAIN the subqueries for their stand-ins.
func (s *standIns) named(line string) string { return strings.NewReplacer(s.texts...).Replace(line) }
