package blobexpand

import (
	"math"
	"slices"
	"strings"

	"millrace/blobexpand/jsonval"
)

// Limits of inference. What lies beyond is reachable through _value and _rest.
const (
	MaxMembers   = 256  // inferred members of one object, over all records
	MaxColumns   = 2000 // columns of a table, system columns not counted
	MaxPathDepth = 64   // members from the root to an inferred column
	MaxPathBytes = 1024 // their names together; bounds what one topic's schema costs in memory
)

// Inference is what is known of a topic's values so far. Not safe for concurrent
// use.
//
// It infers every path, declared or not, and decides only in Columns what is
// shown: so columns can be declared and dropped again, and what was inferred
// (and its name) is as if they never had been.
type Inference struct {
	w        walker
	cols     []*inferred // in order of first sight
	declared []Column
	reserved []string
	dropped  map[string][]string // paths, by pathKey, of which no column is shown
	hidden   int                 // of cols: those at dropped paths
	taken    map[string]bool     // lower-cased names of reserved and inferred columns
	over     []*node             // objects with members that found no place

	offers []offer // of the current row
}

// inferred is one column that inference made.
type inferred struct {
	path  []string
	name  string
	facts facts
	// The longest spellings that certainly bring nothing new; see knows.
	okString, okInt, okFraction int
}

// offer is a value that may bring something new, kept until its row proved valid.
type offer struct {
	node        *node // the object it is a member of
	child       *node // the member's own node, if there is one
	key, keyEnd int   // name, quotes included
	start, end  int
	kind        valueKind
	flags       jsonval.Flags
}

// treeInfo is what inference keeps at object nodes.
type treeInfo struct {
	path    []string
	members int
	hidden  int // of members: columns at dropped paths
	over    bool
}

// NewInference starts with the declared columns (their paths are not inferred).
// reserved are names that are taken (system columns).
func NewInference(declared []Column, reserved []string) *Inference {
	in := &Inference{reserved: slices.Clone(reserved), taken: map[string]bool{}}
	in.w.root = newNode()
	in.w.root.info = &treeInfo{}
	in.w.inf = in
	for _, r := range reserved {
		in.taken[fold(r)] = true
	}
	in.Declare(declared)
	return in
}

// Declare replaces the declared columns. What was inferred stays as it is.
func (in *Inference) Declare(declared []Column) {
	in.declared = slices.Clone(declared)
	for i := range in.declared {
		in.declared[i].Declared = true
	}
}

// Drop replaces the paths of which inferred columns are not shown. What lies there goes on being inferred, but takes
// no room from others.
func (in *Inference) Drop(paths [][]string) {
	if len(paths) == 0 && len(in.dropped) == 0 {
		return
	}
	count := func(n int) {
		for _, c := range in.cols {
			if in.isDropped(c.path) {
				in.hidden += n
				in.nodeAt(c.path[:len(c.path)-1]).info.hidden += n
			}
		}
	}
	count(-1)
	in.dropped = make(map[string][]string, len(paths))
	for _, p := range paths {
		in.dropped[pathKey(p)] = p
	}
	count(1)
}

func (in *Inference) isDropped(path []string) bool {
	if len(in.dropped) == 0 {
		return false
	}
	_, is := in.dropped[pathKey(path)]
	return is
}

// pathKey tells paths apart.
func pathKey(path []string) string { return jsonval.MemberPath(path).String() }

// Observe takes in one value in log order and says whether columns or types
// changed. Invalid JSON and non-objects change nothing. It allocates only for what
// is new. (A member that stands twice in one object is taken in twice, though only
// the last one is shown: its type may then be wider than it had to be.)
func (in *Inference) Observe(value []byte) (changed bool) {
	in.offers = in.offers[:0]
	object, _, ok := in.w.walk(value)
	if !ok || !object || len(in.offers) == 0 {
		return false
	}
	for i := range in.offers {
		o := &in.offers[i]
		if o.child != nil && o.child.inf != nil && o.kind != vObject {
			if o.child.inf.add(factsOf(o.kind, o.flags, value[o.start:o.end])) {
				changed = true
			}
			continue
		}
		name, ok := memberName(value[o.key:o.keyEnd])
		if in.take(o.node, name, ok, value, o.start, o.end, o.kind, o.flags) {
			changed = true
		}
	}
	return changed
}

// memberName decodes a member's name; ok is false where it holds half a surrogate
// pair.
func memberName(quoted []byte) (name string, ok bool) {
	_, fl := jsonval.String(quoted, 0)
	inside := quoted[1 : len(quoted)-1]
	if fl == 0 {
		return string(inside), true
	}
	return string(jsonval.AppendUnescaped(nil, inside)), fl&jsonval.LoneSurrogate == 0
}

// knows says whether a value at this column certainly brings nothing new.
func (c *inferred) knows(b []byte, start, end, point int, kind valueKind, fl jsonval.Flags) bool {
	switch kind {
	case vString:
		return end-start-2 <= c.okString
	case vNumber:
		if b[start] == '-' {
			start++
		}
		switch fl {
		case 0:
			return end-start <= c.okInt
		case jsonval.Fraction:
			if b[start] == '0' {
				start++ // 0.5 has no digit before its point
			}
			return end-start-1 <= c.okFraction && point-start <= int(c.facts.intDigits) &&
				end-point-1 <= int(c.facts.scale)
		}
	case vTrue, vFalse:
		return c.facts.seen&seenBool != 0
	case vArray:
		return c.facts.seen&seenArray != 0 && (c.facts.seen&seenLong != 0 || end-start <= InferredTextLength)
	}
	return false
}

// setLimits prepares knows after facts changed.
func (c *inferred) setLimits() {
	f := c.facts
	c.okString, c.okInt, c.okFraction = -1, -1, -1
	if f.seen&seenString != 0 {
		c.okString = InferredTextLength // bytes; characters are never more
		if f.seen&seenLong != 0 {
			c.okString = math.MaxInt
		}
	}
	// Up to 15 digits a number survives a DOUBLE, up to 18 an integer fits BIGINT.
	if f.seen&seenInt != 0 {
		c.okInt = min(15, int(f.intDigits))
		if f.seen&seenInexact != 0 {
			c.okInt = min(18, int(f.intDigits))
			if f.seen&seenBig != 0 {
				c.okInt = min(int(f.intDigits), InferredTextLength)
			}
		}
	}
	if f.seen&seenFraction != 0 {
		c.okFraction = 15
		if f.seen&seenInexact != 0 {
			c.okFraction = 76
		}
	}
}

// offer notes a value for after its row has proved valid.
func (in *Inference) offer(n, child *node, key, keyEnd, start, end int, kind valueKind, fl jsonval.Flags) {
	if n.info.over && (child == nil || child.inf == nil) &&
		(len(in.cols)-in.hidden >= MaxColumns || child == nil && n.info.members-n.info.hidden >= MaxMembers) {
		return // known to have no room
	}
	if kind == vObject && jsonval.Space(in.w.b, start+1) == end-1 {
		return // {} brings nothing
	}
	in.offers = append(in.offers, offer{n, child, key, keyEnd, start, end, kind, fl})
}

// take takes in one member of the object n, of a valid row.
func (in *Inference) take(n *node, name string, named bool, b []byte, start, end int, kind valueKind, fl jsonval.Flags) (changed bool) {
	switch kind {
	case vNull:
		return false
	case vObject:
		_, changed = in.takeObject(n, name, named, b, start)
		return changed
	}
	if !named {
		return in.overflow(n)
	}
	child := n.child(name)
	if child == nil || child.inf == nil {
		if !in.room(n, name, child) {
			return in.overflow(n)
		}
		if child == nil {
			child = n.fresh(name)
			in.attach(n, name, child)
		}
		child.inf = &inferred{path: child.info.path}
		child.inf.name = in.nameFor(child.inf.path)
		in.cols = append(in.cols, child.inf)
		if in.isDropped(child.inf.path) {
			in.hidden++
			n.info.hidden++
		}
		changed = true
	}
	return child.inf.add(factsOf(kind, fl, b[start:end])) || changed
}

// takeObject takes in member name of n, the object at b[i], and returns its end. The
// member's node hangs in the tree only once there is something below it. All of
// it is one pass, however deep.
func (in *Inference) takeObject(n *node, name string, named bool, b []byte, i int) (end int, changed bool) {
	if first := jsonval.Space(b, i+1); b[first] == '}' {
		return first + 1, false
	}
	if !named {
		return jsonval.Skip(b, i, 0), in.overflow(n)
	}
	child := n.child(name)
	if child != nil {
		return in.takeMembers(child, b, i)
	}
	if !in.roomFor(n, name) {
		return jsonval.Skip(b, i, 0), in.overflow(n)
	}
	child = n.fresh(name)
	end, changed = in.takeMembers(child, b, i)
	if child.info.members > 0 || child.info.over {
		in.attach(n, name, child)
	}
	return end, changed
}

// takeMembers takes in the members of the object at b[i], which is not empty.
func (in *Inference) takeMembers(n *node, b []byte, i int) (end int, changed bool) {
	i = jsonval.Space(b, i+1)
	for {
		key := i
		i, _ = jsonval.String(b, i)
		name, named := memberName(b[key:i])
		i = jsonval.Space(b, jsonval.Space(b, i)+1)
		start := i
		var fl jsonval.Flags
		kind := kindAt(b[i])
		news := false
		switch kind {
		case vObject:
			i, news = in.takeObject(n, name, named, b, i)
		case vString:
			i, fl = jsonval.String(b, i)
		case vNumber:
			i, _, fl = jsonval.Number(b, i)
		default:
			i = jsonval.Skip(b, i, 0)
		}
		if kind != vObject {
			news = in.take(n, name, named, b, start, i, kind, fl)
		}
		changed = changed || news
		if i = jsonval.Space(b, i); b[i] == '}' {
			return i + 1, changed
		}
		i = jsonval.Space(b, i+1)
	}
}

// fresh makes the node of a new member of n; it hangs nowhere yet.
func (n *node) fresh(name string) *node {
	c := newNode()
	c.info = &treeInfo{path: append(slices.Clip(n.info.path), name)}
	return c
}

// add takes in new facts and says whether they change the type.
func (c *inferred) add(f facts) (changed bool) {
	was := c.facts
	if c.facts = was.join(f); c.facts == was {
		return false
	}
	c.setLimits()
	return !c.facts.typ().Equal(was.typ())
}

// roomFor says whether the object n can have a new member of that name.
func (in *Inference) roomFor(n *node, name string) bool {
	if n.info.members-n.info.hidden >= MaxMembers || len(n.info.path) >= MaxPathDepth {
		return false
	}
	bytes := len(name)
	for _, p := range n.info.path {
		bytes += len(p)
	}
	return bytes <= MaxPathBytes
}

// room says whether a column can be made at member name of n.
func (in *Inference) room(n *node, name string, child *node) bool {
	return len(in.cols)-in.hidden < MaxColumns && (child != nil || in.roomFor(n, name))
}

func (in *Inference) attach(n *node, name string, child *node) {
	n.add(name, child)
	n.info.members++
}

// overflow notes that a member of n found no place, and says whether that is news.
func (in *Inference) overflow(n *node) (changed bool) {
	if n.info.over {
		return false
	}
	n.info.over = true
	in.over = append(in.over, n)
	return true
}

// kindAt tells a value's kind from its first byte; true and false need a look.
func kindAt(c byte) valueKind {
	switch c {
	case '"':
		return vString
	case '{':
		return vObject
	case '[':
		return vArray
	case 't':
		return vTrue
	case 'f':
		return vFalse
	case 'n':
		return vNull
	}
	return vNumber
}

// Columns are declared ones first, then inferred in order of first sight.
// The slice is a copy.
//
// A declared column owns its path: what was inferred at it is not shown, nor what
// was inferred below it, unless declared columns lie below it too.
func (in *Inference) Columns() []Column {
	cols, _ := in.view()
	return cols
}

// Rest says whether some members have no column because of the limits; they are in
// _rest.
func (in *Inference) Rest() bool {
	_, full := in.view()
	return full || len(in.RestOf()) > 0
}

// RestOf are the paths of the objects with members that found no place when they were first seen, in that order. An
// object that a declared column owns is none of them.
func (in *Inference) RestOf() (paths [][]string) {
	if len(in.over) == 0 {
		return nil
	}
	owned := newOwners(in.declared)
	for _, n := range in.over {
		if !owned.has(n.info.path) {
			paths = append(paths, n.info.path)
		}
	}
	return paths
}

// view are the columns that are shown; full says that declared ones left no place for some that are inferred.
func (in *Inference) view() (cols []Column, full bool) {
	cols = make([]Column, 0, len(in.declared)+len(in.cols))
	cols = append(cols, in.declared...)
	owned := newOwners(in.declared)
	names := map[string]bool{}
	for _, r := range in.reserved {
		names[fold(r)] = true
	}
	for _, d := range in.declared {
		names[fold(d.Name)] = true
	}
	for _, c := range in.cols {
		if owned.has(c.path) || in.isDropped(c.path) {
			continue
		}
		if len(cols) >= MaxColumns {
			return cols, true
		}
		name := freeName(c.name, names)
		names[fold(name)] = true
		cols = append(cols, Column{Name: name, Path: c.path, Type: c.facts.typ()})
	}
	return cols, false
}

// owners is a tree of declared paths.
type owners struct {
	below map[string]*owners
	here  bool
}

func newOwners(declared []Column) *owners {
	root := &owners{}
	for _, c := range declared {
		o := root
		for _, p := range c.Path {
			if o.below == nil {
				o.below = map[string]*owners{}
			}
			if o.below[p] == nil {
				o.below[p] = &owners{}
			}
			o = o.below[p]
		}
		o.here = true
	}
	return root
}

// has says whether the path is a declared one, or below one that owns all of itself.
func (o *owners) has(path []string) bool {
	for i, p := range path {
		if o = o.below[p]; o == nil {
			return false
		}
		if o.here && (len(o.below) == 0 || i == len(path)-1) {
			return true
		}
	}
	return false
}

// fold is the form in which SQL compares names.
func fold(name string) string { return strings.ToLower(name) }
