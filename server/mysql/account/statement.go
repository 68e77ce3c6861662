package account

import (
	"strings"

	"millrace/server/auth"
)

// Statement is one of the types below.
type Statement interface{ statement() }

// Name is an account's.
type Name struct {
	User string
	Host string // AnyHost where none was written
	// Current: CURRENT_USER, whoever that is.
	Current bool
}

// AnyHost is how SQL says that a host does not matter.
const AnyHost = "%"

// String is the account as MySQL's messages have it.
func (n Name) String() string { return "'" + n.User + "'@'" + n.Host + "'" }

// Quoted is the account as statements have it.
func (n Name) Quoted() string { return Quote(n.User) + "@" + Quote(n.Host) }

// Quote makes a name an identifier.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// User is an account with what it logs in by.
type User struct {
	Name
	Password *string // nil: nothing was said of it
	Current  *string // the password that is to be replaced, said to prove it
}

// CreateUser is CREATE USER, or with Alter ALTER USER.
type CreateUser struct {
	Alter       bool
	IfNotExists bool // of ALTER USER: IF EXISTS
	Users       []User
	Require     *auth.Requirement
	Locked      *bool
}

// DropUser is DROP USER.
type DropUser struct {
	IfExists bool
	Names    []Name
}

// RenameUser is RENAME USER.
type RenameUser struct{ From, To []Name }

// SetPassword is SET PASSWORD [FOR account] = '…'.
type SetPassword struct{ User User }

// Grant is GRANT, DENY, or the REVOKE of either.
type Grant struct {
	Revoke            bool
	Deny              bool
	IfExists          bool // of REVOKE
	IgnoreUnknownUser bool
	Everything        bool // REVOKE ALL PRIVILEGES, GRANT OPTION FROM …: there is no object
	Rights            Rights
	Accounts          []Name
}

// ShowGrants is SHOW GRANTS [FOR account].
type ShowGrants struct{ For Name }

// ShowCreateUser is SHOW CREATE USER account.
type ShowCreateUser struct{ For Name }

// Nothing is what changes nothing: SET ROLE NONE.
type Nothing struct{}

func (*CreateUser) statement()     {}
func (*DropUser) statement()       {}
func (*RenameUser) statement()     {}
func (*SetPassword) statement()    {}
func (*Grant) statement()          {}
func (*ShowGrants) statement()     {}
func (*ShowCreateUser) statement() {}
func (*Nothing) statement()        {}
