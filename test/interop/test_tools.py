"""Apache Kafka's own command line tools, unchanged."""
import json
import re
import signal
import subprocess

import pytest
from confluent_kafka import Producer

from millrace import CACHE
from test_streams import check, until
from test_transactions import consume, create

TOOLS = "org.apache.kafka.tools."
SHARE = "consumer.group.ShareGroupCommand"
JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{CACHE}/jars/*"]


def tool(name, *args, ok=True, input=None):
    name = name if name.startswith("kafka.") else TOOLS + name
    r = subprocess.run([*JAVA, name, *map(str, args)], capture_output=True, text=True, timeout=120, input=input)
    assert not ok or r.returncode == 0, f"{name} {args}: {r.stdout}{r.stderr}"
    return r.stdout + r.stderr


def at(server, flag="--bootstrap-server"):
    return flag, server.bootstrap


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def produce(server, topic, values):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for v in values:
        p.produce(topic, v, v)
    assert p.flush(10) == 0


@pytest.mark.full
def test_the_verifiable_pair_agrees(server):
    create(server, "verified")
    said = lines(tool("VerifiableProducer", *at(server), "--topic", "verified", "--max-messages", 2000, "--repeating-keys", 50))
    sent = [m for m in said if m["name"] == "producer_send_success"]
    assert len(sent) == 2000
    assert [m for m in said if m["name"] == "tool_data"][-1]["acked"] == 2000
    assert server.one("SELECT COUNT(*), COUNT(DISTINCT _value), COUNT(DISTINCT _key) FROM verified") == (2000, 2000, 50)
    # What the producer was told is where the records are.
    want = sorted((m["partition"], m["offset"], m["key"], m["value"]) for m in sent)
    assert sorted(server.sql("SELECT _partition, _offset, _key, _value FROM verified")) == want

    said = lines(tool("VerifiableConsumer", *at(server), "--topic", "verified", "--group-id", "verify", "--max-messages", 2000,
                      "--reset-policy", "earliest", "--verbose"))
    got = [(m["partition"], m["offset"], m["key"], m["value"]) for m in said if m["name"] == "record_data"]
    assert sorted(got) == want
    commits = [m for m in said if m["name"] == "offsets_committed"]
    assert commits and all(m["success"] for m in commits)


@pytest.mark.full
def test_the_performance_tools_count_every_record(server):
    create(server, "perf")
    said = tool("ProducerPerformance", "--topic", "perf", "--num-records", 20000, "--record-size", 200, "--throughput", -1,
                "--producer-props", f"bootstrap.servers={server.bootstrap}")
    assert "20000 records sent" in said
    assert server.one("SELECT COUNT(*), MIN(LENGTH(_value)), MAX(LENGTH(_value)) FROM perf") == (20000, 200, 200)
    said = tool("ConsumerPerformance", *at(server), "--topic", "perf", "--messages", 20000, "--hide-header", "--timeout", 20000)
    (row,) = [r for r in said.splitlines() if r.count(",") == 9]
    assert int(row.split(",")[4]) == 20000
    # In transactions, too.
    said = tool("ProducerPerformance", "--topic", "perf", "--num-records", 2000, "--record-size", 200, "--throughput", 2000,
                "--transaction-duration-ms", 100, "--producer-props", f"bootstrap.servers={server.bootstrap}")
    assert "2000 records sent" in said
    assert len(consume(server, "perf", "read_committed")) == 22000
    assert server.one("SELECT COUNT(*) FROM perf") == 22000


@pytest.mark.full
def test_kafka_topics_configs_and_offsets(server):
    tool("TopicCommand", *at(server), "--create", "--topic", "t", "--partitions", 2, "--replication-factor", 3, "--config", "retention.ms=86400000")
    assert "PartitionCount: 2" in tool("TopicCommand", *at(server), "--describe", "--topic", "t")
    configs = "kafka.admin.ConfigCommand"
    tool(configs, *at(server), "--alter", "--entity-type", "topics", "--entity-name", "t", "--add-config", "cleanup.policy=compact,retention.ms=3600000")
    said = tool(configs, *at(server), "--describe", "--entity-type", "topics", "--entity-name", "t")
    assert "cleanup.policy=compact" in said and "retention.ms=3600000" in said and "DYNAMIC_TOPIC_CONFIG" in said
    tool(configs, *at(server), "--alter", "--entity-type", "topics", "--entity-name", "t", "--delete-config", "cleanup.policy")
    said = tool(configs, *at(server), "--describe", "--entity-type", "topics", "--entity-name", "t")
    assert "cleanup.policy" not in said and "retention.ms=3600000" in said
    assert "auto.create.topics.enable" in tool(configs, *at(server), "--describe", "--entity-type", "brokers", "--entity-name", 1, "--all")
    tool("TopicCommand", *at(server), "--alter", "--topic", "t", "--partitions", 4)
    produce(server, "t", [str(i) for i in range(100)])
    said = tool("GetOffsetShell", *at(server), "--topic", "t")
    assert sum(int(n) for n in re.findall(r"^t:\d+:(\d+)$", said, re.M)) == 100
    tool("TopicCommand", *at(server), "--delete", "--topic", "t")
    assert tool("TopicCommand", *at(server), "--list").split() == []


@pytest.mark.full
def test_kafka_acls_adds_lists_and_removes(server):
    acls = lambda *args: tool("AclCommand", *at(server), *args)
    rule = ("--allow-principal", "User:ann", "--operation", "Read", "--topic", "orders", "--resource-pattern-type", "prefixed")
    acls("--add", *rule)
    acls("--add", "--deny-principal", "User:bob", "--operation", "All", "--group", "*")
    said = acls("--list")
    assert "principal=User:ann, host=*, operation=READ, permissionType=ALLOW" in said and "patternType=PREFIXED" in said
    assert "principal=User:bob, host=*, operation=ALL, permissionType=DENY" in said
    server.kill()
    server.start()
    assert acls("--list", "--principal", "User:ann").count("operation=") == 1
    acls("--remove", "--force", *rule)
    said = acls("--list")
    assert "User:ann" not in said and "User:bob" in said


@pytest.mark.full
def test_kafka_groups_lists_describes_resets_and_deletes(server):
    create(server, "t", partitions=1)
    produce(server, "t", [str(i) for i in range(100)])
    said = tool("consumer.ConsoleConsumer", *at(server), "--topic", "t", "--group", "g", "--from-beginning", "--max-messages", 40)
    assert sum(line.isdigit() for line in said.splitlines()) == 40
    assert re.search(r"^g\s+Classic\s+consumer", tool("GroupsCommand", *at(server), "--list"), re.M)
    groups = lambda *args: tool("consumer.group.ConsumerGroupCommand", *at(server), *args)

    def offsets():
        row = re.search(r"^g\s+t\s+0\s+(\d+)\s+(\d+)\s+(\d+)", groups("--describe", "--group", "g"), re.M)
        return tuple(map(int, row.groups()))

    assert offsets() == (40, 100, 60)
    groups("--reset-offsets", "--group", "g", "--topic", "t", "--shift-by", "-15", "--execute")
    assert offsets() == (25, 100, 75)
    groups("--delete-offsets", "--group", "g", "--topic", "t")
    groups("--delete", "--group", "g")
    assert "g" not in groups("--list").split()


@pytest.mark.full
def test_the_new_consumer_protocol_by_the_console_consumer(server):
    create(server, "t")
    produce(server, "t", [str(i) for i in range(300)])
    said = tool("consumer.ConsoleConsumer", *at(server), "--topic", "t", "--group", "new", "--from-beginning", "--max-messages", 300,
                "--consumer-property", "group.protocol=consumer", "--timeout-ms", 20000)
    assert sorted(int(v) for v in said.splitlines() if v.isdigit()) == list(range(300))
    assert re.search(r"^new\s+Consumer\s+consumer", tool("GroupsCommand", *at(server), "--list", "--consumer"), re.M)


@pytest.mark.full
def test_kafka_transactions_finds_and_aborts_a_hanging_one(server):
    create(server, "t", partitions=1)
    p = Producer({"bootstrap.servers": server.bootstrap, "transactional.id": "hanging", "transaction.timeout.ms": 600000})
    p.init_transactions(10)
    p.begin_transaction()
    p.produce("t", "lost")
    assert p.flush(10) == 0
    tx = lambda *args: tool("TransactionsCommand", *at(server), *args)
    assert re.search(r"^hanging\s+\d+\s+\d+\s+Ongoing", tx("list"), re.M)
    assert re.search(r"^\d+\s+hanging\s+\d+\s+\d+\s+Ongoing.*t-0", tx("describe", "--transactional-id", "hanging"), re.M)
    said = tx("describe-producers", "--topic", "t", "--partition", 0)
    (start,) = re.findall(r"^\d+\s+\d+\s+-?\d+\s+\d+\s+\d+\s+(\d+)\s*$", said, re.M)
    assert consume(server, "t", "read_committed") == [] and server.one("SELECT COUNT(*) FROM t") == 0
    tx("abort", "--topic", "t", "--partition", 0, "--start-offset", start)
    produce(server, "t", ["kept"])
    assert consume(server, "t", "read_committed") == ["kept"]
    assert server.sql("SELECT _value FROM t") == [("kept",)]


@pytest.mark.full
def test_a_share_group_shares_every_record_once(server):
    create(server, "t")
    groups = lambda *args: tool(SHARE, *at(server), *args)
    command = [*JAVA, TOOLS + "consumer.ConsoleShareConsumer", *at(server), "--topic", "t", "--group", "sharing", "--timeout-ms", "15000"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    try:
        # Groups begin at the end unless told otherwise: wait until this one has a beginning in every partition.
        until(lambda: check(len(re.findall(r"^sharing\s+t\s+\d+\s+0", tool(SHARE, *at(server), "--describe", "--group", "sharing"), re.M)) == 3))
        assert re.search(r"^sharing\s+Share\s+share", tool("GroupsCommand", *at(server), "--list", "--share"), re.M)
        produce(server, "t", [str(i) for i in range(400)])
        said = [p.communicate(timeout=90)[0] for p in both]
    finally:
        for p in both:
            if p.poll() is None:
                p.send_signal(signal.SIGKILL)
                p.wait(10)
    assert sorted(int(v) for s in said for v in s.splitlines() if v.isdigit()) == list(range(400))
    assert "sharing" in groups("--list")
    rows = re.findall(r"^sharing\s+t\s+\d+\s+(\d+)", groups("--describe", "--group", "sharing"), re.M)
    assert sum(map(int, rows)) == 400
    groups("--delete", "--group", "sharing")


@pytest.mark.full
def test_cluster_tools_tell_the_truth(server):
    create(server, "t", partitions=1)
    produce(server, "t", [str(i) for i in range(10)])
    assert re.search(r"LeaderId:\s+1", tool("MetadataQuorumCommand", *at(server), "describe", "--status"))
    assert "(id: 1" in tool("BrokerApiVersionsCommand", *at(server))
    assert '"partition":"t-0"' in tool("LogDirsCommand", *at(server), "--describe", "--topic-list", "t")
    assert "transaction.version" in tool("FeatureCommand", *at(server), "describe")
