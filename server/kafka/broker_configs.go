package kafka

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/internal/topicconfig"
	"millrace/server/kafka/group"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// brokerConfig is one config of the broker as DescribeConfigs shows it. All are
// read-only on this wire: they are the server's own options.
type brokerConfig struct {
	name, kind, value string
	set               bool // set explicitly; else it is the default
	doc               string
}

// brokerConfigs are the configs that tools look at, in name order: what Millrace's own
// options mean in Kafka's terms, what it does by design, and the defaults of
// topic configs.
func (s *Server) brokerConfigs() []brokerConfig {
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
	list := []brokerConfig{
		{"node.id", "int", node, true, "Id of this node."},
		{"broker.id", "int", node, true, "Id of this broker."},
		{"process.roles", "list", "broker,controller", true, "Roles of this process; one node has both."},
		{"listeners", "list", strings.Join(listen, ","), true, "Addresses listened on."},
		{"advertised.listeners", "list", strings.Join(advertised, ","), true, "Addresses that clients are told."},
		{"listener.security.protocol.map", "string", strings.Join(protocols, ","), true, "Security protocol of each listener."},
		{"log.dir", "string", s.o.Admin.LogDir, true, "Data directory."},
		{"log.dirs", "string", s.o.Admin.LogDir, true, "Data directories; there is one."},
		{"auto.create.topics.enable", "boolean", strconv.FormatBool(s.o.AutoCreateTopics), true, "Whether topics are created when they are first asked for."},
		{"num.partitions", "int", strconv.Itoa(s.o.DefaultPartitions), true, "Partitions of a topic that does not say how many."},
		{"default.replication.factor", "int", "1", false, "Replicas of a topic; there is one node."},
		{"delete.topic.enable", "boolean", "true", false, "Whether topics can be deleted."},
		{"auto.leader.rebalance.enable", "boolean", "false", false, "Whether leaders are moved; there is one node."},
		{"log.cleaner.enable", "boolean", "true", true, "Whether compacted topics are compacted."},
		{"log.retention.check.interval.ms", "long", "300000", false, "How often retention is enforced, in milliseconds."},
		{"message.max.bytes", "int", "1048588", false, "Largest record batch accepted, in bytes."},
		{"socket.request.max.bytes", "int", strconv.Itoa(s.o.MaxRequestBytes), true, "Largest request accepted, in bytes."},
		{"max.connections", "int", strconv.Itoa(s.o.MaxConnections), true, "Connections over all listeners."},
		{"max.connections.per.ip", "int", strconv.Itoa(s.o.MaxConnectionsPerIP), true, "Connections from one address."},
		{"connections.max.idle.ms", "long", strconv.FormatInt(s.o.IdleTimeout.Milliseconds(), 10), true, "How long a connection may be idle, in milliseconds."},
		{"offsets.topic.replication.factor", "short", "1", false, "Replicas of committed offsets; there is one node."},
		{"transaction.max.timeout.ms", "int", strconv.FormatInt(s.o.MaxTransactionTimeout.Milliseconds(), 10), true, "Longest timeout that a transactional producer may ask for, in milliseconds."},
		{"transactional.id.expiration.ms", "int", strconv.FormatInt(s.o.TransactionalIDExpiration.Milliseconds(), 10), true, "How long a transactional id is remembered without use, in milliseconds."},
		{"transaction.abort.timed.out.transaction.cleanup.interval.ms", "int", strconv.FormatInt(expireTransactionsEvery.Milliseconds(), 10), false, "How often timed out transactions are looked for, in milliseconds."},
		{"transaction.state.log.replication.factor", "short", "1", false, "Replicas of transaction state; there is one node."},
		{"transaction.state.log.min.isr", "int", "1", false, "Replicas of transaction state that must be in sync; there is one node."},
		{"group.coordinator.rebalance.protocols", "list", strings.Join(s.groupProtocols(), ","), true, "Group protocols served."},
	}
	if s.o.Admin.Groups != nil {
		list = append(list, groupConfigs(s.o.Admin.Groups.Options(), s.o.Admin.Groups.ServesConsumers())...)
	}
	have := map[string]bool{}
	for _, c := range list {
		have[c.name] = true
	}
	for _, d := range topicconfig.Definitions() {
		if d.BrokerSynonym != "" && !have[d.BrokerSynonym] {
			have[d.BrokerSynonym] = true
			list = append(list, brokerConfig{d.BrokerSynonym, d.Type, d.Default, false, d.Doc})
		}
	}
	for i := range list {
		if v, ok := s.o.Admin.BrokerConfigs[list[i].name]; ok {
			list[i].value, list[i].set = v, true
		}
	}
	slices.SortFunc(list, func(a, b brokerConfig) int { return strings.Compare(a.name, b.name) })
	return list
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
func groupConfigs(o group.Options, consumers bool) []brokerConfig {
	d := group.DefaultOptions()
	ms := func(t time.Duration) string { return strconv.FormatInt(t.Milliseconds(), 10) }
	minutes := func(t time.Duration) string { return strconv.Itoa(int(t.Minutes())) }
	entry := func(name, kind, value, standard, doc string) brokerConfig {
		return brokerConfig{name, kind, value, value != standard, doc}
	}
	list := []brokerConfig{
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

func brokerConfigEntry(b brokerConfig, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	value := b.value
	c.Name, c.Value, c.ReadOnly = b.name, &value, true
	c.Source = configSourceDefault
	if b.set {
		c.Source = configSourceStatic
	}
	c.IsDefault = !b.set
	c.ConfigType = configTypes[b.kind]
	if req.IncludeSynonyms {
		c.ConfigSynonyms = append(c.ConfigSynonyms, synonym(b.name, b.value, c.Source))
	}
	if req.IncludeDocumentation {
		c.Documentation = nullable(b.doc)
	}
	return c
}

// checkBrokerName: this broker's id, or empty for the cluster-wide defaults.
func (s *Server) checkBrokerName(name string) error {
	if name == "" {
		return nil
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return adminErrorf(errInvalidRequest, "Broker id must be an integer, but it is: %s", name)
	case int32(id) != s.o.NodeID:
		return adminErrorf(errInvalidRequest, "Unexpected broker id, expected %d, but received %s", s.o.NodeID, name)
	}
	return nil
}
