"""frames.py CLIENT PORT: engines and data frames that read tables of topics by themselves; asserts what they see of table typed of test_values.py,
and of topic big (i BIGINT, 0 to 4,999)."""
import datetime
import decimal
import pathlib
import sys

client, port = sys.argv[1], int(sys.argv[2])
D = decimal.Decimal
NUMBERS = [(1, 2**63 - 1, 2**64 - 1, -2**31, -128, D("12345678901234.123456"), 0.1, "Größe 😀 漢字"),
           (2, -2**63, 0, 2**31 - 1, 127, D("-0.000001"), -1e300, ""), (3,) + (None,) * 7]
TIMES = [(datetime.datetime(2026, 7, 1, 12, 34, 56, 789012), datetime.datetime(2026, 7, 1, 12, 34, 56, 789000), datetime.date(2026, 2, 28), 42),
         (datetime.datetime(1970, 1, 1), datetime.datetime(1970, 1, 1, 0, 0, 1), datetime.date(1000, 1, 1), 0), (None,) * 4]
BYTES = [(b"\x00\xff\x10", b"\xde\xad\xbe\xef\x00"), (b"", b""), (None, None)]


def duckdb():
    """The mysql extension, loaded from the package that brings it: the host of DuckDB's extensions is not asked."""
    import duckdb as d
    import duckdb_extension_mysql_scanner as package
    (extension,) = pathlib.Path(package.__file__).parent.glob("extensions/*/mysql_scanner.duckdb_extension")
    c = d.connect()
    c.execute(f"LOAD '{extension}'")
    c.execute(f"ATTACH 'host=127.0.0.1 port={port} user=app database=kafka' AS k (TYPE mysql_scanner)")
    q = lambda sql: c.execute(sql).fetchall()  # noqa: E731
    types = dict((r[0], r[1]) for r in q("DESCRIBE k.typed"))
    assert [types[n] for n in ("big", "ubig", "flag", "price", "at", "day", "bin", "user.age", "name")] == [
        "BIGINT", "UBIGINT", "BOOLEAN", "DECIMAL(20,6)", "TIMESTAMP", "DATE", "BLOB", "INTEGER", "VARCHAR"], types
    assert q("SELECT id, big, ubig, small, tiny, price, ratio, name FROM k.typed ORDER BY id") == NUMBERS
    assert q('SELECT "at", stamp, day, "user.age" FROM k.typed ORDER BY id') == TIMES
    assert q("SELECT bin, b FROM k.typed ORDER BY id") == BYTES
    assert q("SELECT flag, doc FROM k.typed ORDER BY id") == [(True, '{"a": [1, null, "x"]}'), (False, "[]"), (None, None)]
    assert q("SELECT COUNT(*), SUM(i), MAX(i) FROM k.big") == [(5000, 12497500, 4999)]
    c.execute("SET mysql_experimental_filter_pushdown = true")
    assert q("SELECT i FROM k.big WHERE i = 4321") == [(4321,)]
    assert q("SELECT b.i, n.word FROM k.big b JOIN (VALUES (7, 'seven'), (9, 'nine'), (-1, 'none')) n(i, word) ON b.i = n.i ORDER BY 1") == [(7, "seven"), (9, "nine")]
    assert q("SELECT * FROM mysql_query('k', 'SELECT COUNT(*) AS n, MAX(at) AS last FROM typed')") == [(3, TIMES[0][0])]
    c.execute("CREATE TABLE k.fresh (n BIGINT, word VARCHAR)")
    c.execute("INSERT INTO k.fresh (n, word) SELECT range, 'w' || range FROM range(10)")
    c.execute("BEGIN")
    c.execute("INSERT INTO k.fresh (n) VALUES (1000)")
    c.execute("ROLLBACK")
    assert q("SELECT COUNT(*), SUM(n), MAX(word) FROM k.fresh") == [(10, 45, "w9")]


def clickhouse():
    """chdb is ClickHouse in a library: table function mysql(), and a whole database."""
    from chdb import session
    s = session.Session()

    def q(sql):
        return [line.split("\t") for line in s.query(sql, "TSV").data().splitlines()]
    table = f"mysql('127.0.0.1:{port}', 'kafka', 'typed', 'app', '')"
    types = {r[0]: r[1] for r in q(f"DESCRIBE TABLE {table}")}
    assert [types[n] for n in ("_offset", "big", "ubig", "price", "at", "day", "user.age", "name")] == [
        "Int64", "Nullable(Int64)", "Nullable(UInt64)", "Nullable(Decimal(20, 6))", "Nullable(DateTime64(6))", "Nullable(Date32)", "Nullable(Int32)",
        "Nullable(String)"], types
    assert q(f"SELECT id, big, ubig, small, tiny, price, ratio, name FROM {table} ORDER BY id") == [
        ["\\N" if v is None else str(v).replace("e+", "e") for v in row] for row in NUMBERS[:1] + [(*NUMBERS[1][:5], "-0.000001", *NUMBERS[1][6:])] + NUMBERS[2:]]
    assert q(f"SELECT at, stamp, day, `user.age`, hex(bin) FROM {table} ORDER BY id") == [
        ["2026-07-01 12:34:56.789012", "2026-07-01 12:34:56.789", "2026-02-28", "42", "00FF10"],
        ["1970-01-01 00:00:00.000000", "1970-01-01 00:00:01.000", "1000-01-01", "0", ""], ["\\N"] * 5]
    s.query(f"CREATE DATABASE k ENGINE = MySQL('127.0.0.1:{port}', 'kafka', 'app', '')")
    assert ["typed"] in q("SHOW TABLES FROM k")
    assert q("SELECT count(), sum(i) FROM k.big WHERE i >= 4990 AND i <> 4995") == [["9", "44950"]]
    assert q("SELECT id FROM k.typed WHERE name = 'Größe 😀 漢字' AND price > 1") == [["1"]]


def polars():
    import polars as pl
    uri = f"mysql://app@127.0.0.1:{port}/kafka"
    read = lambda sql, **kw: pl.read_database_uri(sql, uri, engine="connectorx", **kw)  # noqa: E731
    assert read("SELECT id, big, ubig, small, tiny, CAST(price AS CHAR) AS price, ratio, name FROM typed ORDER BY id").rows() == [
        (*r[:5], None if r[5] is None else f"{r[5]:.6f}", *r[6:]) for r in NUMBERS]
    assert read("SELECT at, stamp, day, `user.age` FROM typed ORDER BY id").rows() == TIMES
    assert read("SELECT bin, b FROM typed ORDER BY id").rows() == BYTES
    whole = read("SELECT i FROM big", partition_on="i", partition_num=4)
    assert sorted(whole["i"].to_list()) == list(range(5000))
    assert read("SELECT id, name FROM typed WHERE id < 0").schema == {"id": pl.Int64, "name": pl.String}
    summed = read("SELECT COUNT(*) AS n, SUM(big) AS s, MAX(at) AS last FROM typed")
    assert summed.rows() == [(3, D(-1), TIMES[0][0])], summed
    import sqlalchemy as sa
    engine = sa.create_engine(f"mysql+pymysql://app@127.0.0.1:{port}/kafka")
    frame = pl.read_database("SELECT id, price, name, day FROM typed ORDER BY id", engine)
    assert frame.rows() == [(r[0], r[5], r[7], t[2]) for r, t in zip(NUMBERS, TIMES)]
    pl.DataFrame({"n": [1, 2, None], "word": ["a", "ö", None]}).write_database("polars_out", engine, if_table_exists="append")
    assert pl.read_database("SELECT n, word FROM polars_out ORDER BY n IS NULL, n", engine).rows() == [(1, "a"), (2, "ö"), (None, None)]


def arrow_odbc():
    import arrow_odbc as a
    dsn = f"DRIVER=/usr/lib/x86_64-linux-gnu/odbc/libmaodbc.so;SERVER=127.0.0.1;PORT={port};DATABASE=kafka;UID=app;PWD=;CHARSET=utf8mb4"

    def read(sql):
        return [tuple(r.values()) for b in a.read_arrow_batches_from_odbc(sql, connection_string=dsn, batch_size=1000) for r in b.to_pylist()]
    assert read("SELECT id, big, small, tiny, price, ratio, name FROM typed ORDER BY id") == [(*r[:2], *r[3:]) for r in NUMBERS]
    assert [(*r[:2], r[2], r[3]) for r in read("SELECT at, stamp, day, `user.age` FROM typed ORDER BY id")] == TIMES
    assert read("SELECT bin FROM typed ORDER BY id") == [(r[0],) for r in BYTES]
    assert [r[0] for r in read("SELECT i FROM big ORDER BY i")] == list(range(5000))


globals()[client]()
