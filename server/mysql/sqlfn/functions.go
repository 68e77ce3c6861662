// Package sqlfn has the SQL functions, aggregates and operators that replace the engine's or are missing in it. Functions
// registers them; what stands for a form of the language (casts, CASE, arithmetic, GROUP_CONCAT) is put into the parsed
// statement by package rewrite, under the names of the constants here.
package sqlfn

import (
	"context"
	"strings"

	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
)

const (
	// maxFunctionBytes is the largest string a function may build (REPEAT, REPLACE, …); beyond it
	// the answer is NULL with warning 1301, as MySQL does with what exceeds max_allowed_packet.
	maxFunctionBytes = wire.MaxPacketBytes
	// maxArguments of a function that takes any number: no statement has as many parts.
	maxArguments = 200_000
)

// Memory says whether there is memory for what a function makes. Its errors end the statement.
type Memory interface {
	// Full is an error when there is none for more rows.
	Full(ctx context.Context) error
	// Admits is an error when there is none for text of so many bytes.
	Admits(bytes int) error
}

// Options of Functions; all are required.
type Options struct {
	Memory  Memory
	Regexps *Regexps
	Locks   *Locks
	Version string // of the server, as VERSION() tells it
	// Digest is a statement without its literals, and the digest of that.
	Digest func(text string) (normalised, digest string)
}

// Functions are those that replace the engine's or are missing in it, by lower-case name.
func Functions(o Options) map[string]sql.Function {
	out := make(map[string]sql.Function)
	for _, list := range [][]sql.Function{
		aggregateFunctions(), groupConcatFunctions(o.Memory), jsonAggregates(o.Memory), regexpFunctions(o.Regexps), jsonFunctions(o.Memory), stringFunctions(o.Memory), growingFunctions(o.Memory), castFunctions(), serverFunctions(o.Version), timeFunctions(), nowFunctions(), clockFunctions(), weekFunctions(),
		{dateFunction(), strToDate(), timeFormat()},
		dayFunctions(), unixTimeFunctions(), numberFunctions(), branchFunctions(), windowFunctions(), extremeFunctions(), windowTableFunctions(), lockFunctions(o.Locks),
		bigIntFunctions(), timeOfDayFunctions(), stringBitFunctions(o.Memory), bitOperators(), timeCastFunctions(), timeLiteralFunctions(), jsonStorageFunctions(), sessionFunctions(o.Digest), aesFunctions(o.Memory), roundFunctions(), formatFunctions(),
	} {
		for _, f := range list {
			out[strings.ToLower(f.FunctionName())] = f
		}
	}
	return out
}

// scalar is a function over evaluated arguments.
type scalar struct {
	name string
	args []sql.Expression
	// typeOf the result; it may depend on the arguments.
	typeOf func(args []sql.Expression) sql.Type
	// eval gets the arguments' values, none of them nil when strict.
	eval   func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error)
	strict bool // NULL in, NULL out
	// joins: the result is made of all arguments, and collated as they are together; they may have
	// maxFunctionBytes.
	joins bool
	// varies: its answer is not the same every time.
	varies bool
	// text, when set, is how a call that no user wrote shows in messages.
	text func(args []sql.Expression) string
}

// asArgument shows a call as its first argument.
func asArgument(args []sql.Expression) string { return args[0].String() }

var (
	_ sql.FunctionExpression         = (*scalar)(nil)
	_ sql.CollationCoercible         = (*scalar)(nil)
	_ sql.NonDeterministicExpression = (*scalar)(nil)
)

func fixed(t sql.Type) func([]sql.Expression) sql.Type {
	return func([]sql.Expression) sql.Type { return t }
}

// wrongCount is of arguments that a function does not take.
func wrongCount(name string) error {
	return sqlerr.New(1582, "42000", "Incorrect parameter count in the call to native function '%s'", strings.ToUpper(name))
}

// scalarFunction registers proto under its name for min to max arguments.
func scalarFunction(proto scalar, least, most int) sql.Function {
	return sql.FunctionN{Name: proto.name, Fn: func(args ...sql.Expression) (sql.Expression, error) {
		if len(args) < least || len(args) > most {
			return nil, wrongCount(proto.name)
		}
		f := proto
		f.args = args
		return &f, nil
	}}
}

func (f *scalar) FunctionName() string { return f.name }
func (f *scalar) Description() string  { return strings.ToUpper(f.name) }

// IsNonDeterministic keeps the planner from evaluating once what varies.
func (f *scalar) IsNonDeterministic() bool { return f.varies }

func (f *scalar) Resolved() bool {
	for _, a := range f.args {
		if !a.Resolved() {
			return false
		}
	}
	return true
}

func (f *scalar) String() string {
	if f.text != nil {
		return f.text(f.args)
	}
	parts := make([]string, len(f.args))
	for i, a := range f.args {
		parts[i] = a.String()
	}
	return f.name + "(" + strings.Join(parts, ",") + ")"
}

func (f *scalar) Type() sql.Type             { return f.typeOf(f.args) }
func (f *scalar) IsNullable() bool           { return true }
func (f *scalar) Children() []sql.Expression { return f.args }

func (f *scalar) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(f.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(children), len(f.args))
	}
	n := *f
	n.args = children
	return &n, nil
}

func (f *scalar) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	if len(f.args) == 0 {
		return ctx.GetCollation(), 4
	}
	collation, level := sql.GetCoercibility(ctx, f.args[0])
	if f.joins {
		for _, a := range f.args[1:] {
			c, l := sql.GetCoercibility(ctx, a)
			collation, level = sql.ResolveCoercibility(collation, level, c, l)
		}
	}
	return collation, level
}

func (f *scalar) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	values := make([]any, len(f.args))
	size := 0
	for i, a := range f.args {
		v, err := a.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if v == nil && f.strict {
			return nil, nil
		}
		if values[i], err = sql.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		if size += textBytes(values[i]); f.joins && size > maxFunctionBytes {
			return tooLong(ctx, f.name), nil
		}
	}
	return f.eval(ctx, values, f.args)
}
