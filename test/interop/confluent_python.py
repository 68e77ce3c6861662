"""What confluent-kafka-python's integration tests check, in our own words: its source
package does not carry them. confluent_python.sh runs this; names follow theirs.
"""
import os
import threading
import time
import uuid

import pytest
from confluent_kafka import (OFFSET_BEGINNING, AcknowledgeType, Consumer, ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType,
                             DeserializingConsumer, IllegalStateException, IsolationLevel, KafkaError, KafkaException, Message, Producer, SerializingProducer,
                             ShareConsumer, TopicCollection, TopicPartition)
from confluent_kafka.admin import (AclBinding, AclBindingFilter, AclOperation, AclPermissionType, AdminClient, AlterConfigOpType, ConfigEntry,
                                   ConfigResource, NewPartitions, NewTopic, OffsetSpec, ResourcePatternType, ResourceType, ScramCredentialInfo,
                                   ScramMechanism, UserScramCredentialDeletion, UserScramCredentialUpsertion)
from confluent_kafka.serialization import (DoubleDeserializer, DoubleSerializer, IntegerDeserializer, IntegerSerializer, StringDeserializer,
                                           StringSerializer)

OPEN = {"bootstrap.servers": os.environ["MILLRACE_KAFKA"]}
USERS = {"bootstrap.servers": os.environ["MILLRACE_KAFKA_USERS"], "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256",
         "sasl.username": "confluent", "sasl.password": "confluent-secret"}


def name(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


def done(futures):
    """The results, by key; raises what failed."""
    return {k: f.result(20) for k, f in futures.items()}


def code(call, *args, **kw):
    """The code of the error that the call must fail with."""
    with pytest.raises(KafkaException) as e:
        call(*args, **kw)
    return e.value.args[0].code()


@pytest.fixture
def admin():
    return AdminClient(OPEN)


@pytest.fixture
def topic(admin):
    def create(partitions=1, **config):
        t = name("t")
        done(admin.create_topics([NewTopic(t, partitions, 1, config={k.replace("_", "."): v for k, v in config.items()})]))
        return t

    return create


@pytest.fixture
def consumer():
    made = []

    def make(kind=Consumer, **conf):
        c = kind({**OPEN, "group.id": name("g"), "auto.offset.reset": "earliest", "enable.auto.commit": False,
                  **{k.replace("_", "."): v for k, v in conf.items()}})
        made.append(c)
        return c

    yield make
    for c in made:
        try:
            c.close()
        except RuntimeError:
            pass # closed by the test


@pytest.fixture
def share(admin):
    made = []

    def make(*topics, group=None, reset="earliest", **conf):
        group = group or name("s")
        entry = ConfigEntry("share.auto.offset.reset", reset, incremental_operation=AlterConfigOpType.SET)
        done(admin.incremental_alter_configs([ConfigResource(ResourceType.GROUP, group, incremental_configs=[entry])]))
        c = ShareConsumer({**OPEN, "group.id": group, **{k.replace("_", "."): v for k, v in conf.items()}})
        made.append(c)
        c.subscribe(list(topics))
        return c

    yield make
    for c in made:
        c.close()


def produce(t, *values, partition=0, conf=None, **kw):
    p = Producer({**OPEN, **(conf or {})})
    failed = []
    for v in values:
        p.produce(t, v, partition=partition, on_delivery=lambda e, m: e and failed.append(e), **kw)
    assert p.flush(20) == 0 and not failed


def messages(poll, n, seconds=20):
    """n messages of what poll(timeout) returns: one, none or some."""
    got, deadline = [], time.monotonic() + seconds
    while len(got) < n and time.monotonic() < deadline:
        polled = poll(0.5)
        for m in [] if polled is None else [polled] if isinstance(polled, Message) else polled:
            assert m.error() is None, m.error()
            got.append(m)
    return got


def values(poll, n, seconds=20):
    return [m.value() for m in messages(poll, n, seconds)]


# --- administration

def test_basic_operations(admin, topic, consumer):
    t = topic(2, compression_type="gzip")
    assert code(lambda: done(admin.create_topics([NewTopic(t, 2, 1)]))) == KafkaError.TOPIC_ALREADY_EXISTS
    done(admin.create_topics([NewTopic(name("checked"), 3, 1)], validate_only=True))
    done(admin.create_partitions([NewPartitions(t, 3)]))
    assert len(admin.list_topics(t, 10).topics[t].partitions) == 3
    (config,) = done(admin.describe_configs([ConfigResource(ResourceType.TOPIC, t)])).values()
    assert config["compression.type"].value == "gzip" and not config["compression.type"].is_default
    assert code(lambda: done(admin.describe_configs([ConfigResource(ResourceType.TOPIC, "no-such")]))) == KafkaError.UNKNOWN_TOPIC_OR_PART
    broker = list(admin.list_topics(timeout=10).brokers)[0]
    (config,) = done(admin.describe_configs([ConfigResource(ResourceType.BROKER, str(broker))])).values()
    assert "log.retention.ms" in config or "num.partitions" in config
    done(admin.alter_configs([ConfigResource(ResourceType.TOPIC, t, set_config={"retention.ms": "60000"})]))
    (config,) = done(admin.describe_configs([ConfigResource(ResourceType.TOPIC, t)])).values()
    assert config["retention.ms"].value == "60000" and config["compression.type"].value == "producer"

    produce(t, *(str(i) for i in range(100)))
    c = consumer(group_id=name("listed"))
    c.subscribe([t])
    assert len(values(c.poll, 100)) == 100
    c.commit(asynchronous=False)
    group = [g for g in admin.list_consumer_groups().result(20).valid if g.group_id.startswith("listed")]
    assert group and not group[-1].is_simple_consumer_group
    c.close()
    done(admin.delete_topics([t]))
    assert code(lambda: done(admin.delete_topics([t]))) == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_consumer_group_offsets(admin, topic, consumer):
    t, g = topic(), name("offsets")
    produce(t, *"abcde")
    c = consumer(group_id=g)
    c.subscribe([t])
    values(c.poll, 5)
    c.commit(asynchronous=False)
    busy = ConsumerGroupTopicPartitions(g, [TopicPartition(t, 0, 1)])
    (got,) = done(admin.alter_consumer_group_offsets([busy])).values()
    assert got.topic_partitions[0].error.code() == KafkaError.UNKNOWN_MEMBER_ID
    assert code(lambda: done(admin.delete_consumer_groups([g]))) == KafkaError.NON_EMPTY_GROUP
    c.close()
    (got,) = done(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(g)])).values()
    assert [(p.topic, p.partition, p.offset) for p in got.topic_partitions] == [(t, 0, 5)]
    (got,) = done(admin.alter_consumer_group_offsets([busy])).values()
    assert got.topic_partitions[0].error is None
    (got,) = done(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(g, [TopicPartition(t, 0)])])).values()
    assert got.topic_partitions[0].offset == 1
    done(admin.delete_consumer_groups([g]))
    assert code(lambda: done(admin.delete_consumer_groups([g]))) == KafkaError.GROUP_ID_NOT_FOUND


def test_delete_records(admin, topic):
    a, b = topic(), topic(2)
    produce(a, *"abc")
    produce(b, *"abcd")
    produce(b, *"ab", partition=1)
    got = done(admin.delete_records([TopicPartition(a, 0, 2), TopicPartition(b, 0, 1), TopicPartition(b, 1, -1)]))
    assert {(tp.topic, tp.partition): r.low_watermark for tp, r in got.items()} == {(a, 0): 2, (b, 0): 1, (b, 1): 2}
    assert code(lambda: done(admin.delete_records([TopicPartition(a, 0, 9)]))) == KafkaError.OFFSET_OUT_OF_RANGE
    (first,) = done(admin.list_offsets({TopicPartition(a, 0): OffsetSpec.earliest()})).values()
    assert first.offset == 2


def test_incremental_alter_configs(admin, topic):
    kind, op = ResourceType.TOPIC, AlterConfigOpType
    a, b = topic(2, compression_type="gzip"), topic(2, compression_type="gzip")

    def alter(t, *changes):
        return ConfigResource(kind, t, incremental_configs=[ConfigEntry(k, v, incremental_operation=o) for k, v, o in changes])

    def explicit(t):
        (config,) = done(admin.describe_configs([ConfigResource(kind, t)])).values()
        return {k: e.value for k, e in config.items() if e.source == 1} # set on the topic

    done(admin.incremental_alter_configs([
        alter(a, ("cleanup.policy", "compact", op.APPEND), ("retention.ms", "10000", op.SET)),
        alter(b, ("cleanup.policy", "delete", op.SUBTRACT), ("retention.ms", "5000", op.SET))]))
    assert explicit(a) == {"cleanup.policy": "delete,compact", "compression.type": "gzip", "retention.ms": "10000"}
    assert explicit(b) == {"cleanup.policy": "", "compression.type": "gzip", "retention.ms": "5000"}
    done(admin.incremental_alter_configs([alter(b, ("compression.type", None, op.DELETE), ("retention.ms", "10000", op.SET))]))
    assert explicit(b) == {"cleanup.policy": "", "retention.ms": "10000"}
    group = ConfigResource(ResourceType.GROUP, name("g"), incremental_configs=[ConfigEntry("consumer.session.timeout.ms", "50000", incremental_operation=op.SET)])
    done(admin.incremental_alter_configs([group]))
    (config,) = done(admin.describe_configs([group])).values()
    assert config["consumer.session.timeout.ms"].value == "50000"


@pytest.mark.parametrize("isolation", [IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED])
def test_list_offsets(admin, topic, isolation):
    t, base = topic(), 1_000_000_000
    for at in (100, 400, 200):
        produce(t, "m", timestamp=base + at)
    specs = [OffsetSpec.earliest(), OffsetSpec.latest(), OffsetSpec.max_timestamp(), OffsetSpec.for_timestamp(base + 150)]
    got = [done(admin.list_offsets({TopicPartition(t, 0): s}, isolation_level=isolation))[TopicPartition(t, 0)].offset for s in specs]
    assert got == [0, 3, 1, 1]


def test_user_scram_credentials():
    admin, user = AdminClient(USERS), name("u")
    assert code(lambda: done(admin.describe_user_scram_credentials([user]))) == KafkaError.RESOURCE_NOT_FOUND
    done(admin.alter_user_scram_credentials([
        UserScramCredentialUpsertion(user, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 10_000), b"secret", b"salt"),
        UserScramCredentialUpsertion(user, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 10_000), b"secret", b"salt")]))
    got = done(admin.describe_user_scram_credentials([user]))[user]
    assert {(i.mechanism, i.iterations) for i in got.scram_credential_infos} == {(m, 10_000) for m in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)}
    assert user in admin.describe_user_scram_credentials().result(20)
    done(admin.alter_user_scram_credentials([UserScramCredentialDeletion(user, m) for m in (ScramMechanism.SCRAM_SHA_256,)]))
    got = done(admin.describe_user_scram_credentials([user]))[user]
    assert [i.mechanism for i in got.scram_credential_infos] == [ScramMechanism.SCRAM_SHA_512]
    bad = UserScramCredentialUpsertion(user, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 1), b"secret", b"salt")
    assert code(lambda: done(admin.alter_user_scram_credentials([bad]))) == KafkaError.UNACCEPTABLE_CREDENTIAL
    done(admin.alter_user_scram_credentials([UserScramCredentialDeletion(user, ScramMechanism.SCRAM_SHA_512)]))


def test_acls():
    admin, t = AdminClient(USERS), name("acl")
    rules = [AclBinding(ResourceType.TOPIC, t, ResourcePatternType.LITERAL, "User:ada", "*", op, AclPermissionType.ALLOW)
             for op in (AclOperation.READ, AclOperation.WRITE)]
    done(admin.create_acls(rules))
    every = AclBindingFilter(ResourceType.ANY, t, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY)
    assert set(admin.describe_acls(every).result(20)) == set(rules)
    (gone,) = done(admin.delete_acls([every])).values()
    assert set(gone) == set(rules) and admin.describe_acls(every).result(20) == []


def test_describe_operations():
    admin, t, g = AdminClient(USERS), name("d"), name("g")
    done(admin.create_topics([NewTopic(t, 1, 1)]))
    produce(t, "a", conf=USERS)
    c = Consumer({**USERS, "group.id": g, "auto.offset.reset": "earliest"})
    c.subscribe([t])
    assert values(c.poll, 1) == [b"a"]
    plain = admin.describe_cluster().result(20)
    assert plain.authorized_operations is None and len(plain.nodes) == 1
    assert AclOperation.ALTER in admin.describe_cluster(include_authorized_operations=True).result(20).authorized_operations
    described = done(admin.describe_topics(TopicCollection([t]), include_authorized_operations=True))[t]
    assert {AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE} <= set(described.authorized_operations)
    assert [len(p.replicas) for p in described.partitions] == [1]
    group = done(admin.describe_consumer_groups([g], include_authorized_operations=True))[g]
    assert {AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE} <= set(group.authorized_operations)
    assert group.state == ConsumerGroupState.STABLE and len(group.members) == 1
    acl = AclBinding(ResourceType.TOPIC, t, ResourcePatternType.LITERAL, "User:ada", "*", AclOperation.READ, AclPermissionType.ALLOW)
    done(admin.create_acls([acl]))
    ada = name("ada")
    done(admin.alter_user_scram_credentials([UserScramCredentialUpsertion(ada, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), b"pw")]))
    done(admin.create_acls([AclBinding(ResourceType.TOPIC, t, ResourcePatternType.LITERAL, f"User:{ada}", "*", AclOperation.READ, AclPermissionType.ALLOW)]))
    hers = AdminClient({**USERS, "sasl.username": ada, "sasl.password": "pw"})
    described = done(hers.describe_topics(TopicCollection([t]), include_authorized_operations=True))[t]
    assert set(described.authorized_operations) == {AclOperation.READ, AclOperation.DESCRIBE}
    c.close()


# --- consumers

def test_consume_error(topic, consumer):
    c = consumer(allow_auto_create_topics=False)
    c.subscribe([name("no-such")])
    deadline, seen = time.monotonic() + 10, None
    while time.monotonic() < deadline and seen is None:
        m = c.poll(0.5)
        seen = m and m.error() and m.error().code()
    assert seen == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_consume_error_commit(topic, consumer):
    t = topic()
    produce(t, "a")
    c = consumer()
    c.subscribe([t])
    assert code(c.commit, asynchronous=False) == KafkaError._NO_OFFSET # nothing was read yet
    (m,) = messages(c.poll, 1)
    (got,) = c.commit(m, asynchronous=False)
    assert got.error is None and got.offset == 1


def test_consumer_memberid(topic, consumer):
    t = topic()
    produce(t, "a")
    c = consumer()
    assert not c.memberid()
    c.subscribe([t])
    values(c.poll, 1)
    assert c.memberid()


def test_consumer_topicpartition_metadata(topic, consumer):
    t = topic()
    for metadata in ({"metadata": "some text"}, {"metadata": ""}, {}, {"metadata": "€uro"}):
        c = consumer()
        c.commit(offsets=[TopicPartition(t, 0, 1, **metadata)], asynchronous=False)
        (got,) = c.committed([TopicPartition(t, 0)], timeout=10)
        assert got.offset == 1 and (got.metadata or "") == metadata.get("metadata", "")


def test_incremental_assign(topic, consumer):
    a, b = topic(), topic()
    produce(a, "a")
    produce(b, "b")
    c = consumer()
    at = lambda t: [TopicPartition(t, 0, OFFSET_BEGINNING)]
    c.incremental_assign(at(a))
    (m,) = messages(c.poll, 1)
    assert (m.topic(), m.offset()) == (a, 0)
    c.commit(m, asynchronous=False)
    assert code(c.incremental_assign, at(a)) == KafkaError._CONFLICT
    c.incremental_assign(at(b))
    assert values(c.poll, 1) == [b"b"]
    c.incremental_unassign([TopicPartition(a, 0)])
    produce(a, "aa")
    assert c.poll(1) is None
    produce(b, "bb")
    assert values(c.poll, 1) == [b"bb"]
    c.incremental_assign([TopicPartition(a, 0)]) # from what was committed
    assert values(c.poll, 1) == [b"aa"]
    c.incremental_unassign([TopicPartition(a, 0)])
    assert code(c.incremental_unassign, [TopicPartition(a, 0)]) == KafkaError._INVALID_ARG


def settle(group, each):
    deadline = time.monotonic() + 40
    while any(len(c.assignment()) != each for c in group):
        for c in group:
            c.poll(0.1)
        assert time.monotonic() < deadline, [len(c.assignment()) for c in group]
    return {(p.topic, p.partition) for c in group for p in c.assignment()}


def test_cooperative_rebalance(topic, consumer):
    t, g = topic(2), name("co")
    lost, revoked = [], []
    conf = dict(group_id=g, partition_assignment_strategy="cooperative-sticky")
    a = consumer(**conf)
    a.subscribe([t], on_assign=lambda c, p: None, on_revoke=lambda c, p: revoked.extend(p), on_lost=lambda c, p: lost.extend(p))
    settle([a], 2)
    b = consumer(**conf)
    b.subscribe([t])
    assert len(settle([a, b], 1)) == 2
    assert len(revoked) == 1 and not lost # only what moved
    b.close()
    settle([a], 2)


@pytest.mark.parametrize("strategy", ["roundrobin", "range", "cooperative-sticky"])
def test_consumer_upgrade_downgrade(admin, topic, consumer, strategy):
    t, g, group = topic(10), name("up"), []
    for add, kind in (("classic", ConsumerGroupType.CLASSIC), ("consumer", ConsumerGroupType.CONSUMER), (None, ConsumerGroupType.CONSUMER),
                      ("classic", ConsumerGroupType.CONSUMER), (None, ConsumerGroupType.CLASSIC)):
        if add:
            conf = {"partition_assignment_strategy": strategy} if add == "classic" else {}
            group.append(consumer(group_id=g, group_protocol=add, enable_auto_commit=True, **conf))
            group[-1].subscribe([t])
        else:
            group.pop(0).close()
        assert len(settle(group, 10 // len(group))) == 10
        assert done(admin.describe_consumer_groups([g]))[g].type == kind
        for p in range(10):
            produce(t, *"abc", partition=p)
        got, deadline = 0, time.monotonic() + 20
        while got < 30 and time.monotonic() < deadline:
            got += sum(c.poll(0.05) is not None for c in group)
        assert got == 30


def test_seek_pause_and_watermarks(topic, consumer):
    t = topic()
    produce(t, *(str(i) for i in range(10)))
    c, tp = consumer(), TopicPartition(t, 0)
    c.assign([TopicPartition(t, 0, OFFSET_BEGINNING)])
    assert len(c.consume(10, 20)) == 10
    assert c.get_watermark_offsets(tp, 10) == (0, 10) and c.position([tp])[0].offset == 10
    c.seek(TopicPartition(t, 0, 7))
    assert values(c.poll, 3) == [b"7", b"8", b"9"]
    c.pause([tp])
    produce(t, "x")
    assert c.poll(0.5) is None
    c.resume([tp])
    assert values(c.poll, 1) == [b"x"]
    assert [p.offset for p in c.offsets_for_times([TopicPartition(t, 0, 0)], 10)] == [0]


def test_store_offsets(topic, consumer):
    t, g = topic(), name("store")
    produce(t, *"abc")
    c = consumer(group_id=g, enable_auto_commit=True, enable_auto_offset_store=False)
    c.subscribe([t])
    for m in messages(c.poll, 3)[:2]:
        c.store_offsets(m)
    c.close()
    assert consumer(group_id=g).committed([TopicPartition(t, 0)], 10)[0].offset == 2


# --- producers

@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_batches_with_headers(topic, consumer, codec):
    t = topic()
    headers = [("one", b"1"), ("one", b"2"), ("none", None), ("empty", b"")]
    produce(t, *(str(i) for i in range(1000)), conf={"compression.codec": codec, "linger.ms": 50}, headers=headers, key=b"k")
    c = consumer()
    c.subscribe([t])
    got = messages(c.poll, 1000)
    assert [m.value() for m in got] == [str(i).encode() for i in range(1000)]
    assert all(m.headers() == headers and m.key() == b"k" for m in got)


def committed(t, isolation="read_committed"):
    c = Consumer({**OPEN, "group.id": name("c"), "auto.offset.reset": "earliest", "isolation.level": isolation, "enable.partition.eof": True})
    c.subscribe([t])
    got = []
    while True:
        m = c.poll(20)
        assert m is not None
        if m.error():
            assert m.error().code() == KafkaError._PARTITION_EOF
            c.close()
            return got
        got.append(m.value())


@pytest.fixture
def transactional():
    def make():
        p = Producer({**OPEN, "transactional.id": name("txn")})
        p.init_transactions(20)
        return p

    return make


def test_commit_transaction(topic, transactional):
    t, p = topic(), transactional()
    p.begin_transaction()
    for v in "abc":
        p.produce(t, v)
    p.commit_transaction(20)
    assert committed(t) == [b"a", b"b", b"c"]


def test_abort_transaction(topic, transactional):
    t, p = topic(), transactional()
    p.begin_transaction()
    for v in "abc":
        p.produce(t, v)
    p.flush(20)
    p.abort_transaction(20)
    assert committed(t) == [] and committed(t, "read_uncommitted") == [b"a", b"b", b"c"]


def test_abort_retry_commit_transaction(topic, transactional):
    t, p = topic(), transactional()
    for v, end in (("a", p.abort_transaction), ("b", p.commit_transaction)):
        p.begin_transaction()
        p.produce(t, v)
        p.flush(20)
        end(20)
    assert committed(t) == [b"b"]


def test_send_offsets_committed_transaction(topic, consumer, transactional):
    source, sink, g, p = topic(), topic(), name("eos"), transactional()
    produce(source, *"abcd")
    c = consumer(group_id=g)
    c.subscribe([source])
    for v in values(c.poll, 4):
        p.begin_transaction()
        p.produce(sink, v.upper())
        p.send_offsets_to_transaction(c.position(c.assignment()), c.consumer_group_metadata(), 20)
        p.commit_transaction(20)
    c.close()
    assert committed(sink) == [b"A", b"B", b"C", b"D"]
    assert consumer(group_id=g).committed([TopicPartition(source, 0)], 10)[0].offset == 4


def test_a_fenced_producer_is_told(topic):
    t, conf = topic(), {**OPEN, "transactional.id": name("fence")}
    old, new = Producer(conf), Producer(conf)
    old.init_transactions(20)
    old.begin_transaction()
    old.produce(t, "a")
    old.flush(20)
    new.init_transactions(20)
    with pytest.raises(KafkaException) as e:
        old.commit_transaction(20)
    assert e.value.args[0].code() == KafkaError._FENCED and e.value.args[0].fatal()


@pytest.mark.parametrize("write, read, data", [(IntegerSerializer, IntegerDeserializer, [1, -1, 2**31 - 1]), (DoubleSerializer, DoubleDeserializer, [1.5, -0.25]),
                                               (StringSerializer, StringDeserializer, ["Jämtland", "", "härlig är"])])
def test_serialization(topic, consumer, write, read, data):
    t = topic()
    p = SerializingProducer({**OPEN, "value.serializer": write()})
    for v in [*data, None]:
        p.produce(t, value=v)
    p.flush(20)
    c = consumer(DeserializingConsumer, value_deserializer=read())
    c.subscribe([t])
    assert values(c.poll, len(data) + 1) == [*data, None]


# --- share consumers

def test_share_basic_consume_records(topic, share):
    t = topic(2)
    produce(t, *"abc")
    produce(t, *"de", partition=1)
    got = messages(share(t).poll, 5)
    assert sorted(m.value() for m in got) == [b"a", b"b", b"c", b"d", b"e"] and {m.delivery_count() for m in got} == {1}


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_share_fields_are_kept(topic, share, codec):
    t = topic()
    produce(t, b"v", b"", None, conf={"compression.codec": codec}, key=b"k", headers=[("h", b"1"), ("h", None)], timestamp=12345)
    got = messages(share(t).poll, 3)
    assert [m.value() for m in got] == [b"v", b"", None]
    assert all(m.headers() == [("h", b"1"), ("h", None)] and m.timestamp() == (1, 12345) and m.key() == b"k" for m in got)


def test_share_latest_skips_what_was_before(topic, share):
    t = topic()
    produce(t, "old")
    c = share(t, reset="latest")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline: # until it has joined, and one round more
        c.poll(0.5)
        produce(t, "new")
        if got := values(c.poll, 1, 1):
            break
    assert got[0] == b"new"


def test_share_consumers_do_not_overlap(topic, share):
    t, g = topic(3), name("s")
    for p in range(3):
        produce(t, *(f"{p}-{i}" for i in range(100)), partition=p)
    got, lock, stop = [], threading.Lock(), threading.Event()

    def work():
        c = share(t, group=g)
        while not stop.is_set():
            for m in c.poll(0.3):
                assert m.error() is None
                with lock:
                    got.append(m.value())
        c.commit_sync(10)
        c.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for x in threads:
        x.start()
    deadline = time.monotonic() + 20
    while len(got) < 300 and time.monotonic() < deadline:
        time.sleep(0.1)
    stop.set()
    for x in threads:
        x.join(20)
    assert len(got) == len(set(got)) == 300


def test_share_groups_are_independent(topic, share):
    t = topic()
    produce(t, *"ab")
    assert values(share(t).poll, 2) == values(share(t).poll, 2) == [b"a", b"b"]


@pytest.mark.parametrize("kind, again", [(AcknowledgeType.ACCEPT, []), (AcknowledgeType.REJECT, []), (AcknowledgeType.RELEASE, [(b"a", 2)])])
def test_share_explicit_acknowledgement(topic, share, kind, again):
    t = topic()
    produce(t, "a")
    c = share(t, share_acknowledgement_mode="explicit")
    (m,) = messages(c.poll, 1)
    c.acknowledge(m, kind)
    results = c.commit_sync(10)
    assert [e for e in results.values() if e] == []
    got = messages(c.poll, 1, 3)
    assert [(m.value(), m.delivery_count()) for m in got] == again
    for m in got:
        c.acknowledge(m)


def test_share_unacknowledged_records_block_the_next_poll(topic, share):
    t = topic()
    produce(t, *"ab")
    c = share(t, share_acknowledgement_mode="explicit")
    got = messages(c.poll, 2)
    with pytest.raises(IllegalStateException):
        c.poll(1)
    for m in got:
        c.acknowledge_offset(m.topic(), m.partition(), m.offset())
    assert len(c.poll(0.5)) == 0


def test_share_delivery_attempts_are_limited(topic, share):
    t = topic()
    produce(t, "poison")
    c, counts = share(t, share_acknowledgement_mode="explicit"), []
    while got := messages(c.poll, 1, 3):
        counts.append(got[0].delivery_count())
        c.acknowledge(got[0], AcknowledgeType.RELEASE)
        c.commit_sync(10)
    assert counts == [1, 2, 3, 4, 5]


def test_share_close_releases_what_was_held(topic, share):
    t, g = topic(), name("s")
    produce(t, *"abcd")
    first = share(t, group=g, share_acknowledgement_mode="explicit")
    got = messages(first.poll, 4)
    for m in got[:2]:
        first.acknowledge(m)
    first.close()
    second = share(t, group=g)
    assert values(second.poll, 2) == [b"c", b"d"]


def test_share_read_committed_skips_aborted_transactions(topic, share, admin, transactional):
    t, g, p = topic(), name("s"), transactional()
    for v, end in (("lost", p.abort_transaction), ("kept", p.commit_transaction)):
        p.begin_transaction()
        p.produce(t, v)
        p.flush(20)
        end(20)
    entry = ConfigEntry("share.isolation.level", "read_committed", incremental_operation=AlterConfigOpType.SET)
    done(admin.incremental_alter_configs([ConfigResource(ResourceType.GROUP, g, incremental_configs=[entry])]))
    assert values(share(t, group=g).poll, 1) == [b"kept"]
    assert values(share(t).poll, 2) == [b"lost", b"kept"]


def test_share_follows_a_changed_subscription(topic, share):
    a, b = topic(), topic()
    produce(a, "a")
    produce(b, "b")
    c = share(a)
    assert values(c.poll, 1) == [b"a"]
    c.subscribe([b])
    assert values(c.poll, 1) == [b"b"]
    produce(a, "aa")
    assert values(c.poll, 1, 2) == []
    c.unsubscribe()


def test_share_sees_new_partitions(topic, share, admin):
    t = topic()
    produce(t, "a")
    c = share(t, topic_metadata_refresh_interval_ms=500)
    assert values(c.poll, 1) == [b"a"]
    done(admin.create_partitions([NewPartitions(t, 2)]))
    produce(t, "b", partition=1)
    assert values(c.poll, 1) == [b"b"]


def test_share_commit_callback(topic, share):
    t, calls = topic(), []
    produce(t, *"abc")
    c = share(t, share_acknowledgement_mode="explicit")
    c.set_acknowledgement_commit_callback(lambda *args: calls.append(args))
    for m in messages(c.poll, 3):
        c.acknowledge(m)
    c.commit_async()
    deadline = time.monotonic() + 10
    while not calls and time.monotonic() < deadline:
        c.poll(0.2)
    assert calls
    assert c.commit_sync(10) == {}


def test_share_sasl_credentials():
    admin, t, g = AdminClient(USERS), name("d"), name("g")
    done(admin.create_topics([NewTopic(t, 1, 1)]))
    entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    done(admin.incremental_alter_configs([ConfigResource(ResourceType.GROUP, g, incremental_configs=[entry])]))
    c = ShareConsumer({**USERS, "group.id": g, "sasl.password": "wrong"})
    c.set_sasl_credentials("confluent", "confluent-secret")
    c.subscribe([t])
    produce(t, "a", conf=USERS)
    assert values(c.poll, 1) == [b"a"]
    c.close()
