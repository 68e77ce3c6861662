"""Flink's JDBC connector, the newest whose MySQL dialect is on the package registry, in a Flink of its version."""
import subprocess

import pytest
from confluent_kafka import Producer

from millrace import CACHE
from test_flink import OPENS
from test_values import ROWS, TYPED


@pytest.fixture
def loaded(server):
    server.sql(TYPED, ROWS, "CREATE TABLE written (id BIGINT, word VARCHAR(100), price DECIMAL(12,2), at DATETIME(6), ok BOOLEAN)")
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(5000):
        p.produce("big", value=f'{{"i":{i}}}', partition=0)
    for i in range(20):
        p.produce("names", value=f'{{"i":{i},"word":"wört {i}"}}')
    assert p.flush(20) == 0
    return server


@pytest.mark.full
def test_flink_reads_looks_up_and_writes_by_jdbc(loaded):
    r = subprocess.run(["java", "-Xmx700m", "-Duser.timezone=UTC", *OPENS, "-cp", f"{CACHE}/flinkjdbc-classes:{CACHE}/flinkjdbc/*", "FlinkJdbcProgram",
                        str(loaded.mysql_port)], capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stdout[-3000:] + r.stderr[-5000:]
    said = dict(line.split(": ", 1) for line in r.stdout.splitlines() if ": [" in line)
    assert said["rows"] == (
        "[+I[1, 9223372036854775807, 18446744073709551615, -2147483648, true, 12345678901234.123456, 0.1, Größe 😀 漢字, 2026-07-01T12:34:56.789012, "
        "2026-07-01T12:34:56.789, 2026-02-28, 42], +I[2, -9223372036854775808, 0, 2147483647, false, -0.000001, -1.0E300, , 1970-01-01T00:00, "
        "1970-01-01T00:00:01, 1000-01-01, 0], +I[3, null, null, null, null, null, null, null, null, null, null, null]]")
    assert said["partitioned"] == "[+I[5000, 12497500, 4999, 5000]]"
    assert said["filtered"] == "[+I[wört 7]]" and said["limited"] == "[+I[3]]"
    assert said["written"] == f"[+I[5000, 2500, {sum(range(5000)) / 4:.2f}, 2026-07-01T12:00:00.250, 2499]]"
    assert all(t in said["catalog"] for t in ("+I[big]", "+I[names]", "+I[typed]", "+I[written]"))
    assert said["through the catalog"] == "[+I[0, wört 0, 0, false], +I[1, wört 1, 1, false]]"
    assert sorted(said["looked up"].strip("[]").split("], ")) == ["+I[1, wört 1", "+I[7, wört 7", "+I[999, null"]
    asked = [s for (s,) in loaded.sql("SELECT statement FROM millrace.statements WHERE errors = 0")]
    assert any("`big`" in s and "`_offset` between ? and ?" in s for s in asked), asked
    assert any("`names`" in s and "`i` = ?" in s and "`word`" in s for s in asked), asked
    assert loaded.one("SELECT COUNT(*), COUNT(word), SUM(ok) FROM written") == (5000, 2500, 2499)
