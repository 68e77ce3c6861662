package blobexpand

import (
	"encoding/binary"
	"math"

	"millrace/blobexpand/jsonval"
)

// The walker reads one value against a tree of the members that are wanted (or
// known) and of those it has learned to step over. Every object node predicts
// which member comes after which, so that on records of one make a key costs one
// comparison; everything else is validated at the same time and the same pace.

// valueKind is what stands at a member.
type valueKind uint8

const (
	vAbsent valueKind = iota
	vNull
	vTrue
	vFalse
	vNumber
	vString
	vArray
	vObject
)

// span is where a member's value lies in the current row; strings without quotes.
type span struct {
	row        uint32 // the row it belongs to; another row: absent
	start, end uint32
	kind       valueKind
	flags      jsonval.Flags
	point      uint16 // of a number: where its '.' is, from start; 0: none, or farther
}

// maxLearned bounds the members an object node remembers only to step over them,
// maxLearnedName their length in bytes. Beyond, a member costs a scan and a lookup.
const (
	maxLearned     = 256
	maxLearnedName = 128
)

// noEdge says that no member is predicted.
const noEdge = int32(-1)

// edge leads from an object node to one of its members.
type edge struct {
	head   [2]uint64 // the first sixteen bytes of quoted
	mask   [2]uint64 // and which of their bits count
	quoted string    // the name as JSON text with the colon, as it is usually spelled
	child  *node     // nil: a member to step over
	seen   uint32    // row of the last sight
	follow [2]int32  // which edges came after this one, likeliest first
}

func newEdge(name string, child *node) edge {
	q := append(jsonval.AppendQuoted(nil, name), ':')
	e := edge{quoted: string(q), child: child, follow: [2]int32{noEdge, noEdge}}
	for i := range q[:min(len(q), 16)] {
		e.head[i>>3] |= uint64(q[i]) << (8 * (i & 7))
		e.mask[i>>3] |= 0xff << (8 * (i & 7))
	}
	return e
}

// at says whether b continues at i with the member's name and a colon.
func (e *edge) at(b []byte, i int) bool {
	if len(b)-i >= 16 {
		x := (binary.LittleEndian.Uint64(b[i:])^e.head[0])&e.mask[0] |
			(binary.LittleEndian.Uint64(b[i+8:])^e.head[1])&e.mask[1]
		if x != 0 {
			return false
		}
		if len(e.quoted) <= 16 {
			return true
		}
	}
	return e.slowlyAt(b, i)
}

func (e *edge) slowlyAt(b []byte, i int) bool {
	q := e.quoted
	return len(b)-i > len(q) && string(b[i:i+len(q)]) == q
}

// node is a path in the tree. The root is the value itself.
type node struct {
	edges   []edge
	index   map[string]int32 // by unquoted name
	first   [2]int32         // which edges came first
	learned int
	slot    int32 // where the value's span goes; -1: nowhere
	stop    bool  // objects here are stepped over: nothing below is wanted
	// expansion: a declared column shows what is here, objects too
	declared bool
	inf      *inferred // inference: the column here, if any
	info     *treeInfo // inference: what is known of the object here
}

func newNode() *node {
	return &node{first: [2]int32{noEdge, noEdge}, slot: -1}
}

// add makes an edge to a new or given child.
func (n *node) add(name string, child *node) int32 {
	if i, ok := n.index[name]; ok {
		n.edges[i].child = child
		return i
	}
	i := int32(len(n.edges))
	n.edges = append(n.edges, newEdge(name, child))
	if n.index == nil {
		n.index = map[string]int32{}
	}
	n.index[name] = i
	return i
}

// child returns the node of member name, or nil.
func (n *node) child(name string) *node {
	if i, ok := n.index[name]; ok {
		return n.edges[i].child
	}
	return nil
}

// walker holds the state of one reader of values. Not safe for concurrent use.
type walker struct {
	root  *node
	slots []span
	row   uint32
	b     []byte
	name  []byte // scratch for unescaped member names

	inf      *Inference // set: infer instead of recording spans
	wantRest bool
	rest     bool // this row has members without a place
	doubled  bool // this row has a member twice
}

// walk reads one value. ok is false where it is not JSON, at byte bad.
func (w *walker) walk(value []byte) (object bool, bad int, ok bool) {
	if w.row == ^uint32(0) {
		w.row = 0
		clear(w.slots)
		w.root.forget()
	}
	w.row++
	w.b = value
	w.rest, w.doubled = false, false
	i := jsonval.Space(value, 0)
	var end int
	if i < len(value) && value[i] == '{' {
		object = true
		end = w.object(w.root, i, 1)
	} else {
		end = jsonval.Skip(value, i, 0)
	}
	if end < 0 {
		return object, ^end, false
	}
	if end = jsonval.Space(value, end); end != len(value) {
		return object, end, false
	}
	return object, 0, true
}

// forget clears the row stamps below n.
func (n *node) forget() {
	for i := range n.edges {
		n.edges[i].seen = 0
		if c := n.edges[i].child; c != nil {
			c.forget()
		}
	}
}

// object reads the object that starts at w.b[i]; depth counts it.
func (w *walker) object(n *node, i, depth int) int {
	b := w.b
	if i++; i < len(b) && b[i] <= ' ' {
		i = jsonval.Space(b, i)
	}
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	pred := &n.first
	for {
		// The member's name, and its colon.
		key := i
		keyEnd := i
		var e *edge
		if p := pred[0]; p >= 0 {
			// As edge.at, which the compiler does not inline.
			pe := &n.edges[p]
			if len(b)-i >= 16 {
				if (binary.LittleEndian.Uint64(b[i:])^pe.head[0])&pe.mask[0]|
					(binary.LittleEndian.Uint64(b[i+8:])^pe.head[1])&pe.mask[1] == 0 &&
					(len(pe.quoted) <= 16 || pe.slowlyAt(b, i)) {
					e = pe
				}
			} else if pe.slowlyAt(b, i) {
				e = pe
			}
			if e != nil {
				i += len(e.quoted)
				keyEnd = i - 1
			}
		}
		if e == nil {
			var at int32
			if at, keyEnd = w.lookup(n, i, pred[1]); keyEnd < 0 {
				return keyEnd
			}
			if at >= 0 {
				e = &n.edges[at]
				if at != pred[1] {
					pred[1] = pred[0]
					pred[0] = at
				}
			}
			if i = jsonval.Space(b, keyEnd); i >= len(b) || b[i] != ':' {
				return ^i
			}
			i++
		}
		if i < len(b) && b[i] <= ' ' {
			i = jsonval.Space(b, i)
		}
		if i >= len(b) {
			return ^len(b)
		}

		var child *node
		if e != nil {
			child = e.child
			if e.seen == w.row && child != nil && w.inf == nil {
				w.doubled = true
				w.clear(child) // a duplicate: the last one wins, whole
			}
			e.seen = w.row
		}

		// Its value.
		var (
			start = i
			point int
			kind  valueKind
			fl    jsonval.Flags
		)
		switch c := b[i]; {
		case c == '"':
			kind = vString
			if end := jsonval.Plain(b, i); end >= 0 {
				i = end
			} else {
				i, fl = jsonval.String(b, i)
			}
		case c-'0' < 10 || c == '-':
			kind = vNumber
			i, point, fl = jsonval.Number(b, i)
		case c == '{':
			kind = vObject
			if child != nil && !child.stop {
				if depth >= jsonval.MaxDepth {
					return ^i
				}
				i = w.object(child, i, depth+1)
			} else {
				i = jsonval.Skip(b, i, depth)
			}
		case c == '[':
			kind = vArray
			i = jsonval.Skip(b, i, depth)
		case c == 't':
			kind = vTrue
			i = jsonval.Literal(b, i)
		case c == 'f':
			kind = vFalse
			i = jsonval.Literal(b, i)
		case c == 'n':
			kind = vNull
			i = jsonval.Literal(b, i)
		default:
			return ^i
		}
		if i < 0 {
			return i
		}

		switch {
		case w.inf != nil:
			if kind != vNull && (child == nil || kind != vObject && (child.inf == nil || !child.inf.knows(b, start, i, point, kind, fl))) {
				w.inf.offer(n, child, key, keyEnd, start, i, kind, fl)
			}
		case child != nil && child.slot >= 0:
			s := &w.slots[child.slot]
			s.row, s.start, s.end = w.row, uint32(start), uint32(i)
			s.kind, s.flags, s.point = kind, fl, 0
			switch kind {
			case vString:
				s.start++
				s.end--
			case vNumber:
				if at := point - start; at > 0 && at <= math.MaxUint16 {
					s.point = uint16(at)
				}
			}
		case w.wantRest && kind != vNull && (child == nil || kind != vObject):
			w.rest = true
		}
		if e != nil {
			pred = &e.follow
		}

		if i < len(b) && b[i] <= ' ' {
			i = jsonval.Space(b, i)
		}
		if i >= len(b) {
			return ^len(b)
		}
		if b[i] == ',' {
			if i++; i < len(b) && b[i] <= ' ' {
				i = jsonval.Space(b, i)
			}
			continue
		}
		if b[i] == '}' {
			return i + 1
		}
		return ^i
	}
}

// lookup reads the name at b[i] that was not the predicted one, and finds its
// edge: -1 when it has none. end is just after the name.
func (w *walker) lookup(n *node, i int, alt int32) (at int32, end int) {
	b := w.b
	if alt >= 0 && n.edges[alt].at(b, i) {
		return alt, i + len(n.edges[alt].quoted) - 1
	}
	if i >= len(b) || b[i] != '"' {
		return noEdge, ^i
	}
	end, fl := jsonval.String(b, i)
	if end < 0 {
		return noEdge, end
	}
	name := b[i+1 : end-1]
	if fl != 0 {
		if fl&jsonval.LoneSurrogate != 0 {
			return noEdge, end // names nothing that a path could name
		}
		w.name = jsonval.AppendUnescaped(w.name[:0], name)
		name = w.name
	}
	if at, ok := n.index[string(name)]; ok {
		return at, end
	}
	if n.learned < maxLearned && len(name) <= maxLearnedName {
		n.learned++
		return n.add(string(name), nil), end
	}
	return noEdge, end
}

// clear forgets what this row had at n and below.
func (w *walker) clear(n *node) {
	if n.slot >= 0 {
		w.slots[n.slot].row = 0
	}
	for i := range n.edges {
		e := &n.edges[i]
		if e.child != nil && e.seen == w.row {
			w.clear(e.child)
			e.seen = 0
		}
	}
}
