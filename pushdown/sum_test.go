package pushdown_test

import (
	"fmt"
	"strings"
	"testing"

	"millrace/catalog/sqltable"
	"millrace/pushdown/window"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// withSums adds an exact aggregate to the engine's functions, under a name that its
// planner takes for an aggregate's.
type withSums struct{ *sqltable.Provider }

func (withSums) Function(_ *sql.Context, name string) (sql.Function, bool) {
	for _, f := range window.Functions(nil) {
		if strings.EqualFold(f.FunctionName(), name) {
			return f, true
		}
	}
	if !strings.EqualFold(name, "first") {
		return nil, false
	}
	return sql.Function1{Name: "first", Fn: func(e sql.Expression) sql.Expression {
		return &testSum{UnaryExpression: expression.UnaryExpression{Child: e}}
	}}, true
}

// testSum is an exact SUM.
type testSum struct {
	expression.UnaryExpression
	id     sql.ColumnId
	window *sql.WindowDefinition
}

func (s *testSum) Type() sql.Type {
	switch t := s.Child.Type(); {
	case types.IsDecimal(t):
		return types.MustCreateDecimalType(65, t.(sql.DecimalType).Scale())
	case types.IsInteger(t):
		return types.MustCreateDecimalType(42, 0)
	}
	return types.Float64
}
func (s *testSum) String() string { return fmt.Sprintf("first(%s)", s.Child) }

//nolint:staticcheck // the engine's name
func (s *testSum) Id() sql.ColumnId { return s.id }

func (s *testSum) Window() *sql.WindowDefinition                  { return s.window }
func (s *testSum) NewWindowFunction() (sql.WindowFunction, error) { return nil, nil }
func (s *testSum) Eval(*sql.Context, sql.Row) (any, error)        { return nil, fmt.Errorf("an aggregate") }

func (s *testSum) NewBuffer() (sql.AggregationBuffer, error) { return &testSumBuffer{s: s}, nil }

func (s *testSum) SumArgument() (arg sql.Expression, avg, ok bool) {
	return s.Child, false, true
}

//nolint:staticcheck // the engine's name
func (s *testSum) WithId(id sql.ColumnId) sql.IdExpression { n := *s; n.id = id; return &n }

func (s *testSum) WithWindow(w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *s
	n.window = w
	return &n
}

func (s *testSum) WithChildren(c ...sql.Expression) (sql.Expression, error) {
	n := *s
	n.Child = c[0]
	return &n, nil
}

type testSumBuffer struct {
	s       *testSum
	decimal decimal.Decimal
	float   float64
	isFloat bool
	count   int64
}

func (b *testSumBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := b.s.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return err
	}
	b.count++
	switch v := v.(type) {
	case float64:
		b.isFloat = true
		b.float += v
	case decimal.Decimal:
		b.decimal = b.decimal.Add(v)
	default:
		d, err := decimal.NewFromString(fmt.Sprint(v))
		if err != nil {
			return err
		}
		b.decimal = b.decimal.Add(d)
	}
	return nil
}

func (b *testSumBuffer) Eval(*sql.Context) (any, error) {
	switch {
	case b.count == 0:
		return nil, nil
	case b.isFloat:
		return b.float, nil
	}
	return b.decimal, nil
}

func (b *testSumBuffer) Dispose() {}

func TestSumsAreExactAndPushedDown(t *testing.T) { // C02, C05, C26
	b := newBench(t)
	id := b.topic("c26", 2, map[string]string{"millrace.columns": "v BIGINT, u BIGINT UNSIGNED, d DECIMAL(10,2), f DOUBLE, g VARCHAR(5), k BOOLEAN"})
	b.values(id, 0, `{"v":9007199254740993,"u":18446744073709551615,"d":0.1,"f":0.5,"g":"a","k":true}`, `{"v":9223372036854775807,"g":"b"}`)
	b.values(id, 1, `{"v":9223372036854775807,"u":18446744073709551615,"d":12.1,"f":0.25,"g":"a","k":true}`, `{"g":null,"v":-1,"f":0.125}`)
	b.want("SELECT FIRST(v),FIRST(u),FIRST(d),FIRST(f),FIRST(k) FROM c26",
		"18455751272964292606,36893488147419103230,12.20,0.875,2")
	b.want("SELECT g,FIRST(v),FIRST(d),COUNT(*) FROM c26 WHERE _offset<5 GROUP BY g ORDER BY g",
		"NULL,-1,NULL,1", "a,9232379236109516800,12.20,2", "b,9223372036854775807,NULL,1")
	b.want("SELECT FIRST(v) FROM c26 WHERE v=5", "NULL")
	for q, pushed := range map[string]bool{
		"SELECT FIRST(v) FROM c26":                            true,
		"SELECT g,FIRST(d) FROM c26 GROUP BY g":               true,
		"SELECT FIRST(v*1.5) FROM c26":                        true,
		"SELECT SUM(v) FROM c26":                              false, // the engine's own is not exact
		"SELECT FIRST(g) FROM c26":                            false,
		"SELECT UPPER(g),COUNT(*) FROM c26 GROUP BY UPPER(g)": true,
		"SELECT COUNT(DISTINCT g) FROM c26":                   true,
		"SELECT COUNT(DISTINCT g,v) FROM c26":                 true,
	} {
		if s := b.explain(q); strings.Contains(s, "Aggregate") != pushed {
			t.Errorf("%s: pushed should be %v\n%s", q, pushed, s)
		}
	}
}
