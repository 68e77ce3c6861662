package kafka

import (
	"time"
)

// Throttle charges the client's quotas for bytes and for the work on this request so far. What comes out is
// an answer's throttle time, and how long nothing more is read from this connection. On the connection's own goroutine.
func (c *conn) Throttle(limit string, bytes int) (millis int32) {
	return c.delay(max(c.s.quotas.Charge(limit, c.client.Principal.Name, c.client.QuotaID, bytes), c.worked()))
}

// worked charges the client for the work on this request so far, and says how long it has to wait.
func (c *conn) worked() time.Duration {
	spent := c.work.Take()
	if spent <= 0 {
		return 0
	}
	return c.s.quotas.ChargeWork(c.client.Principal.Name, c.client.QuotaID, spent)
}

// delay keeps the connection from being read for so long; what it returns is for the answer.
func (c *conn) delay(wait time.Duration) (millis int32) {
	if wait <= 0 {
		return 0
	}
	c.mute = max(c.mute, wait)
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
