"""Real-world failures as runnable inputs with exact answers. Every SQL question
is asked three times: pushed down, not pushed down, and after a restart."""
import contextlib
import json
import subprocess
import threading
import time
from decimal import Decimal

import pymysql
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

ROLL = object()  # force a new segment between records


def create(server, topic, partitions=1, **config):
    conf = {k.replace("_", "."): v for k, v in config.items()}
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    for f in admin.create_topics([NewTopic(topic, partitions, 1, config=conf)]).values():
        f.result(20)


def produce(server, topic, values, **kw):
    """values: str or bytes values, None (tombstone), (key, value), or ROLL."""
    p = Producer({"bootstrap.servers": server.bootstrap, **kw})
    for v in values:
        if v is ROLL:
            assert p.flush(30) == 0
            server.sql(f"CALL millrace.seal('{topic}')")
            continue
        key, value = v if isinstance(v, tuple) else (None, v)
        p.produce(topic, key=key, value=value, partition=0)
        p.poll(0)
    assert p.flush(60) == 0


def consume(server, topic, n=None):
    c = Consumer({"bootstrap.servers": server.bootstrap, "group.id": "unused", "enable.auto.commit": False})
    tp = TopicPartition(topic, 0)
    low, high = c.get_watermark_offsets(tp, timeout=10)
    c.assign([TopicPartition(topic, 0, low)])
    out = []
    while low + len(out) < high:
        m = c.poll(10)
        assert m is not None and not m.error(), m and m.error()
        out.append(m.value())
    c.close()
    return out


def check(server, *questions):
    """questions: (SQL, expected rows); asked three times."""
    def ask(how, first):
        for sql, want in questions:
            got = server.sql(*first, sql)
            assert got == want, f"{how}: {sql}\n got {got}\nwant {want}"

    ask("pushed down", [])
    ask("not pushed down", ["SET millrace_pushdown=0"])
    server.restart()
    ask("after a restart", [])


def column(*values):
    return [(v,) for v in values]


def test_c01_a_quoted_number_after_30000_numbers_keeps_its_text(server):
    create(server, "c01")
    produce(server, "c01", ['{"a":1}'] * 30000 + ['{"a":"007"}', '{"a":""}'])
    check(server,
          ("SELECT a FROM c01 WHERE _offset>=29999 ORDER BY _offset", column("1", "007", "")),
          ("SELECT COUNT(*) FROM c01 WHERE a='007'", column(1)),
          ("SELECT COUNT(*) FROM c01 WHERE a=''", column(1)),
          ("SELECT COUNT(*) FROM c01 WHERE _error IS NOT NULL", column(0)),
          ("SELECT COUNT(*) FROM c01", column(30002)))


def test_c02_an_integer_above_bigint_is_not_wrapped(server):
    create(server, "c02")
    produce(server, "c02", ['{"a":1}'] * 30000 + ['{"a":9223372036854775808}'])
    check(server, ("SELECT COUNT(*),MIN(a),MAX(a),SUM(a) FROM c02", [(30001, 1, 9223372036854775808, 9223372036854805808)]))


def test_c03_an_integer_of_25_digits_is_exact(server):
    create(server, "c03")
    produce(server, "c03", ['{"n":2942420318599003496251392,"name":"Ann"}'])
    check(server, ("SELECT n,name FROM c03", [(Decimal("2942420318599003496251392"), "Ann")]))


def test_c05_declared_decimals_keep_their_scale(server):
    create(server, "c05", millrace_columns="price DECIMAL(10,2)")
    produce(server, "c05", ['{"price":12}', '{"price":12.1}', '{"price":10.0}'])
    create(server, "c05b", millrace_columns="price DECIMAL(10,2)")
    produce(server, "c05b", ['{"price":0.1}'] * 10)
    check(server,
          ("SELECT CAST(price AS CHAR) FROM c05 ORDER BY _offset", column("12.00", "12.10", "10.00")),
          ("SELECT price FROM c05 ORDER BY _offset", column(Decimal("12.00"), Decimal("12.10"), Decimal("10.00"))),
          ("SELECT SUM(price) FROM c05", column(Decimal("34.10"))),
          ("SELECT SUM(price)=1, SUM(price) FROM c05b", [(1, Decimal("1.00"))]))
    assert str(server.one("SELECT SUM(price) FROM c05b")) == "1.00"


def test_c06_json_functions_are_exact(server):
    create(server, "c06")
    produce(server, "c06", ['{"id":9007199254740993,"p":1.10}'])
    check(server, ("SELECT JSON_EXTRACT(_value,'$.id'), JSON_EXTRACT(_value,'$.p'), id FROM c06", [("9007199254740993", "1.10", 9007199254740993)]),
          ("SELECT _value->'$.id', _value->>'$.p' FROM c06", [("9007199254740993", "1.10")]))


def test_c07_keys_that_differ_in_case_are_two_columns(server):
    create(server, "c07")
    produce(server, "c07", ['{"id":1,"Id":2}'])
    check(server,
          ("SELECT JSON_EXTRACT(_value,'$.id'),JSON_EXTRACT(_value,'$.Id') FROM c07", [("1", "2")]),
          ("SELECT id FROM c07", column(1)),
          ("SELECT `Id~2` FROM c07", column(2)),
          ("SELECT COUNT(*) FROM information_schema.columns WHERE table_name='c07' AND LOWER(column_name) LIKE 'id%'", column(2)))


def test_c09_mixed_case_names_are_found(server):
    create(server, "c09")
    produce(server, "c09", ['{"userId":5,"myStruct":{"f1":123}}'])
    check(server, ("SELECT userid, USERID, `myStruct.f1` FROM c09", [(5, 5, 123)]))


def test_c10_iso_8601_spellings_mix(server):
    value = '{"z":"2026-08-12T00:00:00Z","o":"2026-08-12T02:00:00.000+02:00","s":"2026-08-12 00:00:00","f":"2026-08-12 00:00:00.123456"}'
    create(server, "c10", millrace_columns=", ".join(f"{c} DATETIME(6)" for c in "zosf"))
    create(server, "c10i")
    for t in ("c10", "c10i"):
        produce(server, t, [value])
    check(server,
          ("SELECT z=o, o=s, TIMESTAMPDIFF(MICROSECOND,s,f) FROM c10", [(1, 1, 123456)]),
          ("SELECT COUNT(*) FROM c10i WHERE _error IS NULL", column(1)))


def test_c12_a_lone_surrogate_is_null_with_error(server):
    values = ['{"s":"ok"}', r'{"s":"\ud83d"}', r'{"s":"\ud83d\ude00"}']
    create(server, "c12")
    produce(server, "c12", values)
    check(server,
          ("SELECT COUNT(*),COUNT(s),SUM(_error IS NOT NULL) FROM c12", [(3, 2, 1)]),
          ("SELECT HEX(s) FROM c12 WHERE _offset=2", column("F09F9880")))
    assert consume(server, "c12") == [v.encode() for v in values]


def test_c13_an_escaped_nul_ends_nothing(server):
    create(server, "c13")
    produce(server, "c13", [r'{"a":"A\u0000B"}', '{"a":"C"}'])
    check(server,
          ("SELECT HEX(a),LENGTH(a) FROM c13 ORDER BY _offset", [("410042", 3), ("43", 1)]),
          ("SELECT COUNT(*) FROM c13 WHERE a='A'", column(0)))


def test_c14_bytes_that_are_not_utf8(server):
    create(server, "c14")
    produce(server, "c14", [b'{"s":"\xff"}', b'{"s":"b"}'])
    check(server,
          ("SELECT s IS NULL,_error IS NOT NULL FROM c14 ORDER BY _offset", [(1, 1), (0, 0)]),
          ("SELECT HEX(value) FROM `c14$raw` ORDER BY _offset", column("7B2273223A22FF227D", "7B2273223A2262227D")),
          ("SELECT _value FROM c14 WHERE _offset=0", column('{"s":"\ufffd"}')))


def test_c15_tombstones_are_rows(server):
    create(server, "c15")
    produce(server, "c15", [("k1", None), ("k2", b""), ("k3", "null"), ("k4", "{}"), ("k5", '{"a":1}')])
    check(server,
          ("SELECT _key,_value IS NULL,LENGTH(_value),a IS NULL,_error IS NOT NULL FROM c15 ORDER BY _offset",
           [("k1", 1, None, 1, 0), ("k2", 0, 0, 1, 1), ("k3", 0, 4, 1, 0), ("k4", 0, 2, 1, 0), ("k5", 0, 7, 0, 0)]),
          ("SELECT COUNT(*) FROM c15", column(5)))


def test_c16_a_malformed_message_blocks_nothing(server):
    values = ['{"id":1}', '{"id":2', '{"id":3}', '{"id":4}x', '{"id":5}{"id":6}', "[1,2]", "7"]
    create(server, "c16")
    produce(server, "c16", values)
    check(server,
          ("SELECT id FROM c16 ORDER BY _offset", column(1, None, 3, None, None, None, None)),
          ("SELECT COUNT(*),COUNT(id),SUM(_error IS NOT NULL) FROM c16", [(7, 2, 3)]))
    assert consume(server, "c16") == [v.encode() for v in values]


def test_c17_a_key_with_a_dot_is_not_a_path(server):
    create(server, "c17")
    produce(server, "c17", ['{"a.b":1,"a":{"b":2}}', '{"a.b":3}', '{"a":{"b":4}}'])
    check(server,
          ("""SELECT JSON_EXTRACT(_value,'$."a.b"'),JSON_EXTRACT(_value,'$.a.b') FROM c17 ORDER BY _offset""", [("1", "2"), ("3", None), (None, "4")]),
          ("SELECT COUNT(DISTINCT column_name) FROM information_schema.columns WHERE table_name='c17' AND column_name LIKE 'a%b%'", column(2)),
          ("SELECT `a~1b`, `a.b` FROM c17 ORDER BY _offset", [(1, 2), (3, None), (None, 4)]))


def test_c18_absent_null_and_null_parents(server):
    create(server, "c18")
    produce(server, "c18", ['{"v":{"x":1}}', '{"v":{"x":1,"y":null}}', '{"v":null}', "{}", '{"v":[]}'])
    check(server,
          ("SELECT COUNT(*),COUNT(`v.x`),SUM(JSON_CONTAINS_PATH(_value,'one','$.v.y')) FROM c18", [(5, 2, 1)]),
          ("SELECT COUNT(*) FROM c18 WHERE _error IS NOT NULL", column(0)))


def test_c20_to_c24_filters_over_nulls_and_blocks(server):
    create(server, "c20")
    produce(server, "c20", ['{"id":1}', '{"id":2}', ROLL, '{"id":3,"x":1}', '{"id":4,"x":9}', '{"id":5,"x":null}'])
    create(server, "c21")
    produce(server, "c21", ['{"id":1,"n":5}', '{"id":2,"n":null}', '{"id":3,"n":9}'])
    create(server, "c24")
    produce(server, "c24", ['{"s":"some1"}', '{"s":"some2"}', '{"s":null}', '{"s":"other"}', ROLL, '{"s":"some3"}', '{"s":"some4"}'])
    ids = lambda where: f"SELECT id FROM c21 WHERE {where} ORDER BY id"
    count = lambda where: f"SELECT COUNT(*) FROM c24 WHERE {where}"
    check(server,
          ("SELECT id FROM c20 WHERE x NOT IN (1,2) ORDER BY id", column(4)),
          ("SELECT COUNT(*) FROM c20 WHERE x IS NULL", column(3)),
          ("SELECT COUNT(*) FROM c20 WHERE NOT (x=1)", column(1)),
          (ids("n<=9"), column(1, 3)), (ids("NOT(n<7)"), column(3)), (ids("n<>5"), column(3)),
          (ids("n<=>NULL"), column(2)), (ids("n BETWEEN 0 AND NULL"), []), (ids("n IS NULL OR n>5"), column(2, 3)),
          (count("s NOT LIKE 'some%'"), column(1)),
          (count("s IS NULL OR s NOT LIKE 'some%'"), column(2)),
          (count("(s>'a') IS NULL"), column(1)))


def test_c23_odd_floats(server):
    create(server, "c23", millrace_columns="x DOUBLE")
    produce(server, "c23", ['{"x":3.0}', '{"x":1e400}', '{"x":3.0}', ROLL, '{"x":-0.0}', '{"x":5e-324}'])
    check(server,
          ("SELECT COUNT(*) FROM c23 WHERE x<>3", column(2)),
          ("SELECT COUNT(*) FROM c23 WHERE x IS NULL", column(1)),
          ("SELECT COUNT(*) FROM c23 WHERE x=0", column(1)),
          ("SELECT MAX(x) FROM c23", column(3.0)),
          ("SELECT COUNT(*) FROM c23 WHERE _error IS NOT NULL", column(1)))


def test_c26_sums_of_integers_are_exact(server):
    create(server, "c26")
    produce(server, "c26", ['{"v":9007199254740993}', '{"v":9007199254740992}'])
    create(server, "c26b")
    produce(server, "c26b", ['{"v":9223372036854775807}'] * 2)
    check(server,
          ("SELECT SUM(v),AVG(v) FROM c26", [(18014398509481985, Decimal("9007199254740992.5000"))]),
          ("SELECT SUM(v) FROM c26b", column(18446744073709551614)))


def test_c31_in_lists_with_null(server):
    create(server, "c31")
    produce(server, "c31", ['{"id":1,"k":"keep"}', '{"id":2,"k":"key"}', '{"id":3}', '{"id":4,"k":"keep"}'])
    check(server,
          ("SELECT COUNT(*) FROM c31 WHERE k IN ('keep',NULL)", column(2)),
          ("SELECT COUNT(*) FROM c31 WHERE k NOT IN ('keep',NULL)", column(0)))


def test_c25_text_compares_by_the_collation_that_is_reported(server):
    values = ['{"s":"a"}', '{"s":"A"}', '{"s":"a "}', ROLL, '{"s":"b"}']
    create(server, "c25")
    produce(server, "c25", values)
    create(server, "c25ci", millrace_collation="utf8mb4_0900_ai_ci")
    produce(server, "c25ci", values)
    count = lambda where, t="c25": f"SELECT COUNT(*) FROM {t} WHERE {where}"
    check(server,
          (count("s COLLATE utf8mb4_0900_ai_ci='a'"), column(2)),
          (count("s COLLATE utf8mb4_bin='a'"), column(2)),
          (count("s='a'"), column(1)),
          ("SELECT COUNT(DISTINCT s) FROM c25", column(4)),
          (count("s='a'", "c25ci"), column(2)),
          ("SELECT COUNT(DISTINCT s) FROM c25ci", column(3)))
    assert [r[2] for r in server.sql("SHOW FULL COLUMNS FROM c25ci") if r[0] == "s"] == ["utf8mb4_0900_ai_ci"]


def test_c27_to_c30_null_in_subqueries_and_expressions_in_where(server):
    create(server, "c27")
    produce(server, "c27", ['{"id":1}', '{"id":2}'])
    create(server, "c29")
    produce(server, "c29", ['{"id":1,"n":5}', '{"id":2,"n":null}', '{"id":3,"n":7}', '{"id":4,"n":0}', '{"id":5,"n":-1}'])
    create(server, "c30")
    produce(server, "c30", ['{"c1":-1}'])
    check(server,
          ("SELECT id FROM c27 WHERE id NOT IN (SELECT NULL)", []),
          ("SELECT id FROM c29 x WHERE NOT EXISTS (SELECT 1 FROM c29 y WHERE y.n=x.n AND y.id<>x.id) ORDER BY id", column(1, 2, 3, 4, 5)),
          ("SELECT COT(-939932070)<c1 FROM c30", column(1)),
          ("SELECT COUNT(*) FROM c30 WHERE COT(-939932070)<c1", column(1)))


def cli(server, sql):
    return subprocess.run(["mysql", "-h127.0.0.1", f"-P{server.mysql_port}", "-uapp", "kafka", "-N", "-B", "-e", sql],
                          check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout


def test_c33_decimals_through_prepare(server):
    assert cli(server, "PREPARE s FROM 'SELECT ?'; SET @a=CAST(123.45 AS DECIMAL(5,2)); EXECUTE s USING @a") == "123.45\n"


def refused(server, *statements):
    """The number of the error of the last statement, and how long it took to come."""
    with server.connect() as c, c.cursor() as cur:
        for s in statements[:-1]:
            cur.execute(s)
        began = time.monotonic()
        with pytest.raises(pymysql.err.MySQLError) as e:
            cur.execute(statements[-1])
        return e.value.args[0], time.monotonic() - began


C35 = "SELECT COUNT(*) FROM c35 a,c35 b,c35 c WHERE a.i+b.i+c.i=-1"


def test_c35_statements_end_when_they_must(server):
    create(server, "c35")
    produce(server, "c35", [f'{{"i":{i}}}' for i in range(2000)])
    number, took = refused(server, "SET SESSION max_execution_time=1000", C35)
    assert number == 3024 and took < 3

    killed = server.connect()
    thread = threading.Timer(1, lambda: server.sql(f"KILL QUERY {killed.thread_id()}"))
    thread.start()
    with killed, killed.cursor() as cur, pytest.raises(pymysql.err.MySQLError) as e:
        cur.execute(C35)
    assert e.value.args[0] == 1317
    thread.join()

    client = subprocess.Popen(["mysql", "-h127.0.0.1", f"-P{server.mysql_port}", "-uapp", "kafka", "-e", C35])
    running = lambda: [r for r in server.sql("SHOW FULL PROCESSLIST") if r[7] == C35]
    deadline = time.monotonic() + 20
    while not running():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    client.kill()
    client.wait()
    gone = time.monotonic() + 5
    while running():
        assert time.monotonic() < gone, "the statement outlives its client"
        time.sleep(0.05)

    number, took = refused(server, "SELECT " + "+".join(["1"] * 5000))
    assert number == 1436 and took < 1


def test_c36_a_regular_expression_freezes_nothing(server):
    began = time.monotonic()
    assert server.one("SELECT REGEXP_LIKE(CONCAT(REPEAT('a',28),'!'),'^(a+)+$')") == 0
    assert time.monotonic() - began < 2


def test_c37_dirty_datetime_text_is_read_with_a_warning(server):
    with server.connect() as c, c.cursor() as cur:
        cur.execute("SELECT CAST(CAST('2020-01-01 a' AS DATETIME) AS CHAR)")
        assert cur.fetchall() == (("2020-01-01 00:00:00",),)
        cur.execute("SHOW WARNINGS")
        assert [r[1] for r in cur.fetchall()] == [1292]


def test_c38_tables_are_listed_through_having(server):
    create(server, "c38")
    check(server,
          ("SELECT TABLE_NAME, CASE WHEN TABLE_TYPE='BASE TABLE' THEN 'TABLE' ELSE TABLE_TYPE END AS TABLE_TYPE FROM information_schema.tables "
           "WHERE TABLE_SCHEMA='kafka' HAVING TABLE_TYPE IN ('TABLE','VIEW') ORDER BY 2,1", [("c38", "TABLE")]))


def test_c39_first_queries_of_tools(server):
    create(server, "c39")
    produce(server, "c39", ['{"a":1}'])
    with server.connect() as c, c.cursor() as cur:
        for s in ("SET NAMES utf8mb4", "SET character_set_results=NULL", "SET SQL_AUTO_IS_NULL=0", "SET @@sql_select_limit=DEFAULT", "SELECT CONNECTION_ID()"):
            cur.execute(s)
        cur.execute("SELECT table_name,column_name FROM information_schema.columns WHERE data_type='enum' AND table_schema='kafka'")
        assert cur.fetchall() == ()
        with pytest.raises(pymysql.err.MySQLError) as e:
            cur.execute("DROP TABLE `#T_1_Connect`")
        assert e.value.args[0] == 1051
        for s in ("SELECT * FROM information_schema.key_column_usage WHERE table_schema='kafka'", "SHOW KEYS FROM c39", "SHOW TABLE STATUS LIKE 'c39'", "SHOW FULL COLUMNS FROM c39"):
            cur.execute(s)
            assert cur.fetchall(), s


def test_c42_topic_names_with_dots_and_dashes(server):
    create(server, "my-topic.v1")
    produce(server, "my-topic.v1", ['{"a":1}'])
    check(server,
          ("SELECT a FROM `my-topic.v1`", column(1)),
          ("SHOW TABLES LIKE 'my-topic.v1'", column("my-topic.v1")),
          ("SELECT COUNT(*) FROM information_schema.tables WHERE table_name='my-topic.v1'", column(1)))


def test_c43_time_filters_outside_and_out_of_order(server):
    for topic, times in (("c43", (1000, 2000, 3000)), ("c43u", (3000, 1000, 2000))):
        create(server, topic)
        p = Producer({"bootstrap.servers": server.bootstrap})
        for t in times:
            p.produce(topic, value="{}", timestamp=t)
            assert p.flush(10) == 0
    count = lambda where, t="c43": f"SELECT COUNT(*) FROM {t} WHERE {where}"
    check(server,
          (count("_timestamp>FROM_UNIXTIME(3)"), column(0)),
          (count("_timestamp<FROM_UNIXTIME(1)"), column(0)),
          (count("_timestamp BETWEEN FROM_UNIXTIME(2) AND FROM_UNIXTIME(3)"), column(2)),
          (count("_timestamp<FROM_UNIXTIME(2.5)", "c43u"), column(2)))


def test_c54_holes_from_deleted_records(server):
    create(server, "c54")
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in range(10):
        p.produce("c54", value=f'{{"o":{i}}}', headers=[("h", f"o{i}")])
    assert p.flush(10) == 0
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    (f,) = admin.delete_records([TopicPartition("c54", 0, 3)]).values()
    assert f.result(10).low_watermark == 3
    check(server, ("SELECT COUNT(*),MIN(_offset) FROM c54", [(7, 3)]))

    def first(offset, **kw):
        c = Consumer({"bootstrap.servers": server.bootstrap, "group.id": "c54", "enable.auto.commit": False, **kw})
        c.assign([TopicPartition("c54", 0, offset)])
        try:
            return c.poll(10)
        finally:
            c.close()

    assert first(0, **{"auto.offset.reset": "error"}).error().name() == "_AUTO_OFFSET_RESET"
    m = first(3)
    assert (m.offset(), m.headers()) == (3, [("h", b"o3")])
    assert first(0, **{"auto.offset.reset": "earliest"}).offset() == 3


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_c63_a_compressed_bomb_is_refused(server, codec):
    create(server, "c63")
    p = Producer({"bootstrap.servers": server.bootstrap, "compression.type": codec, "message.max.bytes": 200_000_000,
                  "enable.idempotence": False, "message.timeout.ms": 15000})
    errors = []
    p.produce("c63", value=b"\0" * (100 << 20), on_delivery=lambda e, m: errors.append(e and e.name()))
    p.flush(20)
    assert errors[0] in ("MSG_SIZE_TOO_LARGE", "INVALID_RECORD"), errors
    check(server, ("SELECT COUNT(*) FROM c63", column(0)))


@pytest.mark.parametrize("seconds", [15, pytest.param(300, marks=pytest.mark.full)])
def test_c66_rows_are_counted_once_while_segments_move(server, seconds):
    create(server, "c66", 8)
    stop, acked = threading.Event(), [0]

    def load():
        p = Producer({"bootstrap.servers": server.bootstrap})
        n = 0
        while not stop.is_set():
            p.produce("c66", value=f'{{"n":{n}}}', partition=n % 8, on_delivery=lambda e, m: acked.__setitem__(0, acked[0] + (not e)))
            n += 1
            if n % 200 == 0:
                p.poll(0.02)
        assert p.flush(30) == 0

    def roll():
        with server.connect() as c, c.cursor() as cur:
            while not stop.wait(0.5):
                cur.execute("CALL millrace.seal('c66')")

    threads = [threading.Thread(target=f) for f in (load, roll)]
    for t in threads:
        t.start()
    try:
        deadline, last, asked = time.monotonic() + seconds, {}, 0
        while time.monotonic() < deadline:
            known = acked[0]
            rows = server.sql("SELECT _partition,COUNT(*),COUNT(DISTINCT _offset),MAX(_offset)+1 FROM c66 GROUP BY 1")
            asked += 1
            for p, count, distinct, end in rows:
                assert count == distinct == end >= last.get(p, 0), rows
                last[p] = count
            assert sum(r[1] for r in rows) >= known
        assert asked > 5
    finally:
        stop.set()
        for t in threads:
            t.join()


@pytest.mark.parametrize("statement, errors", [
    ("SELECT 1 INTO OUTFILE 'x.out'", {1045, 1290}),
    ("SELECT 1 INTO DUMPFILE 'x.out'", {1045, 1290}),
    ("LOAD DATA INFILE '/etc/hostname' INTO TABLE c67", {1045, 1290}),
    ("SET GLOBAL local_infile=1", {1227}),
    ("SET GLOBAL max_connections=1", {1227}),
])
def test_c67_sql_reaches_no_files_and_no_globals(server, statement, errors):
    create(server, "c67")
    assert server.one("SELECT LOAD_FILE('/etc/hostname')") is None
    with pytest.raises(pymysql.err.MySQLError) as refused:
        server.sql(statement)
    assert refused.value.args[0] in errors
    assert not list(server.data.parent.rglob("x.out"))
