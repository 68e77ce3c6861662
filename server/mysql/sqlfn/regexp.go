package sqlfn

import (
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

const (
	// maxPatternBytes of a regular expression, and how many compiled ones are kept.
	maxPatternBytes  = 32 << 10
	maxCachedRegexps = 512
	// maxRegexpSize is the most that a pattern may come to with its repetitions written out: what a
	// character of the subject can cost, and in some forty bytes each what a cached pattern does.
	maxRegexpSize = 10_000
	// quickRegexpWork is the product of a pattern's size and its subject's bytes up to which a match is
	// not watched: it takes some ten milliseconds.
	quickRegexpWork = 1 << 20
	// maxRegexpWork is that product for what cannot be watched.
	maxRegexpWork = 1 << 24
)

var (
	errRegexpSize = sqlerr.New(3700, "HY000", "The regular expression pattern exceeds limits on size or complexity.")
	errRegexpTime = sqlerr.New(3699, "HY000", "Timeout exceeded in regular expression match.")
)

// pattern is a compiled regular expression.
type pattern struct {
	*regexp.Regexp
	size    int
	asserts bool // looks at what stands before a place: ^, \b and their like
}

// Regexps keeps compiled patterns. Go's engine takes linear time in the subject, whatever the
// pattern, and the runtime can preempt it; that its statement can end it is the work of search.
type Regexps struct {
	mu sync.Mutex
	m  map[string]*pattern
}

func NewRegexps() *Regexps { return &Regexps{m: make(map[string]*pattern)} }

// get compiles text with flags ("i", "m", "s" in any combination).
func (c *Regexps) get(text, flags string) (*pattern, error) {
	key := flags + "\x00" + text
	c.mu.Lock()
	p, ok := c.m[key]
	c.mu.Unlock()
	if ok {
		return p, nil
	}
	if text == "" {
		return nil, sqlerr.New(3685, "HY000", "Illegal argument to a regular expression.")
	}
	if len(text) > maxPatternBytes {
		return nil, errRegexpSize
	}
	source := text
	if flags != "" {
		source = "(?" + flags + ")" + text
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, regexpError(err, text)
	}
	p = &pattern{}
	if p.measure(tree); p.size > maxRegexpSize {
		return nil, errRegexpSize
	}
	if p.Regexp, err = regexp.Compile(source); err != nil {
		return nil, regexpError(err, text)
	}
	c.mu.Lock()
	if len(c.m) >= maxCachedRegexps {
		clear(c.m)
	}
	c.m[key] = p
	c.mu.Unlock()
	return p, nil
}

// measure adds what a parsed part comes to, its repetitions written out.
func (p *pattern) measure(re *syntax.Regexp) {
	before := p.size
	p.size += 1 + len(re.Rune)
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		p.asserts = true
	}
	for _, sub := range re.Sub {
		p.measure(sub)
	}
	if re.Op == syntax.OpRepeat {
		p.size = min(before+(p.size-before)*max(re.Min, re.Max, 1), 1<<40)
	}
}

// regexpError uses MySQL's numbers: what ICU has and linear time does not allow is unimplemented.
func regexpError(err error, pattern string) error {
	for _, construct := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?>", "*+", "++", "?+"} {
		if strings.Contains(pattern, construct) {
			return sqlerr.New(3690, "HY000", "The regular expression uses %s, which is not implemented (it has no linear-time match).", construct)
		}
	}
	m := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if strings.Contains(m, "invalid escape sequence") {
		return sqlerr.New(3690, "HY000", "The regular expression contains a feature that is not implemented: %s", m)
	}
	return sqlerr.New(3688, "HY000", "Syntax error in regular expression: %s", m)
}

// regexpFlags reads a match_type; without one the collation decides about case.
func regexpFlags(ctx *sql.Context, matchType string, exprs []sql.Expression) (string, error) {
	fold := false
	for _, e := range exprs[:2] {
		if id, level := sql.GetCoercibility(ctx, e); level < 4 && strings.HasSuffix(id.Name(), "_ci") {
			fold = true
		}
	}
	multi, dot := false, false
	for _, r := range matchType {
		switch r {
		case 'c':
			fold = false
		case 'i':
			fold = true
		case 'm':
			multi = true
		case 'n':
			dot = true
		case 'u':
		default:
			return "", sqlerr.New(1210, "HY000", "Incorrect arguments to regexp: match type '%c'", r)
		}
	}
	flags := ""
	if fold {
		flags += "i"
	}
	if multi {
		flags += "m"
	}
	if dot {
		flags += "s"
	}
	return flags, nil
}

// regexpCall is the common part of a call: subject, compiled pattern.
func (c *Regexps) call(ctx *sql.Context, args []any, exprs []sql.Expression, matchTypeAt int) (string, *pattern, error) {
	subject, err := ToText(ctx, args[0], exprs[0].Type())
	if err != nil {
		return "", nil, err
	}
	source, err := ToText(ctx, args[1], exprs[1].Type())
	if err != nil {
		return "", nil, err
	}
	matchType := ""
	if len(args) > matchTypeAt {
		if matchType, err = ToText(ctx, args[matchTypeAt], nil); err != nil {
			return "", nil, err
		}
	}
	flags, err := regexpFlags(ctx, matchType, exprs)
	if err != nil {
		return "", nil, err
	}
	re, err := c.get(source, flags)
	return subject, re, err
}

// intArg reads argument i, or def when it is absent.
func intArg(ctx *sql.Context, args []any, i int, def int64) (int64, error) {
	if len(args) <= i {
		return def, nil
	}
	return toInt(ctx, args[i])
}

// fromChar is the byte index of the pos-th character (1 is the first).
func fromChar(s string, pos int64) (int, error) {
	if pos < 1 {
		return 0, sqlerr.New(3686, "HY000", "Index out of bounds in regular expression search.")
	}
	at := 0
	for i := int64(1); i < pos; i++ {
		if at >= len(s) {
			return 0, sqlerr.New(3686, "HY000", "Index out of bounds in regular expression search.")
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return at, nil
}

// watchedRunes reads a subject for the matcher and ends it when the context does.
type watchedRunes struct {
	ctx  context.Context
	s    string
	read int
	err  error
}

// ReadRune implements io.RuneReader.
func (w *watchedRunes) ReadRune() (r rune, size int, err error) {
	if w.read++; w.read%256 == 0 && w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err != nil || w.s == "" {
		return 0, 0, io.EOF
	}
	r, size = utf8.DecodeRuneInString(w.s)
	w.s = w.s[size:]
	return r, size, nil
}

func (p *pattern) quick(s string) bool { return len(s) <= quickRegexpWork/max(1, p.size) }

// isIn says whether p matches somewhere in s.
func (p *pattern) isIn(ctx context.Context, s string) (bool, error) {
	if p.quick(s) {
		return p.MatchString(s), nil
	}
	w := watchedRunes{ctx: ctx, s: s}
	found := p.MatchReader(&w)
	return found && w.err == nil, w.err
}

// first is the first match in s with its groups, nil when there is none.
func (p *pattern) first(ctx context.Context, s string) ([]int, error) {
	if p.quick(s) {
		return p.FindStringSubmatchIndex(s), nil
	}
	w := watchedRunes{ctx: ctx, s: s}
	m := p.FindReaderSubmatchIndex(&w)
	if w.err != nil {
		return nil, w.err
	}
	return m, nil
}

// search calls fn with the matches from byte at on, in order, with the groups' places in s, until fn
// returns false. As the text before at is not searched, ^ and \b take at for a beginning.
func (p *pattern) search(ctx context.Context, s string, at int, fn func(m []int) bool) error {
	if p.asserts {
		// To look at what stands before a match the matcher has to get all of the text at once.
		if rest := s[at:]; len(rest) > maxRegexpWork/p.size {
			return errRegexpTime
		}
		for _, m := range p.FindAllStringSubmatchIndex(s[at:], -1) {
			shift(m, at)
			if !fn(m) {
				break
			}
		}
		return nil
	}
	last := -1 // where the match before ended
	for steps := 1; at <= len(s); steps++ {
		if steps%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m, err := p.first(ctx, s[at:])
		if err != nil || m == nil {
			return err
		}
		shift(m, at)
		empty := m[1] == at
		accept := !empty || m[0] != last // not an empty match right behind another one
		last = m[1]
		if at = m[1]; empty {
			_, n := utf8.DecodeRuneInString(s[at:])
			at += max(1, n)
		}
		if accept && !fn(m) {
			return nil
		}
	}
	return nil
}

func shift(m []int, by int) {
	for i := range m {
		if m[i] >= 0 {
			m[i] += by
		}
	}
}

// nth finds the n-th match from byte at on; nil when there is none.
func (p *pattern) nth(ctx context.Context, s string, at int, n int64) (found []int, err error) {
	seen := int64(0)
	err = p.search(ctx, s, at, func(m []int) bool {
		if seen++; seen >= n {
			found = m
		}
		return found == nil
	})
	return found, err
}

func regexpFunctions(c *Regexps) []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "regexp_like", strict: true, typeOf: fixed(types.Boolean), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			s, re, err := c.call(ctx, args, exprs, 2)
			if err != nil {
				return nil, err
			}
			return re.isIn(ctx, s)
		}}, 2, 3),
		scalarFunction(scalar{name: "regexp_substr", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			s, re, err := c.call(ctx, args, exprs, 4)
			if err != nil {
				return nil, err
			}
			m, err := c.find(ctx, s, re, args)
			if err != nil || m == nil {
				return nil, err
			}
			return s[m[0]:m[1]], nil
		}}, 2, 5),
		scalarFunction(scalar{name: "regexp_instr", strict: true, typeOf: fixed(types.Int64), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			s, re, err := c.call(ctx, args, exprs, 5)
			if err != nil {
				return nil, err
			}
			m, err := c.find(ctx, s, re, args)
			if err != nil {
				return nil, err
			}
			if m == nil {
				return int64(0), nil
			}
			after, err := intArg(ctx, args, 4, 0)
			if err != nil {
				return nil, err
			}
			switch after {
			case 0:
				return int64(utf8.RuneCountInString(s[:m[0]])) + 1, nil
			case 1:
				return int64(utf8.RuneCountInString(s[:m[1]])) + 1, nil
			default:
				return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to regexp_instr: return_option must be 1 or 0.")
			}
		}}, 2, 6),
		scalarFunction(scalar{name: "regexp_replace", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			return c.replace(ctx, args, exprs)
		}}, 3, 6),
	}
}

// find returns the match that pos and occurrence (arguments 2 and 3) ask for.
func (c *Regexps) find(ctx *sql.Context, s string, re *pattern, args []any) ([]int, error) {
	pos, err := intArg(ctx, args, 2, 1)
	if err != nil {
		return nil, err
	}
	at, err := fromChar(s, pos)
	if err != nil {
		return nil, err
	}
	occurrence, err := intArg(ctx, args, 3, 1)
	if err != nil {
		return nil, err
	}
	return re.nth(ctx, s, at, occurrence)
}

// replace carries out REGEXP_REPLACE(expr, pat, repl[, pos[, occurrence[, match_type]]]); occurrence 0
// is all of them.
func (c *Regexps) replace(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	s, re, err := c.call(ctx, args, exprs, 5)
	if err != nil {
		return nil, err
	}
	repl, err := ToText(ctx, args[2], exprs[2].Type())
	if err != nil {
		return nil, err
	}
	pos, err := intArg(ctx, args, 3, 1)
	if err != nil {
		return nil, err
	}
	at, err := fromChar(s, pos)
	if err != nil {
		return nil, err
	}
	occurrence, err := intArg(ctx, args, 4, 0)
	if err != nil {
		return nil, err
	}
	var out []byte
	done, seen, long := 0, int64(0), false
	var bad error
	err = re.search(ctx, s, at, func(m []int) bool {
		if seen++; occurrence > 0 && seen != occurrence {
			return true
		}
		out = append(out, s[done:m[0]]...)
		if out, bad = expand(out, repl, s, m); bad != nil {
			return false
		}
		done = m[1]
		long = len(out)+len(s)-done > maxFunctionBytes
		return !long && occurrence == 0
	})
	switch {
	case err != nil:
		return nil, err
	case bad != nil:
		return nil, bad
	case long:
		return tooLong(ctx, "regexp_replace"), nil
	}
	return string(append(out, s[done:]...)), nil
}

// expand appends repl with ICU's references: $1 is a group, \x is x itself.
func expand(out []byte, repl, s string, m []int) ([]byte, error) {
	for i := 0; i < len(repl); i++ {
		switch ch := repl[i]; {
		case ch == '\\' && i+1 < len(repl):
			i++
			out = append(out, repl[i])
		case ch == '$' && i+1 < len(repl) && repl[i+1] >= '0' && repl[i+1] <= '9':
			group := int(repl[i+1] - '0')
			i++
			// A second digit counts if there is such a group.
			if i+1 < len(repl) && repl[i+1] >= '0' && repl[i+1] <= '9' {
				if two := group*10 + int(repl[i+1]-'0'); 2*two+1 < len(m) {
					group = two
					i++
				}
			}
			if 2*group+1 >= len(m) {
				return nil, sqlerr.New(3686, "HY000", "Index out of bounds in regular expression search.")
			}
			if m[2*group] >= 0 {
				out = append(out, s[m[2*group]:m[2*group+1]]...)
			}
		default:
			out = append(out, ch)
		}
	}
	return out, nil
}
