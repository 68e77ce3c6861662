"""What BI tools ask first: every statement answers, and the answers that the tools build on are right."""
import json

import pymysql
import pytest
from confluent_kafka import Producer

import first_connect


@pytest.fixture
def orders(server):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i, (city, amount) in enumerate([("a", 2.5), ("b", 4), ("a", 1.25), (None, 9)]):
        p.produce("orders", timestamp=1767261600000 + i * 60_000, value=json.dumps({"id": i, "city": city, "amount": amount, "ok": i % 2 == 0}))
    assert p.flush(20) == 0
    return server


# The answers that decide what a tool shows: the first words of a statement, its rows.
ANSWERS = {
    "metabase": {
        "SELECT @@GLOBAL.time_zone": [("+00:00", "UTC", "00:00")],
        "SELECT MAKEDATE": "[(datetime.date(2026, 1, 1), 4)]",
        "SELECT STR_TO_DATE(CONCAT(YEARWEEK": "[(datetime.date(2025, 12, 28), 4)]",
        "SELECT STR_TO_DATE(CONCAT(YEAR(": "[(datetime.date(2026, 1, 1), 4)]",
        "SELECT COUNT(DISTINCT": [(2,)],
    },
    "grafana": {
        "SELECT table_name FROM information_schema.tables WHERE table_schema = database()": [("orders",)],
        "SELECT CAST(CAST(UNIX_TIMESTAMP": [(1767261600, 3), (1767261900, 1)],
        "SELECT UNIX_TIMESTAMP(_timestamp) DIV 3600": [(1767261600, 16.75)],
    },
    "dbeaver": {"SHOW FULL TABLES FROM `kafka`": [("orders", "BASE TABLE")], "SELECT COUNT(*)": [(4,)],
                "SELECT kc.CONSTRAINT_NAME": [("PRIMARY", "orders", "_partition", 1), ("PRIMARY", "orders", "_offset", 2)]},
    "tableau": {"SELECT SUM(1)": "[(Decimal('4'),)]", "SELECT `orders`.`city` AS `city` FROM": [(None,), ("a",), ("b",)],
                "SELECT ADDDATE": [("2026-01-01 00:00:00", 4)], "SELECT `t0`": [(None, 1), ("a", 2), ("b", 1)]},
    "power_bi": {"SELECT TIMEDIFF": "[(datetime.timedelta(0),)]", "select `_`": [(None, 9.0), ("b", 4.0), ("a", 2.5), ("a", 1.25)],
                 "select `rows`": [("a", 3.75), ("b", 4.0), (None, 9.0)]},
    "nocodb": {"SHOW FULL TABLES WHERE TABLE_TYPE NOT LIKE": [("orders", "BASE TABLE")], "SHOW FULL TABLES WHERE TABLE_TYPE LIKE": [],
               "select count(*)": [(4,)], "select kc.constraint_name as cstn": [("PRIMARY", "_partition", 1, None, "PRIMARY KEY"), ("PRIMARY", "_offset", 2, None, "PRIMARY KEY")]},
}


@pytest.mark.parametrize("tool", first_connect.TOOLS)
def test_first_connect_statements(orders, tool):
    answers = dict(ANSWERS.get(tool, {}))
    with orders.connect() as c, c.cursor() as cur:
        for statement in first_connect.TOOLS[tool]:
            try:
                cur.execute(statement)
            except pymysql.MySQLError as e:
                pytest.fail(f"{e}: {statement}")
            rows = list(cur.fetchall())
            for start in [s for s in answers if statement.startswith(s)]:
                want = answers.pop(start)
                got = repr(rows) if isinstance(want, str) else rows
                assert sorted(map(str, got)) == sorted(map(str, want)) if want and not isinstance(want, str) else got == want, statement
    assert not answers, "no statement begins so"


def test_tableau_learns_that_it_cannot_have_temporary_tables(orders):
    with orders.connect() as c, c.cursor() as cur:
        for statement in first_connect.TABLEAU_REFUSED:
            with pytest.raises(pymysql.MySQLError):
                cur.execute(statement)
        cur.execute("SELECT COUNT(*) FROM orders")
        assert cur.fetchall() == ((4,),)
    assert [t for (t,) in orders.sql("SHOW TABLES")] == ["orders"]
