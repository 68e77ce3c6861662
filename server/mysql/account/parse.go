package account

import (
	"strings"

	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
)

// Parse reads the statement that src begins with, and what follows it. ok is false when it is none of this package's.
// An error is MySQL's: a fault in the syntax, or something that there is not here, which is never passed over. database is
// that of tables that are named without one.
func Parse(src, database string) (s Statement, first, rest string, ok bool, err error) {
	p := &parser{lexer: lexer{src: src}, database: database}
	begin := p.skipTo()
	make := p.kind()
	if make == nil {
		return nil, "", "", false, nil
	}
	if s, err = make(); err != nil {
		// What follows is not read after an error.
		return nil, strings.TrimSpace(src[begin:]), "", true, err
	}
	t := p.peek()
	if t.kind != end {
		return nil, strings.TrimSpace(src[begin:]), "", true, p.syntax()
	}
	first = strings.TrimSpace(src[begin:t.at])
	rest = strings.TrimLeft(src[t.at:], "; \t\r\n")
	return s, first, rest, true, nil
}

type parser struct {
	lexer
	ahead    []token
	database string
}

func (p *parser) skipTo() int {
	for {
		p.skip()
		if p.pos >= len(p.src) || p.src[p.pos] != ';' {
			return p.pos
		}
		p.pos++ // an empty statement
	}
}

func (p *parser) peekAt(i int) token {
	for len(p.ahead) <= i {
		p.ahead = append(p.ahead, p.next())
	}
	return p.ahead[i]
}

func (p *parser) peek() token { return p.peekAt(0) }

func (p *parser) take() token {
	t := p.peek()
	p.ahead = p.ahead[1:]
	return t
}

// is says whether the next tokens are these keywords.
func (p *parser) is(words ...string) bool {
	for i, w := range words {
		t := p.peekAt(i)
		if t.kind != word && t.kind != symbol || !strings.EqualFold(t.text, w) {
			return false
		}
	}
	return true
}

// accept takes the keywords if they are next.
func (p *parser) accept(words ...string) bool {
	if !p.is(words...) {
		return false
	}
	p.ahead = p.ahead[len(words):]
	return true
}

func (p *parser) expect(words ...string) error {
	if p.accept(words...) {
		return nil
	}
	return p.syntax()
}

// syntax is the error that the next token is. It does not repeat the text, which may hold a password.
func (p *parser) syntax() error {
	t := p.peek()
	near := t.text
	switch t.kind {
	case end:
		near = "the end"
	case text:
		near = "'…'"
	}
	return sqlerr.New(1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your Millrace server version for the right syntax to use near %s", near)
}

// kind takes the words that a statement begins with and returns the reader of the rest.
func (p *parser) kind() func() (Statement, error) {
	switch {
	case p.accept("CREATE", "USER"):
		return func() (Statement, error) { return p.user(false) }
	case p.accept("ALTER", "USER"):
		return func() (Statement, error) { return p.user(true) }
	case p.accept("DROP", "USER"):
		return p.drop
	case p.accept("RENAME", "USER"):
		return p.rename
	case p.accept("SET", "PASSWORD"):
		return p.setPassword
	case p.accept("SHOW", "CREATE", "USER"):
		return func() (Statement, error) {
			n, err := p.account()
			return &ShowCreateUser{n}, err
		}
	case p.accept("SHOW", "GRANTS"):
		return p.showGrants
	case p.accept("GRANT"):
		return func() (Statement, error) { return p.grant(&Grant{}) }
	case p.accept("DENY"):
		return func() (Statement, error) { return p.grant(&Grant{Deny: true}) }
	case p.accept("REVOKE"):
		return func() (Statement, error) {
			g := &Grant{Revoke: true, IfExists: p.accept("IF", "EXISTS")}
			g.Deny = p.accept("DENY")
			return p.grant(g)
		}
	case p.accept("SET", "ROLE"):
		return func() (Statement, error) {
			if p.accept("NONE") || p.accept("DEFAULT") {
				return &Nothing{}, nil
			}
			return nil, errRoles
		}
	case p.is("CREATE", "ROLE"), p.is("DROP", "ROLE"), p.is("SET", "DEFAULT", "ROLE"):
		return func() (Statement, error) { return nil, errRoles }
	}
	return nil
}

var errRoles = sqlerr.Instead("roles", "Grant the rights to each user.")

// account reads 'user'@'host', user, or CURRENT_USER.
func (p *parser) account() (Name, error) {
	for _, w := range []string{"CURRENT_USER", "USER"} {
		if p.peek().kind == word && p.is(w) {
			parens := p.is(w, "(", ")")
			if w == "USER" && !parens {
				break
			}
			if parens {
				p.accept(w, "(", ")")
			} else {
				p.take()
			}
			return Name{Current: true}, nil
		}
	}
	user, err := p.name()
	if err != nil {
		return Name{}, err
	}
	n := Name{User: user, Host: AnyHost}
	if p.accept("@") {
		if n.Host, err = p.name(); err != nil {
			return Name{}, err
		}
		for p.is(".") { // an address without quotes
			p.take()
			part, err := p.name()
			if err != nil {
				return Name{}, err
			}
			n.Host += "." + part
		}
		if n.Host == "" {
			n.Host = AnyHost
		}
	}
	if n.User == "" {
		n.User = auth.Anonymous.Name // as MySQL's account ''
	}
	return n, nil
}

// name is a word, or quoted text of either kind.
func (p *parser) name() (string, error) {
	switch t := p.peek(); t.kind {
	case word, identifier, text:
		p.take()
		return t.text, nil
	default:
		return "", p.syntax()
	}
}

func (p *parser) accounts() (list []Name, err error) {
	for {
		n, err := p.account()
		if err != nil {
			return nil, err
		}
		if list = append(list, n); !p.accept(",") {
			return list, nil
		}
	}
}

func (p *parser) drop() (Statement, error) {
	s := &DropUser{IfExists: p.accept("IF", "EXISTS")}
	var err error
	s.Names, err = p.accounts()
	return s, err
}

func (p *parser) rename() (Statement, error) {
	s := &RenameUser{}
	for {
		from, err := p.account()
		if err == nil {
			err = p.expect("TO")
		}
		if err != nil {
			return nil, err
		}
		to, err := p.account()
		if err != nil {
			return nil, err
		}
		s.From, s.To = append(s.From, from), append(s.To, to)
		if !p.accept(",") {
			return s, nil
		}
	}
}

func (p *parser) showGrants() (Statement, error) {
	s := &ShowGrants{Name{Current: true}}
	if p.accept("FOR") {
		n, err := p.account()
		if err != nil {
			return nil, err
		}
		s.For = n
	}
	if p.is("USING") {
		return nil, errRoles
	}
	return s, nil
}

func (p *parser) setPassword() (Statement, error) {
	u := User{Name: Name{Current: true}}
	if p.accept("FOR") {
		n, err := p.account()
		if err != nil {
			return nil, err
		}
		u.Name = n
	}
	if p.is("TO", "RANDOM") {
		return nil, errRandom
	}
	if !p.accept("=") && !p.accept(":", "=") {
		return nil, p.syntax()
	}
	if p.is("PASSWORD", "(") || p.is("OLD_PASSWORD", "(") {
		return nil, sqlerr.Instead("PASSWORD()", "Write the password itself: SET PASSWORD = 'password'.")
	}
	var err error
	if u.Password, err = p.password(); err != nil {
		return nil, err
	}
	if u.Current, err = p.replaced(); err != nil {
		return nil, err
	}
	return &SetPassword{u}, nil
}

func (p *parser) password() (*string, error) {
	t := p.peek()
	if t.kind != text {
		return nil, p.syntax()
	}
	p.take()
	return &t.text, nil
}

// replaced reads REPLACE 'the password so far'.
func (p *parser) replaced() (current *string, err error) {
	if p.accept("REPLACE") {
		if current, err = p.password(); err != nil {
			return nil, err
		}
	}
	if p.is("RETAIN") || p.is("DISCARD") {
		return nil, sqlerr.Instead("dual passwords", "Set the new one and give it to every client.")
	}
	return current, nil
}

var errRandom = sqlerr.Instead("random passwords", "Choose one: IDENTIFIED BY 'password'.")

func (p *parser) user(alter bool) (Statement, error) {
	s := &CreateUser{Alter: alter}
	if alter {
		s.IfNotExists = p.accept("IF", "EXISTS")
	} else {
		s.IfNotExists = p.accept("IF", "NOT", "EXISTS")
	}
	for {
		n, err := p.account()
		if err != nil {
			return nil, err
		}
		u := User{Name: n}
		if err := p.identified(&u); err != nil {
			return nil, err
		}
		if s.Users = append(s.Users, u); !p.accept(",") {
			break
		}
	}
	for p.peek().kind != end {
		if err := p.userOption(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// identified reads how a user proves who he is.
func (p *parser) identified(u *User) (err error) {
	if !p.accept("IDENTIFIED") {
		return nil
	}
	by := p.accept("BY")
	if !by {
		if err := p.expect("WITH"); err != nil {
			return err
		}
		plugin, err := p.name()
		if err != nil {
			return err
		}
		switch strings.ToLower(plugin) {
		case "caching_sha2_password", "sha256_password":
		default:
			return sqlerr.New(1524, "HY000", "Plugin '%s' is not loaded", sqlerr.Clip(plugin))
		}
		if p.is("AS") {
			return sqlerr.Instead("IDENTIFIED WITH … AS a hash", "Give the password itself (BY 'password'), or a SCRAM credential with kafka-configs.")
		}
		if by = p.accept("BY"); !by {
			return nil
		}
	}
	if p.is("RANDOM", "PASSWORD") {
		return errRandom
	}
	if u.Password, err = p.password(); err != nil {
		return err
	}
	u.Current, err = p.replaced()
	if err == nil && (p.is("AND") || p.is("INITIAL")) {
		return sqlerr.Instead("several factors", "REQUIRE X509 asks for a client certificate beside the password.")
	}
	return err
}

// userOption reads one of the clauses after the accounts.
func (p *parser) userOption(s *CreateUser) error {
	switch {
	case p.accept("REQUIRE"):
		r, err := p.require()
		s.Require = &r
		return err
	case p.accept("ACCOUNT", "LOCK"):
		yes := true
		s.Locked = &yes
		return nil
	case p.accept("ACCOUNT", "UNLOCK"):
		no := false
		s.Locked = &no
		return nil
	// What MySQL has as its defaults, in the words of its SHOW CREATE USER.
	case p.accept("PASSWORD", "EXPIRE", "DEFAULT"), p.accept("PASSWORD", "EXPIRE", "NEVER"), p.accept("PASSWORD", "HISTORY", "DEFAULT"),
		p.accept("PASSWORD", "REUSE", "INTERVAL", "DEFAULT"), p.accept("PASSWORD", "REQUIRE", "CURRENT", "DEFAULT"),
		p.accept("PASSWORD", "REQUIRE", "CURRENT", "OPTIONAL"), p.accept("DEFAULT", "ROLE", "NONE"):
		return nil
	case p.is("PASSWORD"), p.is("FAILED_LOGIN_ATTEMPTS"), p.is("PASSWORD_LOCK_TIME"):
		return sqlerr.Instead("password policies", "A failed login takes "+auth.FailureDelay.String()+"; ACCOUNT LOCK closes an account.")
	case p.is("DEFAULT", "ROLE"):
		return errRoles
	case p.accept("WITH"):
		return p.limits()
	case p.is("COMMENT"), p.is("ATTRIBUTE"):
		return sqlerr.Unsupported("comments and attributes of users")
	}
	return p.syntax()
}

func (p *parser) require() (auth.Requirement, error) {
	switch {
	case p.accept("NONE"):
		return auth.RequireNothing, nil
	case p.accept("SSL"):
		return auth.RequireTLS, nil
	case p.accept("X509"):
		return auth.RequireCertificate, nil
	case p.is("CIPHER"), p.is("ISSUER"), p.is("SUBJECT"):
		return "", sqlerr.Instead("REQUIRE "+strings.ToUpper(p.peek().text), "REQUIRE X509 wants a certificate that --tls-client-ca signed and whose common name is the user's.")
	}
	return "", p.syntax()
}

// limits reads WITH MAX_… n; 0 is none, and there are no others.
func (p *parser) limits() error {
	for {
		t := p.peek()
		switch strings.ToUpper(t.text) {
		case "MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR", "MAX_CONNECTIONS_PER_HOUR", "MAX_USER_CONNECTIONS":
			p.take()
		default:
			return p.syntax()
		}
		if !p.accept("0") {
			return sqlerr.Instead(strings.ToUpper(t.text), "Quotas of Kafka clients are set with kafka-configs.")
		}
		if !strings.HasPrefix(strings.ToUpper(p.peek().text), "MAX_") {
			return nil
		}
	}
}

// redactable is how much of a long statement is shown of one with passwords.
const redactable = 4 << 10

// Redacted is src with a placeholder for every quoted text if it begins like one of this package's statements, as they may
// hold passwords; any other src comes back as it is. It is for lists of what runs.
func Redacted(src string) string {
	p := &parser{lexer: lexer{src: src}}
	p.skipTo()
	if !p.is("CREATE") && !p.is("ALTER") && !p.is("SET") && !p.is("GRANT") || p.kind() == nil {
		return src
	}
	if len(src) > redactable {
		src = src[:redactable]
	}
	var b strings.Builder
	l := lexer{src: src}
	at := 0
	for {
		t := l.next()
		switch {
		case t.kind == text:
			b.WriteString(src[at:t.at])
			b.WriteString("<secret>")
		case t.kind == symbol && (t.text == "'" || t.text == `"`): // without its end
			b.WriteString(src[at:t.at])
			return b.String() + "<secret>"
		case t.kind == end && l.pos >= len(src):
			b.WriteString(src[at:])
			return b.String()
		case t.kind == end:
			l.pos++ // the semicolon
			b.WriteString(src[at:l.pos])
		default:
			b.WriteString(src[at:l.pos])
		}
		at = l.pos
	}
}
