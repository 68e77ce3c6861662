package blobexpand

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The saved form, all numbers uvarints, strings with their length before them:
//
//	version = 1
//	n, n × reserved name
//	n, n × { path, name, seen bits, integer digits, scale }   columns in order
//	n, n × path                                               objects that overflowed
//	path = n, n × member
//
// Declared and dropped columns are not in it: the topic's config is their home.
const inferenceVersion = 1

// ErrBadInference is what DecodeInference wraps.
var ErrBadInference = errors.New("saved inference is damaged")

// Encode keeps what was inferred across restarts; declared columns are not part of
// it (see Declare).
func (in *Inference) Encode() []byte {
	b := []byte{inferenceVersion}
	b = binary.AppendUvarint(b, uint64(len(in.reserved)))
	for _, r := range in.reserved {
		b = appendString(b, r)
	}
	b = binary.AppendUvarint(b, uint64(len(in.cols)))
	for _, c := range in.cols {
		b = appendPath(b, c.path)
		b = appendString(b, c.name)
		b = binary.AppendUvarint(b, uint64(c.facts.seen))
		b = binary.AppendUvarint(b, uint64(c.facts.intDigits))
		b = binary.AppendUvarint(b, uint64(c.facts.scale))
	}
	b = binary.AppendUvarint(b, uint64(len(in.over)))
	for _, n := range in.over {
		b = appendPath(b, n.info.path)
	}
	return b
}

// Clone returns an independent copy, declared and dropped columns included.
func (in *Inference) Clone() *Inference {
	out, err := DecodeInference(in.Encode())
	if err != nil {
		panic(fmt.Sprintf("blobexpand: inference does not read what it wrote: %v", err)) // a programming error
	}
	out.Declare(in.declared)
	out.Drop(slices.Collect(maps.Values(in.dropped)))
	return out
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendPath(b []byte, path []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(path)))
	for _, p := range path {
		b = appendString(b, p)
	}
	return b
}

// DecodeInference reads what Encode wrote. Errors wrap ErrBadInference.
func DecodeInference(b []byte) (*Inference, error) {
	d := decoder{b: b}
	if v := d.uint(); v != inferenceVersion {
		return nil, fmt.Errorf("%w: version %d", ErrBadInference, v)
	}
	reserved := make([]string, 0, 16)
	for n := d.count(); n > 0 && !d.bad; n-- {
		reserved = append(reserved, d.string())
	}
	in := NewInference(nil, reserved)
	for n := d.count(); n > 0 && !d.bad; n-- {
		c := &inferred{path: d.path(), name: d.string()}
		c.facts = facts{seenBits(d.uint()), uint16(d.uint()), uint16(d.uint())}
		if d.bad || len(c.path) == 0 {
			d.bad = true
			break
		}
		c.setLimits()
		at := in.nodeAt(c.path)
		c.path = at.info.path
		at.inf = c
		in.cols = append(in.cols, c)
		in.taken[fold(c.name)] = true
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		if path := d.path(); !d.bad {
			in.overflow(in.nodeAt(path))
		}
	}
	if d.bad || len(d.b) != 0 {
		return nil, ErrBadInference
	}
	return in, nil
}

// nodeAt returns the node at path, made if need be.
func (in *Inference) nodeAt(path []string) *node {
	n := in.w.root
	for i, p := range path {
		c := n.child(p)
		if c == nil {
			c = newNode()
			c.info = &treeInfo{path: slices.Clone(path[:i+1])}
			in.attach(n, p, c)
		}
		n = c
	}
	return n
}

type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad = true
		d.b = nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count is the length of a list, each element of which takes a byte at least.
func (d *decoder) count() int {
	v := d.uint()
	if v > uint64(len(d.b)) {
		d.bad = true
		return 0
	}
	return int(v)
}

func (d *decoder) string() string {
	n := d.count()
	if d.bad {
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) path() []string {
	n := d.count()
	path := make([]string, 0, min(n, MaxPathDepth))
	for ; n > 0 && !d.bad; n-- {
		path = append(path, d.string())
	}
	return path
}
