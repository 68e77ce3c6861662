package sqlfn

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// What TUMBLE and HOP become (window_table.go); no user can write these names unquoted.
const (
	NameTumble = "millrace tumble" // (ts, micros)
	NameHop    = "millrace hop"    // (ts, size, slide, k, shift): the k-th window back, NULL if ts is behind its end
)

// windowTableFunctions are those that TUMBLE and HOP become.
func windowTableFunctions() []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{
			name: NameTumble, strict: true, typeOf: windowType,
			text: func(args []sql.Expression) string { return fmt.Sprintf("TUMBLE(%s,%s)", args[0], args[1]) },
			eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
				at, ok := wallTime(ctx, args[0])
				size, err := windowArgument(ctx, args[1])
				if !ok || err != nil {
					return nil, err
				}
				return windowTime(floorTo(at.UnixMicro(), size)), nil
			},
		}, 2, 2),
		scalarFunction(scalar{
			name: NameHop, strict: true, typeOf: windowType,
			text: func(args []sql.Expression) string {
				return fmt.Sprintf("HOP(%s,%s,%s,%s)", args[0], args[1], args[2], args[3])
			},
			eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
				at, ok := wallTime(ctx, args[0])
				if !ok {
					return nil, nil
				}
				var n [4]int64
				for i := range n {
					v, err := windowArgument(ctx, args[i+1])
					if err != nil {
						return nil, err
					}
					n[i] = v
				}
				size, slide, k, shift := n[0], n[1], n[2], n[3]
				begin := floorTo(at.UnixMicro(), slide) - k*slide
				if at.UnixMicro() >= begin+size {
					return nil, nil
				}
				return windowTime(begin + shift), nil
			},
		}, 5, 5),
	}
}

func windowArgument(ctx *sql.Context, v any) (int64, error) {
	n, err := toInt(ctx, v)
	return int64(n), err
}

func floorTo(micros, size int64) int64 {
	r := micros % size
	if r < 0 {
		r += size
	}
	return micros - r
}

// windowTime is NULL beyond the times that there are.
func windowTime(micros int64) any {
	t := time.UnixMicro(micros).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return nil
	}
	return t
}

// windowType is DATETIME, with fractions where windows can begin at them.
func windowType(args []sql.Expression) sql.Type {
	sizes := args[1:2]
	if len(args) > 2 {
		sizes = args[1:3]
	}
	for _, a := range sizes {
		if lit, ok := a.(*expression.Literal); ok {
			if n, err := strconv.ParseInt(fmt.Sprint(lit.Value()), 10, 64); err == nil && n%1e6 != 0 {
				return types.MustCreateDatetimeType(sqltypes.Datetime, 6)
			}
		}
	}
	return types.MustCreateDatetimeType(sqltypes.Datetime, 0)
}
