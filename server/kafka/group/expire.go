package group

import (
	"time"

	"millrace/store/state"
)

func (c *Coordinator) expirationLoop() {
	ticker := time.NewTicker(c.opts.ExpirationInterval)
	defer ticker.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
			c.Expire()
		}
	}
}

// Expire proposes to forget old offsets and idle producers, and waits for the answer.
// The state machine drops groups without members and offsets by itself; those go
// from memory then, too.
func (c *Coordinator) Expire() {
	warn := func(what string) func(any, error) {
		return func(_ any, err error) {
			if err != nil {
				c.log.Warn("expiration not stored, will be tried again", "of", what, "error", err)
			}
		}
	}
	c.submit(state.ExpireProducers{IdleMillis: c.opts.ProducerIDExpiration.Milliseconds()}, warn("producers"))
	expired := make(chan struct{})
	c.submit(state.ExpireOffsets{RetentionMillis: c.opts.OffsetsRetention.Milliseconds()}, func(result any, err error) {
		warn("offsets")(result, err)
		close(expired)
	})
	select {
	case <-expired:
	case <-c.ctx.Done():
		return
	}
	for _, g := range c.allConsumers() {
		if g.expire() {
			c.forgetConsumer(g)
		}
	}
	for _, g := range c.all() {
		g.mu.Lock()
		if g.state == Empty && len(g.pending) == 0 && len(g.writes) == 0 && !g.pumping {
			// A commit that is still on its way makes the group anew in the store, as one
			// that has only offsets; its generation was of no use to anyone.
			if _, ok := c.store.CommittedOffsets(g.name); !ok {
				g.transition(Dead)
				g.later(func() { c.forget(g) })
			}
		}
		g.unlock()
	}
}
