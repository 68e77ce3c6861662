"""Engines and data frames that attach a MySQL database or read it by themselves: DuckDB's mysql extension, ClickHouse's mysql(), polars with
connectorx and SQLAlchemy, Arrow batches over ODBC."""
import subprocess

import pytest
from confluent_kafka import Producer

from millrace import CACHE, ROOT
from test_values import ROWS, TYPED


@pytest.fixture
def typed(server):
    server.sql(TYPED, ROWS)
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(5000):
        p.produce("big", value=f'{{"i":{i}}}')
    assert p.flush(20) == 0
    return server


def run(server, client):
    r = subprocess.run([CACHE / "frames/bin/python", ROOT / "test/interop/clients/frames.py", client, str(server.mysql_port)], capture_output=True, text=True,
                       timeout=240)
    assert r.returncode == 0, r.stdout[-2000:] + r.stderr[-4000:]


def asked(server):
    """The statements over topic big that reached us, as the summary of statements has them: in lower case, with ? for values."""
    return [s for (s,) in server.sql("SELECT statement FROM millrace.statements") if "`big`" in s]


@pytest.mark.full
@pytest.mark.parametrize("client", ["polars", "arrow_odbc"])
def test_frames(typed, client):
    run(typed, client)


@pytest.mark.full
def test_duckdb_attaches(typed):
    run(typed, "duckdb")
    assert any(s.endswith("where `i` = ?") for s in asked(typed)), asked(typed)


@pytest.mark.full
def test_clickhouse_reads(typed):
    run(typed, "clickhouse")
    assert any(s.endswith("where ( `i` >= ? ) and ( `i` != ? )") for s in asked(typed)), asked(typed)
