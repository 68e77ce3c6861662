package recordbatch

// varint32 and varint64 decode the zigzag variable-length integer at b[i:] and
// return the index behind it, or -1 when it does not end within b or is
// longer than its type can need (5 and 10 bytes): an overlong one is a bug or an
// attack, never what a client writes.

func varint32(b []byte, i int) (int32, int) {
	if i < len(b) && b[i] < 0x80 {
		u := uint32(b[i])
		return int32(u>>1) ^ -int32(u&1), i + 1
	}
	return slowVarint32(b, i)
}

func slowVarint32(b []byte, i int) (int32, int) {
	var u uint32
	for shift := 0; shift < 35; shift += 7 {
		if i >= len(b) {
			return 0, -1
		}
		c := b[i]
		i++
		u |= uint32(c&0x7f) << shift
		if c < 0x80 {
			if shift == 28 && c > 0x0f {
				return 0, -1
			}
			return int32(u>>1) ^ -int32(u&1), i
		}
	}
	return 0, -1
}

func varint64(b []byte, i int) (int64, int) {
	if i < len(b) && b[i] < 0x80 {
		u := uint64(b[i])
		return int64(u>>1) ^ -int64(u&1), i + 1
	}
	return slowVarint64(b, i)
}

func slowVarint64(b []byte, i int) (int64, int) {
	var u uint64
	for shift := 0; shift < 70; shift += 7 {
		if i >= len(b) {
			return 0, -1
		}
		c := b[i]
		i++
		u |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if shift == 63 && c > 0x01 {
				return 0, -1
			}
			return int64(u>>1) ^ -int64(u&1), i
		}
	}
	return 0, -1
}

func appendVarint(dst []byte, v int64) []byte {
	u := uint64(v)<<1 ^ uint64(v>>63)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

func varintLen(v int64) int {
	n := 1
	for u := (uint64(v)<<1 ^ uint64(v>>63)) >> 7; u != 0; u >>= 7 {
		n++
	}
	return n
}
