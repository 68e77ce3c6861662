package kafka

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/internal/topicconfig"
	"millrace/server/kafka/api/configs"
	"millrace/server/kafka/api/transactions"
	"millrace/server/kafka/group"
)

// brokerConfigs are the configs that tools look at, in name order: what Millrace's own
// options mean in Kafka's terms, what it does by design, and the defaults of
// topic configs.
func (s *Server) brokerConfigs() []configs.Broker {
	node := strconv.Itoa(int(s.o.NodeID))
	var listen, advertised, protocols []string
	for _, l := range s.listeners {
		host, port, err := net.SplitHostPort(l.net.Addr().String())
		if err != nil {
			continue
		}
		listen = append(listen, l.Name+"://"+net.JoinHostPort(host, port))
		if l.host != "" {
			host = l.host
		}
		advertised = append(advertised, l.Name+"://"+net.JoinHostPort(host, strconv.Itoa(int(l.port))))
		protocols = append(protocols, l.Name+":"+l.protocol())
	}
	list := []configs.Broker{
		brokerConfig("node.id", "int", node, true, "Id of this node."),
		brokerConfig("broker.id", "int", node, true, "Id of this broker."),
		brokerConfig("process.roles", "list", "broker,controller", true, "Roles of this process; one node has both."),
		brokerConfig("listeners", "list", strings.Join(listen, ","), true, "Addresses listened on."),
		brokerConfig("advertised.listeners", "list", strings.Join(advertised, ","), true, "Addresses that clients are told."),
		brokerConfig("listener.security.protocol.map", "string", strings.Join(protocols, ","), true, "Security protocol of each listener."),
		brokerConfig("log.dir", "string", s.o.Admin.LogDir, true, "Data directory."),
		brokerConfig("log.dirs", "string", s.o.Admin.LogDir, true, "Data directories; there is one."),
		brokerConfig("auto.create.topics.enable", "boolean", strconv.FormatBool(s.o.AutoCreateTopics), true, "Whether topics are created when they are first asked for."),
		brokerConfig("num.partitions", "int", strconv.Itoa(s.o.DefaultPartitions), true, "Partitions of a topic that does not say how many."),
		brokerConfig("default.replication.factor", "int", "1", false, "Replicas of a topic; there is one node."),
		brokerConfig("delete.topic.enable", "boolean", "true", false, "Whether topics can be deleted."),
		brokerConfig("auto.leader.rebalance.enable", "boolean", "false", false, "Whether leaders are moved; there is one node."),
		brokerConfig("log.cleaner.enable", "boolean", "true", true, "Whether compacted topics are compacted."),
		brokerConfig("log.retention.check.interval.ms", "long", "300000", false, "How often retention is enforced, in milliseconds."),
		brokerConfig("message.max.bytes", "int", "1048588", false, "Largest record batch accepted, in bytes."),
		brokerConfig("socket.request.max.bytes", "int", strconv.Itoa(s.o.MaxRequestBytes), true, "Largest request accepted, in bytes."),
		brokerConfig("max.connections", "int", strconv.Itoa(s.o.MaxConnections), true, "Connections over all listeners."),
		brokerConfig("max.connections.per.ip", "int", strconv.Itoa(s.o.MaxConnectionsPerIP), true, "Connections from one address."),
		brokerConfig("connections.max.idle.ms", "long", strconv.FormatInt(s.o.IdleTimeout.Milliseconds(), 10), true, "How long a connection may be idle, in milliseconds."),
		brokerConfig("offsets.topic.replication.factor", "short", "1", false, "Replicas of committed offsets; there is one node."),
		brokerConfig("transaction.max.timeout.ms", "int", strconv.FormatInt(s.o.MaxTransactionTimeout.Milliseconds(), 10), true, "Longest timeout that a transactional producer may ask for, in milliseconds."),
		brokerConfig("transactional.id.expiration.ms", "int", strconv.FormatInt(s.o.TransactionalIDExpiration.Milliseconds(), 10), true, "How long a transactional id is remembered without use, in milliseconds."),
		brokerConfig("transaction.abort.timed.out.transaction.cleanup.interval.ms", "int", strconv.FormatInt(transactions.ExpireEvery.Milliseconds(), 10), false, "How often timed out transactions are looked for, in milliseconds."),
		brokerConfig("transaction.state.log.replication.factor", "short", "1", false, "Replicas of transaction state; there is one node."),
		brokerConfig("transaction.state.log.min.isr", "int", "1", false, "Replicas of transaction state that must be in sync; there is one node."),
		brokerConfig("group.coordinator.rebalance.protocols", "list", strings.Join(s.groupProtocols(), ","), true, "Group protocols served."),
	}
	if s.o.Admin.Groups != nil {
		list = append(list, groupConfigs(s.o.Admin.Groups.Options(), s.o.Admin.Groups.ServesConsumers())...)
	}
	have := map[string]bool{}
	for _, c := range list {
		have[c.Name] = true
	}
	for _, d := range topicconfig.Definitions() {
		if d.BrokerSynonym != "" && !have[d.BrokerSynonym] {
			have[d.BrokerSynonym] = true
			list = append(list, brokerConfig(d.BrokerSynonym, d.Type, d.Default, false, d.Doc))
		}
	}
	for i := range list {
		if v, ok := s.o.Admin.BrokerConfigs[list[i].Name]; ok {
			list[i].Value, list[i].Set = v, true
		}
	}
	slices.SortFunc(list, func(a, b configs.Broker) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func brokerConfig(name, kind, value string, set bool, doc string) configs.Broker {
	return configs.Broker{Name: name, Type: kind, Value: value, Set: set, Doc: doc}
}

// groupProtocols are Kafka's names of the kinds of groups that are served.
func (s *Server) groupProtocols() []string {
	list := []string{"classic"}
	if s.o.Admin.Groups != nil && s.o.Admin.Groups.ServesConsumers() {
		list = append(list, "consumer")
	}
	if s.o.Admin.Share != nil {
		list = append(list, "share")
	}
	return list
}

// groupConfigs are the coordinator's options; those of the consumer protocol only where it is served.
func groupConfigs(o group.Options, consumers bool) []configs.Broker {
	d := group.DefaultOptions()
	ms := func(t time.Duration) string { return strconv.FormatInt(t.Milliseconds(), 10) }
	minutes := func(t time.Duration) string { return strconv.Itoa(int(t.Minutes())) }
	entry := func(name, kind, value, standard, doc string) configs.Broker {
		return brokerConfig(name, kind, value, value != standard, doc)
	}
	list := []configs.Broker{
		entry("offsets.retention.minutes", "int", minutes(o.OffsetsRetention), minutes(d.OffsetsRetention), "How long committed offsets of a group without members are kept, in minutes."),
		entry("offsets.retention.check.interval.ms", "long", ms(o.ExpirationInterval), ms(d.ExpirationInterval), "How often old offsets are looked for, in milliseconds."),
		entry("offset.metadata.max.bytes", "int", strconv.Itoa(o.MaxMetadataBytes), strconv.Itoa(d.MaxMetadataBytes), "Longest metadata of a committed offset, in bytes."),
		entry("producer.id.expiration.ms", "int", ms(o.ProducerIDExpiration), ms(d.ProducerIDExpiration), "How long the state of an idle producer is kept, in milliseconds."),
		entry("group.initial.rebalance.delay.ms", "int", ms(o.InitialRebalanceDelay), ms(d.InitialRebalanceDelay), "How long the first rebalance of a group waits for more members, in milliseconds."),
		entry("group.min.session.timeout.ms", "int", ms(o.MinSessionTimeout), ms(d.MinSessionTimeout), "Shortest session timeout of a group member, in milliseconds."),
		entry("group.max.session.timeout.ms", "int", ms(o.MaxSessionTimeout), ms(d.MaxSessionTimeout), "Longest session timeout of a group member, in milliseconds."),
		entry("group.max.size", "int", strconv.Itoa(o.MaxSize), strconv.Itoa(d.MaxSize), "Members that a group can have."),
	}
	if !consumers {
		return list
	}
	names := func(assignors []string) string { return strings.Join(assignors, ",") }
	return append(
		list,
		entry("group.consumer.assignors", "list", names(o.ConsumerAssignors), names(d.ConsumerAssignors), "Assignors of the consumer protocol, the default one first."),
		entry("group.consumer.session.timeout.ms", "int", ms(o.ConsumerSessionTimeout), ms(d.ConsumerSessionTimeout), "How long a member of the consumer protocol may be silent, in milliseconds."),
		entry("group.consumer.heartbeat.interval.ms", "int", ms(o.ConsumerHeartbeatInterval), ms(d.ConsumerHeartbeatInterval), "How often members of the consumer protocol send a heartbeat, in milliseconds."),
		entry("group.consumer.max.size", "int", strconv.Itoa(o.ConsumerMaxSize), strconv.Itoa(d.ConsumerMaxSize), "Members that a group of the consumer protocol can have."),
		entry("group.consumer.migration.policy", "string", "bidirectional", "bidirectional", "Whether a group with members can change between the classic and the consumer protocol."),
	)
}
