package scan

import "encoding/binary"

// distinct counts the different values of each group by remembering them all: exact,
// at the cost of memory, which the caller's budget bounds.
type distinct struct {
	ints  map[groupInt]struct{}
	texts map[string]struct{} // group number, then the text
	bytes int64
	key   []byte
}

type groupInt struct {
	group int32
	value int64
}

// entryBytes is what a map entry costs beside a text, about.
const entryBytes = 48

// add says whether row i of v is new in group g.
func (d *distinct) add(v *vector, i int, g int32) bool {
	if v.strings == nil {
		x := int64(0)
		if v.ints != nil {
			x = v.ints[i]
		} else {
			x = int64(v.uints[i]) // a bijection
		}
		if d.ints == nil {
			d.ints = make(map[groupInt]struct{})
		}
		k := groupInt{g, x}
		if _, ok := d.ints[k]; ok {
			return false
		}
		d.ints[k] = struct{}{}
		d.bytes += entryBytes
		return true
	}
	d.key = binary.LittleEndian.AppendUint32(d.key[:0], uint32(g))
	d.key = append(d.key, v.strings.Value(i)...)
	if d.texts == nil {
		d.texts = make(map[string]struct{})
	}
	if _, ok := d.texts[string(d.key)]; ok {
		return false
	}
	d.texts[string(d.key)] = struct{}{}
	d.bytes += entryBytes + int64(len(d.key))
	return true
}
