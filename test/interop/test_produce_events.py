"""A producer's first hour, step by step: keys, pinned partitions, headers, acks,
codecs, and the errors for the common mistakes; every step checked from SQL."""
import json
import time

import pymysql
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

EVENTS, SMALL = "docs-producing-events", "docs-producing-small"
CAUTIOUS = {"acks": "all", "enable.idempotence": False, "compression.type": "none"}


def send(producer, topic, messages, timeout=30):
    results = []

    def report(err, msg):
        results.append(err.name() if err else (msg.key() and msg.key().decode(), msg.partition()))

    for key, value, headers in messages:
        producer.produce(topic, key=key, value=value, headers=headers, on_delivery=report)
    left = producer.flush(timeout)
    return results + ([f"{left} still queued"] if left else [])


@pytest.mark.parametrize("settings", [CAUTIOUS, {}], ids=["cautious", "defaults"])
def test_produce_events(strict, settings):
    server = strict
    conf = lambda extra=(): {"bootstrap.servers": server.bootstrap, **dict(extra)}
    producer_conf = lambda **kw: conf({**settings, **{k.replace("_", "."): v for k, v in kw.items()}})
    admin = AdminClient(conf())
    for f in admin.create_topics([NewTopic(EVENTS, 3, 1), NewTopic(SMALL, 1, 1, config={"max.message.bytes": "4096"})], operation_timeout=30).values():
        f.result()
    events = f"`{EVENTS}`"
    assert {(EVENTS,), (SMALL,)} <= set(server.sql("SHOW TABLES"))

    # Keys: librdkafka's own hash, then the Java client's.
    orders = [(f"customer-{n % 4}", json.dumps({"order": n, "amount": 10 * n}), None) for n in range(12)]
    by_key = {}
    results = send(Producer(producer_conf()), EVENTS, orders)
    assert len(results) == 12
    for key, partition in results:
        by_key.setdefault(key, set()).add(partition)
    assert by_key == {"customer-0": {1}, "customer-1": {0}, "customer-2": {0}, "customer-3": {2}}
    assert server.sql(f"SELECT _key, MIN(_partition), MAX(_partition), COUNT(*), SUM(amount) FROM {events} GROUP BY _key ORDER BY _key") == [
        ("customer-0", 1, 1, 3, 120), ("customer-1", 0, 0, 3, 150), ("customer-2", 0, 0, 3, 180), ("customer-3", 2, 2, 3, 210)]
    murmur = send(Producer(producer_conf(partitioner="murmur2_random")), EVENTS, orders[:4])
    assert sorted(murmur) == [("customer-0", 1), ("customer-1", 0), ("customer-2", 2), ("customer-3", 1)]

    # Pinned to a partition.
    producer, pinned = Producer(producer_conf()), []
    producer.produce(EVENTS, key="audit", value=json.dumps({"note": "pinned"}), partition=2,
                     on_delivery=lambda e, m: pinned.append(e.name() if e else m.partition()))
    producer.flush(30)
    assert pinned == [2]
    assert server.one(f"SELECT note FROM {events} WHERE _partition = 2 AND _key = 'audit'") == "pinned"
    plan = "\n".join(str(r) for r in server.sql(f"EXPLAIN SELECT note FROM {events} WHERE _partition = 2 AND _key = 'audit'"))
    assert "partitions: 2" in plan or "partitions=2" in plan or "partitions: [2]" in plan, plan

    # Headers, read back by a consumer that leaves no group behind.
    [(_, partition)] = send(producer, EVENTS, [("customer-9", json.dumps({"order": 99}), [("source", b"web"), ("schema", b"order-v1")])])
    reader = Consumer(conf({"group.id": "docs-producing-reader", "enable.auto.commit": False}))
    low, high = reader.get_watermark_offsets(TopicPartition(EVENTS, partition), timeout=10)
    reader.assign([TopicPartition(EVENTS, partition, low)])
    found = None
    for _ in range(30):
        msg = reader.poll(1.0)
        if msg is not None and not msg.error() and msg.headers():
            found = json.loads(msg.value()), msg.headers()
            break
    reader.close()
    assert found == ({"order": 99}, [("source", b"web"), ("schema", b"order-v1")])
    assert "docs-producing-reader" not in {g.group_id for g in admin.list_consumer_groups().result(10).valid}
    headers = server.one(f"SELECT _headers FROM {events} WHERE `order` = 99")
    assert json.loads(headers) == {"source": "web", "schema": "order-v1"}

    # acks=2 is refused at once.
    began = time.monotonic()
    refused = Producer(conf({"acks": "2", "enable.idempotence": False, "message.timeout.ms": 10000}))
    assert send(refused, EVENTS, [("k", "v", None)], 15) == ["INVALID_REQUIRED_ACKS"]
    assert time.monotonic() - began < 2

    # What the model product refuses, and we take: every codec, idempotence.
    before = server.one(f"SELECT COUNT(*) FROM {events}")
    repetitive = json.dumps({"padding": "x" * 2000})
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        assert send(Producer(producer_conf(compression_type=codec)), EVENTS, [(codec, repetitive, None)])[0][0] == codec
    assert send(Producer(producer_conf(enable_idempotence=True)), EVENTS, [("idem", "v", None)])[0][0] == "idem"
    assert server.one(f"SELECT COUNT(*) FROM {events}") == before + 5
    assert server.one(f"SELECT COUNT(*) FROM {events} WHERE LENGTH(padding) = 2000") == 4

    # Too large for the small topic; a topic that does not exist.
    assert send(Producer(producer_conf(compression_type="none")), SMALL, [("k", "y" * 8192, None)]) == ["MSG_SIZE_TOO_LARGE"]
    assert server.one(f"SELECT COUNT(*) FROM `{SMALL}`") == 0
    missing = Producer(producer_conf(message_timeout_ms=10000))
    assert send(missing, "docs-producing-no-such-topic", [("k", "v", None)], 15) == ["_MSG_TIMED_OUT"]
    assert "docs-producing-no-such-topic" in server.tail()

    for f in admin.delete_topics([EVENTS, SMALL], operation_timeout=30).values():
        f.result()
    assert server.sql("SHOW TABLES LIKE 'docs-producing%'") == []
    with pytest.raises(pymysql.err.ProgrammingError) as gone:
        server.sql(f"SELECT 1 FROM {events}")
    assert gone.value.args[0] == 1146
