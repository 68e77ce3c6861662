package client

import (
	"bytes"
	"strings"
)

// statement is one SQL statement and how its end asked for the answer.
type statement struct {
	text     string
	vertical bool   // ended by \G
	plot     string // ended by \plot KIND: line or bar
}

// splitter cuts text into statements, as the mysql client does: at ; \g \G or \plot KIND,
// but not inside quotes and comments. It is fed whole lines.
type splitter struct {
	buf    []byte
	pos    int  // scanned up to here
	in     byte // 0, a quote character, '-' (comment to the end of the line) or '*' (block comment)
	anyone bool // something besides blanks and comments was seen
}

func (p *splitter) feed(line string) {
	p.buf = append(append(p.buf, line...), '\n')
}

// pending says whether a statement has begun and not ended.
func (p *splitter) pending() bool { return p.anyone || p.in != 0 && p.in != '-' }

// reset forgets the begun statement.
func (p *splitter) reset() { *p = splitter{} }

// rest ends the input: what has begun is the last statement.
func (p *splitter) rest() (statement, bool) {
	any := p.anyone
	text := strings.TrimSpace(string(p.buf))
	p.reset()
	return statement{text: text}, any
}

// next returns the next complete statement.
func (p *splitter) next() (statement, bool) {
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
		case c == '\'' || c == '"' || c == '`':
			p.in, p.anyone = c, true
		case c == '#', c == '-' && following == '-' && p.blankAt(p.pos+2):
			p.in = '-'
		case c == '/' && following == '*':
			if p.pos+2 < len(p.buf) && (p.buf[p.pos+2] == '!' || p.buf[p.pos+2] == '+') {
				p.anyone = true // not only a comment to the server
			}
			p.in = '*'
			p.pos++
		case c == ';':
			if st, ok := p.cut(p.pos, p.pos+1, statement{}); ok {
				return st, true
			}
			continue
		case c == '\\' && (following == 'g' || following == 'G'):
			if st, ok := p.cut(p.pos, p.pos+2, statement{vertical: following == 'G'}); ok {
				return st, true
			}
			continue
		case c == '\\' && bytes.HasPrefix(p.buf[p.pos:], []byte(`\plot`)):
			line, _, _ := bytes.Cut(p.buf[p.pos:], []byte("\n"))
			kind := strings.TrimRight(strings.TrimSpace(string(line[len(`\plot`):])), "; ")
			if st, ok := p.cut(p.pos, p.pos+len(line), statement{plot: kind}); ok {
				return st, true
			}
			continue
		case c > ' ':
			p.anyone = true
		}
		p.pos++
	}
	return statement{}, false
}

func (p *splitter) blankAt(i int) bool { return i >= len(p.buf) || p.buf[i] <= ' ' }

// cut takes the text before end as the statement and goes on at next; false when
// there is none, only blanks and comments.
func (p *splitter) cut(end, next int, st statement) (statement, bool) {
	any := p.anyone
	st.text = strings.TrimSpace(string(p.buf[:end]))
	rest := p.buf[next:]
	*p = splitter{buf: append(p.buf[:0], rest...)}
	return st, any
}
