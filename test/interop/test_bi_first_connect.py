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
               "SHOW DATABASES LIKE": [("kafka",)], "select count(*)": [(4,)], "select kc.constraint_name as cstn": [("PRIMARY", "_partition", 1, None, "PRIMARY KEY"), ("PRIMARY", "_offset", 2, None, "PRIMARY KEY")]},
    "trino": {"SHOW FULL TABLES": [("orders", "BASE TABLE")], "SELECT TABLE_ROWS": [(4,)], "SELECT COLUMN_NAME, MAX": [("_partition", "", 1)],
              "SELECT COLUMN_NAME, HISTOGRAM": [], "SELECT `city`, `amount`": [("a", 2.5)], "SELECT `city`, count": [("a", 2, 3.75), ("b", 1, 4.0), (None, 1, 9.0)],
              "SELECT `id`, `amount`": "[(3, 9.0), (1, 4.0)]", "SELECT l.": [(0, 2)]},
}

# What tools look columns up by, as MySQL 8.4 documents them: names in order. DataGrip and DBeaver read SHOW by name.
HEADERS = {
    "SHOW FULL COLUMNS FROM orders": "Field Type Collation Null Key Default Extra Privileges Comment",
    "SHOW INDEX FROM orders": "Table Non_unique Key_name Seq_in_index Column_name Collation Cardinality Sub_part Packed Null Index_type Comment Index_comment Visible "
                              "Expression",
    "SHOW ENGINES": "Engine Support Comment Transactions XA Savepoints",
    "SHOW CHARSET": "Charset Description Default|collation Maxlen",
    "SHOW COLLATION": "Collation Charset Id Default Compiled Sortlen Pad_attribute",
    "SHOW PLUGINS": "Name Status Type Library License",
    "SHOW PRIVILEGES": "Privilege Context Comment",
    "SHOW FULL PROCESSLIST": "Id User Host db Command Time State Info",
    "SHOW TRIGGERS": "Trigger Event Table Statement Timing Created sql_mode Definer character_set_client collation_connection Database|Collation",
    "SHOW PROCEDURE STATUS": "Db Name Type Definer Modified Created Security_type Comment character_set_client collation_connection Database|Collation",
    "SHOW TABLE STATUS": "Name Engine Version Row_format Rows Avg_row_length Data_length Max_data_length Index_length Data_free Auto_increment Create_time "
                         "Update_time Check_time Collation Checksum Create_options Comment",
    "SELECT * FROM information_schema.columns LIMIT 1":
        "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME ORDINAL_POSITION COLUMN_DEFAULT IS_NULLABLE DATA_TYPE CHARACTER_MAXIMUM_LENGTH "
        "CHARACTER_OCTET_LENGTH NUMERIC_PRECISION NUMERIC_SCALE DATETIME_PRECISION CHARACTER_SET_NAME COLLATION_NAME COLUMN_TYPE COLUMN_KEY EXTRA PRIVILEGES "
        "COLUMN_COMMENT GENERATION_EXPRESSION SRS_ID",
    "SELECT * FROM information_schema.tables LIMIT 1":
        "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME TABLE_TYPE ENGINE VERSION ROW_FORMAT TABLE_ROWS AVG_ROW_LENGTH DATA_LENGTH MAX_DATA_LENGTH INDEX_LENGTH DATA_FREE "
        "AUTO_INCREMENT CREATE_TIME UPDATE_TIME CHECK_TIME TABLE_COLLATION CHECKSUM CREATE_OPTIONS TABLE_COMMENT",
    "SELECT * FROM information_schema.key_column_usage LIMIT 1":
        "CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME ORDINAL_POSITION POSITION_IN_UNIQUE_CONSTRAINT "
        "REFERENCED_TABLE_SCHEMA REFERENCED_TABLE_NAME REFERENCED_COLUMN_NAME",
    "SELECT * FROM information_schema.schemata LIMIT 1":
        "CATALOG_NAME SCHEMA_NAME DEFAULT_CHARACTER_SET_NAME DEFAULT_COLLATION_NAME SQL_PATH DEFAULT_ENCRYPTION",
    "SELECT * FROM information_schema.views LIMIT 1":
        "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME VIEW_DEFINITION CHECK_OPTION IS_UPDATABLE DEFINER SECURITY_TYPE CHARACTER_SET_CLIENT COLLATION_CONNECTION",
}


def test_columns_have_the_names_that_mysql_documents(orders):
    with orders.connect() as c, c.cursor() as cur:
        for statement, names in HEADERS.items():
            cur.execute(statement)
            assert [d[0].replace(" ", "|") for d in cur.description] == names.split(), statement


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
