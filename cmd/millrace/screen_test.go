package main

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	screenRows    = 24
	screenColumns = 100
)

// screen is what a terminal shows of what was written to it. It knows the sequences that move and clear; all characters
// are one column wide.
type screen struct {
	rows     [screenRows][screenColumns]rune
	row, col int
	rest     []byte // the beginning of what is not complete
}

func newScreen() *screen {
	s := &screen{}
	for r := range s.rows {
		s.clear(r, 0)
	}
	return s
}

func (s *screen) clear(row, from int) {
	for c := from; c < screenColumns; c++ {
		s.rows[row][c] = ' '
	}
}

// down is a line feed: on the last row it scrolls.
func (s *screen) down() {
	if s.row < screenRows-1 {
		s.row++
		return
	}
	copy(s.rows[:], s.rows[1:])
	s.clear(screenRows-1, 0)
}

func (s *screen) write(b []byte) {
	s.rest = append(s.rest, b...)
	for len(s.rest) > 0 {
		n := s.one(s.rest)
		if n == 0 {
			return
		}
		s.rest = s.rest[n:]
	}
}

// one carries out what b begins with and says how long that is; 0: it is not complete.
func (s *screen) one(b []byte) int {
	switch b[0] {
	case '\r':
		s.col = 0
	case '\n', '\v':
		s.down()
	case '\b':
		s.col = max(s.col-1, 0)
	case 0x1b:
		return s.escape(b)
	default:
		if !utf8.FullRune(b) {
			return 0
		}
		r, n := utf8.DecodeRune(b)
		if r < ' ' {
			return n
		}
		if s.col == screenColumns { // a row is left with the character that no longer fits
			s.col = 0
			s.down()
		}
		s.rows[s.row][s.col] = r
		s.col++
		return n
	}
	return 1
}

func (s *screen) escape(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case b[1] == ']': // to its BEL
		return strings.IndexByte(string(b), 7) + 1
	case b[1] != '[':
		return 2
	}
	end := 2
	for end < len(b) && (b[end] < '@' || b[end] > '~') {
		end++
	}
	if end == len(b) {
		return 0
	}
	n, err := strconv.Atoi(string(b[2:end]))
	count := max(n, 1)
	col := min(s.col, screenColumns-1)
	switch b[end] {
	case 'A':
		s.row, s.col = max(s.row-count, 0), col
	case 'B':
		s.row, s.col = min(s.row+count, screenRows-1), col
	case 'C':
		s.col = min(col+count, screenColumns-1)
	case 'D':
		s.col = max(col-count, 0)
	case 'J':
		if err != nil || n == 0 {
			s.clear(s.row, col)
			for r := s.row + 1; r < screenRows; r++ {
				s.clear(r, 0)
			}
		}
	case 'K':
		if err != nil || n == 0 {
			s.clear(s.row, col)
		}
	}
	return end + 1
}

// String is the screen down to the last row that is not empty.
func (s *screen) String() string {
	var lines []string
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(string(row[:]), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
