package jsonval

import "slices"

// Document is a JSON value to be changed. It is taken apart only along the paths that are looked at; what lies
// elsewhere stays text. The zero Document is of no use: NewDocument makes one.
type Document struct {
	text Value   // of what was not taken apart
	open *opened // else
}

type opened struct {
	array   bool
	items   []Document
	members []member // ordered by compareNames
}

type member struct {
	name  string
	value Document
}

// NewDocument is a document of v, which it aliases.
func NewDocument(v Value) Document { return Document{text: v} }

// Value is the document's text as AppendNormal spells it.
func (d *Document) Value() Value { return d.appendNormal(nil) }

// Size is how many bytes the document has, before AppendNormal spells them, which may take other spaces and escapes.
func (d *Document) Size() int {
	if d.open == nil {
		return len(d.text)
	}
	n := len("[]")
	for i := range d.open.items {
		n += d.open.items[i].Size() + len(", ")
	}
	for i := range d.open.members {
		m := &d.open.members[i]
		n += len(`"": `) + len(m.name) + m.value.Size() + len(", ")
	}
	return n
}

func (d *Document) appendNormal(dst []byte) []byte {
	switch {
	case d.open == nil:
		return d.text.AppendNormal(dst)
	case d.open.array:
		dst = append(dst, '[')
		for i := range d.open.items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = d.open.items[i].appendNormal(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range d.open.members {
		m := &d.open.members[i]
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(AppendQuoted(dst, m.name), ": "...)
		dst = m.value.appendNormal(dst)
	}
	return append(dst, '}')
}

func (d *Document) kind() Kind {
	switch {
	case d.open == nil:
		return d.text.Kind()
	case d.open.array:
		return Array
	}
	return Object
}

// unfold takes an array or object apart, one level deep.
func (d *Document) unfold() *opened {
	if d.open != nil {
		return d.open
	}
	c := &opened{array: d.text.Kind() == Array}
	if c.array {
		d.text.EachElement(func(v Value) bool {
			c.items = append(c.items, NewDocument(v))
			return true
		})
	} else {
		for _, m := range d.text.Members() {
			c.members = append(c.members, member{m.Name(), NewDocument(m.Value)})
		}
		slices.SortFunc(c.members, func(a, b member) int { return compareNames(a.name, b.name) })
	}
	d.open, d.text = c, nil
	return c
}

func (c *opened) find(name string) (int, bool) {
	return slices.BinarySearchFunc(c.members, name, func(m member, name string) int {
		return compareNames(m.name, name)
	})
}

// put sets a member, whether or not there is one of that name.
func (c *opened) put(name string, v Document) {
	i, found := c.find(name)
	if found {
		c.members[i].value = v
		return
	}
	c.members = slices.Insert(c.members, i, member{name, v})
}

// wrap makes an array of d, of one element.
func (d *Document) wrap() *opened {
	c := &opened{array: true, items: []Document{*d}}
	*d = Document{open: c}
	return c
}

// array is d taken apart, as an array of itself if it is none.
func (d *Document) array() *opened {
	if d.kind() == Array {
		return d.unfold()
	}
	return d.wrap()
}

// wraps says whether the leg leads from a value that is no array to that value.
func (l *leg) wraps() bool { return l.kind == legCell && l.from.n == 0 }

// position in an array of n elements where there would be an element of this index: at an end, if it is beyond it.
func (x cellIndex) position(n int) int { return max(0, min(n, x.at(n))) }

// step is the value that one leg leads to; nil if there is none. Legs that lead to several values lead nowhere.
func (d *Document) step(l *leg) *Document {
	switch {
	case l.kind == legMember && d.kind() == Object:
		c := d.unfold()
		if i, found := c.find(l.name); found {
			return &c.members[i].value
		}
	case l.kind == legCell && d.kind() == Array:
		c := d.unfold()
		if i := l.from.at(len(c.items)); i >= 0 && i < len(c.items) {
			return &c.items[i]
		}
	case l.wraps() && d.kind() != Array:
		return d
	}
	return nil
}

// walk is the value that legs lead to; nil if there is none.
func (d *Document) walk(legs []leg) *Document {
	for i := range legs {
		if d = d.step(&legs[i]); d == nil {
			return nil
		}
	}
	return d
}

// necessary are the legs without those that lead to the value that they come from.
func (d *Document) necessary(legs []leg) []leg {
	out := make([]leg, 0, len(legs))
	for i := range legs {
		l := &legs[i]
		if d != nil && l.wraps() && d.kind() != Array {
			continue
		}
		out = append(out, *l)
		if d != nil {
			d = d.step(l)
		}
	}
	return out
}

// Change says what Set does where there is a value, and where there is none.
type Change struct{ Replace, Insert bool }

// Set puts v where p leads to, as MySQL's JSON_SET, JSON_INSERT (no Replace) and JSON_REPLACE (no Insert) do: a new
// member or element needs an object or array to be in, and what is no array counts as one of itself. p must not be wild.
func (d *Document) Set(p *Path, v Document, change Change) {
	legs := d.necessary(p.legs)
	if found := d.walk(legs); found != nil {
		if change.Replace {
			*found = v
		}
		return
	}
	if !change.Insert {
		return
	}
	l := &legs[len(legs)-1]
	parent := d.walk(legs[:len(legs)-1])
	switch {
	case parent == nil:
	case l.kind == legCell:
		c := parent.array()
		c.items = slices.Insert(c.items, l.from.position(len(c.items)), v)
	case l.kind == legMember && parent.kind() == Object:
		parent.unfold().put(l.name, v)
	}
}

// AppendAt is MySQL's JSON_ARRAY_APPEND: v becomes the last element of the array that p leads to; what is no array
// becomes one. p must not be wild.
func (d *Document) AppendAt(p *Path, v Document) {
	if found := d.walk(p.legs); found != nil {
		c := found.array()
		c.items = append(c.items, v)
	}
}

// EndsInCell says whether the path's last leg is an element of an array.
func (p *Path) EndsInCell() bool {
	return len(p.legs) > 0 && p.legs[len(p.legs)-1].kind == legCell
}

// IsRoot says whether the path is $.
func (p *Path) IsRoot() bool { return len(p.legs) == 0 }

// InsertAt is MySQL's JSON_ARRAY_INSERT: v becomes the element that p, which ends in a cell and is not wild, leads to;
// what comes after it moves on. Where there is no array nothing happens.
func (d *Document) InsertAt(p *Path, v Document) {
	last := len(p.legs) - 1
	parent := d.walk(p.legs[:last])
	if parent == nil || parent.kind() != Array {
		return
	}
	c := parent.unfold()
	c.items = slices.Insert(c.items, p.legs[last].from.position(len(c.items)), v)
}

// Remove is MySQL's JSON_REMOVE of what p leads to. p must not be wild.
func (d *Document) Remove(p *Path) {
	legs := d.necessary(p.legs)
	if len(legs) == 0 {
		return // all of it stays
	}
	l := &legs[len(legs)-1]
	parent := d.walk(legs[:len(legs)-1])
	switch {
	case parent == nil:
	case l.kind == legMember && parent.kind() == Object:
		c := parent.unfold()
		if i, found := c.find(l.name); found {
			c.members = slices.Delete(c.members, i, i+1)
		}
	case l.kind == legCell && parent.kind() == Array:
		c := parent.unfold()
		if i := l.from.at(len(c.items)); i >= 0 && i < len(c.items) {
			c.items = slices.Delete(c.items, i, i+1)
		}
	}
}

// Merge is MySQL's JSON_MERGE_PRESERVE with other: arrays are joined, members of one name merged, and of anything else
// arrays are made first. Nothing of other may be used afterwards.
func (d *Document) Merge(other Document) {
	if d.kind() == Object && other.kind() == Object {
		c := d.unfold()
		for _, m := range other.unfold().members {
			if i, found := c.find(m.name); found {
				c.members[i].value.Merge(m.value)
			} else {
				c.put(m.name, m.value)
			}
		}
		return
	}
	c := d.array()
	c.items = append(c.items, other.array().items...)
}

// Patch is MySQL's JSON_MERGE_PATCH with other (RFC 7396): members that are null there are removed, what is no object
// there takes d's place. Nothing of other may be used afterwards.
func (d *Document) Patch(other Document) {
	if other.kind() != Object {
		*d = other
		return
	}
	if d.kind() != Object {
		*d = Document{open: &opened{}}
	}
	c := d.unfold()
	for _, m := range other.unfold().members {
		i, found := c.find(m.name)
		switch {
		case m.value.kind() == Null:
			if found {
				c.members = slices.Delete(c.members, i, i+1)
			}
		case found:
			c.members[i].value.Patch(m.value)
		default:
			fresh := Document{open: &opened{}}
			fresh.Patch(m.value)
			c.put(m.name, fresh)
		}
	}
}

// IsObject says whether the document is one.
func (d *Document) IsObject() bool { return d.kind() == Object }
