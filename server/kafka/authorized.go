package kafka

import "millrace/server/auth"

// operations pairs ours with the codes of Kafka's ACL operations.
var operations = []struct {
	op   auth.Operation
	code int
}{
	{auth.Read, 3},
	{auth.Write, 4},
	{auth.Create, 5},
	{auth.Delete, 6},
	{auth.Alter, 7},
	{auth.Describe, 8},
	{auth.ClusterAction, 9},
	{auth.DescribeConfigs, 10},
	{auth.AlterConfigs, 11},
	{auth.IdempotentWrite, 12},
}

// meaningful are the operations that Kafka lists for a type of resource.
var meaningful = map[auth.ResourceType][]auth.Operation{
	auth.Topic:   {auth.Read, auth.Write, auth.Create, auth.Delete, auth.Alter, auth.Describe, auth.DescribeConfigs, auth.AlterConfigs},
	auth.Group:   {auth.Read, auth.Delete, auth.Describe, auth.DescribeConfigs, auth.AlterConfigs},
	auth.Cluster: {auth.Create, auth.ClusterAction, auth.DescribeConfigs, auth.AlterConfigs, auth.IdempotentWrite, auth.Alter, auth.Describe},
}

// authorizedOperations is the bit field of what the request's principal may do on res.
func (s *Server) authorizedOperations(r *request, res auth.Resource) int32 {
	var bits int32
	for _, o := range operations {
		for _, m := range meaningful[res.Type] {
			if m == o.op && s.allowed(r, o.op, res) {
				bits |= 1 << o.code
			}
		}
	}
	return bits
}
