package api

import (
	"millrace/server/auth"
	"millrace/server/kafka/kafkaerr"
)

// Allowed says whether the request's principal may do op on res.
func (n *Node) Allowed(r *Request, op auth.Operation, res auth.Resource) bool {
	return n.Auth.Authorize(r.Principal, op, res)
}

// What rights are about.
var ClusterResource = auth.Resource{Type: auth.Cluster}

func TopicResource(name string) auth.Resource { return auth.Resource{Type: auth.Topic, Name: name} }

func GroupResource(name string) auth.Resource { return auth.Resource{Type: auth.Group, Name: name} }

func TransactionResource(id string) auth.Resource {
	return auth.Resource{Type: auth.TransactionalID, Name: id}
}

// MaySubscribe is the code for a member of a group that wants these topics: None when it may.
func (n *Node) MaySubscribe(r *Request, group string, topics []string) int16 {
	if !n.Allowed(r, auth.Read, GroupResource(group)) {
		return kafkaerr.GroupAuthorizationFailed
	}
	for _, t := range topics {
		if !n.Allowed(r, auth.Describe, TopicResource(t)) {
			return kafkaerr.TopicAuthorizationFailed
		}
	}
	return kafkaerr.None
}

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

// NotAskedOperations is the value of an authorised-operations field that was not asked for.
const NotAskedOperations int32 = -1 << 31

// AuthorizedOperations is the bit field of what the request's principal may do on res.
func (n *Node) AuthorizedOperations(r *Request, res auth.Resource) int32 {
	var bits int32
	for _, o := range operations {
		for _, m := range meaningful[res.Type] {
			if m == o.op && n.Allowed(r, o.op, res) {
				bits |= 1 << o.code
			}
		}
	}
	return bits
}
