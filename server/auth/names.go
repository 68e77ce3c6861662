package auth

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxNameBytes and MaxPasswordBytes bound what a peer may send; MySQL's own
	// protocol fields and SASL messages are far larger.
	MaxNameBytes     = 64
	MaxPasswordBytes = 256
	// MaxUsers bounds memory: all users are held decoded.
	MaxUsers = 10_000
)

// checkName accepts what both wires, log lines and a shell can carry. ACLs about a user called *
// would be about everyone.
func checkName(name string) error {
	if name == "" || name == "*" || len(name) > MaxNameBytes || !utf8.ValidString(name) ||
		strings.EqualFold(name, Anonymous.Name) || strings.TrimSpace(name) != name {
		return ErrBadName
	}
	for _, r := range name {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ErrBadName
		}
	}
	return nil
}

// checkPassword refuses NUL because SASL PLAIN and MySQL's cleartext answer end at it.
func checkPassword(password string) error {
	if password == "" || len(password) > MaxPasswordBytes || !utf8.ValidString(password) || strings.IndexByte(password, 0) >= 0 {
		return ErrBadPassword
	}
	return nil
}
