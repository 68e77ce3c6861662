package wire

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"time"
)

// Conn reads and writes packets of one client. It belongs to one goroutine, but for
// WaitReadable, Interrupt and Close.
type Conn struct {
	socket       net.Conn // never changes, so that other goroutines may interrupt and close it
	raw          net.Conn // the socket, or TLS over it
	r            *bufio.Reader
	w            *bufio.Writer
	seq          byte
	caps         Capability
	tls          bool
	maxPacket    int
	writeTimeout time.Duration
	bodyTimeout  time.Duration

	in  []byte // last packet read; reused
	out []byte // packet being built; reused

	rows  []byte // packets of rows, whole but for the last; reused
	rowAt int    // where the last begins
}

// NewConn starts in the login phase. writeTimeout bounds how long one write may
// wait for a client that does not read; 0 means for ever.
func NewConn(c net.Conn, writeTimeout time.Duration) *Conn {
	wc := &Conn{socket: c, maxPacket: MaxLoginPacketBytes, writeTimeout: writeTimeout}
	wc.attach(c)
	return wc
}

func (c *Conn) attach(raw net.Conn) {
	c.raw = raw
	c.r = bufio.NewReaderSize(raw, 4<<10)
	c.w = bufio.NewWriterSize(deadlineWriter{c}, 16<<10)
}

type deadlineWriter struct{ c *Conn }

func (d deadlineWriter) Write(p []byte) (int, error) {
	if t := d.c.writeTimeout; t > 0 {
		if err := d.c.socket.SetWriteDeadline(time.Now().Add(t)); err != nil {
			return 0, err
		}
	}
	return d.c.raw.Write(p)
}

// SetReadDeadline bounds all reads until it is changed; the zero time removes it.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.socket.SetReadDeadline(t) }

// LoggedIn ends the login phase: packets may be larger from here on, and each has bodyTimeout to
// arrive once its header has.
func (c *Conn) LoggedIn(bodyTimeout time.Duration) {
	c.maxPacket, c.bodyTimeout = MaxPacketBytes, bodyTimeout
}

// TLS says whether the connection is encrypted.
func (c *Conn) TLS() bool { return c.tls }

// TLSState describes the encryption; false when there is none.
func (c *Conn) TLSState() (tls.ConnectionState, bool) {
	t, ok := c.raw.(*tls.Conn)
	if !ok {
		return tls.ConnectionState{}, false
	}
	return t.ConnectionState(), true
}

// Capabilities that client and server share.
func (c *Conn) Capabilities() Capability { return c.caps }

// SetMultiStatements switches CLIENT_MULTI_STATEMENTS (COM_SET_OPTION).
func (c *Conn) SetMultiStatements(on bool) {
	if on {
		c.caps |= MultiStatements
	} else {
		c.caps &^= MultiStatements
	}
}

// RemoteAddr of the client.
func (c *Conn) RemoteAddr() net.Addr { return c.socket.RemoteAddr() }

// Close may be called by any goroutine and ends whatever the owner waits for.
func (c *Conn) Close() error { return c.socket.Close() }

// WaitReadable returns when the client sent something (nil) or is gone or Interrupt
// was called (an error). The owner must not read meanwhile.
func (c *Conn) WaitReadable() error {
	_, err := c.r.Peek(1)
	return err
}

// Interrupt ends a WaitReadable; ResumeReads allows reading again after it returned.
func (c *Conn) Interrupt() { _ = c.socket.SetReadDeadline(time.Unix(1, 0)) }

// ResumeReads undoes Interrupt.
func (c *Conn) ResumeReads() { _ = c.socket.SetReadDeadline(time.Time{}) }

// startTLS goes on over TLS. Bytes that came with the request already belong to it.
func (c *Conn) startTLS(config *tls.Config) error {
	var ahead []byte
	if n := c.r.Buffered(); n > 0 {
		ahead = make([]byte, n)
		if _, err := io.ReadFull(c.r, ahead); err != nil {
			return err
		}
	}
	t := tls.Server(&prefixConn{Conn: c.raw, ahead: ahead}, config)
	if err := t.Handshake(); err != nil {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	c.attach(t)
	c.tls = true
	return nil
}

type prefixConn struct {
	net.Conn
	ahead []byte
}

func (p *prefixConn) Read(b []byte) (int, error) {
	if len(p.ahead) > 0 {
		n := copy(b, p.ahead)
		p.ahead = p.ahead[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}

// ReadCommand reads the next command with its arguments, which are valid until the
// next read. ErrPacketTooLarge, ErrMalformed, ErrSequence, or the connection's error.
func (c *Conn) ReadCommand() (Command, []byte, error) {
	c.seq = 0
	p, err := c.readPacket()
	if err != nil {
		return 0, nil, err
	}
	if len(p) == 0 {
		return 0, nil, ErrMalformed
	}
	return Command(p[0]), p[1:], nil
}

// readPacket reads one packet, put together from its fragments. Memory is taken as bytes
// arrive, never on the word of a header.
func (c *Conn) readPacket() ([]byte, error) {
	if cap(c.in) > keepBuffer {
		c.in = nil
	}
	c.in = c.in[:0]
	timed := false
	defer func() {
		if timed {
			_ = c.socket.SetReadDeadline(time.Time{})
		}
	}()
	for {
		var h [4]byte
		if _, err := io.ReadFull(c.r, h[:]); err != nil {
			return nil, err
		}
		n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		if h[3] != c.seq {
			return nil, ErrSequence
		}
		c.seq++
		if len(c.in)+n > c.maxPacket {
			return nil, ErrPacketTooLarge
		}
		if c.bodyTimeout > 0 && n > c.r.Buffered() {
			// A packet that was begun has to arrive.
			_ = c.socket.SetReadDeadline(time.Now().Add(c.bodyTimeout))
			timed = true
		}
		for left := n; left > 0; {
			step := min(left, readStep)
			at := len(c.in)
			c.in = append(c.in, make([]byte, step)...)
			if _, err := io.ReadFull(c.r, c.in[at:]); err != nil {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
			left -= step
		}
		if n < maxFragment {
			return c.in, nil
		}
	}
}

// writePacket buffers payload as one packet, in fragments if need be.
func (c *Conn) writePacket(payload []byte) error {
	for {
		n := min(len(payload), maxFragment)
		h := [4]byte{byte(n), byte(n >> 8), byte(n >> 16), c.seq}
		c.seq++
		if _, err := c.w.Write(h[:]); err != nil {
			return err
		}
		if _, err := c.w.Write(payload[:n]); err != nil {
			return err
		}
		payload = payload[n:]
		if n < maxFragment {
			return nil
		}
	}
}

// Flush sends what is buffered.
func (c *Conn) Flush() error { return c.w.Flush() }
