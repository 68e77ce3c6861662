"""bi.py CLIENT PORT: one client of MySQL against topics orders and big; asserts what it sees."""
import datetime
import sys

client, port = sys.argv[1], int(sys.argv[2])
LOGIN = dict(host="127.0.0.1", port=port, user="app", database="kafka")
ROWS = [(1, "b", 4.0), (2, "a", 1.25)]


def url(driver):
    return f"mysql+{driver}://app@127.0.0.1:{port}/kafka"


def sqlalchemy(driver):
    import sqlalchemy as sa
    engine = sa.create_engine(url(driver))
    insp = sa.inspect(engine)
    assert {"kafka", "millrace", "information_schema"} <= set(insp.get_schema_names())
    assert insp.get_table_names() == ["big", "orders"] and insp.get_view_names() == []
    assert insp.get_pk_constraint("orders")["constrained_columns"] == ["_partition", "_offset"]
    assert insp.get_foreign_keys("orders") == insp.get_unique_constraints("orders") == insp.get_check_constraints("orders") == []
    assert insp.has_table("orders") and not insp.has_table("nothing")
    meta = sa.MetaData()
    meta.reflect(bind=engine)
    t = meta.tables["orders"]
    assert [str(t.c[n].type) for n in ("id", "city", "amount", "ok", "_timestamp")] == ["BIGINT", "VARCHAR(16383)", "DOUBLE", "TINYINT", "TIMESTAMP"]
    with engine.connect() as c:
        q = (sa.select(t.c.city, sa.func.count(), sa.func.max(t.c.amount)).where(t.c.id < 4, t.c.city.is_not(None))
             .group_by(t.c.city).having(sa.func.count() > 0).order_by(t.c.city.desc()))
        assert c.execute(q).all() == [("b", 1, 4.0), ("a", 2, 2.5)]
        rows = c.execution_options(stream_results=True, max_row_buffer=100).execute(sa.text("SELECT i FROM big ORDER BY i")).scalars()
        assert list(rows) == list(range(2000))
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as c:
        assert c.execute(sa.select(sa.func.count()).select_from(t)).scalar() == 4


def pandas():
    import pandas as pd
    import sqlalchemy as sa
    engine = sa.create_engine(url("pymysql"))
    df = pd.read_sql("SELECT city, amount, _timestamp, ok FROM orders ORDER BY id", engine, index_col="city")
    assert str(df.amount.dtype) == "float64" and df._timestamp.iloc[0] == pd.Timestamp("2026-01-01 10:00:00")
    assert pd.read_sql_table("orders", engine, columns=["id", "city"]).id.sum() == 6
    assert pd.read_sql(sa.text("SELECT id FROM orders WHERE city = :city"), engine, params={"city": "a"}).id.tolist() == [0, 2]
    assert sum(len(part) for part in pd.read_sql("SELECT i FROM big", engine, chunksize=300)) == 2000


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


def connector_python():
    import mysql.connector
    for raise_on_warnings in (True, False):
        c = mysql.connector.connect(use_pure=True, raise_on_warnings=raise_on_warnings, **LOGIN)
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


def odbc():
    import pyodbc
    c = pyodbc.connect(f"DRIVER=/usr/lib/x86_64-linux-gnu/odbc/libmaodbc.so;SERVER=127.0.0.1;PORT={port};DATABASE=kafka;UID=app;PWD=;", autocommit=True)
    cur = c.cursor()
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
