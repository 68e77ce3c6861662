package client

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// statement is one SQL statement and how its end asked for the answer. Without a text it is
// the last one again.
type statement struct {
	text     string
	line     int    // of its source where it begins, from 1
	vertical bool   // ended by \G
	plot     string // ended by \plot KIND: line or bar
	watch    *watch // ended by \watch
}

// watch is how often to run a statement again.
type watch struct {
	every time.Duration
	times int // 0: until Ctrl-C
}

// splitter cuts text into statements, as the mysql client does: at ; (or another delimiter),
// \g, \G, \plot and \watch, but not inside quotes and comments. It is fed whole lines.
type splitter struct {
	buf       []byte
	pos       int    // scanned up to here
	in        byte   // 0, a quote character, '-' (comment to the end of the line) or '*' (block comment)
	anyone    bool   // something besides blanks and comments was seen
	lines     int    // fed so far
	begin     int    // line of the first of what anyone means
	delimiter string // "" is ;
}

func (p *splitter) feed(line string) {
	p.buf = append(append(p.buf, line...), '\n')
	p.lines++
}

// pending says whether a statement has begun and not ended.
func (p *splitter) pending() bool { return p.anyone || p.in != 0 && p.in != '-' }

// reset forgets the begun statement.
func (p *splitter) reset() { *p = splitter{lines: p.lines, delimiter: p.delimiter} }

// rest ends the input: what has begun is the last statement.
func (p *splitter) rest() (statement, bool) {
	any, begin := p.anyone, p.begin
	text := strings.TrimSpace(string(p.buf))
	p.reset()
	return statement{text: text, line: begin}, any
}

// see notes that what stands at pos belongs to a statement.
func (p *splitter) see() {
	if !p.anyone {
		p.anyone = true
		p.begin = p.lines - bytes.Count(p.buf[p.pos:], []byte("\n")) + 1
	}
}

// next returns the next complete statement. An error says what follows a \plot or \watch
// and cannot be understood; that statement is left out.
func (p *splitter) next() (_ statement, ok bool, err error) {
	delimiter := []byte(";")
	if p.delimiter != "" {
		delimiter = []byte(p.delimiter)
	}
	for p.pos < len(p.buf) {
		c := p.buf[p.pos]
		var following byte
		if p.pos+1 < len(p.buf) {
			following = p.buf[p.pos+1]
		}
		switch p.in {
		case '-':
			if c == '\n' {
				p.in = 0
			}
			p.pos++
			continue
		case '*':
			if c == '*' && following == '/' {
				p.in = 0
				p.pos++
			}
			p.pos++
			continue
		case '\'', '"', '`':
			switch {
			case c == '\\' && p.in != '`':
				p.pos++ // whatever follows belongs to the text
			case c == p.in:
				p.in = 0 // a doubled quote opens it again at once
			}
			p.pos++
			continue
		}
		switch {
		case bytes.HasPrefix(p.buf[p.pos:], delimiter):
			if st, ok := p.cut(p.pos+len(delimiter), statement{}); ok {
				return st, true, nil
			}
			continue
		case c == '\'' || c == '"' || c == '`':
			p.see()
			p.in = c
		case c == '#', c == '-' && following == '-' && p.blankAt(p.pos+2):
			p.in = '-'
		case c == '/' && following == '*':
			if p.pos+2 < len(p.buf) && (p.buf[p.pos+2] == '!' || p.buf[p.pos+2] == '+') {
				p.see() // not only a comment to the server
			}
			p.in = '*'
			p.pos++
		case c == '\\' && (following == 'g' || following == 'G') && !nameRune(p.runeAt(p.pos+2)):
			st, _ := p.cut(p.pos+2, statement{vertical: following == 'G'})
			return st, true, nil
		case c == '\\' && (p.wordAt(`\plot`) || p.wordAt(`\watch`)):
			line, _, _ := bytes.Cut(p.buf[p.pos:], []byte("\n"))
			ending, err := parseEnding(string(line))
			st, _ := p.cut(p.pos+len(line), ending)
			return st, err == nil, err
		case c > ' ':
			p.see()
		}
		p.pos++
	}
	return statement{}, false, nil
}

func (p *splitter) blankAt(i int) bool { return i >= len(p.buf) || p.buf[i] <= ' ' }

func (p *splitter) runeAt(i int) rune {
	if i >= len(p.buf) {
		return ' '
	}
	return rune(p.buf[i])
}

func (p *splitter) wordAt(word string) bool {
	return bytes.HasPrefix(p.buf[p.pos:], []byte(word)) && !nameRune(p.runeAt(p.pos+len(word)))
}

// cut takes the text before the ending at pos as the statement and goes on at next; false
// when there is no text, only blanks and comments.
func (p *splitter) cut(next int, st statement) (statement, bool) {
	any := p.anyone
	p.see() // for its line
	if st.line = p.begin; any {
		st.text = strings.TrimSpace(string(p.buf[:p.pos]))
	}
	rest := p.buf[next:]
	*p = splitter{buf: append(p.buf[:0], rest...), lines: p.lines, delimiter: p.delimiter}
	return st, any
}

// parseEnding reads `\plot line \watch 2 5`, the end of a statement's last line.
func parseEnding(line string) (st statement, err error) {
	words := strings.Fields(strings.TrimRight(line, "; \t\r"))
	argument := func() (string, bool) {
		if len(words) == 0 || words[0][0] == '\\' {
			return "", false
		}
		w := words[0]
		words = words[1:]
		return w, true
	}
	for len(words) > 0 {
		command := words[0]
		words = words[1:]
		switch command {
		case `\plot`:
			st.plot = plotLine
			if kind, ok := argument(); ok {
				st.plot = kind
			}
			if st.plot != plotLine && st.plot != plotBar {
				return st, fmt.Errorf(`\plot %s: there are line and bar`, st.plot)
			}
		case `\watch`:
			st.watch = &watch{every: 2 * time.Second}
			if seconds, ok := argument(); ok {
				f, err := strconv.ParseFloat(seconds, 64)
				if err != nil || !(f >= 0.1 && f <= 86400) {
					return st, fmt.Errorf(`\watch %s: seconds from 0.1 to 86400 are needed`, seconds)
				}
				st.watch.every = time.Duration(f * float64(time.Second))
			}
			if times, ok := argument(); ok {
				n, err := strconv.Atoi(times)
				if err != nil || n < 1 {
					return st, fmt.Errorf(`\watch %s: how many times is a number from 1`, times)
				}
				st.watch.times = n
			}
		case `\G`:
			st.vertical = true
		default:
			return st, fmt.Errorf(`%s: only \plot, \watch and \G end a statement together`, command)
		}
	}
	return st, nil
}
