package mysql

import (
	"errors"
	"slices"

	"millrace/server/auth"
	"millrace/server/mysql/account"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
)

// everyone is the name that rights of all users are for.
const everyone = "*"

// grant carries out GRANT, DENY and REVOKE. All is checked before anything is changed.
func (c *conn) grant(ctx *sql.Context, g *account.Grant) error {
	for i, n := range g.Accounts {
		n = c.resolve(n)
		g.Accounts[i] = n
		if !isAddress(n.Host) {
			return sqlerr.Instead("host '"+sqlerr.Clip(n.Host)+"' in rights", "A host is '%' or an IP address.")
		}
	}
	if err := c.mayGrant(g); err != nil {
		return err
	}
	if err := c.checkGrantees(g); err != nil {
		return err
	}
	for _, n := range g.Accounts {
		var err error
		switch {
		case g.Everything:
			err = c.revokeEverything(ctx, n)
		case g.Revoke:
			err = c.revoke(ctx, g, n)
		default:
			err = c.give(ctx, g, n)
		}
		if err != nil {
			return grantError(err)
		}
	}
	return nil
}

// grantError says what auth said in MySQL's words.
func grantError(err error) error {
	switch {
	case errors.Is(err, auth.ErrBadPrincipal):
		return sqlerr.New(1470, "HY000", "%v", err)
	case errors.Is(err, auth.ErrBadACL):
		return sqlerr.New(1210, "HY000", "%v", err)
	default:
		return err
	}
}

// mayGrant says whether the session may give or take what the statement is about.
func (c *conn) mayGrant(g *account.Grant) error {
	p := c.sess.principal
	p.Host = c.sess.remote
	a := c.s.o.Auth
	may := a.MayPassOn(p, g.Rights.Pattern)
	switch {
	case g.Everything, g.Deny, g.Rights.Pattern.Type != auth.Topic:
		may = c.sess.allowed(auth.Alter, auth.Resource{Type: auth.Cluster})
	case g.Rights.Administrator:
		may = c.sess.isAdmin()
	}
	for _, r := range g.Rights.List {
		for _, b := range r.ACLs {
			may = may && a.MayGrant(p, b.Operation, b.Pattern)
		}
	}
	switch {
	case may:
		return nil
	case g.Everything, g.Rights.Database == "":
		return errNeedsCreateUser
	case g.Rights.Database == "*":
		return sqlerr.New(1045, "28000", "Access denied for user '%s'@'%s' (using password: YES)", c.sess.Client().User, c.sess.Client().Address)
	case g.Rights.Table == "*":
		return errDBDenied(c.sess, g.Rights.Database)
	default:
		return errDenied(c.sess, "GRANT", g.Rights.Table)
	}
}

// checkGrantees refuses accounts that cannot have, or cannot lose, what the statement says.
func (c *conn) checkGrantees(g *account.Grant) error {
	for _, n := range g.Accounts {
		known := c.exists(n.User)
		switch {
		case g.Revoke && !known && !g.IgnoreUnknownUser && len(c.s.o.Auth.ACLsFor(n.User)) == 0:
			if g.Everything {
				return sqlerr.New(1269, "HY000", "Can't revoke all privileges for one or more of the requested users")
			}
			return sqlerr.New(1141, "42000", "There is no such grant defined for user '%s' on host '%s'", n.User, n.Host)
		case g.Revoke && g.Rights.Database == "*" && !g.Rights.Administrator && !g.Deny && c.s.o.Auth.IsAdministrator(n.User):
			return sqlerr.Instead("an administrator without one right", "REVOKE ALL ON *.* first, then GRANT what he is to have.")
		case g.Revoke:
		case !known && n.User != everyone && n.User != auth.Anonymous.Name:
			return sqlerr.New(1410, "42000", "You are not allowed to create a user with GRANT")
		case g.Rights.Administrator && (!known || n.Host != account.AnyHost):
			return sqlerr.Instead("administrators that are not one user at every host", "GRANT ALL ON kafka.* gives all rights on topics.")
		case g.Rights.Option && (!known || n.Host != account.AnyHost):
			return sqlerr.Instead("WITH GRANT OPTION for others than one user at every host", "Grant it to a user.")
		}
	}
	return nil
}

func (c *conn) give(ctx *sql.Context, g *account.Grant, n account.Name) error {
	a := c.s.o.Auth
	for _, r := range g.Rights.List {
		for _, b := range r.ACLs {
			if err := a.AddACL(ctx, b.ACL(n, g.Deny)); err != nil {
				return err
			}
		}
	}
	if g.Rights.Administrator {
		return a.SetAdministrator(n.User, true)
	}
	if g.Rights.Option {
		return a.AddGrantOption(ctx, n.User, g.Rights.Pattern)
	}
	return nil
}

func (c *conn) revoke(ctx *sql.Context, g *account.Grant, n account.Name) error {
	a := c.s.o.Auth
	if g.Rights.Administrator {
		return accountError("REVOKE ALL", n, a.SetAdministrator(n.User, false))
	}
	had := len(g.Rights.List) == 0 && !g.Rights.Option // USAGE
	if g.Rights.Option {
		removed, err := a.RemoveGrantOption(ctx, n.User, g.Rights.Pattern)
		if err != nil {
			return err
		}
		had = had || removed
	}
	for _, r := range g.Rights.List {
		removed, err := c.revokeOne(ctx, r, n, g.Deny)
		if err != nil {
			return err
		}
		had = had || removed
	}
	switch {
	case had, g.IfExists, g.Rights.Database == "*":
		return nil
	case g.Rights.Table != "" && g.Rights.Table != "*":
		return sqlerr.New(1147, "42000", "There is no such grant defined for user '%s' on host '%s' on table '%s'", n.User, n.Host, g.Rights.Table)
	default:
		return sqlerr.New(1141, "42000", "There is no such grant defined for user '%s' on host '%s'", n.User, n.Host)
	}
}

// revokeOne takes one right back. ALL takes all there is on the pattern; one right out of ALL leaves the others.
func (c *conn) revokeOne(ctx *sql.Context, r account.Right, n account.Name, deny bool) (removed bool, err error) {
	a := c.s.o.Auth
	for _, b := range r.ACLs {
		acl := b.ACL(n, deny)
		if b.Operation == auth.All {
			for _, other := range a.ACLsFor(n.User) {
				if other.Host == acl.Host && other.Pattern() == b.Pattern && other.Deny == deny {
					if _, err := a.RemoveACL(ctx, other); err != nil {
						return removed, err
					}
					removed = true
				}
			}
			continue
		}
		was, err := a.RemoveACL(ctx, acl)
		if err != nil {
			return removed, err
		}
		removed = removed || was
	}
	// What was given as ALL is said anew without this one.
	all := account.Body{Operation: auth.All, Pattern: r.ACLs[0].Pattern}.ACL(n, deny)
	if !slices.Contains(a.ACLsFor(n.User), all) {
		return removed, nil
	}
	var ops []auth.Operation
	for _, b := range r.ACLs {
		if b.Pattern == r.ACLs[0].Pattern {
			ops = append(ops, b.Operation)
		}
	}
	rest := account.AllBut(r.ACLs[0].Pattern, ops)
	if rest == nil {
		return removed, nil
	}
	for _, b := range rest {
		if err := a.AddACL(ctx, b.ACL(n, deny)); err != nil {
			return removed, err
		}
	}
	_, err = a.RemoveACL(ctx, all)
	return true, err
}

// revokeEverything takes all back that the account was given. What it was denied stays denied.
func (c *conn) revokeEverything(ctx *sql.Context, n account.Name) error {
	a := c.s.o.Auth
	if a.IsAdministrator(n.User) {
		if err := accountError("REVOKE ALL", n, a.SetAdministrator(n.User, false)); err != nil {
			return err
		}
	}
	for _, acl := range a.ACLsFor(n.User) {
		if acl.Deny {
			continue
		}
		if _, err := a.RemoveACL(ctx, acl); err != nil {
			return err
		}
	}
	for _, o := range a.GrantOptions(n.User) {
		if _, err := a.RemoveGrantOption(ctx, n.User, o); err != nil {
			return err
		}
	}
	return nil
}

// showGrants lists statements that give what an account has.
func (c *conn) showGrants(s *account.ShowGrants) (*answer, error) {
	n, err := c.shown(s.For)
	if err != nil {
		return nil, err
	}
	a := c.s.o.Auth
	own := a.ACLsFor(n.User)
	if !c.exists(n.User) && len(own) == 0 && n.User != c.sess.principal.Name {
		return nil, sqlerr.New(1141, "42000", "There is no such grant defined for user '%s' on host '%s'", n.User, n.Host)
	}
	h := account.Holder{Name: n.User, Administrator: a.IsAdministrator(n.User), ACLs: a.ACLsOf(n.User), Options: a.GrantOptions(n.User)}
	if a.Open() {
		// While no user exists everybody may do everything with data.
		h.ACLs = append(h.ACLs, auth.ACL{Principal: "User:" + n.User, Host: auth.AnyHost, Operation: auth.All, Type: auth.Topic, Name: auth.AnyName})
	}
	var out []sql.Row
	for _, text := range h.Statements() {
		out = append(out, sql.Row{text})
	}
	return rows(sql.Schema{textColumn("Grants for " + n.User + "@" + account.AnyHost)}, out), nil
}
