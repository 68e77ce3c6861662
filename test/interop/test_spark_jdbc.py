"""Spark's JDBC source and sink with both drivers: types, partitioned reads, and what Spark leaves to us: filters, aggregates, limits."""
import json
import os
import subprocess

import pytest
from confluent_kafka import Producer

from millrace import CACHE, ROOT
from test_values import ROWS, TYPED

TYPES = {"_partition": "int", "_offset": "bigint", "_timestamp": "timestamp", "_key": "string", "id": "bigint", "big": "bigint", "ubig": "decimal(20,0)",
         "small": "int", "flag": "boolean", "price": "decimal(20,6)", "ratio": "double", "name": "string", "doc": "string", "at": "timestamp",
         "stamp": "timestamp", "day": "date", "bin": "binary", "user.age": "int", "t": "string"}
VALUES = [[1, 2**63 - 1, "18446744073709551615", -2**31, True, "12345678901234.123456", 0.1, "Größe 😀 漢字", "2026-07-01 12:34:56.789012",
           "2026-07-01 12:34:56.789000", "2026-02-28", "00ff10", 42, '{"a": [1, null, "x"]}'],
          [2, -2**63, "0", 2**31 - 1, False, "-0.000001", -1e300, "", "1970-01-01 00:00:00", "1970-01-01 00:00:01", "1000-01-01", "", 0, "[]"],
          [3] + [None] * 13]


@pytest.fixture
def typed(server):
    server.sql(TYPED, ROWS)
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(5000):
        p.produce("big", value=f'{{"i":{i}}}', partition=0)
    assert p.flush(20) == 0
    return server


@pytest.mark.full
@pytest.mark.parametrize("spark,driver", [("3", "cj8"), ("4", "cj9"), ("4", "mariadb")])
def test_spark_reads_and_writes_by_jdbc(typed, spark, driver):
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "TZ": "UTC",
           "PYSPARK_SUBMIT_ARGS": f"--driver-memory 600m --driver-java-options -Duser.timezone=UTC --driver-class-path {CACHE}/jdbc/{driver}/* pyspark-shell"}
    for name in ("SPARK_HOME", "PYTHONPATH"):
        env.pop(name, None)
    r = subprocess.run([f"{CACHE}/spark{spark}/bin/python", str(ROOT / "test/interop/spark/jdbc.py"), driver, str(typed.mysql_port)], env=env,
                       capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stdout[-3000:] + r.stderr[-3000:]
    said = dict(json.loads(line) for line in r.stdout.splitlines() if line.startswith("["))
    types = said["schema"]
    assert {n: types[n] for n in TYPES} == TYPES
    assert "_value" not in types  # invisible columns are not asked for
    assert said["rows"] == VALUES
    assert said["partitions"] == [1250] * 4
    assert said["partitioned"] == [5000, 12497500, 4999]
    assert said["filtered"] == [4991, 4992, 4993, 4994, 4997, 4998, 4999]
    assert [[k, n, float(s), int(b)] for k, n, s, b in said["query"]] == [[k, 1000, sum(range(k, 5000, 5)) * 1.5, 0] for k in range(5)]
    # The server was asked for no more: what its summary of statements tells.
    over = [s for (s,) in typed.sql("SELECT statement FROM millrace.statements WHERE errors = 0") if "`big`" in s]
    offset, i, partition = ("?",) * 3 if driver == "mariadb" else ("`_offset`", "`i`", "`_partition`")  # names in " look like texts to the summary
    assert any(f"{offset} >= ?" in s and f"{offset} < ?" in s for s in over), over
    assert any(f"{i} > ?" in s and f"{partition} = ?" in s and "not" in s for s in over), over
    if driver != "mariadb":
        assert {"big", "typed"} <= set(said["catalog"])
        assert said["aggregate"] == [[k, 980, sum(range(100 + k, 5000, 5)), 100 + k] for k in range(5)]
        assert said["whole"] == [5000, 12497500, 0, 4999]
        assert said["top"] == [4999, 4998, 4997] and said["limit"] == 7
        assert any("sum ( `i` )" in s and "group by" not in s for s in over), over
        if spark == "4":  # Spark 3 groups by an expression itself
            assert any("sum ( `i` )" in s and "group by" in s for s in over), over
        assert any("order by" in s and "limit ?" in s for s in over), over
    assert said["written"][:3] == [1000, 500, 500]
    assert [float(v) for v in said["written"][3:]] == [2 * sum(range(500)) / 4, 2.0 * len(range(0, 500, 3)), 2 * sum(range(500)) / 8]
