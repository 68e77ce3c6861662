package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Whose addresses are asked for. Controllers are nothing of their own here.
const (
	endpointBrokers     = 1
	endpointControllers = 2
)

func (s *Server) describeCluster(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DescribeClusterRequest)
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.EndpointType = endpointBrokers
	if r.version >= 1 && req.EndpointType != endpointBrokers {
		resp.ErrorCode = errUnsupportedEndpointType
		if req.EndpointType == endpointControllers {
			resp.ErrorCode = errMismatchedEndpointType
		}
		resp.ErrorMessage = kmsg.StringPtr("this listener describes brokers")
		return resp, nil
	}
	resp.ClusterID = s.o.Store.ClusterID()
	resp.ControllerID = s.o.NodeID
	broker := kmsg.NewDescribeClusterResponseBroker()
	broker.NodeID = s.o.NodeID
	broker.Host, broker.Port = r.advertised()
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{broker}
	if req.IncludeClusterAuthorizedOperations && s.allowed(r, auth.Describe, clusterResource) {
		resp.ClusterAuthorizedOperations = s.authorizedOperations(r, clusterResource)
	}
	return resp, nil
}
