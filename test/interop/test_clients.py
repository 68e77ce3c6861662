"""Each Kafka client on its defaults: create, produce 1,000, consume in a group of
two with a rebalance, commit, resume after our restart, lag 0."""
import signal
import subprocess
import sys
import threading
import time

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from millrace import CACHE, ROOT

HERE = ROOT / "test" / "interop" / "clients"
JAVA = ["java", "-cp", f"{CACHE}/classes:{CACHE}/jars/*"]
CLIENTS = {
    "confluent-kafka": [f"{CACHE}/py/bin/python", f"{HERE}/confluent.py"],
    "kafka-python": [f"{CACHE}/py/bin/python", f"{HERE}/kafkapython.py"],
    "kafka-python-2.0.2": [f"{CACHE}/py-old/bin/python", f"{HERE}/kafkapython.py"],
    "aiokafka": [f"{CACHE}/py/bin/python", f"{HERE}/aiokafka_client.py"],
    "kafkajs": ["node", f"{CACHE}/node/kafkajs.mjs"],
    "franz-go": [f"{CACHE}/go/franz"],
    "sarama": [f"{CACHE}/go/sarama"],
    "java": [*JAVA, "KafkaProgram"],
    "kcat": [f"{HERE}/kcat.sh"],
}
PARTITIONS, RECORDS, MORE = 4, 1000, 100


class Member:
    """A consumer program; collects what it prints."""

    def __init__(self, argv):
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.records = []
        self.assigned = None
        self.threads = [threading.Thread(target=self._read, args=(s,), daemon=True)
                        for s in (self.process.stdout, self.process.stderr)]
        for t in self.threads:
            t.start()

    def _read(self, stream):
        for line in stream:
            word, _, rest = line.strip().partition(" ")
            if word == "RECORD":
                p, o, v = rest.split(" ", 2)
                self.records.append((int(p), int(o), v))
            elif word == "ASSIGNED":
                self.assigned = {int(p) for p in rest.split(",") if p}
            else:
                sys.stderr.write(line)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        for t in self.threads:
            t.join(10)


def wait(what, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"timed out waiting until {what}"
        time.sleep(0.05)


def lag(bootstrap, topic, group):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    tps = [TopicPartition(topic, p) for p in range(PARTITIONS)]
    ends = {tp.partition: f.result(10).offset for tp, f in
            admin.list_offsets({tp: OffsetSpec.latest() for tp in tps}).items()}
    (f,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    committed = {tp.partition: tp.offset for tp in f.result(10).topic_partitions if tp.topic == topic}
    return {p: end - max(committed.get(p, 0), 0) for p, end in ends.items()}


@pytest.fixture
def server(tmp_path):
    from millrace import Millrace
    m = Millrace(tmp_path / "data", "--default-partitions", str(PARTITIONS)).start()
    yield m
    m.stop()


@pytest.mark.parametrize("name", CLIENTS)
def test_client_lives_on_its_defaults(server, name):
    argv, topic, group = CLIENTS[name], f"t-{name}", f"g-{name}"
    if name == "kafkajs":  # node resolves imports beside the program
        (CACHE / "node" / "kafkajs.mjs").write_text((HERE / "kafkajs.mjs").read_text())
    run = lambda *words: subprocess.run([*argv, *map(str, words)], check=True, timeout=90)
    member = lambda: Member([*argv, "consume", server.bootstrap, topic, group])

    run("create", server.bootstrap, topic, PARTITIONS)
    assert server.one(f"SELECT COUNT(*) FROM `{topic}`") == 0

    first = member()
    try:
        wait("one member has all partitions", lambda: first.assigned == set(range(PARTITIONS)))
        second = member()
        try:
            wait("the second member has a share", lambda: second.assigned)
            run("produce", server.bootstrap, topic, 0, RECORDS)
            wait("all records are consumed", lambda: len({r[:2] for m in (first, second) for r in m.records}) >= RECORDS)
        finally:
            second.stop()
    finally:
        first.stop()
    seen = first.records + second.records
    assert sorted(v for _, _, v in seen) == sorted(f'{{"n":{i}}}' for i in range(RECORDS))
    assert server.one(f"SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM `{topic}`") == (RECORDS, RECORDS, RECORDS * (RECORDS - 1) // 2)
    assert set(lag(server.bootstrap, topic, group).values()) == {0}

    server.restart()
    run("produce", server.bootstrap, topic, RECORDS, MORE)
    again = member()
    try:
        wait("the group resumes", lambda: len(again.records) >= MORE)
    finally:
        again.stop()
    assert sorted(v for _, _, v in again.records) == sorted(f'{{"n":{i}}}' for i in range(RECORDS, RECORDS + MORE))
    assert set(lag(server.bootstrap, topic, group).values()) == {0}
    assert server.one(f"SELECT COUNT(*) FROM `{topic}`") == RECORDS + MORE


def tool(main, *args, **kw):
    return subprocess.run([*JAVA, main, *map(str, args)], check=True, timeout=120, text=True,
                          stdout=subprocess.PIPE, **kw).stdout


def test_kafkas_own_command_line_tools(server):
    b, topic = ["--bootstrap-server", server.bootstrap], "tools"
    tool("org.apache.kafka.tools.TopicCommand", *b, "--create", "--topic", topic, "--partitions", 3)
    assert "PartitionCount: 3" in tool("org.apache.kafka.tools.TopicCommand", *b, "--describe", "--topic", topic)
    lines = "".join(f'{{"n":{i}}}\n' for i in range(1000))
    tool("org.apache.kafka.tools.ConsoleProducer", *b, "--topic", topic, input=lines)
    out = tool("org.apache.kafka.tools.consumer.ConsoleConsumer", *b, "--topic", topic, "--group", "console",
               "--from-beginning", "--max-messages", 1000, "--timeout-ms", 20000)
    assert sorted(out.split()) == sorted(lines.split())
    out = tool("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *b, "--describe", "--group", "console")
    rows = [l.split() for l in out.splitlines() if l.startswith("console ")]
    assert len(rows) == 3 and all(r[5] == "0" for r in rows), out
    assert server.one("SELECT COUNT(*), SUM(n) FROM tools") == (1000, 499500)
    tool("org.apache.kafka.tools.TopicCommand", *b, "--delete", "--topic", topic)
    assert server.sql("SHOW TABLES LIKE 'tools'") == []
