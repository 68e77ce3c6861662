package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteShareGroupOffsets serves DeleteShareGroupOffsets 0, for groups without members.
func (s *Server) deleteShareGroupOffsets(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DeleteShareGroupOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteShareGroupOffsetsResponse)
	if !s.allowed(r, auth.Delete, groupResource(req.GroupID)) {
		resp.ErrorCode = errGroupAuthorizationFailed
		return resp, nil
	}
	d, ok := s.o.Admin.Share.Describe(req.GroupID)
	switch {
	case req.GroupID == "":
		resp.ErrorCode = errInvalidGroupID
		return resp, nil
	case !ok:
		resp.ErrorCode = errGroupIDNotFound
		return resp, nil
	case len(d.Members) > 0:
		resp.ErrorCode = errNonEmptyGroup
		return resp, nil
	}
	topics := s.o.Store.Topics()
	for _, t := range req.Topics {
		rt := kmsg.NewDeleteShareGroupOffsetsResponseTopic()
		topic, code := s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Read)
		rt.Topic, rt.TopicID, rt.ErrorCode = t.Topic, topic.ID, code
		if code == errNone {
			failed, err := await(ctx, func(reply func(error)) { s.o.Admin.Share.DeleteOffsets(req.GroupID, topic.ID, reply) })
			if err != nil {
				return nil, err
			}
			rt.ErrorCode = s.shareCode(failed)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}
