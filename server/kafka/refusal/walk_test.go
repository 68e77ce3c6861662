package refusal

import (
	"reflect"
	"testing"

	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestTheWalkFindsEveryCodeOfEveryResponse(t *testing.T) {
	for key := range int16(kmsg.MaxKey) + 1 {
		req := kmsg.RequestForKey(key)
		if req == nil {
			continue
		}
		resp := req.ResponseKind()
		n, found := fillOne(reflect.ValueOf(resp).Elem()), 0
		NewWalk(reflect.TypeOf(resp).Elem()).Each(req, resp, state.TopicID.String, func(Refused, string) bool { found++; return true })
		if found < n {
			t.Errorf("%s: found %d of %d codes", kmsg.NameForKey(key), found, n)
		}
	}
}

// fillOne sets every code to 1, gives every list one element, and says how many codes there are.
func fillOne(v reflect.Value) (codes int) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case !f.CanSet():
		case v.Type().Field(i).Name == "ErrorCode":
			f.SetInt(1)
			codes++
		case f.Kind() == reflect.Struct:
			codes += fillOne(f)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			codes += fillOne(f.Index(0))
		}
	}
	return codes
}
