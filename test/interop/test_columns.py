"""Files of columns are Parquet files that others read as they lie."""
import datetime
import decimal
import random
import time

import duckdb
import pyarrow.parquet
from confluent_kafka import Producer

from millrace import Millrace


def test_duckdb_reads_the_columns_of_a_sealed_topic_as_sql_shows_them(server):
    p = Producer({"bootstrap.servers": server.bootstrap})
    cities = ["Berlin", "Zürich", "東京", ""]
    for i in range(20_000):
        fields = [f'"n":{i - 500}', f'"city":"{cities[i % 4]}"', f'"id":"{i * 2654435761 % 2**32:08x}"', f'"f":{i}.5', f'"ok":{str(i % 3 == 0).lower()}']
        if i % 10 == 0:
            fields.append(f'"sub":{{"big":{10**20 + i},"list":[1,{i}]}}')
        p.produce("c", key=f"k{i % 100}", value="{" + ",".join(fields) + "}", partition=0, timestamp=1_700_000_000_000 + i)
        p.poll(0)
    p.produce("c", value="no JSON")
    p.flush()
    server.sql("CALL millrace.seal('c')")
    files = list((server.data / "columns").glob("c.*/*.parquet"))
    assert len(files) == 1
    columns = "`_partition`, `_offset`, `_timestamp`, `_key`, n, city, id, f, ok, `sub.big`, `sub.list`"
    want = server.sql("SET time_zone='+00:00'", f"SELECT {columns} FROM c ORDER BY _offset")
    db = duckdb.connect()
    db.execute("SET TimeZone='UTC'")
    got = db.execute(f"SELECT {columns.replace('`', chr(34))} FROM '{files[0]}' ORDER BY _offset").fetchall()
    assert len(got) == len(want) == 20_001
    for g, w in zip(got, want):
        g = list(g)
        g[2] = g[2].astimezone(datetime.timezone.utc).replace(tzinfo=None)
        g[8] = None if g[8] is None else int(g[8])
        assert tuple(g) == tuple(w)
    assert isinstance(got[0][9], decimal.Decimal)
    # What it finds by the files' own bounds and filters is what there is.
    assert db.execute(f"SELECT count(*) FROM '{files[0]}' WHERE id = ?", [got[77][6]]).fetchone() == (1,)
    assert db.execute(f"SELECT count(*) FROM '{files[0]}' WHERE n > 19000").fetchone() == (499,)


def test_columns_may_be_deleted_while_the_server_is_down(server):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(1000):
        p.produce("d", value=f'{{"n":{i}}}')
    p.flush()
    server.sql("CALL millrace.seal('d')")
    server.stop()
    for f in (server.data / "columns").glob("*/*"):
        f.unlink()
    server.start()
    assert server.one("SELECT SUM(n) FROM d") == 499500


def test_duckdb_and_arrow_read_files_that_are_compressed_once_they_are_cold(tmp_path):
    m = Millrace(tmp_path / "data", "--columns-cold", "1s").start()
    try:
        p = Producer({"bootstrap.servers": m.bootstrap})
        rows = 20_000
        for i in range(rows):
            p.produce(
                "cold",
                value=f'{{"n":{i},"id":"{i * 2654435761 % 2**32:016x}","text":"row {i} lies before row {i + 1} and behind row {i - 1}",'
                f'"amount":{i % 500}.25,"status":{[200, 404, 500][i % 3]},"lat":{(i * 7919) % 18000 / 100 - 90},"r":{random.getrandbits(60)}}}',
                partition=0,
            )
            p.poll(0)
        p.flush()
        m.sql("CALL millrace.seal('cold')")
        (hot,) = (m.data / "columns").glob("cold.*/*.parquet")
        was = hot.stat().st_size
        end = time.monotonic() + 60
        while time.monotonic() < end:
            files = list((m.data / "columns").glob("cold.*/*.parquet"))
            if files and files != [hot] and len(files) == 1:
                break
            time.sleep(0.2)
        (cold,) = files
        assert cold != hot and cold.stat().st_size < was * 0.7
        columns = "`_offset`, n, id, text, amount, status, lat, r"
        want = m.sql(f"SELECT {columns} FROM cold ORDER BY _offset")
        assert len(want) == rows
        db = duckdb.connect()
        assert db.execute(f"SELECT {columns.replace('`', chr(34))} FROM '{cold}' ORDER BY _offset").fetchall() == [tuple(r) for r in want]
        codecs = dict(db.execute(f"SELECT path_in_schema, compression FROM parquet_metadata('{cold}')").fetchall())
        assert codecs["text"] == "ZSTD" and codecs["r"] == "UNCOMPRESSED"
        encodings = dict(db.execute(f"SELECT path_in_schema, encodings FROM parquet_metadata('{cold}')").fetchall())
        assert "RLE_DICTIONARY" in encodings["amount"] and "RLE_DICTIONARY" in encodings["status"]
        table = pyarrow.parquet.read_table(cold, columns=["n", "id", "text", "amount", "status", "lat", "r"]).to_pylist()
        assert [tuple(r.values()) for r in table] == [tuple(r[1:]) for r in want]
    finally:
        m.stop()
