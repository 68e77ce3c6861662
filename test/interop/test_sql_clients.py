"""MySQL clients: connect, SHOW TABLES, DESCRIBE, SELECT with WHERE, GROUP BY,
ORDER BY, LIMIT and JOIN over topics, prepared statements."""
import subprocess

import pytest
import sqlalchemy as sa
from confluent_kafka import Producer

from millrace import CACHE, ROOT

HERE = ROOT / "test" / "interop" / "clients"


@pytest.fixture
def loaded(server):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i, s in enumerate("abcab"):
        p.produce("jt", value=f'{{"n":{i},"s":"{s}"}}')
    for i, label in ((1, "one"), (2, "two"), (9, "nine")):
        p.produce("ju", value=f'{{"n":{i},"label":"{label}"}}')
    assert p.flush(20) == 0
    return server


COLUMNS = ["_partition", "_offset", "_timestamp", "_key", "n", "s"]


def test_pymysql(loaded):
    assert ("jt",) in loaded.sql("SHOW TABLES")
    fields = [r[0] for r in loaded.sql("DESCRIBE jt")]
    assert [f for f in fields if f in COLUMNS] == COLUMNS
    assert loaded.sql("SELECT s, COUNT(*), SUM(n) FROM jt WHERE n > 0 GROUP BY s ORDER BY s LIMIT 10") == [("a", 1, 3), ("b", 2, 5), ("c", 1, 2)]
    assert loaded.sql("SELECT jt.n, ju.label FROM jt JOIN ju ON jt.n = ju.n ORDER BY 1") == [(1, "one"), (2, "two")]


def test_sqlalchemy_reflects_a_topic(loaded):
    engine = sa.create_engine(f"mysql+pymysql://app@127.0.0.1:{loaded.mysql_port}/kafka")
    insp = sa.inspect(engine)
    assert {"jt", "ju"} <= set(insp.get_table_names())
    assert insp.get_pk_constraint("jt")["constrained_columns"] == ["_partition", "_offset"]
    t = sa.Table("jt", sa.MetaData(), autoload_with=engine)
    assert isinstance(t.c.n.type, sa.BigInteger) or "BIGINT" in str(t.c.n.type)
    with engine.connect() as c:
        q = sa.select(t.c.s, sa.func.count()).where(t.c.n > 0).group_by(t.c.s).order_by(t.c.s).limit(2)
        assert c.execute(q).all() == [("a", 1), ("b", 2)]


def test_a_session_of_sqlalchemy_sees_its_own_rows(loaded):
    engine = sa.create_engine(f"mysql+pymysql://app@127.0.0.1:{loaded.mysql_port}/kafka")
    t = sa.Table("jt", sa.MetaData(), autoload_with=engine)
    many = sa.select(sa.func.count(), sa.func.max(t.c.n))
    with engine.connect() as c, engine.connect() as other:
        assert c.get_isolation_level() == "READ COMMITTED"
        for end, kept in ((c.rollback, (5, 4)), (c.commit, (6, 70))):
            c.execute(sa.insert(t).values(n=70, s="own"))
            assert c.execute(many).all() == [(6, 70)]
            assert c.execute(sa.select(t.c._offset, t.c.s).where(t.c.n > 4)).all()[0].s == "own"
            assert other.execute(many).all() == [(5, 4)]
            end()
            assert c.execute(many).all() == other.execute(many).all() == [kept]
        c.rollback()
        c.execution_options(isolation_level="REPEATABLE READ")  # taken, with a warning, as READ COMMITTED
        assert c.execute(many).all() == [(6, 70)]
        other.execute(sa.insert(t).values(n=71, s="more"))
        other.commit()
        assert c.execute(many).all() == [(7, 71)]


def test_mariadb_cli(loaded):
    def q(sql):
        return subprocess.run(["mysql", "-h127.0.0.1", f"-P{loaded.mysql_port}", "-uapp", "kafka", "-N", "-B", "-e", sql],
                              check=True, text=True, stdout=subprocess.PIPE, timeout=30).stdout.splitlines()

    assert "jt" in q("SHOW TABLES")
    assert [l.split("\t")[0] for l in q("DESCRIBE jt") if l.split("\t")[0] in COLUMNS] == COLUMNS
    assert q("SELECT s, COUNT(*), SUM(n) FROM jt WHERE n > 0 GROUP BY s ORDER BY s LIMIT 10") == ["a\t1\t3", "b\t2\t5", "c\t1\t2"]
    assert q("SELECT jt.n, ju.label FROM jt JOIN ju ON jt.n = ju.n ORDER BY 1") == ["1\tone", "2\ttwo"]
    assert q("PREPARE p FROM 'SELECT n FROM jt WHERE n > ? ORDER BY n'; SET @a = 2; EXECUTE p USING @a") == ["3", "4"]


EXPECTED = ["group a|1|3 b|2|5 c|1|2", "join 1|one 2|two", "prepared 0|a 2|c 3|a"]


def test_mysql2(loaded):
    (CACHE / "node" / "mysql2.mjs").write_text((HERE / "mysql2.mjs").read_text())
    out = subprocess.run(["node", f"{CACHE}/node/mysql2.mjs", "127.0.0.1", str(loaded.mysql_port), "app", ""],
                         check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout.splitlines()
    assert out[0] == "tables true"
    assert out[2:] == EXPECTED


@pytest.mark.parametrize("params", ["", "useServerPrepStmts=true", "useServerPrepStmts=true&useCursorFetch=true&defaultFetchSize=2"])
def test_connector_j(loaded, params):
    out = subprocess.run(["java", "-cp", f"{CACHE}/classes:{CACHE}/jars/*", "JdbcProgram", f"127.0.0.1:{loaded.mysql_port}", params],
                         check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout.splitlines()
    assert out[0] == "tables true"
    assert out[2] == "pk [_offset, _partition]" or out[2] == "pk [_partition, _offset]"
    assert out[3:] == ["group [a|1|3, b|2|5, c|1|2]", "join [1|one, 2|two]", "prepared [0|a, 2|c, 3|a]", "prepared [1|b, 3|a, 4|b]"]
