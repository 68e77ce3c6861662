"""Kafka Connect 4.1 in distributed mode: a file source, its REST life, a restarted worker."""
import collections
import json
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from millrace import CACHE, free_port
from test_streams import check, until
from test_transactions import consume


class Worker:
    def __init__(self, server, tmp_path, *settings):
        self.port = free_port()
        self.config = tmp_path / "connect.properties"
        self.config.write_text("\n".join([
            f"bootstrap.servers={server.bootstrap}", "group.id=connect-cluster",
            "config.storage.topic=connect-configs", "offset.storage.topic=connect-offsets", "status.storage.topic=connect-status",
            "config.storage.replication.factor=3", "offset.storage.replication.factor=3", "status.storage.replication.factor=3",
            "key.converter=org.apache.kafka.connect.json.JsonConverter", "value.converter=org.apache.kafka.connect.storage.StringConverter",
            f"listeners=http://127.0.0.1:{self.port}", "offset.flush.interval.ms=500", "plugin.discovery=only_scan",
            f"plugin.path={CACHE}/jars/connect-file-4.1.0.jar", *settings]))
        self.log = open(tmp_path / "connect.log", "a")

    def start(self):
        self.process = subprocess.Popen(["java", "-Xmx400m", "-cp", f"{CACHE}/jars/*", "org.apache.kafka.connect.cli.ConnectDistributed", str(self.config)],
                                        stdout=self.log, stderr=self.log)
        until(lambda: check(self.ask("GET", "/connectors") is not None), 120)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(60)

    def ask(self, method, path, body=None):
        req = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                     data=None if body is None else json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(req, timeout=30) as r:
                data = r.read()
                return json.loads(data) if data else {}
        except urllib.error.HTTPError as e:
            if e.code in (404, 409, 500, 503):  # starting, or a rebalance is under way
                return None
            raise
        except OSError:
            return None

    def state(self, name):
        s = self.ask("GET", f"/connectors/{name}/status")
        return None if s is None else [s["connector"]["state"]] + [t["state"] for t in s["tasks"]]

    def create(self, source, **config):
        until(lambda: check(self.ask("POST", "/connectors", {"name": "files", "config": {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "tasks.max": "1",
            "file": str(source), "topic": "connect-test"} | config}) is not None))
        until(lambda: check(self.state("files") == ["RUNNING", "RUNNING"]))

    def position(self):
        """Up to which byte of the file it has committed its offsets; 0: none."""
        answer = self.ask("GET", "/connectors/files/offsets") or {"offsets": []}
        return max((o["offset"]["position"] for o in answer["offsets"]), default=0)


@pytest.fixture
def workers():
    """Started workers; those still running at the end are killed."""
    started = []

    def start(*args):
        started.append(Worker(*args))
        started[-1].start()
        return started[-1]

    yield start
    for w in started:
        if w.process.poll() is None:
            w.stop(signal.SIGKILL)


def create_internal_topics(server):
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    compact = {"cleanup.policy": "compact"}
    for f in admin.create_topics([NewTopic("connect-configs", 1, 3, config=compact), NewTopic("connect-offsets", 50, 3, config=compact),
                                  NewTopic("connect-status", 10, 3, config=compact)]).values():
        f.result(10)


@pytest.mark.full
def test_connect_runs_a_file_source(server, tmp_path, workers):
    create_internal_topics(server)
    source = tmp_path / "source.txt"
    source.write_text("".join(f"line {i}\n" for i in range(100)))
    w = workers(server, tmp_path)
    w.create(source)
    until(lambda: check(server.one("SELECT COUNT(*) FROM `connect-test`") == 100))

    until(lambda: check(w.ask("PUT", "/connectors/files/pause") is not None))
    until(lambda: check(w.state("files") == ["PAUSED", "PAUSED"]))
    with source.open("a") as f:
        f.writelines(f"line {i}\n" for i in range(100, 150))
    time.sleep(1)  # nothing shall happen
    assert server.one("SELECT COUNT(*) FROM `connect-test`") == 100
    until(lambda: check(w.ask("PUT", "/connectors/files/resume") is not None))
    until(lambda: check(server.one("SELECT COUNT(*) FROM `connect-test`") == 150))
    time.sleep(1)  # its offsets are flushed twice a second

    # A worker that comes back goes on where it was; so it does when the server was away.
    w.stop()
    server.restart()
    with source.open("a") as f:
        f.writelines(f"line {i}\n" for i in range(150, 200))
    w.start()
    until(lambda: check(server.one("SELECT COUNT(*), COUNT(DISTINCT _value) FROM `connect-test`") == (200, 200)))
    assert sorted(consume(server, "connect-test", "read_committed")) == sorted(f"line {i}" for i in range(200))

    until(lambda: check(w.ask("DELETE", "/connectors/files") is not None))
    until(lambda: check(w.ask("GET", "/connectors") == []))
    w.stop()


class Writer:
    """Adds some 1,000 lines a second to a file."""

    def __init__(self, path):
        self.path, self.lines, self.stopping = path, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopping.wait(0.02):
            with self.path.open("a") as f:
                f.writelines(f"line {i}\n" for i in range(self.lines, self.lines + 20))
            self.lines += 20

    def stop(self):
        self.stopping.set()
        self.thread.join()


@pytest.mark.full
@pytest.mark.parametrize("exactly_once", [False, True])
def test_a_killed_connect_worker_loses_no_line_and_goes_on_where_it_was(server, tmp_path, workers, exactly_once):
    create_internal_topics(server)
    source = tmp_path / "source.txt"
    source.touch()
    w = workers(server, tmp_path, *(["exactly.once.source.support=enabled"] if exactly_once else []))
    w.create(source, **({"exactly.once.support": "required"} if exactly_once else {}))

    def copied():
        return collections.Counter(consume(server, "connect-test", "read_committed"))

    file = Writer(source)
    kills = []  # as ranges of lines: written when it came, but perhaps not committed
    try:
        for victim in ("worker", "server", "worker"):
            begin = w.position()
            until(lambda: check(w.position() > begin))
            time.sleep(1)  # offsets are committed twice a second
            committed = source.read_bytes()[:w.position()].count(b"\n")
            if victim == "worker":
                w.stop(signal.SIGKILL)
            else:
                server.kill()
            kills.append(range(committed, file.lines + 20))
            time.sleep(0.5)  # lines go on coming
            if victim == "worker":
                w.start()
            else:
                server.start()
    finally:
        file.stop()
    want = {f"line {i}" for i in range(file.lines)}
    until(lambda: check(len(copied()) >= len(want)))
    got = copied()
    assert got.keys() == want
    again = [int(line.split()[1]) for line, n in got.items() if n > 1]
    if exactly_once:
        assert not again
    else:
        # It goes on after what is committed: only what came later may come again.
        assert 0 < kills[0].start < kills[1].start < kills[2].start
        assert all(any(i in lines for lines in kills) for i in again)
    assert server.one("SELECT COUNT(*), COUNT(DISTINCT _value) FROM `connect-test`") == (got.total(), file.lines)
    w.stop()
