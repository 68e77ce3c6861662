package main

import "github.com/twmb/franz-go/pkg/kmsg"

// refused is what a broker has to refuse, or answer with a code for each part: the
// administrative APIs, asked for what cannot be.
func refused(key int16, at facts) []question {
	const none = "no-such-topic"
	node, logDir := at.node, at.logDir
	nowhere := [16]byte{15: 9}
	switch key {
	case 10:
		share := kmsg.NewPtrFindCoordinatorRequest()
		share.CoordinatorKeys, share.CoordinatorType = []string{"no-triple", "g:AAAAAAAAAAAAAAAAAAAACQ:0", "g:AAAAAAAAAAAAAAAAAAAACQ:x"}, 2
		return []question{{name: "share keys", req: share, from: 6}}
	case 19:
		many := func(topics ...kmsg.CreateTopicsRequestTopic) kmsg.Request {
			r := kmsg.NewPtrCreateTopicsRequest()
			r.TimeoutMillis, r.ValidateOnly, r.Topics = 10_000, true, topics
			return r
		}
		named := func(name string, n int32, rf int16, assigned ...[]int32) kmsg.CreateTopicsRequestTopic {
			t := kmsg.NewCreateTopicsRequestTopic()
			t.Topic, t.NumPartitions, t.ReplicationFactor = name, n, rf
			for i, replicas := range assigned {
				t.ReplicaAssignment = append(t.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: int32(i), Replicas: replicas})
			}
			return t
		}
		gap := named("x", -1, -1, []int32{node})
		gap.ReplicaAssignment[0].Partition = 1
		twice := named("x", -1, -1, []int32{node}, []int32{node})
		twice.ReplicaAssignment[1].Partition = 0
		null := named("x", 1, 1)
		null.Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "retention.ms"}}
		return []question{
			{name: "dots", req: many(named(".", 1, 1), named("..", 1, 1), named("", 1, 1))},
			{name: "same name twice", req: many(named("x", 1, 1), named("x", 1, 1), named("y", 1, 1))},
			{name: "assigned", req: many(named("x", -1, -1, []int32{node}, []int32{node}))},
			{name: "assigned and counted", req: many(named("x", 2, 1, []int32{node}))},
			{name: "assigned to a stranger", req: many(named("x", -1, -1, []int32{77}))},
			{name: "assigned to nobody", req: many(named("x", -1, -1, []int32{}))},
			{name: "assigned twice to one", req: many(named("x", -1, -1, []int32{node, node}))},
			{name: "assigned with a gap", req: many(gap)},
			{name: "one partition assigned twice", req: many(twice)},
			{name: "counts below minus one", req: many(named("x", -2, 1))},
			{name: "null config", req: many(null)},
		}
	case 20:
		id := kmsg.NewPtrDeleteTopicsRequest()
		id.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: nowhere}}
		both := kmsg.NewPtrDeleteTopicsRequest()
		both.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: ptr(none), TopicID: nowhere}}
		neither := kmsg.NewPtrDeleteTopicsRequest()
		neither.Topics = []kmsg.DeleteTopicsRequestTopic{{}}
		twice := kmsg.NewPtrDeleteTopicsRequest()
		twice.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: nowhere}, {TopicID: nowhere}}
		return []question{{name: "by id", req: id, from: 6}, {name: "by name and id", req: both, from: 6}, {name: "by nothing", req: neither, from: 6}, {name: "by id twice", req: twice, from: 6}}
	case 21:
		ask := func(partition int32, to int64) kmsg.Request {
			r := kmsg.NewPtrDeleteRecordsRequest()
			r.TimeoutMillis = 5000
			r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: to}}}}
			return r
		}
		return []question{{name: "no such partition", req: ask(7, 0)}, {name: "negative partition", req: ask(-1, 0)}, {name: "below minus one", req: ask(0, -2)}, {name: "to the end of nothing", req: ask(1, -1)}}
	case 23:
		ask := func(partition, current, epoch int32) kmsg.Request {
			r := kmsg.NewPtrOffsetForLeaderEpochRequest()
			r.ReplicaID = -1
			r.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{{Partition: partition, CurrentLeaderEpoch: current, LeaderEpoch: epoch}}}}
			return r
		}
		return []question{{name: "no such partition", req: ask(7, -1, 0)}, {name: "current epoch of the future", req: ask(0, 99, 0)}, {name: "epoch of the future", req: ask(0, -1, 99)},
			{name: "no epoch", req: ask(0, -1, -1)}, {name: "current epoch", req: ask(0, 0, 0)}}
	case 29:
		ask := func(kind kmsg.ACLResourceType, pattern kmsg.ACLResourcePatternType, op kmsg.ACLOperation, perm kmsg.ACLPermissionType) kmsg.Request {
			r := kmsg.NewPtrDescribeACLsRequest()
			r.ResourceType, r.ResourcePatternType, r.Operation, r.PermissionType = kind, pattern, op, perm
			return r
		}
		return []question{{name: "all", req: ask(1, 1, 1, 1)}, {name: "unknown type", req: ask(0, 1, 1, 1)}, {name: "unknown pattern", req: ask(1, 0, 1, 1)}, {name: "unknown operation", req: ask(1, 1, 0, 1)},
			{name: "unknown permission", req: ask(1, 1, 1, 0)}}
	case 30:
		ask := func(kind kmsg.ACLResourceType, name string, pattern kmsg.ACLResourcePatternType, who, host string, op kmsg.ACLOperation, perm kmsg.ACLPermissionType) kmsg.Request {
			r := kmsg.NewPtrCreateACLsRequest()
			r.Creations = []kmsg.CreateACLsRequestCreation{{ResourceType: kind, ResourceName: name, ResourcePatternType: pattern, Principal: who, Host: host, Operation: op, PermissionType: perm}}
			return r
		}
		return []question{
			{name: "nothing", req: kmsg.NewPtrCreateACLsRequest()},
			{name: "any type", req: ask(1, "x", 3, "User:a", "*", 3, 3)}, {name: "unknown type", req: ask(0, "x", 3, "User:a", "*", 3, 3)},
			{name: "any pattern", req: ask(2, "x", 1, "User:a", "*", 3, 3)}, {name: "match pattern", req: ask(2, "x", 2, "User:a", "*", 3, 3)}, {name: "unknown pattern", req: ask(2, "x", 0, "User:a", "*", 3, 3)},
			{name: "any operation", req: ask(2, "x", 3, "User:a", "*", 1, 3)}, {name: "unknown operation", req: ask(2, "x", 3, "User:a", "*", 0, 3)},
			{name: "any permission", req: ask(2, "x", 3, "User:a", "*", 3, 1)}, {name: "unknown permission", req: ask(2, "x", 3, "User:a", "*", 3, 0)},
			{name: "no principal type", req: ask(2, "x", 3, "a", "*", 3, 3)}, {name: "empty principal", req: ask(2, "x", 3, "", "*", 3, 3)},
			{name: "empty name", req: ask(2, "", 3, "User:a", "*", 3, 3)}, {name: "other cluster", req: ask(4, "other", 3, "User:a", "*", 7, 3)},
			{name: "operation a topic does not have", req: ask(2, "x", 3, "User:a", "*", 12, 3)},
			{name: "empty host", req: ask(2, "x", 3, "User:a", "", 3, 3)},
		}
	case 31:
		ask := func(kind kmsg.ACLResourceType, pattern kmsg.ACLResourcePatternType, op kmsg.ACLOperation, perm kmsg.ACLPermissionType) kmsg.Request {
			r := kmsg.NewPtrDeleteACLsRequest()
			r.Filters = []kmsg.DeleteACLsRequestFilter{{ResourceType: kind, ResourceName: ptr("x"), ResourcePatternType: pattern, Operation: op, PermissionType: perm}}
			return r
		}
		return []question{{name: "none matches", req: ask(2, 3, 1, 1)}, {name: "unknown type", req: ask(0, 3, 1, 1)}, {name: "unknown pattern", req: ask(2, 0, 1, 1)}, {name: "unknown operation", req: ask(2, 3, 0, 1)},
			{name: "unknown permission", req: ask(2, 3, 1, 0)}, {name: "nothing", req: kmsg.NewPtrDeleteACLsRequest()}}
	case 32:
		ask := func(kind kmsg.ConfigResourceType, name string, configs ...string) kmsg.Request {
			r := kmsg.NewPtrDescribeConfigsRequest()
			r.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kind, ResourceName: name, ConfigNames: configs}}
			return r
		}
		return []question{{name: "other broker", req: ask(4, "77", "x")}, {name: "no broker's number", req: ask(4, "abc", "x")}, {name: "every broker", req: ask(4, "", "x")}, {name: "other logger", req: ask(8, "77", "x")},
			{name: "unknown config", req: ask(2, topic, "no.such")}, {name: "bad topic name", req: ask(2, "bad name")}, {name: "empty topic name", req: ask(2, "")},
			{name: "group", req: ask(32, "nobody", "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms", "share.auto.offset.reset")}, {name: "empty group", req: ask(32, "", "x")},
			{name: "client metrics", req: ask(16, "nobody")}, {name: "empty client metrics", req: ask(16, "")}}
	case 33, 44:
		type change struct {
			name, value string
			null        bool
			op          kmsg.IncrementalAlterConfigOp
		}
		type where struct {
			kind kmsg.ConfigResourceType
			name string
		}
		ask := func(on []where, changes ...change) kmsg.Request {
			value := func(c change) *string {
				if c.null {
					return nil
				}
				return ptr(c.value)
			}
			if key == 33 {
				r := kmsg.NewPtrAlterConfigsRequest()
				r.ValidateOnly = true
				for _, w := range on {
					res := kmsg.AlterConfigsRequestResource{ResourceType: w.kind, ResourceName: w.name}
					for _, c := range changes {
						res.Configs = append(res.Configs, kmsg.AlterConfigsRequestResourceConfig{Name: c.name, Value: value(c)})
					}
					r.Resources = append(r.Resources, res)
				}
				return r
			}
			r := kmsg.NewPtrIncrementalAlterConfigsRequest()
			r.ValidateOnly = true
			for _, w := range on {
				res := kmsg.IncrementalAlterConfigsRequestResource{ResourceType: w.kind, ResourceName: w.name}
				for _, c := range changes {
					res.Configs = append(res.Configs, kmsg.IncrementalAlterConfigsRequestResourceConfig{Name: c.name, Op: c.op, Value: value(c)})
				}
				r.Resources = append(r.Resources, res)
			}
			return r
		}
		here := []where{{2, topic}}
		group := []where{{32, "probe-group"}}
		list := []question{
			{name: "unknown topic", req: ask([]where{{2, none}}, change{name: "retention.ms", value: "1"})}, {name: "bad topic name", req: ask([]where{{2, "bad name"}}, change{name: "retention.ms", value: "1"})},
			{name: "empty topic name", req: ask([]where{{2, ""}}, change{name: "retention.ms", value: "1"})},
			{name: "unknown type", req: ask([]where{{99, "x"}}, change{name: "a", value: "1"})},
			{name: "no changes", req: ask(here)}, {name: "null value", req: ask(here, change{name: "retention.ms", null: true})},
			{name: "one config twice", req: ask(here, change{name: "retention.ms", value: "1"}, change{name: "retention.ms", value: "2"})},
			{name: "one topic twice", req: ask([]where{{2, topic}, {2, topic}}, change{name: "retention.ms", value: "1"})},
			{name: "out of range", req: ask(here, change{name: "max.message.bytes", value: "-1"})}, {name: "no boolean", req: ask(here, change{name: "preallocate", value: "maybe"})},
			{name: "no such policy", req: ask(here, change{name: "cleanup.policy", value: "burn"})}, {name: "contradiction", req: ask(here, change{name: "min.compaction.lag.ms", value: "9"}, change{name: "max.compaction.lag.ms", value: "5"})},
			{name: "unknown config of a broker", req: ask([]where{{4, ""}}, change{name: "no.such.config", value: "1"})},
			{name: "other broker", req: ask([]where{{4, "77"}}, change{name: "log.cleaner.threads", value: "1"})}, {name: "no broker's number", req: ask([]where{{4, "abc"}}, change{name: "log.cleaner.threads", value: "1"})},
			{name: "group session", req: ask(group, change{name: "consumer.session.timeout.ms", value: "46000"})}, {name: "group session too short", req: ask(group, change{name: "consumer.session.timeout.ms", value: "1"})},
			{name: "group unknown config", req: ask(group, change{name: "no.such", value: "1"})}, {name: "group no number", req: ask(group, change{name: "consumer.heartbeat.interval.ms", value: "x"})},
			{name: "group beat slower than session", req: ask(group, change{name: "consumer.heartbeat.interval.ms", value: "15000"}, change{name: "consumer.session.timeout.ms", value: "45000"})},
			{name: "group reset", req: ask(group, change{name: "share.auto.offset.reset", value: "sideways"})}, {name: "group isolation", req: ask(group, change{name: "share.isolation.level", value: "sideways"})},
			{name: "empty group", req: ask([]where{{32, ""}}, change{name: "consumer.session.timeout.ms", value: "46000"})},
		}
		if key == 44 {
			list = append(list, question{name: "delete", req: ask(here, change{name: "retention.ms", null: true, op: 1})}, question{name: "delete what is unknown", req: ask(here, change{name: "no.such", null: true, op: 1})},
				question{name: "delete with a value", req: ask(here, change{name: "retention.ms", value: "1", op: 1})},
				question{name: "append", req: ask(here, change{name: "cleanup.policy", value: "compact", op: 2})}, question{name: "append nothing", req: ask(here, change{name: "cleanup.policy", null: true, op: 2})},
				question{name: "subtract", req: ask(here, change{name: "cleanup.policy", value: "delete", op: 3})}, question{name: "subtract from a number", req: ask(here, change{name: "retention.ms", value: "1", op: 3})},
				question{name: "unknown operation", req: ask(here, change{name: "retention.ms", value: "1", op: 9})})
		}
		return list
	case 34:
		ask := func(dir, t string, partitions ...int32) kmsg.Request {
			r := kmsg.NewPtrAlterReplicaLogDirsRequest()
			r.Dirs = []kmsg.AlterReplicaLogDirsRequestDir{{Dir: dir, Topics: []kmsg.AlterReplicaLogDirsRequestDirTopic{{Topic: t, Partitions: partitions}}}}
			return r
		}
		return []question{{name: "where it is", req: ask(logDir, topic, 0, 1)}, {name: "no such directory", req: ask("/no/such/directory", topic, 0)}, {name: "relative", req: ask("data", topic, 0)}, {name: "empty", req: ask("", topic, 0)},
			{name: "unknown topic", req: ask(logDir, none, 0)}, {name: "no such partition", req: ask(logDir, topic, 0, 7)}, {name: "unknown topic and directory", req: ask("/no/such/directory", none, 0)},
			{name: "nothing", req: kmsg.NewPtrAlterReplicaLogDirsRequest()}}
	case 35:
		r := kmsg.NewPtrDescribeLogDirsRequest()
		r.Topics = []kmsg.DescribeLogDirsRequestTopic{{Topic: topic, Partitions: []int32{0, 7}}, {Topic: none, Partitions: []int32{0}}}
		empty := kmsg.NewPtrDescribeLogDirsRequest()
		empty.Topics = []kmsg.DescribeLogDirsRequestTopic{}
		return []question{{name: "one and unknown", req: r}, {name: "none", req: empty}}
	case 37:
		ask := func(n int32, assigned ...[]int32) kmsg.Request {
			r := kmsg.NewPtrCreatePartitionsRequest()
			r.TimeoutMillis, r.ValidateOnly = 5000, true
			t := kmsg.CreatePartitionsRequestTopic{Topic: topic, Count: n}
			for _, replicas := range assigned {
				t.Assignment = append(t.Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: replicas})
			}
			r.Topics = []kmsg.CreatePartitionsRequestTopic{t}
			return r
		}
		twice := ask(3).(*kmsg.CreatePartitionsRequest)
		twice.Topics = append(twice.Topics, twice.Topics[0])
		return []question{{name: "assigned", req: ask(3, []int32{node})}, {name: "assigned to a stranger", req: ask(3, []int32{77})}, {name: "assigned to nobody", req: ask(3, []int32{})}, {name: "too few assigned", req: ask(4, []int32{node})},
			{name: "negative", req: ask(-1)}, {name: "zero", req: ask(0)}, {name: "too many replicas", req: ask(3, []int32{node, 77})}, {name: "twice", req: twice}}
	case 43:
		ask := func(kind int8, t string, partitions ...int32) kmsg.Request {
			r := kmsg.NewPtrElectLeadersRequest()
			r.TimeoutMillis, r.ElectionType = 5000, kind
			r.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: t, Partitions: partitions}}
			return r
		}
		all := kmsg.NewPtrElectLeadersRequest()
		all.TimeoutMillis = 5000
		return []question{{name: "unclean", req: ask(1, topic, 0)}, {name: "unknown kind", req: ask(9, topic, 0), from: 1}, {name: "no such partition", req: ask(0, topic, 7)}, {name: "all", req: all}, {name: "no partitions", req: ask(0, topic)}}
	case 45:
		ask := func(partition int32, replicas ...int32) kmsg.Request {
			r := kmsg.NewPtrAlterPartitionAssignmentsRequest()
			r.TimeoutMillis = 5000
			r.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{{Topic: topic, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Partition: partition, Replicas: replicas}}}}
			return r
		}
		return []question{{name: "cancel nothing", req: ask(0)}, {name: "to itself", req: ask(0, node)}, {name: "to a stranger", req: ask(0, 77)}, {name: "twice to itself", req: ask(0, node, node)}, {name: "to a negative", req: ask(0, -1)},
			{name: "empty", req: ask(0, []int32{}...)}, {name: "no such partition", req: ask(7, node)}, {name: "nothing", req: kmsg.NewPtrAlterPartitionAssignmentsRequest()}}
	case 46:
		r := kmsg.NewPtrListPartitionReassignmentsRequest()
		r.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{{Topic: topic, Partitions: []int32{0}}, {Topic: none, Partitions: []int32{0}}}
		return []question{{name: "some", req: r}}
	case 48:
		ask := func(strict bool, parts ...kmsg.DescribeClientQuotasRequestComponent) kmsg.Request {
			r := kmsg.NewPtrDescribeClientQuotasRequest()
			r.Strict, r.Components = strict, parts
			return r
		}
		part := func(entity string, match kmsg.QuotasMatchType, name *string) kmsg.DescribeClientQuotasRequestComponent {
			return kmsg.DescribeClientQuotasRequestComponent{EntityType: entity, MatchType: match, Match: name}
		}
		return []question{{name: "unknown entity", req: ask(false, part("planet", 0, ptr("mars")))}, {name: "unknown match", req: ask(false, part("user", 9, ptr("u")))}, {name: "exact without a name", req: ask(false, part("user", 0, nil))},
			{name: "default with a name", req: ask(false, part("user", 1, ptr("u")))}, {name: "any with a name", req: ask(false, part("user", 2, ptr("u")))}, {name: "twice", req: ask(false, part("user", 2, nil), part("user", 2, nil))},
			{name: "user and address", req: ask(false, part("user", 2, nil), part("ip", 2, nil))}, {name: "empty entity", req: ask(false, part("", 2, nil))}, {name: "strict", req: ask(true, part("user", 2, nil))}, {name: "empty name", req: ask(true, part("user", 0, ptr("")))}}
	case 49:
		type entity = kmsg.AlterClientQuotasRequestEntryEntity
		ask := func(who []entity, ops ...kmsg.AlterClientQuotasRequestEntryOp) kmsg.Request {
			r := kmsg.NewPtrAlterClientQuotasRequest()
			r.ValidateOnly = true
			r.Entries = []kmsg.AlterClientQuotasRequestEntry{{Entity: who, Ops: ops}}
			return r
		}
		set := func(key string, value float64) kmsg.AlterClientQuotasRequestEntryOp {
			return kmsg.AlterClientQuotasRequestEntryOp{Key: key, Value: value}
		}
		user := []entity{{Type: "user", Name: ptr("u")}}
		ip := func(a string) []entity { return []entity{{Type: "ip", Name: ptr(a)}} }
		double := ask(user, set("producer_byte_rate", 1)).(*kmsg.AlterClientQuotasRequest)
		double.Entries = append(double.Entries, double.Entries[0])
		return []question{
			{name: "fine", req: ask(user, set("producer_byte_rate", 1024))}, {name: "nobody", req: ask(nil, set("producer_byte_rate", 1))}, {name: "unknown entity", req: ask([]entity{{Type: "planet", Name: ptr("m")}}, set("producer_byte_rate", 1))},
			{name: "empty name", req: ask([]entity{{Type: "user", Name: ptr("")}}, set("producer_byte_rate", 1))}, {name: "unknown key", req: ask(user, set("no_such", 1))}, {name: "key of addresses", req: ask(user, set("connection_creation_rate", 1))},
			{name: "key of users", req: ask(ip("10.0.0.1"), set("producer_byte_rate", 1))}, {name: "address", req: ask(ip("10.0.0.1"), set("connection_creation_rate", 1))}, {name: "no address", req: ask(ip("no address!"), set("connection_creation_rate", 1))},
			{name: "zero", req: ask(user, set("producer_byte_rate", 0))}, {name: "negative", req: ask(user, set("producer_byte_rate", -1))}, {name: "half a byte", req: ask(user, set("producer_byte_rate", 1.5))}, {name: "half a percent", req: ask(user, set("request_percentage", 0.5))},
			{name: "half a mutation", req: ask(user, set("controller_mutation_rate", 0.5))}, {name: "too much", req: ask(user, set("producer_byte_rate", 1e30))}, {name: "tiny", req: ask(user, set("producer_byte_rate", 1e-9))},
			{name: "user and address", req: ask([]entity{{Type: "user", Name: ptr("u")}, {Type: "ip", Name: ptr("10.0.0.1")}}, set("producer_byte_rate", 1))},
			{name: "user twice", req: ask([]entity{{Type: "user", Name: ptr("u")}, {Type: "user", Name: ptr("v")}}, set("producer_byte_rate", 1))},
			{name: "remove nothing", req: ask(user, kmsg.AlterClientQuotasRequestEntryOp{Key: "producer_byte_rate", Remove: true})}, {name: "remove unknown", req: ask(user, kmsg.AlterClientQuotasRequestEntryOp{Key: "no_such", Remove: true})},
			{name: "same entity twice", req: double}, {name: "no operation", req: ask(user)},
		}
	case 50:
		ask := func(names ...string) kmsg.Request {
			r := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
			for _, n := range names {
				r.Users = append(r.Users, kmsg.DescribeUserSCRAMCredentialsRequestUser{Name: n})
			}
			return r
		}
		return []question{{name: "unknown", req: ask("nobody")}, {name: "twice", req: ask("nobody", "nobody")}, {name: "empty", req: ask("")}}
	case 51:
		const secret = "0123456789abcdef0123456789abcdef"
		put := func(name string, mechanism int8, iterations int32, salt, password string) kmsg.Request {
			r := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
			r.Upsertions = []kmsg.AlterUserSCRAMCredentialsRequestUpsertion{{Name: name, Mechanism: mechanism, Iterations: iterations, Salt: []byte(salt), SaltedPassword: []byte(password)}}
			return r
		}
		drop := func(name string, mechanism int8) kmsg.Request {
			r := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
			r.Deletions = []kmsg.AlterUserSCRAMCredentialsRequestDeletion{{Name: name, Mechanism: mechanism}}
			return r
		}
		twice := put("u", 1, 8192, "salt", secret).(*kmsg.AlterUserSCRAMCredentialsRequest)
		twice.Upsertions = append(twice.Upsertions, twice.Upsertions[0])
		return []question{{name: "too few iterations", req: put("u", 1, 4095, "salt", secret)}, {name: "too many iterations", req: put("u", 1, 16385, "salt", secret)}, {name: "unknown mechanism", req: put("u", 9, 8192, "salt", secret)},
			{name: "empty name", req: put("", 1, 8192, "salt", secret)}, {name: "delete nobody", req: drop("nobody", 1)}, {name: "delete unknown mechanism", req: drop("nobody", 9)},
			{name: "delete empty name", req: drop("", 1)}, {name: "twice", req: twice}, {name: "nothing", req: kmsg.NewPtrAlterUserSCRAMCredentialsRequest()}}
	case 57:
		ask := func(feature string, level int16, down bool, how int8) kmsg.Request {
			r := kmsg.NewPtrUpdateFeaturesRequest()
			r.TimeoutMillis, r.ValidateOnly = 5000, true
			r.FeatureUpdates = []kmsg.UpdateFeaturesRequestFeatureUpdate{{Feature: feature, MaxVersionLevel: level, AllowDowngrade: down, UpgradeType: how}}
			return r
		}
		// Version 0 cannot ask without doing it.
		return []question{{name: "unknown feature", req: ask("no.such", 1, false, 1)}, {name: "beyond what is supported", req: ask("group.version", 99, false, 1)}, {name: "lower without leave", req: ask("transaction.version", 0, false, 1), from: 1},
			{name: "negative", req: ask("group.version", -1, true, 2), from: 1}, {name: "unknown way", req: ask("group.version", 1, true, 9), from: 1}, {name: "as it is", req: ask("group.version", 1, false, 1), from: 1},
			{name: "unsafe downgrade", req: ask("share.version", 0, false, 3), from: 1}, {name: "nothing", req: kmsg.NewPtrUpdateFeaturesRequest()}, {name: "empty name", req: ask("", 1, false, 1)}}
	case 55:
		r := kmsg.NewPtrDescribeQuorumRequest()
		r.Topics = []kmsg.DescribeQuorumRequestTopic{{Topic: topic, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{}}}}
		return []question{{name: "of a topic", req: r}}
	case 60:
		ask := func(kind int8) kmsg.Request {
			r := kmsg.NewPtrDescribeClusterRequest()
			r.EndpointType = kind
			return r
		}
		return []question{{name: "controllers", req: ask(2), from: 1}, {name: "unknown endpoints", req: ask(9), from: 1}}
	case 61:
		r := kmsg.NewPtrDescribeProducersRequest()
		r.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: topic, Partitions: []int32{7, -1}}, {Topic: "bad name", Partitions: []int32{0}}}
		return []question{{name: "no such partition", req: r}}
	case 65:
		r := kmsg.NewPtrDescribeTransactionsRequest()
		r.TransactionalIDs = []string{"", "nobody", "nobody"}
		return []question{{name: "empty and twice", req: r}}
	case 66:
		r := kmsg.NewPtrListTransactionsRequest()
		r.DurationFilterMillis, r.TransactionalIDPattern = -1, ptr("(")
		long := kmsg.NewPtrListTransactionsRequest()
		long.DurationFilterMillis, long.ProducerIDFilters = 1<<40, []int64{77}
		return []question{{name: "bad pattern", req: r, from: 2}, {name: "none that long", req: long}}
	case 74:
		ask := func(kinds ...int8) kmsg.Request {
			r := kmsg.NewPtrListConfigResourcesRequest()
			r.ResourceTypes = kinds
			return r
		}
		return []question{{name: "unknown", req: ask(99), from: 1}, {name: "metrics", req: ask(16)}, {name: "groups", req: ask(32), from: 1}}
	case 75:
		ask := func(limit int32, cursor *kmsg.DescribeTopicPartitionsRequestCursor, names ...string) kmsg.Request {
			r := kmsg.NewPtrDescribeTopicPartitionsRequest()
			r.ResponsePartitionLimit, r.Cursor = limit, cursor
			for _, n := range names {
				r.Topics = append(r.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: n})
			}
			return r
		}
		from := func(t string, p int32) *kmsg.DescribeTopicPartitionsRequestCursor {
			return &kmsg.DescribeTopicPartitionsRequestCursor{Topic: t, Partition: p}
		}
		return []question{{name: "first page", req: ask(1, nil, topic)}, {name: "second page", req: ask(1, from(topic, 1), topic)}, {name: "behind the last", req: ask(10, from(topic, 9), topic)},
			{name: "negative cursor", req: ask(10, from(topic, -1), topic)}, {name: "cursor behind all", req: ask(10, from("zzz", 0), topic)}, {name: "cursor at what is not", req: ask(10, from(none, 0), topic, none)},
			{name: "cursor before all", req: ask(10, from("a", 0), topic)}, {name: "no limit", req: ask(0, nil, topic)}, {name: "negative limit", req: ask(-1, nil, topic)}, {name: "bad name", req: ask(10, nil, "bad name", "")}, {name: "twice", req: ask(10, nil, topic, topic)}}
	}
	return nil
}
