package jsonval

import (
	"context"
	"strconv"
)

// Search is MySQL's JSON_SEARCH: the paths of the strings that match, in the order of AppendNormal; only of those in what
// one of the paths leads to, if there are paths; only the first one, if first is set. The error is ctx's.
func (v Value) Search(ctx context.Context, first bool, match func(text string) bool, paths ...*Path) ([]string, error) {
	v = v.AppendNormal(nil)
	s := searcher{looks: looks{ctx: ctx}, first: first, match: match, path: []byte{'$'}}
	if len(paths) > 0 {
		s.from = map[*byte]bool{}
		for _, p := range paths {
			found, err := v.Find(ctx, p, nil)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				s.from[&f[0]] = true // no two values of one text start at the same byte
			}
		}
	}
	s.search(v, len(paths) == 0)
	return s.found, s.err
}

type searcher struct {
	looks
	first bool
	match func(string) bool
	from  map[*byte]bool
	path  []byte
	found []string
}

func (s *searcher) done() bool { return s.stop() || s.first && len(s.found) > 0 }

// search looks at v, which lies at s.path; inside: at all of it.
func (s *searcher) search(v Value, inside bool) {
	if s.done() {
		return
	}
	inside = inside || s.from[&v[0]]
	at := len(s.path)
	switch v.Kind() {
	case StringKind:
		if inside && s.match(string(v.text())) {
			s.found = append(s.found, string(s.path))
		}
	case Array:
		n := 0
		v.EachElement(func(e Value) bool {
			s.path = append(strconv.AppendInt(append(s.path[:at], '['), int64(n), 10), ']')
			n++
			s.search(e, inside)
			return !s.done()
		})
	case Object:
		v.EachMember(func(m Member) bool {
			s.path = append(s.path[:at], '.')
			if name := m.Name(); plainMember(name) {
				s.path = append(s.path, name...)
			} else {
				s.path = AppendQuoted(s.path, name)
			}
			s.search(m.Value, inside)
			return !s.done()
		})
	}
	s.path = s.path[:at]
}
