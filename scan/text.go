package scan

import (
	"unicode/utf8"

	"millrace/internal/recordbatch"
)

// appendText appends b as text: every byte that is not part of valid UTF-8 becomes
// U+FFFD.
func appendText(dst, b []byte) []byte {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 {
			dst = append(dst, "\uFFFD"...)
			b = b[1:]
			continue
		}
		dst = append(dst, b[:size]...)
		b = b[size:]
	}
	return dst
}

// appendJSONString appends b as a JSON string literal.
func appendJSONString(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size <= 1 {
				dst = append(dst, "\uFFFD"...)
				i++
				continue
			}
			dst = append(dst, b[i:i+size]...)
			i += size
		}
	}
	return append(dst, '"')
}

func appendJSONValue(dst, b []byte) []byte {
	if b == nil {
		return append(dst, "null"...)
	}
	return appendJSONString(dst, b)
}

// appendHeadersObject appends headers as a JSON object: names in order of first
// sight, each with its last value.
func appendHeadersObject(dst []byte, headers []recordbatch.Header) []byte {
	dst = append(dst, '{')
	// Records have few headers; beyond that a map finds the last of each name.
	const few = 16
	var last map[string]int
	if len(headers) > few {
		last = make(map[string]int, len(headers))
		for i, h := range headers {
			last[h.Key] = i
		}
	}
	var done map[string]bool
	if last != nil {
		done = make(map[string]bool, len(last))
	}
	first := true
	for i, h := range headers {
		value := h.Value
		if last != nil {
			if done[h.Key] {
				continue
			}
			done[h.Key] = true
			value = headers[last[h.Key]].Value
		} else {
			if seenBefore(headers[:i], h.Key) {
				continue
			}
			for _, later := range headers[i+1:] {
				if later.Key == h.Key {
					value = later.Value
				}
			}
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendJSONString(dst, []byte(h.Key))
		dst = append(dst, ':')
		dst = appendJSONValue(dst, value)
	}
	return append(dst, '}')
}

func seenBefore(headers []recordbatch.Header, key string) bool {
	for _, h := range headers {
		if h.Key == key {
			return true
		}
	}
	return false
}

// appendHeadersPairs appends headers as a JSON array of [name, value] pairs.
func appendHeadersPairs(dst []byte, headers []recordbatch.Header) []byte {
	dst = append(dst, '[')
	for i, h := range headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = appendJSONString(dst, []byte(h.Key))
		dst = append(dst, ',')
		dst = appendJSONValue(dst, h.Value)
		dst = append(dst, ']')
	}
	return append(dst, ']')
}
