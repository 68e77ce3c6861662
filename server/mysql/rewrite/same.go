package rewrite

import (
	"reflect"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// sameExpr says whether a and b are the same expression: parentheses around a part, the case of names, what a column is called
// and the table before its name, where only one has that, make no difference.
func sameExpr(a, b sqlparser.Expr) bool {
	return sameValue(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem())
}

func sameValue(a, b reflect.Value) bool {
	a, b = bare(a), bare(b)
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		switch x := a.Interface().(type) {
		case *sqlparser.ColName:
			y, ok := b.Interface().(*sqlparser.ColName)
			return ok && sameColumn(x, y)
		case *sqlparser.AliasedExpr:
			y, ok := b.Interface().(*sqlparser.AliasedExpr)
			return ok && sameExpr(x.Expr, y.Expr)
		}
		return sameValue(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameValue(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		if x, ok := a.Interface().(sqlparser.ColIdent); ok {
			return x.Equal(b.Interface().(sqlparser.ColIdent))
		}
		for i := range a.NumField() {
			if a.Type().Field(i).IsExported() && !sameValue(a.Field(i), b.Field(i)) {
				return false
			}
		}
		if t, ok := a.Interface().(sqlparser.TableIdent); ok {
			return t == b.Interface().(sqlparser.TableIdent)
		}
		return true
	default:
		return a.Equal(b)
	}
}

// bare is v, an expression, without parentheses around it.
func bare(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface && !v.IsNil() {
		p, ok := v.Interface().(*sqlparser.ParenExpr)
		if !ok {
			break
		}
		v = reflect.ValueOf(&p.Expr).Elem()
	}
	return v
}

func sameColumn(a, b *sqlparser.ColName) bool {
	return a.Name.Equal(b.Name) && (a.Qualifier.IsEmpty() || b.Qualifier.IsEmpty() || sqlparser.String(a.Qualifier) == sqlparser.String(b.Qualifier))
}
