package mysql

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

const (
	// maxPatternBytes of a regular expression, and how many compiled ones are kept.
	maxPatternBytes  = 32 << 10
	maxCachedRegexps = 512
)

// regexpCache keeps compiled patterns. Go's engine takes linear time in the subject, whatever the
// pattern, and can be interrupted by the runtime.
type regexpCache struct {
	mu sync.Mutex
	m  map[string]*regexp.Regexp
}

func newRegexpCache() *regexpCache { return &regexpCache{m: make(map[string]*regexp.Regexp)} }

// get compiles pattern with flags ("i", "m", "s" in any combination).
func (c *regexpCache) get(pattern, flags string) (*regexp.Regexp, error) {
	key := flags + "\x00" + pattern
	c.mu.Lock()
	re, ok := c.m[key]
	c.mu.Unlock()
	if ok {
		return re, nil
	}
	if pattern == "" {
		return nil, newError(3685, "HY000", "Illegal argument to a regular expression.")
	}
	if len(pattern) > maxPatternBytes {
		return nil, newError(3688, "HY000", "Syntax error in regular expression: it is longer than %d bytes", maxPatternBytes)
	}
	source := pattern
	if flags != "" {
		source = "(?" + flags + ")" + pattern
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, regexpError(err, pattern)
	}
	c.mu.Lock()
	if len(c.m) >= maxCachedRegexps {
		clear(c.m)
	}
	c.m[key] = re
	c.mu.Unlock()
	return re, nil
}

// regexpError uses MySQL's numbers: what ICU has and linear time does not allow is unimplemented.
func regexpError(err error, pattern string) error {
	for _, construct := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?>", "*+", "++", "?+"} {
		if strings.Contains(pattern, construct) {
			return newError(3690, "HY000", "The regular expression uses %s, which is not implemented (it has no linear-time match).", construct)
		}
	}
	m := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if strings.Contains(m, "invalid escape sequence") {
		return newError(3690, "HY000", "The regular expression contains a feature that is not implemented: %s", m)
	}
	return newError(3688, "HY000", "Syntax error in regular expression: %s", m)
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
			return "", newError(1210, "HY000", "Incorrect arguments to regexp: match type '%c'", r)
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
func (c *regexpCache) call(ctx *sql.Context, args []any, exprs []sql.Expression, matchTypeAt int) (string, *regexp.Regexp, error) {
	subject, err := toText(ctx, args[0], exprs[0].Type())
	if err != nil {
		return "", nil, err
	}
	pattern, err := toText(ctx, args[1], exprs[1].Type())
	if err != nil {
		return "", nil, err
	}
	matchType := ""
	if len(args) > matchTypeAt {
		if matchType, err = toText(ctx, args[matchTypeAt], nil); err != nil {
			return "", nil, err
		}
	}
	flags, err := regexpFlags(ctx, matchType, exprs)
	if err != nil {
		return "", nil, err
	}
	re, err := c.get(pattern, flags)
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
		return 0, newError(3686, "HY000", "Index out of bounds in regular expression search.")
	}
	at := 0
	for i := int64(1); i < pos; i++ {
		if at >= len(s) {
			return 0, newError(3686, "HY000", "Index out of bounds in regular expression search.")
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return at, nil
}

// matches are those from byte at on, with the groups' places in s. As the text before at is not
// searched, ^ and \b take at for a beginning.
func matches(re *regexp.Regexp, s string, at int) [][]int {
	all := re.FindAllStringSubmatchIndex(s[at:], -1)
	for _, m := range all {
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
	}
	return all
}

// nth finds the n-th match from byte at on; nil when there is none.
func nth(re *regexp.Regexp, s string, at int, n int64) []int {
	all := matches(re, s, at)
	n = max(n, 1)
	if n > int64(len(all)) {
		return nil
	}
	return all[n-1]
}

func regexpFunctions(c *regexpCache) []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "regexp_like", strict: true, typeOf: fixed(types.Boolean), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			s, re, err := c.call(ctx, args, exprs, 2)
			if err != nil {
				return nil, err
			}
			return re.MatchString(s), nil
		}}, 2, 3),
		scalarFunction(scalar{name: "regexp_substr", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			s, re, err := c.call(ctx, args, exprs, 4)
			if err != nil {
				return nil, err
			}
			m, _, err := c.find(ctx, s, re, args)
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
			m, _, err := c.find(ctx, s, re, args)
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
				return nil, newError(1210, "HY000", "Incorrect arguments to regexp_instr: return_option must be 1 or 0.")
			}
		}}, 2, 6),
		scalarFunction(scalar{name: "regexp_replace", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			return c.replace(ctx, args, exprs)
		}}, 3, 6),
	}
}

// find returns the match that pos and occurrence (arguments 2 and 3) ask for.
func (c *regexpCache) find(ctx *sql.Context, s string, re *regexp.Regexp, args []any) (match []int, at int, err error) {
	pos, err := intArg(ctx, args, 2, 1)
	if err != nil {
		return nil, 0, err
	}
	if at, err = fromChar(s, pos); err != nil {
		return nil, 0, err
	}
	occurrence, err := intArg(ctx, args, 3, 1)
	if err != nil {
		return nil, 0, err
	}
	return nth(re, s, at, occurrence), at, nil
}

// replace carries out REGEXP_REPLACE(expr, pat, repl[, pos[, occurrence[, match_type]]]); occurrence 0
// is all of them.
func (c *regexpCache) replace(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
	s, re, err := c.call(ctx, args, exprs, 5)
	if err != nil {
		return nil, err
	}
	repl, err := toText(ctx, args[2], exprs[2].Type())
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
	done, seen := 0, int64(0)
	for _, m := range matches(re, s, at) {
		seen++
		if occurrence > 0 && seen != occurrence {
			continue
		}
		out = append(out, s[done:m[0]]...)
		if out, err = expand(out, repl, s, m); err != nil {
			return nil, err
		}
		done = m[1]
		if len(out) > maxFunctionBytes {
			return tooLong(ctx, "regexp_replace"), nil
		}
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
				return nil, newError(3686, "HY000", "Index out of bounds in regular expression search.")
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
