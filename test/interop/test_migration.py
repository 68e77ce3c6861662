"""Groups that go over from the classic protocol to the consumer protocol and back, member by member, by Kafka's own client."""
import subprocess

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from millrace import CACHE

JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", f"{CACHE}/classes:{CACHE}/jars/*"]
ASSIGNORS = ["RangeAssignor", "CooperativeStickyAssignor"]


@pytest.mark.full
def test_groups_roll_between_the_protocols_and_lose_and_share_nothing(server):
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    for f in admin.create_topics([NewTopic("t", 6)]).values():
        f.result(10)
    names = [f"org.apache.kafka.clients.consumer.{a}" for a in ASSIGNORS]
    out = subprocess.run([*JAVA, "MigrationProgram", server.bootstrap, "t", *names], capture_output=True, text=True, timeout=240)
    assert out.stdout.splitlines() == [
        f"migrating-{a} types=[Classic, Consumer, Classic] missing=0 twice=0 shared=0 lost=0" for a in ASSIGNORS
    ], out.stdout + out.stderr
