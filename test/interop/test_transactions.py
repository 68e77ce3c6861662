"""Transactions by real clients: what is committed is seen by both wires, what is not by neither."""
import json
import subprocess

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from millrace import CACHE

JAVA = ["java", "-Xmx256m", "-cp", f"{CACHE}/classes:{CACHE}/jars/*", "TransactionProgram"]


def create(server, *topics, partitions=3):
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    for f in admin.create_topics([NewTopic(t, partitions) for t in topics]).values():
        f.result(10)


def consume(server, topic, isolation):
    c = Consumer({"bootstrap.servers": server.bootstrap, "group.id": f"{topic}-{isolation}", "auto.offset.reset": "earliest",
                  "isolation.level": isolation, "enable.partition.eof": True, "enable.auto.commit": False})
    n = len(c.list_topics(topic, 10).topics[topic].partitions)
    c.assign([TopicPartition(topic, p, 0) for p in range(n)])
    values, ended = [], set()
    while len(ended) < n:
        m = c.poll(10)
        assert m is not None
        if m.error():
            assert m.error().name() == "_PARTITION_EOF", m.error()
            ended.add(m.partition())
        else:
            values.append(m.value().decode())
    c.close()
    return values


def java(*args):
    return subprocess.run([*JAVA, *map(str, args)], check=True, capture_output=True, text=True, timeout=120).stdout.split("\n")[:-1]


def test_confluent_commits_and_aborts(server):
    create(server, "a", "b")
    p = Producer({"bootstrap.servers": server.bootstrap, "transactional.id": "py"})
    p.init_transactions(10)
    for i in range(30):
        p.begin_transaction()
        for topic in ("a", "b"):
            p.produce(topic, json.dumps({"tx": i}), str(i))
        if i % 3 == 2:
            p.flush(10)
            p.abort_transaction(10)
        else:
            p.commit_transaction(10)
    for topic in ("a", "b"):
        assert len(consume(server, topic, "read_committed")) == 20
        assert len(consume(server, topic, "read_uncommitted")) == 30
    for pushdown in (0, 1):
        assert server.one(f"SET millrace_pushdown={pushdown}", "SELECT COUNT(*), COUNT(DISTINCT tx) FROM a WHERE tx % 3 <> 2") == (20, 20)
    assert server.one("SELECT COUNT(*) FROM a JOIN b ON a.tx = b.tx") == 20
    server.restart()
    assert len(consume(server, "a", "read_committed")) == 20
    assert server.one("SELECT COUNT(*) FROM b") == 20


def test_a_marker_is_no_record_and_no_lag(server):  # cases.md C44
    create(server, "c44", partitions=1)
    p = Producer({"bootstrap.servers": server.bootstrap, "transactional.id": "c44"})
    p.init_transactions(10)
    p.begin_transaction()
    for i in range(3):
        p.produce("c44", json.dumps({"v": i}))
    p.commit_transaction(10)
    assert server.one("SELECT COUNT(*), MAX(_offset) FROM c44") == (3, 2)
    c = Consumer({"bootstrap.servers": server.bootstrap, "group.id": "g", "auto.offset.reset": "earliest",
                  "isolation.level": "read_committed", "enable.partition.eof": True, "enable.auto.commit": False})
    c.assign([TopicPartition("c44", 0, 0)])
    for _ in range(3):
        assert c.poll(10).error() is None
    eof = c.poll(10)
    assert eof.error().name() == "_PARTITION_EOF" and eof.offset() == 4
    assert c.get_watermark_offsets(TopicPartition("c44", 0), 10) == (0, 4)
    c.commit(offsets=[TopicPartition("c44", 0, eof.offset())], asynchronous=False)
    assert [o.offset for o in c.committed([TopicPartition("c44", 0)], 10)] == [4]  # no lag
    c.close()


def test_confluent_sends_offsets_with_its_records(server):
    create(server, "in", "out")
    plain = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(200):
        plain.produce("in", str(i), str(i))
    plain.flush(10)
    copied = 0
    for round in range(100):
        c = Consumer({"bootstrap.servers": server.bootstrap, "group.id": "copy", "auto.offset.reset": "earliest",
                      "enable.auto.commit": False, "isolation.level": "read_committed"})
        c.subscribe(["in"])
        p = Producer({"bootstrap.servers": server.bootstrap, "transactional.id": "copy"})
        p.init_transactions(10)
        batch = c.consume(70, 5)
        p.begin_transaction()
        for m in batch:
            p.produce("out", m.value(), m.key())
        p.send_offsets_to_transaction(c.position(c.assignment()), c.consumer_group_metadata(), 10)
        if round % 3 == 1:
            p.abort_transaction(10)
        else:
            p.commit_transaction(10)
            copied += len(batch)
        c.close()
        if copied >= 200:
            break
    assert sorted(map(int, consume(server, "out", "read_committed"))) == list(range(200))
    assert server.one("SELECT COUNT(*), COUNT(DISTINCT _value) FROM `out`") == (200, 200)


def test_a_second_producer_fences_the_first(server):
    create(server, "a")
    conf = {"bootstrap.servers": server.bootstrap, "transactional.id": "same"}
    first = Producer(conf)
    first.init_transactions(10)
    first.begin_transaction()
    first.produce("a", "lost")
    first.flush(10)
    second = Producer(conf)
    second.init_transactions(10)
    with pytest.raises(KafkaException) as e:
        first.commit_transaction(10)
    assert e.value.args[0].fatal()
    second.begin_transaction()
    second.produce("a", "kept")
    second.commit_transaction(10)
    assert consume(server, "a", "read_committed") == ["kept"]
    assert server.sql("SELECT _value FROM a") == [("kept",)]


def test_java_commits_and_aborts(server):
    create(server, "a", "b")
    assert java("pairs", server.bootstrap, "a", "b", 60) == ["40"]
    for topic in ("a", "b"):
        assert len(consume(server, topic, "read_committed")) == 40
        assert server.one(f"SELECT COUNT(*), SUM(abort) FROM {topic}") == (40, 0)
    assert server.one("SELECT COUNT(*) FROM a JOIN b ON a.tx = b.tx") == 40


def test_java_copies_exactly_once(server):
    create(server, "in", "out")
    plain = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(500):
        plain.produce("in", str(i), str(i))
    plain.flush(10)
    assert java("copy", server.bootstrap, "in", "out", 500) == ["500"]
    assert sorted(map(int, consume(server, "out", "read_committed"))) == list(range(500))
    assert server.one("SELECT COUNT(*), COUNT(DISTINCT _value) FROM `out`") == (500, 500)


def test_java_admin_describes_and_aborts_transactions(server):
    create(server, "a", partitions=1)
    assert java("describe", server.bootstrap, "a", "open-tx") == ["Ongoing [a-0]", "same producer", "[open-tx]", "CompleteAbort", "fenced"]
    assert consume(server, "a", "read_committed") == []
    assert server.one("SELECT COUNT(*) FROM a") == 0
