package kafka

import (
	"context"
	"time"

	"millrace/server/kafka/quota"
)

// throttle charges the client's quotas for bytes and for the work on this request so far. What comes out is
// an answer's throttle time, and how long nothing more is read from this connection. On the connection's own goroutine.
func (c *conn) throttle(name, clientID string, bytes int) (millis int32) {
	return c.delay(max(c.s.quotas.Charge(name, c.principal.Name, clientID, bytes), c.worked(clientID)))
}

// worked charges the client for the work on this request so far, and says how long it has to wait.
func (c *conn) worked(clientID string) time.Duration {
	spent := c.work.take()
	if spent <= 0 {
		return 0
	}
	return c.s.quotas.ChargeWork(c.principal.Name, clientID, spent)
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

// takeMutations charges the client for partitions that are made or deleted. Who understands it (strict) is
// refused as long as it owes for others; older clients are only told to wait.
func (s *Server) takeMutations(r *request, partitions int32, strict bool) error {
	wait, ok := s.quotas.ChargeMutations(r.conn.principal.Name, r.conn.lastClientID, int(partitions), strict)
	r.wait = max(r.wait, wait)
	if !ok {
		return adminErrorf(errThrottlingQuotaExceeded, "The throttling quota has been exceeded.")
	}
	return nil
}

// work counts the time that a connection's goroutine spends on requests, as long as somebody has a quota for
// it: not the time in which it waits for the disk or for other clients.
type work struct {
	now   func() time.Time
	since time.Time // zero: it does not count now
	spent time.Duration
}

// begin starts counting, if it is to count.
func (w *work) begin(q *quota.Quotas) {
	if q.Limits(quota.RequestPercentage) {
		w.since = w.now()
	}
}

// take returns what was counted, and goes on from zero.
func (w *work) take() time.Duration {
	if w.since.IsZero() {
		return 0
	}
	now := w.now()
	spent := w.spent + now.Sub(w.since)
	w.since, w.spent = now, 0
	return spent
}

// end stops counting. What was not taken is charged with the next request if it is kept.
func (w *work) end(keep bool) {
	if w.pause(); !keep {
		w.spent = 0
	}
}

// pause stops counting until the returned function is called.
func (w *work) pause() (resume func()) {
	if w.since.IsZero() {
		return func() {}
	}
	w.spent += w.now().Sub(w.since)
	w.since = time.Time{}
	return func() { w.since = w.now() }
}

type workKey struct{}

// waiting is pause for what has a connection's context only: defer waiting(ctx)().
func waiting(ctx context.Context) (over func()) {
	if w, ok := ctx.Value(workKey{}).(*work); ok {
		return w.pause()
	}
	return func() {}
}
