package sqlfn

import (
	"strings"
	"sync/atomic"
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// NameWarningCount stands for @@warning_count, and with 1 for @@error_count. No user can write its name unquoted.
const NameWarningCount = "millrace warning count"

// sessionFunctions tell of the session and of statements.
func sessionFunctions(digest func(text string) (normalised, digest string)) []sql.Function {
	var made atomic.Uint64 // by UUID_SHORT
	started := uint64(time.Now().Unix())
	return []sql.Function{
		scalarFunction(scalar{name: "current_role", typeOf: fixed(types.LongText), eval: func(*sql.Context, []any, []sql.Expression) (any, error) {
			return "NONE", nil
		}}, 0, 0),
		scalarFunction(scalar{name: "uuid_short", varies: true, typeOf: fixed(types.Uint64), eval: func(*sql.Context, []any, []sql.Expression) (any, error) {
			return 1<<56 + started<<24 + made.Add(1), nil // the server's number, which is 1, when it started, a count
		}}, 0, 0),
		scalarFunction(scalar{name: NameWarningCount, varies: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
			onlyErrors, _ := integerOf(args[0])
			n := int64(0)
			for _, w := range ctx.Session.Warnings() {
				if onlyErrors.abs == 0 || w.Level == "Error" {
					n++
				}
			}
			return n, nil
		}}, 1, 1),
		scalarFunction(scalar{name: "statement_digest", strict: true, typeOf: fixed(types.LongText), eval: digestOf(digest, func(_, digest string) string { return digest })}, 1, 1),
		scalarFunction(scalar{name: "statement_digest_text", strict: true, typeOf: fixed(types.LongText), eval: digestOf(digest, func(text, _ string) string { return text })}, 1, 1),
		sql.Function2{Name: "benchmark", Fn: func(count, e sql.Expression) sql.Expression { return &benchmark{count, e} }},
	}
}

// digestOf a statement, as millrace.statements has it.
func digestOf(digest func(string) (string, string), part func(text, digest string) string) func(*sql.Context, []any, []sql.Expression) (any, error) {
	return func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		s, err := ToText(ctx, args[0], exprs[0].Type())
		if err != nil {
			return nil, err
		}
		if _, err := sqlparser.Parse(s); err != nil {
			return nil, sqlerr.New(3676, "HY000", "Could not parse argument to digest function: \"%s\".", sqlerr.Clip(strings.TrimSpace(err.Error())))
		}
		return part(digest(s)), nil
	}
}

// benchmark is BENCHMARK(count, e), which evaluates e so many times, or until its statement ends.
type benchmark struct{ count, e sql.Expression }

var (
	_ sql.FunctionExpression         = (*benchmark)(nil)
	_ sql.NonDeterministicExpression = (*benchmark)(nil)
	_ sql.CollationCoercible         = (*benchmark)(nil)
)

func (b *benchmark) FunctionName() string { return "benchmark" }
func (b *benchmark) Description() string  { return "evaluates an expression many times" }
func (b *benchmark) Resolved() bool       { return b.count.Resolved() && b.e.Resolved() }
func (b *benchmark) String() string {
	return "benchmark(" + b.count.String() + "," + b.e.String() + ")"
}
func (b *benchmark) Type() sql.Type             { return types.Int64 }
func (b *benchmark) IsNullable() bool           { return true }
func (b *benchmark) IsNonDeterministic() bool   { return true }
func (b *benchmark) Children() []sql.Expression { return []sql.Expression{b.count, b.e} }

func (b *benchmark) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (b *benchmark) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(children), 2)
	}
	return &benchmark{children[0], children[1]}, nil
}

func (b *benchmark) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := b.count.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	n, err := toInt(ctx, v)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		ctx.Warn(1411, "Incorrect count value: '%d' for function benchmark", n)
		return nil, nil
	}
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := b.e.Eval(ctx, row); err != nil {
			return nil, err
		}
	}
	return int64(0), nil
}
