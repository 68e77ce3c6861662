package blobexpand

import "millrace/blobexpand/jsonval"

// appendRest writes row r of _rest: a JSON object of the members that have no
// column, at their places; NULL when there are none. Members that are null or
// empty objects are not in it.
func (e *Expander) appendRest(b []byte, r int) {
	v := &e.rest
	if !e.w.rest {
		v.putNull(r)
		return
	}
	from := len(v.data)
	var any bool
	v.data, any = e.restOf(v.data, e.w.root, b, jsonval.Space(b, 0))
	if !any {
		v.data = v.data[:from]
		v.putNull(r)
		return
	}
	v.putText(r)
}

// restOf appends the rest of the object at b[i], of a valid row, and says whether
// there is any (if not, what it appended is to be dropped).
func (e *Expander) restOf(dst []byte, n *node, b []byte, i int) ([]byte, bool) {
	var last map[string]int // where each member stands last, if one stands twice
	if e.w.doubled {
		last = map[string]int{}
		eachMember(b, i, func(key, keyEnd, _, _ int) {
			name, _ := memberName(b[key:keyEnd])
			last[name] = key
		})
	}
	any := false
	dst = append(dst, '{')
	eachMember(b, i, func(key, keyEnd, start, end int) {
		kind := kindAt(b[start])
		if kind == vNull {
			return
		}
		name, named := memberName(b[key:keyEnd])
		if last != nil && last[name] != key {
			return
		}
		var child *node
		if named {
			child = n.child(name)
		}
		if child != nil && child.slot >= 0 && kind != vObject {
			return
		}
		if kind == vObject && jsonval.Space(b, start+1) == end-1 {
			return
		}
		from := len(dst)
		if any {
			dst = append(dst, ',')
		}
		dst = append(append(dst, b[key:keyEnd]...), ':')
		if kind == vObject && child != nil {
			if child.declared {
				dst = dst[:from]
				return
			}
			var some bool
			if dst, some = e.restOf(dst, child, b, start); !some {
				dst = dst[:from]
				return
			}
		} else {
			dst = append(dst, b[start:end]...)
		}
		any = true
	})
	return append(dst, '}'), any
}

// eachMember calls fn with the bounds of every member's name (quotes included) and
// value in the object at b[i], of a valid text.
func eachMember(b []byte, i int, fn func(key, keyEnd, start, end int)) {
	if i = jsonval.Space(b, i+1); b[i] == '}' {
		return
	}
	for {
		key := i
		i, _ = jsonval.String(b, i)
		keyEnd := i
		start := jsonval.Space(b, jsonval.Space(b, i)+1)
		end := jsonval.Skip(b, start, 0)
		fn(key, keyEnd, start, end)
		if i = jsonval.Space(b, end); b[i] == '}' {
			return
		}
		i = jsonval.Space(b, i+1)
	}
}
