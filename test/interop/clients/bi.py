"""bi.py CLIENT PORT: one client of MySQL against topics orders and big; asserts what it sees."""
import asyncio
import datetime
import decimal
import sys
import urllib.parse
import warnings

client, port = sys.argv[1], int(sys.argv[2])
LOGIN = dict(host="127.0.0.1", port=port, user="app", database="kafka")
ROWS = [(1, "b", 4.0), (2, "a", 1.25)]


ODBC = f"DRIVER=/usr/lib/x86_64-linux-gnu/odbc/libmaodbc.so;SERVER=127.0.0.1;PORT={port};DATABASE=kafka;UID=app;PWD=;CHARSET=utf8mb4"


def url(driver):
    if driver == "pyodbc":
        return "mysql+pyodbc://?odbc_connect=" + urllib.parse.quote_plus(ODBC)
    return f"mysql+{driver}://app@127.0.0.1:{port}/kafka"


def sqlalchemy(driver):
    import sqlalchemy as sa
    # Its own advice about keys without defaults, at every INSERT: _partition and _offset are given by the server.
    warnings.filterwarnings("ignore", message="Column .* is marked as a member of the primary key")
    if driver in ("aiomysql", "asyncmy"):
        from sqlalchemy.ext.asyncio import create_async_engine

        async def main():
            engine = create_async_engine(url(driver))
            async with engine.connect() as c:
                await c.run_sync(lambda c: reflect(sa, c))
                await c.run_sync(lambda c: insert(sa, c, driver))
            await engine.dispose()
        asyncio.run(main())
        return
    engine = sa.create_engine(url(driver))
    with engine.connect() as c:
        t = reflect(sa, c)
        insert(sa, c, driver)
        rows = c.execution_options(stream_results=True, max_row_buffer=100).execute(sa.text("SELECT i FROM big ORDER BY i")).scalars()
        assert list(rows) == list(range(2000))
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as c:
        assert c.execute(sa.select(sa.func.count()).select_from(t)).scalar() == 4


def reflect(sa, c):
    insp = sa.inspect(c)
    assert {"kafka", "millrace", "information_schema"} <= set(insp.get_schema_names())
    assert insp.get_table_names() == ["big", "orders"] and insp.get_view_names() == []
    assert insp.get_pk_constraint("orders")["constrained_columns"] == ["_partition", "_offset"]
    assert insp.get_foreign_keys("orders") == insp.get_unique_constraints("orders") == insp.get_check_constraints("orders") == []
    assert insp.has_table("orders") and not insp.has_table("nothing")
    meta = sa.MetaData()
    meta.reflect(bind=c)
    t = meta.tables["orders"]
    assert [str(t.c[n].type) for n in ("id", "city", "amount", "ok", "_timestamp")] == ["BIGINT", "VARCHAR(16383)", "DOUBLE", "TINYINT", "TIMESTAMP"]
    q = (sa.select(t.c.city, sa.func.count(), sa.func.max(t.c.amount)).where(t.c.id < 4, t.c.city.is_not(None))
         .group_by(t.c.city).having(sa.func.count() > 0).order_by(t.c.city.desc()))
    assert c.execute(q).all() == [("b", 1, 4.0), ("a", 2, 2.5)]
    a, b = t.alias(), t.alias()
    joined = sa.select(a.c.id, b.c.id).join(b, sa.and_(a.c.city == b.c.city, a.c.id < b.c.id))
    assert c.execute(joined).all() == [(0, 2)]
    ranked = sa.select(t.c.id, sa.func.row_number().over(partition_by=t.c.city, order_by=t.c.amount.desc()).label("n")).subquery()
    assert c.execute(sa.select(ranked.c.id).where(ranked.c.n == 1).order_by(ranked.c.id)).scalars().all() == [0, 1, 3]
    return t


SALES = """CREATE TABLE sales (id BIGINT, city VARCHAR(50), price DECIMAL(12,2), at DATETIME(6), ok BOOLEAN, `user.age` INT, bin VARBINARY(10), doc JSON)"""


def insert(sa, c, driver):
    """Core inserts: many rows, a rollback, documents and bytes, INSERT ... SELECT; read back with the types of the reflected table."""
    c.execute(sa.text(SALES))
    c.commit()
    t = sa.Table("sales", sa.MetaData(), autoload_with=c)
    assert [str(t.c[n].type) for n in ("price", "ok", "user.age", "bin", "doc")] == ["DECIMAL(12, 2)", "TINYINT", "INTEGER", "VARBINARY(10)", "JSON"]
    micros = 0 if driver == "pyodbc" else 5000  # MariaDB's ODBC driver sends whole seconds
    rows = [{"id": 2**60 + i, "city": ("Aachen", "Köln 😀", None)[i % 3], "price": decimal.Decimal(i) / 4,
             "at": datetime.datetime(2026, 7, 1, 12, 0, i, micros), "ok": bool(i % 2), "user.age": 20 + i} for i in range(10)]
    c.execute(t.insert(), rows)
    c.commit()
    got = c.execute(sa.select(t.c.id, t.c.city, t.c.price, t.c.at, t.c.ok, t.c["user.age"]).order_by(t.c.id)).all()
    assert got == [tuple(r.values()) for r in rows], got
    c.execute(t.insert().values(id=1, city="gone"))
    c.rollback()
    count = sa.select(sa.func.count()).select_from(t)
    assert c.execute(count).scalar() == 10
    more = {"doc": {"a": [1, None, "ü"]}}
    if driver not in ("aiomysql", "pyodbc"):  # one cannot send bytes with PyMySQL 1.2; the other reads no JSON
        more["bin"] = b"\x00\xff"
    c.execute(t.insert().values(id=1, city="one", **more))
    c.commit()
    if driver != "pyodbc":
        assert c.execute(sa.select(t.c.doc, t.c.bin).where(t.c.id == sa.bindparam("i")), {"i": 1}).all() == [(more["doc"], more.get("bin"))]
    c.execute(sa.insert(t).from_select(["id", "city"], sa.select(t.c.id + 1, sa.func.upper(t.c.city)).where(t.c.id < 10)))
    c.commit()
    assert c.execute(sa.select(t.c.id, t.c.city).where(t.c.id < 10).order_by(t.c.id)).all() == [(1, "one"), (2, "ONE")]
    try:
        c.execute(sa.text("SELECT nope FROM sales"))
        raise AssertionError("no error")
    except sa.exc.DBAPIError:  # each driver has its own class for 1054
        c.rollback()
    c.execute(sa.text("DROP TABLE sales"))
    c.commit()


def pandas():
    import pandas as pd
    import sqlalchemy as sa
    engine = sa.create_engine(url("pymysql"))
    df = pd.read_sql("SELECT city, amount, _timestamp, ok FROM orders ORDER BY id", engine, index_col="city")
    assert str(df.amount.dtype) == "float64" and df._timestamp.iloc[0] == pd.Timestamp("2026-01-01 10:00:00")
    assert pd.read_sql_table("orders", engine, columns=["id", "city"]).id.sum() == 6
    assert pd.read_sql(sa.text("SELECT id FROM orders WHERE city = :city"), engine, params={"city": "a"}).id.tolist() == [0, 2]
    assert sum(len(part) for part in pd.read_sql("SELECT i FROM big", engine, chunksize=300)) == 2000
    # A frame becomes a topic, and more rows of it are appended, one by one or many in a statement.
    frame = pd.DataFrame({"n": [1, 2, 2**60], "x": [0.5, None, -1e300], "word": ["a", "ö", None], "at": pd.to_datetime(["2026-01-01 10:00:00.25", None, "1970-01-01"], format="ISO8601")})
    frame.to_sql("frame", engine, index=False)
    frame.to_sql("frame", engine, index=False, if_exists="append", method="multi")
    back = pd.read_sql("SELECT n, x, word, at FROM frame ORDER BY n", engine)
    assert back.n.tolist() == [1, 1, 2, 2, 2**60, 2**60] and back.word.tolist()[:4] == ["a", "a", "ö", "ö"] and back.word.isna().sum() == 2
    assert back.x.tolist()[::2][::2] == [0.5, -1e300] and back.x.isna().sum() == 2
    # DATETIME has no digits unless asked, so what pandas creates keeps whole seconds.
    assert back["at"].tolist()[0] == pd.Timestamp("2026-01-01 10:00:00") and back["at"].isna().sum() == 2
    with engine.connect() as c:
        c.execute(sa.text("DROP TABLE frame"))


def mysqlclient():
    import MySQLdb
    from MySQLdb.cursors import SSCursor
    login = {"db" if k == "database" else k: v for k, v in LOGIN.items()}
    c = MySQLdb.connect(**login)
    cur = c.cursor()
    cur.execute("SELECT id, city, amount FROM orders WHERE id >= %s AND city <> %s ORDER BY id", (1, "it's"))
    assert list(cur.fetchall()) == ROWS
    cur = c.cursor(SSCursor)
    cur.execute("SELECT i FROM big")
    assert len(cur.fetchall()) == 2000
    cur.close()
    c.ping()


def connector_python(pure=True):
    import mysql.connector
    for raise_on_warnings in (True, False):
        c = mysql.connector.connect(use_pure=pure, raise_on_warnings=raise_on_warnings, **LOGIN)
        cur = c.cursor(prepared=True)
        for _ in range(2):
            cur.execute("SELECT id, city, amount FROM orders WHERE id >= %s AND city <> %s ORDER BY id", (1, "it's"))
            assert cur.fetchall() == ROWS
        cur.close()
        cur = c.cursor(dictionary=True)
        cur.execute("SELECT _timestamp AS t, amount FROM orders WHERE id = 0")
        assert cur.fetchall() == [{"t": datetime.datetime(2026, 1, 1, 10), "amount": 2.5}]
        c.cmd_reset_connection()
        c.ping()
        c.commit()
        c.close()


def connector_c():
    connector_python(pure=False)


def odbc():
    import pyodbc
    c = pyodbc.connect(ODBC, autocommit=True)
    cur = c.cursor()
    # SQLGetTypeInfo, for one type and for all of them: what Excel, Power Query and ODBC bridges read at connect.
    types = {r[0]: r[1] for r in cur.getTypeInfo()}
    assert types["BIGINT"] == pyodbc.SQL_BIGINT and {"VARCHAR", "DECIMAL", "DATETIME", "TIMESTAMP", "BLOB", "DOUBLE"} <= set(types), types
    assert "DATETIME" in [r[0] for r in cur.getTypeInfo(pyodbc.SQL_TYPE_TIMESTAMP)]
    assert c.getinfo(pyodbc.SQL_DBMS_NAME) == "MySQL"
    assert [(r[0], r[2], r[3]) for r in cur.tables(catalog="kafka")] == [("kafka", "big", "TABLE"), ("kafka", "orders", "TABLE")]
    assert [(r.column_name, r.key_seq) for r in cur.primaryKeys("orders", catalog="kafka")] == [("_partition", 1), ("_offset", 2)]
    assert [r[8] for r in cur.statistics("orders", catalog="kafka")] == ["_partition", "_offset"]
    assert list(cur.foreignKeys("orders", catalog="kafka")) == []
    columns = [(r.column_name, r.type_name, r.data_type, r.nullable) for r in cur.columns(table="orders", catalog="kafka")]
    assert ("id", "BIGINT", -5, 1) in columns and ("_offset", "BIGINT", -5, 0) in columns and ("city", "VARCHAR", -9, 1) in columns, columns
    assert [r[1] for r in cur.rowIdColumns("orders", catalog="kafka")] == ["_partition", "_offset"]
    cur.execute("SELECT id, city, amount FROM orders WHERE id >= ? AND city <> ? ORDER BY id", 1, "it's")
    assert [tuple(r) for r in cur.fetchall()] == ROWS
    cur.execute("SELECT i FROM big ORDER BY i")
    assert [r[0] for r in cur.fetchall()] == list(range(2000))


if client.startswith("sqlalchemy_"):
    sqlalchemy(client.removeprefix("sqlalchemy_"))
else:
    globals()[client]()
