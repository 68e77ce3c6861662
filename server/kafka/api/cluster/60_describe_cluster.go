package cluster

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Whose addresses are asked for. Controllers are nothing of their own here.
const (
	endpointBrokers     = 1
	endpointControllers = 2
)

func (h *Handlers) DescribeCluster(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeClusterRequest)
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.EndpointType = endpointBrokers
	if r.Version >= 1 && req.EndpointType != endpointBrokers {
		resp.ErrorCode = kafkaerr.UnsupportedEndpointType
		if req.EndpointType == endpointControllers {
			resp.ErrorCode = kafkaerr.MismatchedEndpointType
		}
		resp.ErrorMessage = kmsg.StringPtr("this listener describes brokers")
		return resp, nil
	}
	resp.ClusterID = h.Store.ClusterID()
	resp.ControllerID = h.NodeID
	broker := kmsg.NewDescribeClusterResponseBroker()
	broker.NodeID = h.NodeID
	broker.Host, broker.Port = r.Advertised()
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{broker}
	if req.IncludeClusterAuthorizedOperations && h.Allowed(r, auth.Describe, api.ClusterResource) {
		resp.ClusterAuthorizedOperations = h.AuthorizedOperations(r, api.ClusterResource)
	}
	return resp, nil
}
