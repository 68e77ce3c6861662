"""Apache Kafka's own administration tools, unmodified, against the server."""
import json
import subprocess

import pytest

from millrace import CACHE, Millrace

TOOLS = {"acls": "org.apache.kafka.tools.AclCommand", "configs": "kafka.admin.ConfigCommand", "features": "org.apache.kafka.tools.FeatureCommand",
         "leader-election": "org.apache.kafka.tools.LeaderElectionCommand", "reassign": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
         "quorum": "org.apache.kafka.tools.MetadataQuorumCommand", "topics": "org.apache.kafka.tools.TopicCommand"}


pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    server = Millrace(tmp_path_factory.mktemp("tools") / "data").start()

    def run(name, *args, check=True):
        r = subprocess.run(["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{CACHE}/jars/*", TOOLS[name],
                            "--bootstrap-server", server.bootstrap, *args], capture_output=True, text=True, timeout=120)
        assert not check or r.returncode == 0, r.stdout + r.stderr
        return r.stdout + r.stderr

    run("topics", "--create", "--topic", "t", "--partitions", "2")
    yield run
    server.stop()


def test_acls_are_added_listed_and_removed(tool):
    tool("acls", "--add", "--allow-principal", "User:ada", "--operation", "Read", "--topic", "orders-", "--resource-pattern-type", "prefixed")
    tool("acls", "--add", "--deny-principal", "User:bob", "--deny-host", "10.0.0.1", "--operation", "All", "--group", "g")
    out = tool("acls", "--list")
    assert "principal=User:ada, host=*, operation=READ, permissionType=ALLOW" in out
    assert "principal=User:bob, host=10.0.0.1, operation=ALL, permissionType=DENY" in out
    tool("acls", "--remove", "--force", "--group", "g", "--deny-principal", "User:bob", "--deny-host", "10.0.0.1", "--operation", "All")
    assert "User:bob" not in tool("acls", "--list")


def test_quotas_are_set_and_described(tool):
    tool("configs", "--alter", "--entity-type", "users", "--entity-name", "ada", "--entity-type", "clients", "--entity-default",
         "--add-config", "producer_byte_rate=1024,consumer_byte_rate=2048")
    out = tool("configs", "--describe", "--entity-type", "users", "--entity-name", "ada", "--entity-type", "clients", "--entity-default")
    assert "producer_byte_rate=1024" in out and "consumer_byte_rate=2048" in out
    tool("configs", "--alter", "--entity-type", "users", "--entity-name", "ada", "--entity-type", "clients", "--entity-default",
         "--delete-config", "producer_byte_rate,consumer_byte_rate")
    assert "byte_rate" not in tool("configs", "--describe", "--entity-type", "users", "--entity-name", "ada", "--entity-type", "clients", "--entity-default")


def test_features_are_described_and_changed(tool):
    out = tool("features", "describe")
    assert "metadata.version" in out and "FinalizedVersionLevel: 4.1" in out
    assert "FinalizedVersionLevel: 2" in [line for line in out.splitlines() if "transaction.version" in line][0]
    tool("features", "downgrade", "--feature", "transaction.version=1")
    assert "FinalizedVersionLevel: 1" in [line for line in tool("features", "describe").splitlines() if "transaction.version" in line][0]
    tool("features", "upgrade", "--feature", "transaction.version=2")


def test_elections_are_not_needed(tool):
    assert "Valid replica already elected" in tool("leader-election", "--election-type", "preferred", "--topic", "t", "--partition", "0")


def test_partitions_are_where_they_are(tool, tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]}))
    tool("reassign", "--reassignment-json-file", str(plan), "--execute")
    assert "is completed" in tool("reassign", "--reassignment-json-file", str(plan), "--verify")
    assert "No partition reassignments found" in tool("reassign", "--list")


def test_the_quorum_is_this_node(tool):
    assert "LeaderId:               1" in tool("quorum", "describe", "--status")
