"""Flink 2.2 with its Kafka connector, unchanged: a job manager and a task manager that is killed."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import threading
import time
import urllib.request

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from millrace import CACHE, free_port
from test_streams import check, until
from test_transactions import consume

OPENS = [x for p in ("java.base/java.lang", "java.base/java.util", "java.base/java.net", "java.base/java.io", "java.base/java.nio",
                     "java.base/java.time", "java.base/java.text", "java.base/java.lang.reflect", "java.base/java.lang.invoke",
                     "java.base/java.util.concurrent", "java.base/java.util.concurrent.atomic", "java.base/sun.net.util")
         for x in ("--add-opens", f"{p}=ALL-UNNAMED")]
JAVA = ["java", "-Xmx512m", *OPENS, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp"]
PYFLINK = CACHE / "flink-py"
CLASSES = ":".join([f"{CACHE}/flink-classes", f"{CACHE}/flink/*",
                    # What runs Python functions comes with PyFlink.
                    *map(str, PYFLINK.glob("lib/python3*/site-packages/pyflink/opt/flink-python-*.jar"))])


class Flink:
    def __init__(self, tmp_path):
        self.rest, rpc = free_port(), free_port()
        self.groups = []  # of processes
        self.dir = tmp_path / "flink"
        self.dir.mkdir()
        (self.dir / "config.yaml").write_text("\n".join([
            "jobmanager.rpc.address: 127.0.0.1", f"jobmanager.rpc.port: {rpc}", "jobmanager.memory.process.size: 800m",
            "rest.address: 127.0.0.1", "rest.bind-address: 127.0.0.1", f"rest.port: {self.rest}",
            "taskmanager.host: 127.0.0.1", "taskmanager.numberOfTaskSlots: 4", "taskmanager.cpu.cores: 1",
            "taskmanager.memory.task.heap.size: 300m", "taskmanager.memory.task.off-heap.size: 0m",
            "taskmanager.memory.managed.size: 64m", "taskmanager.memory.network.min: 64m", "taskmanager.memory.network.max: 64m",
            "taskmanager.memory.framework.heap.size: 128m", "taskmanager.memory.framework.off-heap.size: 128m",
            "taskmanager.memory.jvm-metaspace.size: 256m", "taskmanager.memory.jvm-overhead.min: 192m", "taskmanager.memory.jvm-overhead.max: 192m",
            "web.refresh-interval: 5ms",  # checkpoints are watched as they go
            "heartbeat.interval: 500", "heartbeat.timeout: 3000", "resourcemanager.taskmanager-timeout: 5000",
            f"execution.checkpointing.dir: file://{self.dir}/checkpoints", f"io.tmp.dirs: {self.dir}/tmp"]))
        (self.dir / "tmp").mkdir()
        self.log = open(tmp_path / "flink.log", "a")
        self.manager = self.run("org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint")
        self.worker = None
        self.start_worker()
        until(lambda: check(self.get("/overview").get("slots-total", 0) > 0), 90)

    def run(self, main):
        p = subprocess.Popen([*JAVA, CLASSES, main, "--configDir", str(self.dir)], stdout=self.log, stderr=self.log, start_new_session=True)
        self.groups.append(p.pid)
        return p

    def start_worker(self):
        self.worker = self.run("org.apache.flink.runtime.taskexecutor.TaskManagerRunner")

    def kill_worker(self):
        self.worker.send_signal(signal.SIGKILL)
        self.worker.wait(10)

    def get(self, path, method="GET"):
        try:
            req = urllib.request.Request(f"http://127.0.0.1:{self.rest}{path}", method=method)
            with urllib.request.urlopen(req, timeout=10) as r:
                return json.loads(r.read())
        except (OSError, ValueError):
            return {}

    def submit(self, *args):
        return self.ask([*JAVA, CLASSES, "FlinkProgram", str(self.rest), *args])

    def submit_python(self, server, source, sink):
        (connector,) = (CACHE / "flink").glob("flink-sql-connector-kafka-*.jar")
        program = pathlib.Path(__file__).parent / "flink" / "upper.py"
        (cli,) = PYFLINK.glob("lib/python3*/site-packages/pyflink/bin/flink")
        python = PYFLINK / "bin" / "python"
        return self.ask([cli, "run", "--detached", "--jobmanager", f"127.0.0.1:{self.rest}", "--pyClientExecutable", python, "--pyExecutable", python,
                         "--python", program, connector, server.bootstrap, source, sink])

    def ask(self, command):
        """The last word that the command says."""
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=self.log, text=True, timeout=120).stdout.split()[-1]

    def cancel(self, job):
        self.get(f"/jobs/{job}?mode=cancel", "PATCH")
        until(lambda: check(self.get(f"/jobs/{job}").get("state") == "CANCELED"))

    def checkpoints(self, job):
        return self.get(f"/jobs/{job}/checkpoints").get("counts", {}).get("completed", 0)

    def wait_checkpoint(self, job):
        """Returns within milliseconds after a checkpoint is complete."""
        done, end = self.checkpoints(job), time.monotonic() + 60
        while self.checkpoints(job) <= done:
            assert time.monotonic() < end

    def stop(self):
        for p in (self.worker, self.manager):
            p.send_signal(signal.SIGKILL)
            p.wait(10)
        # Python processes may outlive a task manager that was killed as they began.
        for g in self.groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(g, signal.SIGKILL)


@pytest.fixture
def flink(tmp_path):
    f = Flink(tmp_path)
    yield f
    f.stop()


def create(server, *topics):
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    for f in admin.create_topics([NewTopic(t, 3) for t in topics]).values():
        f.result(10)


def events(server, topic, first, count):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(first, first + count):
        p.produce(topic, json.dumps({"id": i, "name": f"name {i}"}), str(i))
        if i % 50 == 0:
            p.flush(10)
    p.flush(10)


def ids(server, topic):
    return sorted(json.loads(v)["id"] for v in consume(server, topic, "read_committed"))


MODEL = ", 'properties.enable.idempotence'='false', 'properties.compression.type'='none', 'sink.delivery-guarantee'='at-least-once'"
EXACTLY = ", 'sink.delivery-guarantee'='exactly-once', 'sink.transactional-id-prefix'='copy'"


@pytest.mark.full
def test_flink_copies_with_any_settings(server, flink):
    create(server, "in", "model", "stock", "exact")
    events(server, "in", 0, 1000)
    jobs = {}
    for to, settings in (("model", MODEL), ("stock", ""), ("exact", EXACTLY)):
        job = jobs[to] = flink.submit("sql", server.bootstrap, "in", to, settings)
        until(lambda: check(ids(server, to) == list(range(1000))))
        assert server.one(f"SELECT COUNT(*), COUNT(DISTINCT id), MIN(name), SUM(name = UPPER(name)) FROM `{to}`") == (1000, 1000, "NAME 0", 1000)
        # Offsets are committed with checkpoints.
        admin = AdminClient({"bootstrap.servers": server.bootstrap})

        def committed():
            g = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(f"flink-{to}")])[f"flink-{to}"].result(10)
            assert sum(tp.offset for tp in g.topic_partitions if tp.offset > 0) == 1000

        until(committed)
        flink.cancel(job)


def start(flink, server, job):
    """The job that copies in to out, exactly once, and how its copies are read back."""
    if job == "python":
        return flink.submit_python(server, "in", "out"), "ID"
    return flink.submit(job, server.bootstrap, "in", "out", EXACTLY if job == "sql" else ""), "id" if job == "sql" else "ID"


def copied(server):
    return sorted(json.loads(v.lower())["id"] for v in consume(server, "out", "read_committed"))


@pytest.mark.full
@pytest.mark.parametrize("job", ["sql", "upper", "python"])
def test_flink_is_exactly_once_through_kills(server, flink, job):
    create(server, "in", "out")
    running, column = start(flink, server, job)
    want = 0
    for victim in ("worker", "server", "worker"):
        events(server, "in", want, 300)
        want += 300
        done = flink.checkpoints(running)
        until(lambda: check(flink.checkpoints(running) > done))
        events(server, "in", want, 300)  # these are in open transactions when the victim dies
        want += 300
        if victim == "worker":
            flink.kill_worker()
            flink.start_worker()
        else:
            server.kill()
            time.sleep(1)  # Flink shall notice
            server.start()
    until(lambda: check(len(copied(server)) >= want), 120)
    assert copied(server) == list(range(want))
    assert server.one(f"SELECT COUNT(*), COUNT(DISTINCT {column}) FROM `out`") == (want, want)
    flink.cancel(running)


class Flow:
    """About 500 events a second, so that each transaction has some; acked all in the end."""

    def __init__(self, server, topic):
        self.sent, self.stopping = 0, threading.Event()
        self.producer = Producer({"bootstrap.servers": server.bootstrap, "enable.idempotence": True, "linger.ms": 2})
        self.thread = threading.Thread(target=self.run, args=(topic,))
        self.thread.start()

    def run(self, topic):
        while not self.stopping.wait(0.01):
            for _ in range(5):
                self.producer.produce(topic, json.dumps({"id": self.sent, "name": f"name {self.sent}"}), str(self.sent))
                self.sent += 1
            self.producer.poll(0)

    def stop(self):
        self.stopping.set()
        self.thread.join()
        assert self.producer.flush(60) == 0


def history(flink, job):
    return flink.get(f"/jobs/{job}/checkpoints").get("history", [])


@contextlib.contextmanager
def in_checkpoint(flink, server, job):
    """Holds the server, and with it a checkpoint that has begun and waits for its
    transactions' records to be acknowledged: its id. The server goes on at the end."""
    process = server.process
    while True:
        process.send_signal(signal.SIGSTOP)
        try:
            stopped, deadline = time.time() * 1000, time.monotonic() + 5
            while time.monotonic() < deadline:
                for c in history(flink, job):
                    # One that began before may be through with the server.
                    if c["status"] == "IN_PROGRESS" and c["trigger_timestamp"] > stopped:
                        yield c["id"]
                        return
                time.sleep(0.01)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
        time.sleep(0.5)  # none has begun: the one before hangs, or the job restarts


@pytest.mark.full
@pytest.mark.parametrize("job", ["sql", "upper", "python"])
def test_flink_is_exactly_once_when_killed_in_mid_checkpoint(server, flink, job):
    create(server, "in", "out")
    running, column = start(flink, server, job)
    flow = Flow(server, "in")
    try:
        for phase in ("before its records are flushed", "as it is complete, before or in its commits") * 2:
            for victim in ("worker", "server"):
                done = flink.checkpoints(running)
                until(lambda: check(flink.checkpoints(running) > done + 1), 120)
                if phase.startswith("before"):
                    with in_checkpoint(flink, server, running) as doomed:
                        flink.kill_worker() if victim == "worker" else server.kill()
                else:
                    flink.wait_checkpoint(running)  # the next thing that the sink does is to commit
                    flink.kill_worker() if victim == "worker" else server.kill()
                if victim == "worker":
                    flink.start_worker()
                    if phase.startswith("before"):
                        until(lambda: check([c["status"] for c in history(flink, running) if c["id"] == doomed] == ["FAILED"]))
                else:
                    server.start()
    finally:
        flow.stop()
    until(lambda: check(len(copied(server)) >= flow.sent), 120)
    assert copied(server) == list(range(flow.sent))
    assert server.one(f"SELECT COUNT(*), COUNT(DISTINCT {column}) FROM `out`") == (flow.sent, flow.sent)
    flink.cancel(running)
