"""Apache Kafka's own tools against us."""
import json
import subprocess

import pytest
from confluent_kafka import Producer

from millrace import CACHE

JAVA = ["java", "-Xmx256m", "-cp", f"{CACHE}/classes:{CACHE}/jars/*"]


def tool(main, *args, ok=True, **kw):
    r = subprocess.run([*JAVA, main, *map(str, args)], capture_output=True, text=True, timeout=120, **kw)
    assert not ok or r.returncode == 0, r.stdout + r.stderr
    return r.stdout


@pytest.mark.full
def test_verifiable_producer_and_consumer_agree(server):
    tool("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", server.bootstrap, "--create", "--topic", "v", "--partitions", 3)
    out = tool("org.apache.kafka.tools.VerifiableProducer", "--bootstrap-server", server.bootstrap, "--topic", "v", "--max-messages", 2000, "--throughput", 5000)
    events = [json.loads(line) for line in out.splitlines()]
    assert sum(e["name"] == "producer_send_success" for e in events) == 2000
    out = tool("org.apache.kafka.tools.VerifiableConsumer", "--bootstrap-server", server.bootstrap, "--topic", "v", "--group-id", "g", "--max-messages", 2000,
               "--reset-policy", "earliest")
    assert sum(json.loads(line).get("count", 0) for line in out.splitlines() if '"records_consumed"' in line) == 2000
    assert server.one("SELECT COUNT(*), COUNT(DISTINCT _value) FROM v") == (2000, 2000)


@pytest.mark.full
def test_performance_tools(server):
    out = tool("org.apache.kafka.tools.ProducerPerformance", "--topic", "perf", "--num-records", 50000, "--record-size", 200, "--throughput", -1,
               "--producer-props", f"bootstrap.servers={server.bootstrap}", "compression.type=lz4")
    assert "50000 records sent" in out
    out = tool("org.apache.kafka.tools.ConsumerPerformance", "--bootstrap-server", server.bootstrap, "--topic", "perf", "--messages", 50000)
    assert int(out.splitlines()[-1].split(",")[4]) >= 50000
    out = tool("org.apache.kafka.tools.ProducerPerformance", "--topic", "perf-tx", "--num-records", 20000, "--record-size", 100, "--throughput", -1,
               "--transactional-id", "perf", "--transaction-duration-ms", 100, "--producer-props", f"bootstrap.servers={server.bootstrap}")
    assert "20000 records sent" in out
    assert server.one("SELECT COUNT(*) FROM `perf-tx`") == 20000


@pytest.mark.full
def test_transactions_tool_lists_describes_and_aborts(server):
    p = Producer({"bootstrap.servers": server.bootstrap, "transactional.id": "stuck"})
    p.init_transactions(10)
    p.begin_transaction()
    p.produce("t", "x", partition=0)
    p.flush(10)
    main, at = "org.apache.kafka.tools.TransactionsCommand", ("--bootstrap-server", server.bootstrap)
    listed = tool(main, *at, "list").splitlines()
    assert any(line.split()[0] == "stuck" and "Ongoing" in line for line in listed[1:]), listed
    described = tool(main, *at, "describe", "--transactional-id", "stuck").splitlines()
    assert "t-0" in described[1]
    producers = tool(main, *at, "describe-producers", "--topic", "t", "--partition", 0).splitlines()
    assert len(producers) == 2
    assert tool(main, *at, "find-hanging", "--topic", "t", "--max-transaction-timeout", 0) is not None
    tool(main, *at, "abort", "--topic", "t", "--partition", 0, "--start-offset", 0)
    assert any("CompleteAbort" in line for line in tool(main, *at, "list").splitlines())
    assert server.one("SELECT COUNT(*) FROM t") == 0


@pytest.mark.full
def test_configs_groups_and_records_tools(server):
    at = ("--bootstrap-server", server.bootstrap)
    tool("org.apache.kafka.tools.TopicCommand", *at, "--create", "--topic", "c", "--partitions", 1)
    tool("kafka.admin.ConfigCommand", *at, "--alter", "--entity-type", "topics", "--entity-name", "c", "--add-config", "retention.ms=100000,cleanup.policy=[compact,delete]")
    out = tool("kafka.admin.ConfigCommand", *at, "--describe", "--entity-type", "topics", "--entity-name", "c")
    assert "retention.ms=100000" in out and "cleanup.policy=compact,delete" in out
    tool("kafka.admin.ConfigCommand", *at, "--alter", "--entity-type", "topics", "--entity-name", "c", "--delete-config", "cleanup.policy")
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(10):
        p.produce("c", str(i))
    p.flush(10)
    tool("org.apache.kafka.tools.VerifiableConsumer", *at, "--topic", "c", "--group-id", "old", "--max-messages", 10, "--reset-policy", "earliest")
    groups = tool("org.apache.kafka.tools.GroupsCommand", *at, "--list")
    assert any(line.split()[:2] == ["old", "Classic"] for line in groups.splitlines()[1:]), groups
    assert "c" in tool("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *at, "--describe", "--group", "old")
    out = tool("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *at, "--group", "old", "--topic", "c", "--reset-offsets", "--to-offset", 3, "--execute")
    assert out.split()[-1] == "3"
    assert "c:0:10" in tool("org.apache.kafka.tools.GetOffsetShell", *at, "--topic", "c")
