package wire

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/binary"
)

// CachingSHA2 is the only login method offered.
const CachingSHA2 = "caching_sha2_password"

const (
	saltBytes = 20
	// greetingCollation is utf8mb4_0900_ai_ci, what MySQL 8 says; the field has
	// one byte, and clients only take the character set from it.
	greetingCollation = 255
)

// Login is what the client said of itself.
type Login struct {
	User     string
	Database string
	Plugin   string
	Response []byte // answer to the salt, by Plugin
	salt     []byte
}

func newSalt() []byte {
	b := make([]byte, saltBytes)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		// Some clients take the salt as a C string, and '$' has a meaning to others.
		b[i] &= 0x7f
		if b[i] == 0 || b[i] == '$' {
			b[i]++
		}
	}
	return b
}

// Greet sends the greeting and reads the client's answer, over TLS if it asks for that
// and config is not nil.
func (c *Conn) Greet(version string, threadID uint32, status Status, config *tls.Config) (*Login, error) {
	caps := serverCapabilities
	if config != nil {
		caps |= SSL
	}
	salt := newSalt()
	b := append(c.out[:0], 10)
	b = append(append(b, version...), 0)
	b = binary.LittleEndian.AppendUint32(b, threadID)
	b = append(append(b, salt[:8]...), 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(caps))
	b = append(b, greetingCollation)
	b = binary.LittleEndian.AppendUint16(b, uint16(status))
	b = binary.LittleEndian.AppendUint16(b, uint16(caps>>16))
	b = append(b, saltBytes+1)
	b = append(b, make([]byte, 10)...)
	b = append(append(b, salt[8:]...), 0)
	b = append(append(b, CachingSHA2...), 0)
	c.out = b
	c.seq = 0
	if err := c.writePacket(b); err != nil {
		return nil, err
	}
	if err := c.Flush(); err != nil {
		return nil, err
	}
	p, err := c.readPacket()
	if err != nil {
		return nil, err
	}
	r := reader{b: p}
	clientCaps := Capability(r.u32())
	if !r.bad && clientCaps&SSL != 0 && config != nil {
		if err := c.startTLS(config); err != nil {
			return nil, err
		}
		if p, err = c.readPacket(); err != nil {
			return nil, err
		}
		r = reader{b: p}
		clientCaps = Capability(r.u32())
	}
	if clientCaps&Protocol41 == 0 || r.bad {
		return nil, ErrMalformed
	}
	c.caps = clientCaps & serverCapabilities
	r.u32()     // the client's max packet size: our packets are split anyway
	r.u8()      // collation: everything is UTF-8 until SET NAMES says otherwise
	r.bytes(23) // reserved
	l := &Login{salt: salt}
	l.read(&r, clientCaps)
	if r.bad {
		return nil, ErrMalformed
	}
	return l, nil
}

func (l *Login) read(r *reader, caps Capability) {
	l.User = r.nulString()
	switch {
	case caps&PluginAuthLenEnc != 0:
		l.Response = append([]byte(nil), r.lenEncBytes()...)
	case caps&SecureConnection != 0:
		l.Response = append([]byte(nil), r.bytes(int(r.u8()))...)
	default:
		l.Response = []byte(r.nulString())
	}
	if caps&ConnectWithDB != 0 {
		l.Database = r.nulString()
	}
	if caps&PluginAuth != 0 && len(r.b) > 0 {
		l.Plugin = r.nulString()
	}
	// Connection attributes follow; nothing here uses them.
}

// ParseChangeUser reads the arguments of COM_CHANGE_USER. Its response answers an old salt,
// so the caller has to let it switch plugins (SwitchToSHA2).
func (c *Conn) ParseChangeUser(args []byte) (*Login, error) {
	r := reader{b: args}
	l := &Login{salt: newSalt()}
	l.User = r.nulString()
	r.bytes(int(r.u8()))
	l.Database = r.nulString()
	if r.bad {
		return nil, ErrMalformed
	}
	return l, nil
}

// SwitchToSHA2 asks the client to answer anew by caching_sha2_password.
func (c *Conn) SwitchToSHA2(l *Login) error {
	b := append(c.out[:0], 0xfe)
	b = append(append(b, CachingSHA2...), 0)
	b = append(append(b, l.salt...), 0)
	c.out = b
	if err := c.writePacket(b); err != nil {
		return err
	}
	if err := c.Flush(); err != nil {
		return err
	}
	p, err := c.readPacket()
	if err != nil {
		return err
	}
	l.Plugin = CachingSHA2
	l.Response = append([]byte(nil), p...)
	return nil
}

// Empty says that the client answered as one who has no password.
func (l *Login) Empty() bool {
	return len(l.Response) == 0 || len(l.Response) == 1 && l.Response[0] == 0
}

// Verify checks the scramble against SHA256(SHA256(password)).
func (l *Login) Verify(hash [32]byte) bool {
	if len(l.Response) != sha256.Size {
		return false
	}
	h := sha256.New()
	h.Write(hash[:])
	h.Write(l.salt)
	stage1 := h.Sum(nil)
	for i := range stage1 {
		stage1[i] ^= l.Response[i]
	}
	got := sha256.Sum256(stage1)
	return subtle.ConstantTimeCompare(got[:], hash[:]) == 1
}

// FastAuthOK tells a client that sent a scramble that it was right; an OK packet must follow.
func (c *Conn) FastAuthOK() error { return c.writePacket([]byte{0x01, 0x03}) }

// FullPassword asks for the password itself and returns it. Only over TLS.
func (c *Conn) FullPassword() (string, error) {
	if !c.tls {
		panic("wire: a cleartext password may only travel over TLS")
	}
	if err := c.writePacket([]byte{0x01, 0x04}); err != nil {
		return "", err
	}
	if err := c.Flush(); err != nil {
		return "", err
	}
	p, err := c.readPacket()
	if err != nil {
		return "", err
	}
	r := reader{b: p}
	return r.nulString(), nil
}
