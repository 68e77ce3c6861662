package transactions

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeProducers serves DescribeProducers 0.
func (h *Handlers) DescribeProducers(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeProducersRequest)
	resp := req.ResponseKind().(*kmsg.DescribeProducersResponse)
	topics := h.Store.Topics()
	for _, t := range req.Topics {
		rt := kmsg.NewDescribeProducersResponseTopic()
		rt.Topic = t.Topic
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: t.Topic}, false, auth.Read)
		for _, p := range t.Partitions {
			rp := kmsg.NewDescribeProducersResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p, code
			switch {
			case code != kafkaerr.None:
			case p < 0 || p >= topic.Partitions:
				rp.ErrorCode = kafkaerr.UnknownTopicOrPartition
			default:
				for _, pr := range h.Store.Producers(state.TopicPartition{Topic: topic.ID, Partition: p}) {
					a := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
					a.ProducerID, a.ProducerEpoch = pr.ProducerID, int32(pr.ProducerEpoch)
					a.LastSequence, a.LastTimestamp = pr.LastSequence, pr.LastTimestamp
					a.CurrentTxnStartOffset = pr.TxnStart
					a.CoordinatorEpoch = -1
					if _, ok := h.Store.TransactionOf(pr.ProducerID); ok {
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
