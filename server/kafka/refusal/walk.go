package refusal

import (
	"reflect"

	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Walk knows where in a response, or a part of one, error codes are, and the names
// of what they are about. It is made once for an API.
type Walk struct {
	codes                              []int // fields
	message                            int   // a field, or -1; so are the others
	topic, topicID, group, transaction int
	below                              []branch
}

type branch struct {
	field int
	many  bool
	walk  *Walk
}

// NewWalk returns nil for a type without a code in it.
func NewWalk(t reflect.Type) *Walk {
	w := &Walk{message: -1, topic: -1, topicID: -1, group: -1, transaction: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		switch f.Name {
		case "ErrorCode", "AcknowledgeErrorCode":
			w.codes = append(w.codes, i)
			continue
		case "ErrorMessage":
			w.message = i
			continue
		case "Topic":
			w.topic = i
		case "TopicID":
			w.topicID = i
		case "Group":
			w.group = i
		case "TransactionalID":
			w.transaction = i
		}
		typ, many := f.Type, false
		if typ.Kind() == reflect.Slice {
			typ, many = typ.Elem(), true
		}
		if typ.Kind() != reflect.Struct {
			continue
		}
		if below := NewWalk(typ); below != nil {
			w.below = append(w.below, branch{i, many, below})
		}
	}
	if len(w.codes) == 0 && len(w.below) == 0 {
		return nil
	}
	return w
}

// any says whether there is a code other than 0.
func (w *Walk) any(v reflect.Value) bool {
	for _, i := range w.codes {
		if v.Field(i).Int() != 0 {
			return true
		}
	}
	for _, b := range w.below {
		f := v.Field(b.field)
		if !b.many {
			if b.walk.any(f) {
				return true
			}
			continue
		}
		for i := range f.Len() {
			if b.walk.any(f.Index(i)) {
				return true
			}
		}
	}
	return false
}

// each calls fn with every code other than 0, until it returns false.
func (w *Walk) each(v reflect.Value, at Refused, fn func(r Refused, message string) bool) bool {
	name := func(field int, into *string) {
		if field < 0 {
			return
		}
		f := v.Field(field)
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				return
			}
			f = f.Elem()
		}
		if f.Kind() == reflect.String && f.Len() > 0 {
			*into = f.String()
		}
	}
	name(w.topic, &at.Topic)
	name(w.group, &at.Group)
	name(w.transaction, &at.TransactionalID)
	if w.topicID >= 0 && at.Topic == "" {
		if id, ok := v.Field(w.topicID).Interface().([16]byte); ok && id != [16]byte{} {
			at.Topic = topicIDPrefix + string(id[:])
		}
	}
	message := ""
	name(w.message, &message)
	for _, i := range w.codes {
		if code := int16(v.Field(i).Int()); code != 0 {
			at.Code = code
			if !fn(at, message) {
				return false
			}
		}
	}
	at.Code = 0
	for _, b := range w.below {
		f := v.Field(b.field)
		if !b.many {
			if !b.walk.each(f, at, fn) {
				return false
			}
			continue
		}
		for i := range f.Len() {
			if !b.walk.each(f.Index(i), at, fn) {
				return false
			}
		}
	}
	return true
}

// topicIDPrefix marks, on the way out of a walk, a topic of which only the id is known.
const topicIDPrefix = "\x00"

// Each calls fn with the refusals in the response to req, until it returns false. A topic that
// is known by its id alone has the name that named gives it. Nothing is in the responses of a nil Walk.
func (w *Walk) Each(req kmsg.Request, resp kmsg.Response, named func(state.TopicID) string, fn func(r Refused, message string) bool) {
	if w == nil {
		return
	}
	v := reflect.ValueOf(resp).Elem()
	if !w.any(v) {
		return
	}
	about := Refused{}
	in := reflect.ValueOf(req).Elem()
	for field, into := range map[string]*string{"Group": &about.Group, "TransactionalID": &about.TransactionalID} {
		f := in.FieldByName(field)
		if f.IsValid() && f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		if f.IsValid() && f.Kind() == reflect.String {
			*into = f.String()
		}
	}
	w.each(v, about, func(r Refused, message string) bool {
		if len(r.Topic) > 1 && r.Topic[:1] == topicIDPrefix {
			r.Topic = named(state.TopicID([]byte(r.Topic[1:])))
		}
		return fn(r, message)
	})
}
