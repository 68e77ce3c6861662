package access

import (
	"errors"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// aclOperations and aclTypes are auth's operations and types by Kafka's numbers; what
// is not there cannot be in an ACL of ours.
var aclOperations = map[kmsg.ACLOperation]auth.Operation{
	kmsg.ACLOperationAll: auth.All, kmsg.ACLOperationRead: auth.Read, kmsg.ACLOperationWrite: auth.Write,
	kmsg.ACLOperationCreate: auth.Create, kmsg.ACLOperationDelete: auth.Delete, kmsg.ACLOperationAlter: auth.Alter,
	kmsg.ACLOperationDescribe: auth.Describe, kmsg.ACLOperationClusterAction: auth.ClusterAction,
	kmsg.ACLOperationDescribeConfigs: auth.DescribeConfigs, kmsg.ACLOperationAlterConfigs: auth.AlterConfigs,
	kmsg.ACLOperationIdempotentWrite: auth.IdempotentWrite, kmsg.ACLOperationCreateTokens: auth.CreateTokens,
	kmsg.ACLOperationDescribeTokens: auth.DescribeTokens, aclOperationTwoPhaseCommit: auth.TwoPhaseCommit,
}

// aclOperationTwoPhaseCommit is KIP-939's; kmsg does not name it.
const aclOperationTwoPhaseCommit kmsg.ACLOperation = 15

var aclTypes = map[kmsg.ACLResourceType]auth.ResourceType{
	kmsg.ACLResourceTypeTopic: auth.Topic, kmsg.ACLResourceTypeGroup: auth.Group, kmsg.ACLResourceTypeCluster: auth.Cluster,
	kmsg.ACLResourceTypeTransactionalId: auth.TransactionalID, kmsg.ACLResourceTypeUser: auth.User,
}

func kafkaACLOperation(op auth.Operation) kmsg.ACLOperation {
	for k, o := range aclOperations {
		if o == op {
			return k
		}
	}
	return kmsg.ACLOperationUnknown
}

func kafkaACLType(t auth.ResourceType) kmsg.ACLResourceType {
	for k, x := range aclTypes {
		if x == t {
			return k
		}
	}
	return kmsg.ACLResourceTypeUnknown
}

func kafkaACLPattern(a auth.ACL) kmsg.ACLResourcePatternType {
	if a.Prefixed {
		return kmsg.ACLResourcePatternTypePrefixed
	}
	return kmsg.ACLResourcePatternTypeLiteral
}

func kafkaACLPermission(a auth.ACL) kmsg.ACLPermissionType {
	if a.Deny {
		return kmsg.ACLPermissionTypeDeny
	}
	return kmsg.ACLPermissionTypeAllow
}

// aclFilter is a filter as DescribeAcls and DeleteAcls have it.
type aclFilter struct {
	typ        kmsg.ACLResourceType
	name       *string
	pattern    kmsg.ACLResourcePatternType
	principal  *string
	host       *string
	operation  kmsg.ACLOperation
	permission kmsg.ACLPermissionType
}

// filter translates f. Nothing matches what we have no name for but ANY: matchable is false
// then (delegation tokens), which is no error.
func (f aclFilter) filter() (out auth.ACLFilter, matchable bool, err error) {
	out = auth.ACLFilter{Principal: api.Deref(f.principal), Host: api.Deref(f.host), Name: f.name}
	matchable = (f.principal == nil || *f.principal != "") && (f.host == nil || *f.host != "")
	if f.typ != kmsg.ACLResourceTypeAny {
		var ok bool
		if out.Type, ok = aclTypes[f.typ]; !ok {
			if f.typ != kmsg.ACLResourceTypeDelegationToken {
				return out, false, kafkaerr.Faultf(kafkaerr.InvalidRequest, "The filter has an unknown resource type %d.", f.typ)
			}
			matchable = false
		}
	}
	if f.operation != kmsg.ACLOperationAny {
		var ok bool
		if out.Operation, ok = aclOperations[f.operation]; !ok {
			return out, false, kafkaerr.Faultf(kafkaerr.InvalidRequest, "The filter has an unknown operation %d.", f.operation)
		}
	}
	switch f.permission {
	case kmsg.ACLPermissionTypeAny:
	case kmsg.ACLPermissionTypeAllow:
		out.Permission = auth.OnlyAllow
	case kmsg.ACLPermissionTypeDeny:
		out.Permission = auth.OnlyDeny
	default:
		return out, false, kafkaerr.Faultf(kafkaerr.InvalidRequest, "The filter has an unknown permission type %d.", f.permission)
	}
	switch f.pattern {
	case kmsg.ACLResourcePatternTypeAny:
		out.Pattern = auth.MatchAny
	case kmsg.ACLResourcePatternTypeMatch:
		out.Pattern = auth.MatchNamed
	case kmsg.ACLResourcePatternTypeLiteral:
		out.Pattern = auth.MatchLiteral
	case kmsg.ACLResourcePatternTypePrefixed:
		out.Pattern = auth.MatchPrefixed
	default:
		return out, false, kafkaerr.Faultf(kafkaerr.InvalidRequest, "The filter has an unknown pattern type %d.", f.pattern)
	}
	return out, matchable, nil
}

// aclFault translates what auth says of an ACL.
func aclFault(err error) error {
	switch {
	case errors.Is(err, auth.ErrBadPrincipal):
		return kafkaerr.Faultf(kafkaerr.InvalidPrincipalType, "%s", err)
	case errors.Is(err, auth.ErrBadACL):
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "%s", err)
	case errors.Is(err, auth.ErrTooManyACLs):
		return kafkaerr.Faultf(kafkaerr.PolicyViolation, "There are %d ACLs, the most that are kept.", auth.MaxACLs)
	}
	return err
}
