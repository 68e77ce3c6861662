package groups

import (
	"context"

	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"
)

// offsetCommits are the offsets of a commit, whichever API it comes by, and where in the response their codes go.
type offsetCommits struct {
	offsets []state.OffsetCommit
	codes   []*int16 // of offsets[i]
}

// add takes one offset of a topic that was resolved with that code; to is where its own goes.
func (c *offsetCommits) add(to *int16, topic state.Topic, code int16, o state.OffsetCommit) {
	switch *to = code; {
	case code != kafkaerr.None:
	case o.Partition < 0 || o.Partition >= topic.Partitions:
		*to = kafkaerr.UnknownTopicOrPartition
	default:
		o.Topic = topic.ID
		c.offsets, c.codes = append(c.offsets, o), append(c.codes, to)
	}
}

// commit carries r out with the offsets and fills their codes in; code is for what concerns all of them. An error is ctx's.
func (c *offsetCommits) commit(ctx context.Context, h *Handlers, r group.CommitRequest, code func(error) int16) error {
	if len(c.offsets) == 0 {
		return nil
	}
	r.Offsets = c.offsets
	result, err := api.Await(ctx, func(reply func(api.Answer[[]error])) {
		h.Groups.Commit(r, func(errs []error, err error) { reply(api.Answer[[]error]{Value: errs, Err: err}) })
	})
	if err != nil {
		return err
	}
	all := code(result.Err)
	for i, to := range c.codes {
		if *to = all; all == kafkaerr.None {
			*to = h.Code(result.Value[i])
		}
	}
	return nil
}
