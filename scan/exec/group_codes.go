package exec

import "millrace/internal/vector"

// Rows of a dictionary with few entries, all of which have their groups by now, need no list of groups: what is added up in lanes is so
// by their codes.

// codeAcc is an accumulator that can take in rows by codes.
type codeAcc interface {
	// addCodes takes in a row per code; to is the code's group. False when it cannot, and nothing was taken in.
	addCodes(v *vector.Vector, codes []uint8, to []uint32) bool
}

// codes are those of v's n rows and their groups, if all codes of its dictionary have one.
func (h *textTable) known(v *vector.Vector, n int) (codes []uint8, to []uint32) {
	if v.Code8 == nil || v.Const || v.HasNulls() || h.dict != v.Dict || h.strange > 0 || !laned(v.Dict.Len(), n) {
		return nil, nil
	}
	return v.Code8[:n], h.codes[:v.Dict.Len()]
}

// addCodes takes in the batch of s.p.in by its codes; false when that cannot be.
func (s *groupSink) addCodes() (bool, error) {
	in := &s.p.in
	t, ok := s.group.tables[0].(*textTable)
	if !ok || len(s.group.tables) > 1 {
		return false, nil
	}
	codes, to := t.known(s.keys[0], in.n)
	if codes == nil {
		return false, nil
	}
	var gids []uint32
	for i, acc := range s.accs {
		v, err := s.arg(i)
		if err != nil {
			return false, err
		}
		if acc, ok := acc.(codeAcc); ok && acc.addCodes(v, codes, to) {
			continue
		}
		if gids == nil {
			gids = grown(&s.gids, in.n)
			for k, c := range codes {
				gids[k] = to[c]
			}
		}
		if err := acc.add(v, gids, in.n); err != nil {
			return false, err
		}
	}
	return true, nil
}
