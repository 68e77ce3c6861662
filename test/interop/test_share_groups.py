"""Share groups by Kafka's own client and tools: every record is taken by somebody, and settled once."""
import collections
import subprocess
import time

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from millrace import CACHE

JAVA = ["java", "-Xmx256m", "-cp", f"{CACHE}/classes:{CACHE}/jars/*"]


def command(*args):
    return [*JAVA, *map(str, args)]


def java(*args, timeout=60):
    return subprocess.run(command(*args), check=True, capture_output=True, text=True, timeout=timeout).stdout.split("\n")[:-1]


def share(mode, server, *args):
    return java("ShareProgram", mode, server.bootstrap, *args)


def tool(name, server, *args):
    return java(f"org.apache.kafka.tools.{name}", "--bootstrap-server", server.bootstrap, *args)


def filled(server, count, *groups, partitions=2):
    """A topic with count records, which the groups take from the first one on."""
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    for f in admin.create_topics([NewTopic("t", partitions)]).values():
        f.result(10)
    for g in groups:
        share("reset", server, "t", g, partitions)
    produce(server, 0, count)


def produce(server, first, last):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(first, last):
        p.produce("t", str(i), str(i))
    assert p.flush(10) == 0


def starts(server, group):
    """What the group's partitions begin with: records before that are done with."""
    lines = tool("consumer.group.ShareGroupCommand", server, "--describe", "--group", group, "--offsets")
    return {int(f[2]): int(f[3]) for f in map(str.split, lines) if len(f) >= 4 and f[0] == group}


def ends(server):
    return dict(server.sql("SELECT _partition, COUNT(*) FROM t GROUP BY _partition"))


def test_members_share_the_records_and_each_is_taken_once(server):
    filled(server, 600, "g")
    assert sorted(map(int, share("implicit", server, "t", "g", 600, 3))) == list(range(600))
    assert starts(server, "g") == ends(server)
    state, *_, groups = share("describe", server, "g")
    assert (state, groups) == ("Empty 0", "[g]")
    server.restart()
    produce(server, 600, 700)  # what was acknowledged stays so
    assert sorted(map(int, share("implicit", server, "t", "g", 100, 2))) == list(range(600, 700))


def test_records_are_accepted_released_and_rejected_one_by_one(server):
    filled(server, 300, "g")
    lines = share("explicit", server, "t", "g", 300)
    deliveries = collections.Counter(int(line.split()[0]) for line in lines)
    assert deliveries == {n: 2 if n % 3 == 1 else 1 for n in range(300)}
    assert {line.split()[1] for line in lines if int(line.split()[0]) % 3 == 1} == {"1", "2"}
    assert starts(server, "g") == ends(server)


def test_what_a_killed_member_held_is_taken_by_another(server):
    filled(server, 100, "g", partitions=1)
    holder = subprocess.Popen(command("ShareProgram", "hold", server.bootstrap, "t", "g"), stdout=subprocess.PIPE, text=True)
    assert int(holder.stdout.readline()) > 0
    holder.kill()
    holder.wait()
    assert sorted(map(int, share("implicit", server, "t", "g", 100, 1))) == list(range(100))


def test_a_member_goes_on_after_the_server_was_killed(server):
    filled(server, 200, "g")
    member = subprocess.Popen(command("ShareProgram", "implicit", server.bootstrap, "t", "g", 400, 1), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while starts(server, "g") != ends(server):
        assert time.monotonic() < deadline
    server.kill()
    server.start()
    produce(server, 200, 400)
    out, err = member.communicate(timeout=60)
    assert member.returncode == 0, err
    assert sorted(map(int, out.split())) == list(range(400))


def test_the_console_consumer_and_the_tool(server):
    filled(server, 20, "g", partitions=1)
    lines = tool("consumer.ConsoleShareConsumer", server, "--topic", "t", "--group", "g", "--max-messages", "20", "--timeout-ms", "20000")
    assert sorted(map(int, lines)) == list(range(20))
    assert "g" in tool("consumer.group.ShareGroupCommand", server, "--list")
    assert starts(server, "g").keys() == {0}
    tool("consumer.group.ShareGroupCommand", server, "--delete", "--group", "g")
    assert "g" not in tool("consumer.group.ShareGroupCommand", server, "--list")
