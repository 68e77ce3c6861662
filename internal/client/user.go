package client

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
)

// UserStore is the users of a server that is not running.
type UserStore interface {
	AddUser(name, password string) error
	SetPassword(name, password string) error
	DropUser(name string) error
	Users() []string
}

// OpenUsers opens the users in a data directory; done releases it. The commands are
// given one, since a client has no business with stores.
type OpenUsers func(ctx context.Context, dir string) (users UserStore, done func() error, err error)

// User is the user commands.
type User struct {
	Add    UserAdd    `cmd:"" help:"Create a user; the first one becomes the administrator."`
	Passwd UserPasswd `cmd:"" help:"Change a user's password."`
	Drop   UserDrop   `cmd:"" help:"Remove a user."`
	List   UserList   `cmd:"" help:"List the users."`
}

// userTarget is where users are changed.
type userTarget struct {
	Data string `help:"Work on this data directory of a stopped server instead of connecting to a running one." placeholder:"DIR"`
	MySQL
}

// do runs offline on the directory, which must be there, or online over MySQL.
func (t *userTarget) do(ctx context.Context, s *IO, open OpenUsers, offline func(UserStore) error, online func(*sql.DB) error) (err error) {
	if t.Data != "" {
		if _, err := os.Stat(t.Data); err != nil {
			return err // opening would make it
		}
	}
	return t.doOrMake(ctx, s, open, offline, online)
}

// doOrMake is do for the first user, who may come before the server's first start.
func (t *userTarget) doOrMake(ctx context.Context, s *IO, open OpenUsers, offline func(UserStore) error, online func(*sql.DB) error) (err error) {
	if t.Data != "" {
		users, done, err := open(ctx, t.Data)
		if err != nil {
			return err
		}
		return errors.Join(offline(users), done())
	}
	t.Database = "" // users belong to none
	c, err := t.connector(s)
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	defer db.Close()
	if err := online(db); err != nil {
		return fmt.Errorf("MySQL at %s: %w", t.Address, err)
	}
	return nil
}

// newPassword flags say where a new password comes from.
type newPassword struct {
	PasswordStdin bool `help:"Read the new password from standard input instead of asking on the terminal."`
}

func (p *newPassword) read(s *IO, name string) (string, error) {
	var pw string
	var err error
	if p.PasswordStdin {
		pw, err = s.readPassword()
	} else {
		pw, err = s.askPassword("New password of "+name, true)
	}
	if err == nil && pw == "" {
		err = errors.New("the password is empty")
	}
	return pw, err
}

// quoteText is a MySQL string literal, right in every sql_mode for text without
// backslashes; quoteText refuses those with, rather than guess the mode.
func quoteText(s string) (string, error) {
	if strings.ContainsAny(s, "\\\x00") {
		return "", errors.New(`names and passwords with \ cannot be set over SQL: use --data on the stopped server`)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'", nil
}

func identified(statement, name, password string) (string, error) {
	n, err := quoteText(name)
	if err != nil {
		return "", err
	}
	p, err := quoteText(password)
	if err != nil {
		return "", err
	}
	return statement + " " + n + "@'%' IDENTIFIED BY " + p, nil
}

// UserAdd is `millrace user add`.
type UserAdd struct {
	Name string `arg:"" help:"Name of the user."`
	newPassword
	userTarget
}

func (*UserAdd) Help() string {
	return `The first user becomes the administrator. From then on nobody does anything without logging in.

Examples:
  millrace user add ada --data ./millrace-data
  echo "$SECRET" | millrace user add app --user ada --password-stdin`
}

func (c *UserAdd) Run(ctx context.Context, s *IO, open OpenUsers) error {
	pw, err := c.read(s, c.Name)
	if err != nil {
		return err
	}
	return c.doOrMake(ctx, s, open,
		func(u UserStore) error { return u.AddUser(c.Name, pw) },
		func(db *sql.DB) error { return execIdentified(ctx, db, "CREATE USER", c.Name, pw) })
}

func execIdentified(ctx context.Context, db *sql.DB, statement, name, password string) error {
	q, err := identified(statement, name, password)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, q)
	return err
}

// UserPasswd is `millrace user passwd`.
type UserPasswd struct {
	Name string `arg:"" help:"Name of the user."`
	newPassword
	userTarget
}

func (*UserPasswd) Help() string {
	return `Example:
  millrace user passwd ada --user ada`
}

func (c *UserPasswd) Run(ctx context.Context, s *IO, open OpenUsers) error {
	pw, err := c.read(s, c.Name)
	if err != nil {
		return err
	}
	return c.do(ctx, s, open,
		func(u UserStore) error { return u.SetPassword(c.Name, pw) },
		func(db *sql.DB) error { return execIdentified(ctx, db, "ALTER USER", c.Name, pw) })
}

// UserDrop is `millrace user drop`.
type UserDrop struct {
	Name string `arg:"" help:"Name of the user."`
	userTarget
}

func (*UserDrop) Help() string {
	return `Example:
  millrace user drop app --user ada`
}

func (c *UserDrop) Run(ctx context.Context, s *IO, open OpenUsers) error {
	return c.do(ctx, s, open,
		func(u UserStore) error { return u.DropUser(c.Name) },
		func(db *sql.DB) error {
			n, err := quoteText(c.Name)
			if err != nil {
				return err
			}
			_, err = db.ExecContext(ctx, "DROP USER "+n+"@'%'")
			return err
		})
}

// UserList is `millrace user list`.
type UserList struct{ userTarget }

func (*UserList) Help() string {
	return `On a running server the administrator sees all users, others see themselves.

Example:
  millrace user list --data ./millrace-data`
}

func (c *UserList) Run(ctx context.Context, s *IO, open OpenUsers) error {
	return c.do(ctx, s, open,
		func(u UserStore) error {
			for _, n := range u.Users() {
				if _, err := fmt.Fprintln(s.Out, n); err != nil {
					return err
				}
			}
			return nil
		},
		func(db *sql.DB) error {
			rows, err := db.QueryContext(ctx, "SELECT User FROM mysql.user ORDER BY User")
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var n string
				if err := rows.Scan(&n); err != nil {
					return err
				}
				if _, err := fmt.Fprintln(s.Out, n); err != nil {
					return err
				}
			}
			return rows.Err()
		})
}
