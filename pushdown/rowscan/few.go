package rowscan

import (
	"millrace/scan"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// ReadsLittle says whether a rule answers n, or what is right beneath its projections and limits, from next to nothing: the
// rows that it reads are no more than few, and are found without their values; few 0 or below: no.
func ReadsLittle(ctx *sql.Context, n sql.Node, few int64) (bool, error) {
	for {
		var child sql.Node
		switch x := n.(type) {
		case *plan.Project:
			child = x.Child
		case *plan.Offset:
			child = x.Child
		case *plan.Limit:
			if top, err := SortedLimit(x); err != nil {
				return false, err
			} else if top != nil {
				x = top.(*plan.Limit)
			}
			if d, err := Decide(ctx, x, false); err != nil || d != nil && d.short(few) {
				return err == nil, err
			}
			child = x.Child
		case *plan.TopN:
			d, err := Decide(ctx, x, false)
			return err == nil && d != nil && d.short(few), err
		default:
			return false, nil
		}
		n = child
	}
}

// short says that a rule reads next to nothing, or ends so soon that columns do not pay.
func (d *Decision) short(few int64) bool {
	if d.Node == nil || few <= 0 {
		return false
	}
	limit := max(d.Scan.Limit, d.Scan.PartitionLimit)
	return limit > 0 && limit <= few && early(d.Scan.Filter)
}

// early says that only what is known of a record before its value is read decides about it.
func early(e scan.Expr) bool {
	switch e := e.(type) {
	case nil, scan.Const:
		return true
	case scan.And:
		return allEarly(e.Args)
	case scan.Or:
		return allEarly(e.Args)
	case scan.Not:
		return early(e.Arg)
	case scan.Compare:
		return e.Column.Kind != scan.Expanded && e.Column.Kind != scan.Error
	case scan.In:
		return e.Column.Kind != scan.Expanded && e.Column.Kind != scan.Error
	case scan.IsNull:
		return e.Column.Kind != scan.Expanded && e.Column.Kind != scan.Error
	}
	return false
}

func allEarly(all []scan.Expr) bool {
	for _, e := range all {
		if !early(e) {
			return false
		}
	}
	return true
}
