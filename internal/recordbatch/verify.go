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

// time takes in one record's; first says that it is the first one.
func (s *Summary) time(t, offset int64, first bool) {
	if first || t < s.MinTimestamp {
		s.MinTimestamp = t
	}
	if first || t > s.MaxTimestamp {
		s.MaxTimestamp, s.OffsetOfMax = t, offset
	}
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
	plain := true
	for {
		if plain {
			// One record that is not plain has others for neighbours, as a rule:
			// where the first try gets nowhere, there is no second one.
			plain = r.verifyPlain(&s) > 0
		}
		if !r.Next(&rec) {
			break
		}
		if rec.Offset != b.BaseOffset+int64(r.index-1) {
			r.index--
			r.fail("offset deltas have a gap")
			break
		}
		s.time(rec.Timestamp, rec.Offset, r.index == 1)
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

// plainSlack is more than lies before a plain record's key: the attributes and four
// integers of three bytes. So much may be read without looking at where the data ends.
const plainSlack = 16

// verifyPlain takes in the records that come next as long as they are sound and plain:
// without headers, and no integer of more than three bytes. It says how many, and
// leaves all others, and what is wrong with them, to Next. It is for small records, where
// walking them is a good part of what producing them costs.
func (r *Reader) verifyPlain(s *Summary) (records int32) {
	data, pos, index := r.data, r.pos, r.index
	minTime, maxTime, offsetOfMax := s.MinTimestamp, s.MaxTimestamp, s.OffsetOfMax
	for index < r.n && index <= r.maxDelta && len(data)-pos >= plainSlack {
		length, i := short(data, pos)
		end := i + int(length>>1)
		if i < 0 || length&1 != 0 || end > len(data) {
			break
		}
		timeDelta, i := short(data, i+1)
		if i < 0 {
			break
		}
		offsetDelta, i := short(data, i)
		if i < 0 || offsetDelta != uint32(index)<<1 {
			break
		}
		key, i := short(data, i)
		if i < 0 || key&1 != 0 && key != 1 {
			break
		}
		i += int(key >> 1)
		if i+4 > len(data) {
			break // the last record: too near to the end for short
		}
		value, i := short(data, i)
		if i < 0 || value&1 != 0 && value != 1 {
			break
		}
		first := i
		i += int(value >> 1)
		if i != end-1 || data[i] != 0 {
			break // headers, or not what the length says
		}
		if value > 1 && !s.Objects {
			s.Objects = mayBeObject(data[first:i])
		}
		if key == 1 {
			s.NullKeys++
		} else if n := int(key >> 1); n > s.LongestKey {
			s.LongestKey = n
		}
		t := r.appendTime
		if !r.fixedTime {
			t = r.baseTime + int64(int32(timeDelta>>1)^-int32(timeDelta&1))
		}
		if index == 0 || t < minTime {
			minTime = t
		}
		if index == 0 || t > maxTime {
			maxTime, offsetOfMax = t, r.baseOffset+int64(index)
		}
		index++
		records++
		pos = end
	}
	s.MinTimestamp, s.MaxTimestamp, s.OffsetOfMax = minTime, maxTime, offsetOfMax
	r.pos, r.index, r.lastDelta = pos, index, index-1
	return records
}

// short decodes the integer at b[i:], which has three bytes or more, without undoing the
// zigzag; next is -1 when it is longer.
func short(b []byte, i int) (u uint32, next int) {
	u = uint32(b[i])
	if u < 0x80 {
		return u, i + 1
	}
	u = u&0x7f | uint32(b[i+1])<<7
	if u < 1<<14 {
		return u, i + 2
	}
	u = u&0x3fff | uint32(b[i+2])<<14
	if u < 1<<21 {
		return u, i + 3
	}
	return 0, -1
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
