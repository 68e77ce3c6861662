package kafka

import "millrace/server/auth"

// notAskedOperations is the value of an authorised-operations field that was not asked for.
const notAskedOperations int32 = -1 << 31

// aclBits are Kafka's operation codes, which such a field has one bit each for.
var aclBits = map[auth.Operation]int{
	auth.Read: 3, auth.Write: 4, auth.Create: 5, auth.Delete: 6, auth.Alter: 7,
	auth.Describe: 8, auth.DescribeConfigs: 10, auth.AlterConfigs: 11,
}

// operationsOf are the operations that exist on each type of resource.
var operationsOf = map[auth.ResourceType][]auth.Operation{
	auth.Topic: {
		auth.Read, auth.Write, auth.Create, auth.Delete, auth.Alter, auth.Describe,
		auth.DescribeConfigs, auth.AlterConfigs,
	},
	auth.Group:   {auth.Read, auth.Delete, auth.Describe},
	auth.Cluster: {auth.Create, auth.Alter, auth.Describe, auth.DescribeConfigs, auth.AlterConfigs},
}

// authorizedOperations is what the request's principal may do with res, as Kafka's bits.
func (s *Server) authorizedOperations(r *request, res auth.Resource) int32 {
	var bits int32
	for _, op := range operationsOf[res.Type] {
		if s.allowed(r, op, res) {
			bits |= 1 << aclBits[op]
		}
	}
	return bits
}
