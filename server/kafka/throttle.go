package kafka

import "time"

// throttle charges the client's quota, which is an answer's throttle time and how
// long nothing more is read from this connection. On the connection's own goroutine.
func (c *conn) throttle(name, clientID string, bytes int) (millis int32) {
	wait := c.s.quotas.Charge(name, c.principal.Name, clientID, bytes)
	if wait <= 0 {
		return 0
	}
	c.mute += wait
	// Rounded up: a client that waits less would be read from later than it thinks.
	return int32((wait + time.Millisecond - 1) / time.Millisecond)
}

// unmute waits until the connection may be read again; false when it ends first.
func (c *conn) unmute() bool {
	if c.mute <= 0 {
		return true
	}
	t := time.NewTimer(c.mute)
	defer t.Stop()
	c.mute = 0
	select {
	case <-t.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}
