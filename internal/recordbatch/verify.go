package recordbatch

import "fmt"

// Summary is what a whole walk over a batch's records finds out.
type Summary struct {
	MinTimestamp int64
	MaxTimestamp int64
	// OffsetOfMax is the offset of the first record with MaxTimestamp.
	OffsetOfMax int64
	// NullKeys counts the records without a key.
	NullKeys int
	// LongestKey is in bytes.
	LongestKey int
	// Objects says that some value may be a JSON object.
	Objects bool
}

// Verify resets the reader to b and walks all its records, headers included.
// Beyond what Next checks, offset deltas must count up from 0 without gaps, as
// producers write them. Errors are those of Reset and Err.
func (r *Reader) Verify(b *Batch) (Summary, error) {
	if err := r.Reset(b); err != nil {
		return Summary{}, err
	}
	var s Summary
	var rec Record
	for first := true; r.Next(&rec); first = false {
		if rec.Offset != b.BaseOffset+int64(r.index-1) {
			r.index--
			r.fail("offset deltas have a gap")
			break
		}
		if first || rec.Timestamp < s.MinTimestamp {
			s.MinTimestamp = rec.Timestamp
		}
		if first || rec.Timestamp > s.MaxTimestamp {
			s.MaxTimestamp, s.OffsetOfMax = rec.Timestamp, rec.Offset
		}
		if rec.Key == nil {
			s.NullKeys++
		}
		s.LongestKey = max(s.LongestKey, len(rec.Key))
		s.Objects = s.Objects || mayBeObject(rec.Value)
		if rec.nHeaders > 0 {
			i := 0
			for n := rec.nHeaders; n > 0 && i >= 0; n-- {
				_, _, i = header(rec.headers, i)
			}
			if i != len(rec.headers) {
				r.err = fmt.Errorf("%w: record %d of %d: malformed headers", ErrInvalid, r.index-1, r.n)
				break
			}
		}
	}
	if r.err != nil {
		return Summary{}, r.err
	}
	return s, nil
}

// mayBeObject looks at the first character: JSON begins with white space or itself.
func mayBeObject(value []byte) bool {
	if len(value) == 0 {
		return false
	}
	switch value[0] {
	case '{', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}
