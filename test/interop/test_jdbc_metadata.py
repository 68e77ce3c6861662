"""JDBC drivers beyond plain queries: Connector/J 8 and 9 and MariaDB Connector/J: metadata, prepared statements, cursors, cancel, zones."""
import os
import subprocess

import pytest
from confluent_kafka import Producer

from millrace import CACHE

SCHEMES = {"cj8": "mysql", "cj9": "mysql", "cj26": "mysql", "mariadb": "mariadb", "mariadb4": "mariadb"}
NEWEST = [pytest.param(d, marks=pytest.mark.full) for d in ("cj26", "mariadb4")]
DRIVERS = ["cj8", "cj9", "mariadb", *NEWEST]
TRUST = {"mariadb4": "?sslMode=trust"}  # it verifies certificates by default, also those that a server makes for itself
CONNECTOR_J = ["cj8", "cj9", NEWEST[0]]


@pytest.fixture
def loaded(server):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i, s in enumerate("abcab"):
        p.produce("jt", value=f'{{"n":{i},"s":"{s}"}}')
    p.produce("ju", value='{"n":1,"label":"one"}')
    for i in range(2000):
        p.produce("big", value=f'{{"i":{i}}}')
    p.produce("zoned", value='{"a":1}', timestamp=1782909296789)  # 2026-07-01T12:34:56.789Z
    assert p.flush(20) == 0
    return server


def program(server, driver, check):
    r = subprocess.run(["java", "-Xmx256m", "-cp", f"{CACHE}/jdbc/classes:{CACHE}/jdbc/{driver}/*", "BiProgram",
                        f"jdbc:{SCHEMES[driver]}://127.0.0.1:{server.mysql_port}/kafka{TRUST.get(driver, '')}", check], capture_output=True, text=True, timeout=240,
                       env={**os.environ, "JAVA_TOOL_OPTIONS": "-Dstdout.encoding=UTF-8"})
    assert r.returncode == 0, r.stdout + r.stderr
    return r.stdout.splitlines()


@pytest.mark.parametrize("driver", DRIVERS)
def test_metadata(loaded, driver):
    said = dict(line.split(" ", 1) for line in program(loaded, driver, "metadata"))
    assert {k: v for k, v in said.items() if k not in ("columns", "result", "user", "index")} == {
        "product": "MySQL 8.4", "catalogs": "true", "tableTypes": "true", "tables": "[jt|TABLE, ju|TABLE]", "all": "[big, jt, ju, zoned]",
        "anywhere": "[kafka|jt]", "views": "[]", "one": "[n|NO|NO]", "pk": "[_offset|2|PRIMARY, _partition|1|PRIMARY]",
        "best": "[_partition, _offset]", "imported": "[]", "exported": "[]", "cross": "[]", "procedures": "[]", "functions": "[]",
        "privileges": "true", "types": "true", "keywords": "true", "catalog": "millrace", "isolation": "2", "readOnly": "true", "valid": "true"}
    columns = said["columns"].strip("[]").split(", ")
    assert [c.split("|")[:2] for c in columns] == [
        ["_partition", "INT"], ["_offset", "BIGINT"], ["_timestamp", "TIMESTAMP"], ["_key", "VARCHAR"], ["_headers", "JSON"], ["_value", "LONGTEXT"],
        ["_error", "TEXT"], ["n", "BIGINT"], ["s", "VARCHAR"]]
    assert said["index"] == "[PRIMARY|_partition|1|0, PRIMARY|_offset|2|0]"
    assert [c.split(" ")[3:6] for c in said["result"].strip("[]").split(", ")] == [["jt", "kafka", "0"]] * 2 + [["jt", "kafka", "1"]] * 4


@pytest.mark.parametrize("driver", DRIVERS)
def test_prepared_statements(loaded, driver):
    lines = [line.replace("1.500000000000000000000000000000", "1.50") for line in program(loaded, driver, "prepared")]
    assert lines == ["prepared [1|b|1.50, 2|c|1.50, 3|a|1.50, 4|b|1.50]", "prepared [2|c|1.50, 3|a|1.50, 4|b|1.50]", "parameters 4", "null [3|a|null, 4|b|null]"] * 4


@pytest.mark.parametrize("driver", DRIVERS)
def test_cursors(loaded, driver):
    lines = program(loaded, driver, "cursor")
    assert [line for line in lines if line.startswith("rows")] == ["rows 2000 1999000 true"] * 4
    assert [line for line in lines if line.startswith("again")] == ["again [2000]"] * 3


@pytest.mark.parametrize("driver", DRIVERS)
def test_cancel_and_timeout(loaded, driver):
    cancelled, after, timeout, again = program(loaded, driver, "cancel")
    assert cancelled.startswith("cancelled"), cancelled
    assert timeout == "timed out"
    assert after == again == "after [5]"


@pytest.mark.parametrize("driver", CONNECTOR_J)
def test_an_instant_is_the_same_in_every_zone(loaded, driver):
    at = "2026-07-01T12:34:56.789Z"
    assert program(loaded, driver, "zones") == [
        "none",  # the JVM's zone, and a session that was not told of it: the driver's known trap, and MySQL's answer too
        f"{at} 2026-07-01 12:34:56.789 +00:00", f"{at} 2026-07-01 12:34:56.789 +00:00", f"{at} 2026-07-01 08:34:56.789 America/New_York",
        f"{at} 2026-07-01 21:34:56.789 Asia/Tokyo", f"{at} 2026-07-01 08:34:56.789 America/New_York"]


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_pool_may_reset_a_connection(loaded, driver):
    assert program(loaded, driver, "pool") == ["in [5]", "valid true"] * 3


@pytest.mark.parametrize("driver", CONNECTOR_J)
def test_metadata_from_information_schema_and_by_schemas(loaded, driver):
    lines = program(loaded, driver, "schema")
    assert len(lines) == 30
    for n in range(3):
        said = dict(line.split(" ", 1) for line in lines[10 * n:10 * n + 10])
        columns = said.pop("columns")
        assert said == {"databases": "true", "tables": "[jt|TABLE, ju|TABLE]", "views": "[]", "pk": "[_offset|2, _partition|1]",
                        "index": "[PRIMARY|_partition|1, PRIMARY|_offset|2]", "keys": "[][]", "routines": "[][][]",
                        "best": "[_partition|4, _offset|-5]", "types": "true"}
        assert "_partition|INT|4|0|1|NO" in columns and "_offset|BIGINT|-5|0|2|NO" in columns and "n|BIGINT|-5|1|8|NO" in columns, columns


@pytest.mark.parametrize("driver", DRIVERS)
def test_batches(loaded, driver):
    one = ["batch 1000", "rows [0|0|0|null|null]", "batch 1000", "rows [1000|1000|500|4995.00|2026-07-01 12:00:59.25]", "word [it's \\ ü 998]"]
    assert [line.replace(":59.250000", ":59.25") for line in program(loaded, driver, "batch")] == one * 4
