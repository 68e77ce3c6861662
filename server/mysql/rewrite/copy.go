package rewrite

import "reflect"

// copyNode is another n with other parts, which can be changed without n.
func copyNode[T any](n T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(copyValue(reflect.ValueOf(&n).Elem()))
	return out.Interface().(T)
}

func copyValue(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(copyValue(v.Elem()))
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(copyValue(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(copyValue(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v) // what is not exported is text
		for i := range v.NumField() {
			if f := out.Field(i); f.CanSet() {
				f.Set(copyValue(v.Field(i)))
			}
		}
		return out
	default:
		return v
	}
}
