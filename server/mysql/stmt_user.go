package mysql

import (
	"errors"
	"fmt"
	"strings"

	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Users are the store's documents, shared by both wires; hosts and plugins of MySQL's accounts are
// accepted and mean nothing.

func (c *conn) createUser(s *sqlparser.CreateUser) error {
	for _, u := range s.Users {
		if !c.sess.allowed(auth.Create, auth.Resource{Type: auth.User, Name: u.Name}) {
			return sqlerr.ErrNeedsAdmin
		}
		password, err := passwordOf(u.Auth1)
		if err != nil {
			return err
		}
		switch err := c.s.o.Auth.AddUser(u.Name, password); {
		case errors.Is(err, auth.ErrUserExists) && s.IfNotExists:
		case err != nil:
			return fmt.Errorf("CREATE USER %s: %w", u.Name, err)
		}
	}
	return nil
}

func passwordOf(a *sqlparser.Authentication) (string, error) {
	if a == nil || a.RandomPassword || a.Identity != "" || a.Password == "" {
		return "", sqlerr.New(1819, "HY000", "A user needs a password: … IDENTIFIED BY 'password'")
	}
	switch strings.ToLower(a.Plugin) {
	case "", "caching_sha2_password", "sha256_password":
		return a.Password, nil
	default:
		return "", sqlerr.New(1524, "HY000", "Plugin '%s' is not loaded", a.Plugin)
	}
}

func (c *conn) dropUser(s *sqlparser.DropUser) error {
	for _, u := range s.AccountNames {
		if !c.sess.allowed(auth.Delete, auth.Resource{Type: auth.User, Name: u.Name}) {
			return sqlerr.ErrNeedsAdmin
		}
		switch err := c.s.o.Auth.DropUser(u.Name); {
		case errors.Is(err, auth.ErrNoUser) && s.IfExists:
		case err != nil:
			return fmt.Errorf("DROP USER %s: %w", u.Name, err)
		}
	}
	return nil
}

// alterUser carries out ALTER USER … IDENTIFIED BY.
func (c *conn) alterUser(d *sqlparser.DDL) error {
	password, err := passwordOf(d.Authentication)
	if err != nil {
		return err
	}
	switch err := c.setPassword(d.User.Name, password); {
	case errors.Is(err, auth.ErrNoUser) && d.IfExists:
		return nil
	default:
		return err
	}
}

// setPassword changes a password: one's own, or anyone's as the administrator.
func (c *conn) setPassword(name, password string) error {
	if (c.sess.principal.Name == auth.Anonymous.Name || name != c.sess.principal.Name) &&
		!c.sess.allowed(auth.Alter, auth.Resource{Type: auth.User, Name: name}) {
		return sqlerr.ErrNeedsAdmin
	}
	if err := c.s.o.Auth.SetPassword(name, password); err != nil {
		return fmt.Errorf("ALTER USER %s: %w", name, err)
	}
	return nil
}

// showGrants lists what a user was granted, in the terms that both wires share.
func (c *conn) showGrants(s *sqlparser.ShowGrants) (*answer, error) {
	name := c.sess.principal.Name
	if s.For != nil && !s.CurrentUser {
		name = s.For.Name
	}
	if name != c.sess.principal.Name && !c.sess.isAdmin() {
		return nil, errDBDenied(c.sess, "mysql")
	}
	schema := sql.Schema{{Name: "Grants for " + name, Type: types.LongText}}
	var out []sql.Row
	if c.s.o.Auth.IsAdministrator(name) {
		out = append(out, sql.Row{fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO `%s`", name)})
	} else if c.s.o.Auth.Open() {
		out = append(out, sql.Row{"GRANT ALL ON TOPIC * TO everyone, while no user exists"})
	}
	for _, a := range c.s.o.Auth.ACLsOf(name) {
		pattern, from, verb := a.Name, "", "GRANT"
		if a.Prefixed {
			pattern += "*"
		}
		if a.Host != auth.AnyHost {
			from = " FROM '" + a.Host + "'"
		}
		if a.Deny {
			verb = "DENY"
		}
		out = append(out, sql.Row{fmt.Sprintf("%s %s ON %s `%s` TO `%s`%s", verb, a.Operation, a.Type, pattern, strings.TrimPrefix(a.Principal, "User:"), from)})
	}
	return rows(schema, out), nil
}
