package rewrite

import (
	"reflect"
	"strconv"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Walk visits every part of a parsed statement through reflection: the parser's own
// visitor cannot replace what it visits, and a hand-written list of its hundred node types
// would silently miss the next one.
type Walk struct {
	// expr, when set, is called for every expression after its parts, and returns what takes
	// its place.
	expr func(sqlparser.Expr) sqlparser.Expr
	// Node, when set, is called for every pointer to a node before its parts; false leaves
	// them out.
	Node func(any) bool

	nodes      int
	depth      int
	chain      int // AND and OR in all
	tooComplex bool
}

var (
	exprType      = reflect.TypeFor[sqlparser.Expr]()
	colIdentType  = reflect.TypeFor[sqlparser.ColIdent]()
	tableIDType   = reflect.TypeFor[sqlparser.TableIdent]()
	authInfoType  = reflect.TypeFor[sqlparser.AuthInformation]()
	sqlValType    = reflect.TypeFor[sqlparser.SQLVal]()
	injectedType  = reflect.TypeFor[sqlparser.InjectedExpr]()
	byteSliceType = reflect.TypeFor[[]byte]()
)

// Statement walks stmt; parts are replaced in place.
func (w *Walk) Statement(stmt sqlparser.Statement) {
	v := reflect.ValueOf(stmt)
	if v.Kind() == reflect.Pointer {
		w.value(v)
	}
}

func (w *Walk) value(v reflect.Value) {
	if w.tooComplex {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		w.inInterface(v)
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		w.nodes++
		deeper := 1
		switch v.Interface().(type) {
		case *sqlparser.AndExpr, *sqlparser.OrExpr:
			// Object mappers write chains of thousands; the planner takes them well.
			deeper = 0
			w.chain++
		}
		w.depth += deeper
		if w.nodes > maxNodes || w.depth > maxDepth || w.chain > maxChain {
			w.tooComplex = true
			return
		}
		if w.Node == nil || w.Node(v.Interface()) {
			w.value(v.Elem())
		}
		w.depth -= deeper
	case reflect.Struct:
		switch v.Type() {
		case colIdentType, tableIDType, authInfoType, sqlValType:
			return
		case injectedType:
			w.value(v.FieldByName("Children")) // the rest is ours
			return
		}
		for i := range v.NumField() {
			f := v.Field(i)
			if f.CanSet() && mayHoldNodes(f.Type()) {
				w.value(f)
			}
		}
	case reflect.Slice:
		if v.Type() == byteSliceType || !mayHoldNodes(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	}
}

// inInterface walks what an interface holds: through a pointer in place, else as a copy that is
// put back.
func (w *Walk) inInterface(v reflect.Value) {
	if v.IsNil() {
		return
	}
	held := v.Elem()
	if held.Kind() == reflect.Pointer {
		w.value(held)
	} else {
		c := reflect.New(held.Type()).Elem()
		c.Set(held)
		w.nodes++
		w.value(c)
		if v.CanSet() {
			v.Set(c)
		}
	}
	if w.expr == nil || v.Type() != exprType || !v.CanSet() {
		return
	}
	if e := w.expr(v.Interface().(sqlparser.Expr)); e != nil {
		v.Set(reflect.ValueOf(e))
	}
}

// replaceExpr is e with other expressions in the place of e or its parts: f gives what takes an expression's place, or nil
// and whether its parts are to be looked at. Texts of columns that hold a part are forgotten.
func replaceExpr(e sqlparser.Expr, f func(sqlparser.Expr) (with sqlparser.Expr, into bool)) sqlparser.Expr {
	holder := &sqlparser.ParenExpr{Expr: e}
	taken := map[any]sqlparser.Expr{} // by pointer
	w := Walk{Node: func(n any) bool {
		if a, ok := n.(*sqlparser.AliasedExpr); ok {
			a.InputExpression = ""
		}
		e, ok := n.(sqlparser.Expr)
		if !ok || n == holder {
			return true
		}
		with, into := f(e)
		if with != nil {
			taken[n] = with
		}
		return into && with == nil
	}, expr: func(e sqlparser.Expr) sqlparser.Expr {
		if reflect.TypeOf(e).Kind() == reflect.Pointer {
			if with := taken[e]; with != nil {
				return with
			}
		}
		return e
	}}
	w.value(reflect.ValueOf(holder))
	return holder.Expr
}

func mayHoldNodes(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Struct:
		return true
	case reflect.Slice:
		return mayHoldNodes(t.Elem())
	default:
		return false
	}
}

// call makes a function call of the parsed form; names are ours, so that nothing a user writes
// can meet them by chance.
func call(name string, args ...sqlparser.Expr) *sqlparser.FuncExpr {
	exprs := make(sqlparser.SelectExprs, len(args))
	for i, a := range args {
		exprs[i] = &sqlparser.AliasedExpr{Expr: a}
	}
	return &sqlparser.FuncExpr{Name: sqlparser.NewColIdent(name), Exprs: exprs}
}

// wholeNumberOf reads an integer literal.
func wholeNumberOf(e sqlparser.Expr) (int64, bool) {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok || v.Type != sqlparser.IntVal {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Val), 10, 64)
	return n, err == nil
}

// rewriteExpr replaces one expression whose meaning the engine gets wrong.
func rewriteExpr(e sqlparser.Expr) sqlparser.Expr {
	switch e := e.(type) {
	case *sqlparser.BinaryExpr:
		if r := rewriteJSONOperator(e); r != e {
			return r
		}
		return rewriteArithmetic(e)
	case *sqlparser.SubstrExpr:
		return rewriteSubstring(e)
	case *sqlparser.UnaryExpr:
		return rewriteUnary(e)
	case *sqlparser.ColName:
		return rewriteWarningCount(e)
	case *sqlparser.Default:
		return rewriteDefault(e)
	case *sqlparser.CaseExpr:
		return rewriteCase(e)
	case *sqlparser.ConvertExpr:
		return rewriteCast(e)
	case *sqlparser.ComparisonExpr:
		if r, ok := rewriteRegexpOperator(e); ok {
			return r
		}
		return rewriteIn(e)
	case *sqlparser.NotExpr:
		return rewriteNot(e)
	case *sqlparser.GroupConcatExpr:
		return rewriteGroupConcat(e)
	case *sqlparser.TimestampFuncExpr:
		return rewriteTimestampFunction(e)
	case *sqlparser.ExtractFuncExpr:
		return rewriteExtract(e)
	case *sqlparser.FuncExpr:
		rewriteTimeArguments(e)
		rewriteWindowCall(e)
		return rewriteAggregate(e)
	default:
		return e
	}
}
