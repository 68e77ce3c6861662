package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeProducers serves DescribeProducers 0.
func (s *Server) describeProducers(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DescribeProducersRequest)
	resp := req.ResponseKind().(*kmsg.DescribeProducersResponse)
	topics := s.o.Store.Topics()
	for _, t := range req.Topics {
		rt := kmsg.NewDescribeProducersResponseTopic()
		rt.Topic = t.Topic
		topic, code := s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Read)
		for _, p := range t.Partitions {
			rp := kmsg.NewDescribeProducersResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p, code
			switch {
			case code != errNone:
			case p < 0 || p >= topic.Partitions:
				rp.ErrorCode = errUnknownTopicOrPartition
			default:
				for _, pr := range s.o.Store.Producers(state.TopicPartition{Topic: topic.ID, Partition: p}) {
					a := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
					a.ProducerID, a.ProducerEpoch = pr.ProducerID, int32(pr.ProducerEpoch)
					a.LastSequence, a.LastTimestamp = pr.LastSequence, pr.LastTimestamp
					a.CurrentTxnStartOffset = pr.TxnStart
					a.CoordinatorEpoch = -1
					if _, ok := s.o.Store.TransactionOf(pr.ProducerID); ok {
						a.CoordinatorEpoch = 0
					}
					rp.ActiveProducers = append(rp.ActiveProducers, a)
				}
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}
