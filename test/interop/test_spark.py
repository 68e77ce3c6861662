"""Spark Structured Streaming 4.0, unchanged."""
import json
import os
import subprocess

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from millrace import CACHE
from test_transactions import consume

HERE = __file__.rsplit("/", 1)[0]


@pytest.fixture
def spark(server, tmp_path):
    jars = ",".join(str(j) for j in sorted((CACHE / "spark").glob("*.jar")))
    log = open(tmp_path / "spark.log", "a")

    def run(mode, *args):
        command = [str(CACHE / "py-spark/bin/spark-submit"), "--driver-memory", "600m", "--jars", jars, f"{HERE}/spark/job.py",
                   mode, server.bootstrap, str(tmp_path), *map(str, args)]
        env = {"PYSPARK_PYTHON": str(CACHE / "py-spark/bin/python"), "PYSPARK_DRIVER_PYTHON": str(CACHE / "py-spark/bin/python"),
               "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "SPARK_LOCAL_IP": "127.0.0.1"}
        if os.environ.get("JAVA_HOME"):
            env["JAVA_HOME"] = os.environ["JAVA_HOME"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=log, text=True, timeout=180, env=env).stdout

    return run


def create(server, *topics):
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    for f in admin.create_topics([NewTopic(t, 3) for t in topics]).values():
        f.result(10)


def produce(server, topic, values, **kw):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i, v in enumerate(values):
        p.produce(topic, v, str(i), **kw)
    p.flush(10)


@pytest.mark.full
def test_spark_copies_and_resumes_from_its_checkpoint(server, spark):
    create(server, "docs-stream-in", "docs-stream-out", "with-overrides")
    produce(server, "docs-stream-in", (f"event {i}" for i in range(500)))
    spark("copy", "docs-stream-in", "docs-stream-out")
    assert sorted(consume(server, "docs-stream-out", "read_committed")) == sorted(f"EVENT {i}" for i in range(500))
    spark("copy", "docs-stream-in", "with-overrides", "kafka.enable.idempotence=false", "kafka.compression.type=none")
    assert server.one("SELECT COUNT(*), COUNT(DISTINCT _value) FROM `with-overrides`") == (500, 500)
    # The second run goes on where the first one ended, right after a burst and a restart.
    server.restart()
    produce(server, "docs-stream-in", (f"more {i}" for i in range(2000)))
    spark("copy", "docs-stream-in", "docs-stream-out")
    assert server.one("SELECT COUNT(*), COUNT(DISTINCT _value), SUM(_value LIKE 'MORE%') FROM `docs-stream-out`") == (2500, 2500, 2000)


@pytest.mark.full
def test_spark_starts_at_a_time(server, spark):
    create(server, "times")
    produce(server, "times", ["old 1", "old 2"], timestamp=1_700_000_000_000)
    produce(server, "times", ["new 1", "new 2", "new 3"], timestamp=1_700_000_500_000)
    assert json.loads(spark("since", "times", 1_700_000_400_000)) == ["new 1", "new 2", "new 3"]


@pytest.mark.full
def test_sparks_columns_equal_ours(server, spark):
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    columns = "id BIGINT, name VARCHAR(40), amount DOUBLE, ok BOOLEAN"
    topics = [NewTopic("as-json", 2), NewTopic("as-csv", 2, config={"millrace.value.format": "csv", "millrace.expand": "declared", "millrace.columns": columns})]
    for f in admin.create_topics(topics).values():
        f.result(10)
    rows = [[i, f"name {i}", i + 0.25, i % 2 == 0] for i in range(50)]
    produce(server, "as-json", (json.dumps(dict(zip(("id", "name", "amount", "ok"), r))) for r in rows))
    produce(server, "as-csv", (f"{r[0]},{r[1]},{r[2]},{str(r[3]).lower()}" for r in rows))
    for kind in ("json", "csv"):
        ours = [list(r) for r in server.sql(f"SELECT id, name, amount, ok FROM `as-{kind}` ORDER BY id")]
        for r in ours:
            r[3] = bool(r[3])
        assert ours == rows
        assert json.loads(spark("table", f"as-{kind}", kind)) == rows
