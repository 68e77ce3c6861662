"""Spark 3.5.1 (the users' version) and 4.1.1: the users' job on their settings and on none, resumed, at once after a burst, by time."""
import json
import os
import subprocess
import time

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from millrace import CACHE, ROOT
from test_transactions import consume

MODEL = {"kafka.enable.idempotence": "false", "kafka.compression.type": "none"}


class Spark:
    """A Spark of one version; its checkpoints outlive it."""

    def __init__(self, version, server, tmp_path):
        self.log = open(tmp_path / "spark.log", "a")
        scratch = tmp_path / "spark"
        scratch.mkdir(exist_ok=True)
        env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1",
               "PYSPARK_SUBMIT_ARGS": f"--driver-memory 600m --driver-class-path {CACHE}/spark{version}-jars/* pyspark-shell"}
        for name in ("SPARK_HOME", "PYTHONPATH"):
            env.pop(name, None)
        self.process = subprocess.Popen([f"{CACHE}/spark{version}/bin/python", str(ROOT / "test/interop/spark/jobs.py"), server.bootstrap, str(scratch)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=env, text=True)

    def __call__(self, job, **args):
        self.process.stdin.write(json.dumps([job, args]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"Spark died in {job}: {open(self.log.name).read()[-3000:]}"
        return json.loads(answer)

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        self.process.stdout.close()
        self.log.close()


@pytest.fixture(params=["3", "4"])
def spark(request, server, tmp_path):
    """Starts Sparks of one version; one at a time."""
    running = []

    def start():
        while running:
            running.pop().stop()
        running.append(Spark(request.param, server, tmp_path))
        return running[-1]

    yield start
    while running:
        running.pop().stop()


def create(server, *topics, config=None):
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    for f in admin.create_topics([NewTopic(t, 3, config=config or {}) for t in topics]).values():
        f.result(10)


def events(server, topic, first, count, **kw):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(first, first + count):
        p.produce(topic, f"event {i}", str(i), **kw)
    assert p.flush(20) == 0


def copied(server, topic, count):
    """Both wires show each event once, in upper case, under its key."""
    assert sorted(consume(server, topic, "read_committed")) == sorted(f"EVENT {i}" for i in range(count))
    assert server.one(f"SELECT COUNT(*), COUNT(DISTINCT _value), SUM(_value = CONCAT('EVENT ', _key)) FROM `{topic}`") == (count, count, count)


@pytest.mark.full
def test_spark_copies_resumes_and_misses_nothing(server, spark):
    outs = {"docs-stream-out": {}, "model-out": MODEL}
    create(server, "docs-stream-in", *outs)
    events(server, "docs-stream-in", 0, 1000)

    def run(s, rows, once):
        for out, overrides in outs.items():
            assert s("upper", source="docs-stream-in", sink=out, checkpoint=out, overrides=overrides, once=once) == rows

    s = spark()
    run(s, 1000, once=False)
    for out in outs:
        copied(server, out, 1000)

    # A second run of the program, after a restart of ours, begins where the first one ended.
    events(server, "docs-stream-in", 1000, 500)
    server.kill()
    server.start()
    s = spark()
    run(s, 500, once=False)
    for out in outs:
        copied(server, out, 1500)

    # Bursts: what was acknowledged a moment ago is in the plan of the very next run.
    for first in range(1500, 3500, 500):
        events(server, "docs-stream-in", first, 500)
        run(s, 500, once=True)
    for out in outs:
        copied(server, out, 3500)


@pytest.mark.full
def test_spark_starts_by_time(server, spark):
    create(server, "timed")
    now = int(time.time() * 1000)
    for n, age in enumerate((30_000, 20_000, 10_000)):
        events(server, "timed", n * 100, 100, timestamp=now - age)
    s = spark()
    from_two = json.dumps({"timed": {str(p): now - 20_000 for p in range(3)}})
    want = sorted(f"event {i}" for i in range(100, 300))
    assert s("since", topic="timed", offsets=from_two, stream=False) == want
    assert s("since", topic="timed", offsets=from_two, stream=True, checkpoint="stream") == want
    # Between two records it begins with the later one.
    between = json.dumps({"timed": {str(p): now - 19_999 for p in range(3)}})
    assert s("since", topic="timed", offsets=between, stream=False) == sorted(f"event {i}" for i in range(200, 300))


@pytest.mark.full
def test_spark_reads_the_columns_that_sql_shows(server, spark):
    create(server, "orders")
    create(server, "readings", config={"millrace.value.format": "csv", "millrace.columns": "sensor BIGINT, place VARCHAR(40), degrees DOUBLE"})
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(500):
        order = {"order_id": i, "status": ("new", "paid", "größe")[i % 3], "user": {"id": i % 7}, "price": i / 4, "paid": i % 2 == 0}
        if i % 10 == 9:
            del order["status"]
        p.produce("orders", json.dumps(order), str(i))
        p.produce("readings", f"{i},\"room {i % 5}, north\",{i / 8}", str(i))
    assert p.flush(20) == 0
    s = spark()

    def agree(topic, fields, select):
        want = [list(r) for r in server.sql(f"SELECT {select} FROM {topic} ORDER BY _partition, _offset")]
        assert len(want) == 500
        assert s("columns", topic=topic, fields=fields) == want

    parsed = "from_json(text, 'order_id BIGINT, status STRING, user STRUCT<id: BIGINT>, price DOUBLE, paid BOOLEAN')"
    agree("orders", [f"{parsed}.{f}" for f in ("order_id", "status", "user.id", "price")] + [f"CAST({parsed}.paid AS INT)"],
          "order_id, status, `user.id`, price, paid")
    parsed = "from_csv(text, 'sensor BIGINT, place STRING, degrees DOUBLE')"
    agree("readings", [f"{parsed}.{f}" for f in ("sensor", "place", "degrees")], "sensor, place, degrees")
    agree("orders", ["CAST(CAST(key AS STRING) AS BIGINT)", "text"], "CAST(_key AS SIGNED), _value")
