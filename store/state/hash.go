package state

import "github.com/cespare/xxhash/v2"

// Hash is equal for two states to which the same entries were applied. It sums
// the snapshot encoding, which is canonical (everything in sorted order), so it
// costs as much as Encode: for tests, checkpoints and comparing gateways, not
// for every entry.
func (s *State) Hash() uint64 { return xxhash.Sum64(s.Encode(nil)) }
