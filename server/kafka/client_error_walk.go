package kafka

import (
	"reflect"

	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// errorWalk knows where in a response, or a part of one, error codes are, and the names
// of what they are about. It is made once for an API.
type errorWalk struct {
	codes                              []int // fields
	message                            int   // a field, or -1; so are the others
	topic, topicID, group, transaction int
	below                              []errorBranch
}

type errorBranch struct {
	field int
	many  bool
	walk  *errorWalk
}

// maxNotedErrors bounds what one response is looked through for.
const maxNotedErrors = 100

// newErrorWalk returns nil for a type without a code in it.
func newErrorWalk(t reflect.Type) *errorWalk {
	w := &errorWalk{message: -1, topic: -1, topicID: -1, group: -1, transaction: -1}
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
		if below := newErrorWalk(typ); below != nil {
			w.below = append(w.below, errorBranch{i, many, below})
		}
	}
	if len(w.codes) == 0 && len(w.below) == 0 {
		return nil
	}
	return w
}

// any says whether there is a code other than 0.
func (w *errorWalk) any(v reflect.Value) bool {
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
func (w *errorWalk) each(v reflect.Value, at Refused, fn func(r Refused, message string) bool) bool {
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

// noteErrors notes the refusals in a response.
func (c *conn) noteErrors(a *api, h header, req kmsg.Request, resp kmsg.Response) {
	if a.errors == nil {
		return
	}
	v := reflect.ValueOf(resp).Elem()
	if !a.errors.any(v) {
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
	left := maxNotedErrors
	a.errors.each(v, about, func(r Refused, message string) bool {
		if c.s.isNormal(h.key, r.Code) {
			return true
		}
		if len(r.Topic) > 1 && r.Topic[:1] == topicIDPrefix {
			r.Topic = c.s.topicNamed(state.TopicID([]byte(r.Topic[1:])))
		}
		c.refuse(a, h, r, message, h.key == keySASLAuthenticate) // a failed login has its own line
		left--
		return left > 0
	})
}
