package mysql

import (
	"errors"
	"strings"

	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"
)

// login carries out the handshake. Whoever it is, a failure says the same: 1045, or that a
// password needs TLS.
func (c *conn) login() error {
	l, err := c.wc.Greet(ServerVersion, c.thread.id, wire.Autocommit, c.s.o.TLSConfig)
	if err != nil {
		return err
	}
	if c.s.o.RequireTLS && !c.wc.TLS() {
		return c.refuseLogin(l, errInsecureTransport)
	}
	if err := c.authenticate(l, false); err != nil {
		return err
	}
	c.wc.LoggedIn(c.s.o.WriteTimeout)
	return c.wc.Flush()
}

// authenticate checks who l says it is and starts its session. switched: the client has to be asked
// anew, since what it sent answers an older salt.
func (c *conn) authenticate(l *wire.Login, switched bool) error {
	principal, scramble, err := c.identify(l, switched)
	if err != nil {
		return c.refuseLogin(l, err)
	}
	c.start(l.User, principal)
	if l.Database != "" {
		if err := c.useDatabase(l.Database); err != nil {
			_ = c.wc.WriteError(sqlerr.Wire(c.s.base, err))
			_ = c.wc.Flush()
			return err
		}
	}
	c.s.metrics.logins.WithLabelValues("ok").Inc()
	if scramble {
		// A client that sent a scramble waits for this before the OK.
		if err := c.wc.FastAuthOK(); err != nil {
			return err
		}
	}
	return c.wc.WriteOK(wire.OK{Status: c.status()})
}

var errInsecureTransport = sqlerr.New(3159, "HY000", "Connections using insecure transport are prohibited while --require_secure_transport=ON.")

// refuseLogin tells the client why, and returns that.
func (c *conn) refuseLogin(l *wire.Login, err error) error {
	c.s.metrics.logins.WithLabelValues("denied").Inc()
	c.s.log.Info("login refused", "thread", c.thread.id, "client", c.thread.host, "user", sqlerr.Clip(l.User), "error", err)
	if werr := c.wc.WriteError(sqlerr.Wire(c.s.base, err)); werr != nil {
		return werr
	}
	if ferr := c.wc.Flush(); ferr != nil {
		return ferr
	}
	return err
}

// transport is what the login comes over.
func (c *conn) transport() auth.Transport {
	state, ok := c.wc.TLSState()
	if !ok {
		return auth.Transport{}
	}
	return auth.Transport{TLS: true, Certificate: auth.CertificateName(&state)}
}

// admit lets in who has proved to be p, unless his account wants more of the connection: denied then, as MySQL.
func (c *conn) admit(p auth.Principal, denied error) (auth.Principal, error) {
	switch err := c.s.o.Auth.Admit(p.Name, c.transport()); {
	case err == nil:
		return p, nil
	case errors.Is(err, auth.ErrLocked):
		return auth.Principal{}, sqlerr.New(3118, "HY000", "Access denied for user '%s'@'%s'. Account is locked.", p.Name, c.host())
	default:
		return auth.Principal{}, denied
	}
}

// identify returns whose connection it is; scramble says that the client sent one that was right
// (or not needed).
func (c *conn) identify(l *wire.Login, switched bool) (p auth.Principal, scramble bool, err error) {
	if c.s.o.Auth.Open() {
		if switched {
			// COM_CHANGE_USER: the plugin has to run again before it takes an OK.
			if err := c.wc.SwitchToSHA2(l); err != nil {
				return p, false, err
			}
		}
		return auth.Anonymous, l.Plugin == wire.CachingSHA2 && !l.Empty(), nil
	}
	denied := sqlerr.New(1045, "28000", "Access denied for user '%s'@'%s' (using password: %s)", l.User, c.host(), yesNo(!l.Empty()))
	if switched || l.Plugin != wire.CachingSHA2 || len(l.Response) == 0 {
		if err := c.wc.SwitchToSHA2(l); err != nil {
			return p, false, err
		}
	}
	if l.Empty() {
		if c.s.o.Auth.AdmitCertificate(l.User, c.transport()) == nil {
			return auth.Principal{Name: l.User}, false, nil
		}
		if (l.User == "" || strings.EqualFold(l.User, auth.Anonymous.Name)) && c.s.o.Auth.AnonymousAllowed() {
			return auth.Anonymous, false, nil
		}
		// The same time as for a password, which nobody has.
		_, _ = c.s.o.Auth.CheckPassword(l.User, "")
		return p, false, denied
	}
	if hash, ok := c.s.o.Auth.FastHash(l.User); ok && l.Verify(hash) {
		p, err = c.admit(auth.Principal{Name: l.User}, denied)
		return p, err == nil, err
	}
	if !c.wc.TLS() {
		// As slow as any other wrong guess: this one may have been at a hash that is known.
		_, _ = c.s.o.Auth.CheckPassword(l.User, "")
		return p, false, sqlerr.New(3159, "HY000",
			"Logging in with a password needs an encrypted connection: connect with TLS (mysql --ssl-mode=REQUIRED, MariaDB's --ssl, tls=skip-verify for Go)")
	}
	password, err := c.wc.FullPassword()
	if err != nil {
		return p, false, err
	}
	p, err = c.s.o.Auth.CheckPassword(l.User, password)
	if err != nil {
		return p, false, denied
	}
	p, err = c.admit(p, denied)
	return p, false, err
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// host is the client's address without its port, as account names have it.
func (c *conn) host() string {
	h := c.thread.host
	if i := strings.LastIndexByte(h, ':'); i > 0 {
		h = strings.Trim(h[:i], "[]")
	}
	if h == "127.0.0.1" || h == "::1" {
		return "localhost"
	}
	return h
}

// start begins a session for principal.
func (c *conn) start(user string, principal auth.Principal) {
	if user == "" {
		user = principal.Name
	}
	c.sess = newSession(c.s, c.thread.id, principal, user, c.host())
	c.sess.remote = hostOf(c.thread.host)
	c.thread.mu.Lock()
	c.thread.principal, c.thread.user = principal, user
	c.thread.mu.Unlock()
	c.thread.end(defaultDatabase)
}

// useDatabase makes db the session's current one.
func (c *conn) useDatabase(db string) error {
	r := c.begin("")
	defer r.finish()
	return c.use(r.ctx, db)
}

// changeUser carries out COM_CHANGE_USER: the connection starts anew as someone else, or ends.
func (c *conn) changeUser(args []byte) error {
	l, err := c.wc.ParseChangeUser(args)
	if err != nil {
		return err
	}
	c.dropStatements()
	c.endSession()
	c.sess = nil
	return c.authenticate(l, true)
}

// resetConnection carries out COM_RESET_CONNECTION: the same user and database, nothing else.
func (c *conn) resetConnection() error {
	c.dropStatements()
	c.endSession()
	db, user, p := c.sess.GetCurrentDatabase(), c.sess.Client().User, c.sess.principal
	remote := c.sess.remote
	c.sess = newSession(c.s, c.thread.id, p, user, c.host())
	c.sess.remote = remote
	c.sess.SetCurrentDatabase(db)
	return c.wc.WriteOK(wire.OK{Status: c.status()})
}
