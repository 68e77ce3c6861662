package account

import (
	"strings"

	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
)

// grant reads what follows GRANT, DENY or REVOKE.
func (p *parser) grant(g *Grant) (Statement, error) {
	rights, err := p.rightWords()
	if err != nil {
		return nil, err
	}
	switch {
	case g.Revoke && p.is("FROM"):
		// Without an object there are all rights, or roles.
		if !(len(rights) == 2 && isAll(rights[0]) && rights[1] == "GRANT OPTION") || g.Deny {
			return nil, errRoles
		}
		g.Everything = true
	case !g.Revoke && p.is("TO"):
		return nil, errRoles
	default:
		if err := p.expect("ON"); err != nil {
			return nil, err
		}
		if rights[0] == "PROXY" {
			return nil, sqlerr.Unsupported("GRANT PROXY")
		}
		if g.Rights, err = p.object(rights, g); err != nil {
			return nil, err
		}
	}
	if g.Revoke {
		err = p.expect("FROM")
	} else {
		err = p.expect("TO")
	}
	if err != nil {
		return nil, err
	}
	if g.Accounts, err = p.accounts(); err != nil {
		return nil, err
	}
	switch {
	case g.Revoke:
		g.IgnoreUnknownUser = p.accept("IGNORE", "UNKNOWN", "USER")
	case !g.Deny && p.accept("WITH", "GRANT", "OPTION"):
		g.Rights.Option = true
		if g.Rights.Pattern.Type != auth.Topic {
			return nil, sqlerr.Instead("WITH GRANT OPTION there", "It is for topics; who may do everything (GRANT ALL ON *.*) or has CREATE USER can grant everything anyway.")
		}
	case p.is("WITH"), p.is("AS"):
		return nil, sqlerr.Unsupported("WITH or AS in GRANT")
	case p.is("IDENTIFIED"), p.is("REQUIRE"):
		return nil, sqlerr.Instead("GRANT that makes or changes users", "Use CREATE USER or ALTER USER.")
	}
	return g, nil
}

// rightWords reads rights, each in upper case with single spaces, up to ON, TO or FROM.
func (p *parser) rightWords() (rights []string, err error) {
	var words []string
	for {
		switch t := p.peek(); {
		case len(words) > 0 && (p.is("ON") || p.is("TO") || p.is("FROM")):
			return append(rights, strings.Join(words, " ")), nil
		case len(words) > 0 && p.is(","):
			p.take()
			rights, words = append(rights, strings.Join(words, " ")), nil
		case len(words) > 0 && p.is("("):
			return nil, sqlerr.Instead("rights on columns", "Make a view of the columns; who reads it needs SELECT on the topic as well.")
		case t.kind == word, t.kind == identifier, t.kind == text:
			p.take()
			words = append(words, strings.ToUpper(t.text))
			if p.accept("@") { // a role with its host
				if _, err := p.name(); err != nil {
					return nil, err
				}
			}
		default:
			return nil, p.syntax()
		}
	}
}

func isAll(right string) bool { return right == "ALL" || right == "ALL PRIVILEGES" }

// object reads what the rights are for, and makes them ACLs.
func (p *parser) object(rights []string, g *Grant) (Rights, error) {
	if typ, ok := p.kafkaType(); ok {
		return p.kafkaObject(rights, typ)
	}
	p.accept("TABLE")
	for _, kind := range []string{"FUNCTION", "PROCEDURE"} {
		if p.is(kind) && p.peekAt(1).kind != symbol && !p.is(kind, "TO") && !p.is(kind, "FROM") {
			return Rights{}, sqlerr.Instead("rights on routines", "The procedures of millrace ask for rights on the topic that they are about.")
		}
	}
	db, table, err := p.tableName()
	if err != nil {
		return Rights{}, err
	}
	if db == "" {
		db = p.database
	}
	return tableRights(rights, db, table, g.Deny)
}

// kafkaType says whether the object is said in Kafka's words, and which kind it is. A table of such a name can be quoted.
func (p *parser) kafkaType() (auth.ResourceType, bool) {
	t := p.peek()
	if t.kind != word {
		return 0, false
	}
	typ, ok := auth.ParseResourceType(t.text)
	if !ok {
		return 0, false
	}
	after := p.peekAt(1)
	if typ != auth.Cluster && (after.kind == symbol || after.kind == end || p.is(t.text, "TO") || p.is(t.text, "FROM")) {
		return 0, false
	}
	return typ, typ != auth.Cluster || after.kind != symbol
}

func (p *parser) kafkaObject(rights []string, typ auth.ResourceType) (Rights, error) {
	p.take()
	r := Rights{Pattern: auth.ACLPattern{Type: typ, Name: auth.ClusterName}}
	if typ != auth.Cluster {
		// PREFIX and a name; a thing may be called PREFIX, too.
		if after := p.peekAt(1).kind; p.is("PREFIX") && (after == text || after == identifier || after == word && !p.is("PREFIX", "TO") && !p.is("PREFIX", "FROM")) {
			p.take()
			r.Pattern.Prefixed = true
		}
		name, err := p.name()
		if err != nil {
			return Rights{}, err
		}
		r.Pattern.Name = name
	}
	for _, right := range rights {
		op, ok := auth.ParseOperation(right)
		switch {
		case isAll(right):
			op = auth.All
		case right == "GRANT OPTION":
			r.Option = true
			continue
		case !ok:
			return Rights{}, sqlerr.New(1064, "42000", "'%s' is no operation of Kafka's, which rights ON %s are", sqlerr.Clip(right), typ)
		}
		r.List = append(r.List, Right{right, []Body{{op, r.Pattern}}})
	}
	return r, nil
}

// tableName reads *.*, db.*, db.table, * or table.
func (p *parser) tableName() (db, table string, err error) {
	part := func() (string, error) {
		if p.accept("*") {
			return "*", nil
		}
		return p.name()
	}
	if table, err = part(); err != nil {
		return "", "", err
	}
	if !p.accept(".") {
		return "", table, nil
	}
	db = table
	table, err = part()
	return db, table, err
}
