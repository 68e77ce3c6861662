package mysql

import (
	"errors"
	"net"
	"strings"

	"millrace/server/auth"
	"millrace/server/mysql/account"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
)

// Users are the store's documents, shared by both wires. They are for all hosts: a host is a part of a right.

// parseAccount reads a statement about users or rights; ok is false for any other.
func (c *conn) parseAccount(text string, multi bool) (_ *ownStatement, first, rest string, ok bool, err error) {
	s, first, rest, ok, err := account.Parse(text, c.sess.GetCurrentDatabase())
	if !ok || err != nil {
		return nil, "", "", ok, err
	}
	if blank(rest) {
		rest = ""
	} else if !multi {
		return nil, "", "", true, sqlerr.ErrNoMultiple
	}
	return &ownStatement{run: func(c *conn, ctx *sql.Context, _ map[string]sql.Expression) (*answer, error) {
		switch s := s.(type) {
		case *account.ShowGrants:
			return c.showGrants(s)
		case *account.ShowCreateUser:
			return c.showCreateUser(s)
		}
		if err := c.change(); err != nil {
			return nil, err
		}
		return okAnswer(0), c.changeAccounts(ctx, s)
	}}, first, rest, true, nil
}

func (c *conn) changeAccounts(ctx *sql.Context, s account.Statement) error {
	switch s := s.(type) {
	case *account.CreateUser:
		if s.Alter {
			return c.alterUsers(s)
		}
		return c.createUsers(ctx, s)
	case *account.DropUser:
		return c.dropUsers(s)
	case *account.RenameUser:
		return c.renameUsers(ctx, s)
	case *account.SetPassword:
		return c.setPassword(s.User)
	case *account.Grant:
		return c.grant(ctx, s)
	default:
		return nil
	}
}

// mayKeep says whether the session may make, change or drop the user: as who may alter the cluster, which Kafka asks of who
// sets SCRAM credentials, or op on the user.
func (c *conn) mayKeep(op auth.Operation, name string) bool {
	return c.sess.allowed(auth.Alter, auth.Resource{Type: auth.Cluster}) || c.sess.allowed(op, auth.Resource{Type: auth.User, Name: name})
}

var errNeedsCreateUser = sqlerr.New(1227, "42000", "Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation")

// resolve puts the session's own account in the place of CURRENT_USER.
func (c *conn) resolve(n account.Name) account.Name {
	if n.Current {
		return account.Name{User: c.sess.principal.Name, Host: account.AnyHost}
	}
	return n
}

func (c *conn) exists(name string) bool {
	_, ok := c.s.o.Auth.Account(name)
	return ok
}

func errOperation(what string, names []account.Name) error {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = n.String()
	}
	return sqlerr.New(1396, "HY000", "Operation %s failed for %s", what, strings.Join(list, ","))
}

func (c *conn) note(code int, format string, n account.Name) {
	c.sess.Warn(&sql.Warning{Level: "Note", Code: code, Message: strings.ReplaceAll(format, "%s", n.String())})
}

func (c *conn) createUsers(ctx *sql.Context, s *account.CreateUser) error {
	var there []account.Name
	for _, u := range s.Users {
		if !c.mayKeep(auth.Create, u.User) || u.Name.Current {
			return errNeedsCreateUser
		}
		if u.Host != account.AnyHost {
			return sqlerr.Instead("users of one host", "Users are for all hosts ('"+u.User+"'@'%'); a right can be for one address: GRANT … TO '"+u.User+"'@'10.0.0.1'.")
		}
		if c.exists(u.User) {
			there = append(there, u.Name)
		}
	}
	if len(there) > 0 && !s.IfNotExists {
		return errOperation("CREATE USER", there)
	}
	for _, u := range s.Users {
		if c.exists(u.User) {
			c.note(3163, "Authorization ID %s already exists.", u.Name)
			continue
		}
		err := c.s.o.Auth.CreateAccount(ctx, u.User, auth.Change{Password: u.Password, Require: s.Require, Locked: s.Locked})
		if err := accountError("CREATE USER", u.Name, err); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) alterUsers(s *account.CreateUser) error {
	var missing []account.Name
	for i := range s.Users {
		u := &s.Users[i]
		u.Name = c.resolve(u.Name)
		if onlyPassword := s.Require == nil && s.Locked == nil; !c.mayKeep(auth.Alter, u.User) && !(onlyPassword && c.isSelf(u.User)) {
			return errNeedsCreateUser
		}
		if u.Host != account.AnyHost || !c.exists(u.User) {
			missing = append(missing, u.Name)
		}
	}
	if len(missing) > 0 && !s.IfNotExists {
		return errOperation("ALTER USER", missing)
	}
	for _, u := range s.Users {
		if u.Host != account.AnyHost || !c.exists(u.User) {
			c.note(3162, "Authorization ID %s does not exist.", u.Name)
			continue
		}
		if err := c.checkReplaced(u); err != nil {
			return err
		}
		err := c.s.o.Auth.AlterAccount(u.User, auth.Change{Password: u.Password, Require: s.Require, Locked: s.Locked})
		if err := accountError("ALTER USER", u.Name, err); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) isSelf(name string) bool {
	return name == c.sess.principal.Name && name != auth.Anonymous.Name
}

// checkReplaced checks the password that REPLACE says.
func (c *conn) checkReplaced(u account.User) error {
	if u.Current == nil {
		return nil
	}
	if _, err := c.s.o.Auth.CheckPassword(u.User, *u.Current); err != nil {
		return sqlerr.New(3891, "HY000", "Incorrect current password. Specify the correct password which has to be replaced.")
	}
	return nil
}

// setPassword changes a password: one's own, or anyone's as who may keep users.
func (c *conn) setPassword(u account.User) error {
	u.Name = c.resolve(u.Name)
	if !c.mayKeep(auth.Alter, u.User) && !c.isSelf(u.User) {
		return errNeedsCreateUser
	}
	if u.Host != account.AnyHost || !c.exists(u.User) {
		return sqlerr.New(1133, "42000", "Can't find any matching row in the user table")
	}
	if err := c.checkReplaced(u); err != nil {
		return err
	}
	return accountError("SET PASSWORD", u.Name, c.s.o.Auth.AlterAccount(u.User, auth.Change{Password: u.Password}))
}

// accountError says in MySQL's words what auth said of an account.
func accountError(what string, n account.Name, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, auth.ErrNoWayIn):
		return sqlerr.New(1819, "HY000", "A user needs a password (IDENTIFIED BY 'password'), or REQUIRE X509 to log in by a client certificate")
	case errors.Is(err, auth.ErrNoUser), errors.Is(err, auth.ErrUserExists):
		return errOperation(what, []account.Name{n})
	case errors.Is(err, auth.ErrLastAdministrator), errors.Is(err, auth.ErrTooManyUsers):
		return sqlerr.New(1396, "HY000", "Operation %s failed for %s: %v", what, n, err)
	default:
		return err
	}
}

func (c *conn) dropUsers(s *account.DropUser) error {
	var missing []account.Name
	for i, n := range s.Names {
		s.Names[i] = c.resolve(n)
		n = s.Names[i]
		if !c.mayKeep(auth.Delete, n.User) {
			return errNeedsCreateUser
		}
		if n.Host != account.AnyHost || !c.exists(n.User) {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 && !s.IfExists {
		return errOperation("DROP USER", missing)
	}
	for _, n := range s.Names {
		if n.Host != account.AnyHost || !c.exists(n.User) {
			c.note(3162, "Authorization ID %s does not exist.", n)
			continue
		}
		if err := accountError("DROP USER", n, c.s.o.Auth.DropUser(n.User)); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) renameUsers(ctx *sql.Context, s *account.RenameUser) error {
	for i := range s.From {
		from, to := c.resolve(s.From[i]), s.To[i]
		if !c.mayKeep(auth.Alter, from.User) || !c.mayKeep(auth.Create, to.User) {
			return errNeedsCreateUser
		}
		if to.Current || to.Host != account.AnyHost || from.Host != account.AnyHost || !c.exists(from.User) || c.exists(to.User) {
			return errOperation("RENAME USER", []account.Name{from})
		}
		if err := accountError("RENAME USER", from, c.s.o.Auth.RenameUser(ctx, from.User, to.User)); err != nil {
			return err
		}
	}
	return nil
}

// shown is the account that a SHOW is about, if the session may see it: its own, or any as who may describe the cluster.
func (c *conn) shown(n account.Name) (account.Name, error) {
	n = c.resolve(n)
	if n.User != c.sess.principal.Name && !c.sess.allowed(auth.Describe, auth.Resource{Type: auth.Cluster}) {
		return n, errDBDenied(c.sess, "mysql")
	}
	return n, nil
}

func (c *conn) showCreateUser(s *account.ShowCreateUser) (*answer, error) {
	n, err := c.shown(s.For)
	if err != nil {
		return nil, err
	}
	a, ok := c.s.o.Auth.Account(n.User)
	if !ok || n.Host != account.AnyHost {
		return nil, errOperation("SHOW CREATE USER", []account.Name{n})
	}
	return rows(sql.Schema{textColumn("CREATE USER for " + n.User + "@" + n.Host)}, []sql.Row{{account.CreateStatement(n, a)}}), nil
}

// isAddress says whether the host of an account is one that a right can be for.
func isAddress(host string) bool { return host == account.AnyHost || net.ParseIP(host) != nil }
