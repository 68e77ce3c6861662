"""Every MySQL driver, by text and by binary protocol, makes the same values of the same rows, and the same rows of the same arguments:
types, NULLs, integers beyond 2^53, decimals, times and zones, Unicode, bytes, dotted names, no rows at all, errors with their numbers."""
import json
import os
import subprocess

import pytest
from confluent_kafka import Producer

from millrace import CACHE, ROOT, Millrace

HERE = ROOT / "test" / "interop" / "clients"
PYTHON = CACHE / "bi" / "bin" / "python"

TYPED = """CREATE TABLE typed (id BIGINT, big BIGINT, ubig BIGINT UNSIGNED, small INT, tiny TINYINT, flag BOOLEAN, price DECIMAL(20,6), ratio DOUBLE, f FLOAT,
    name VARCHAR(100), doc JSON, at DATETIME(6), stamp TIMESTAMP(3), day DATE, clock TIME(3), bin VARBINARY(20), `user.age` INT, y YEAR, b BLOB, t TEXT)"""
ROWS = r"""INSERT INTO typed (id, big, ubig, small, tiny, flag, price, ratio, f, name, doc, at, stamp, day, clock, bin, `user.age`, y, b, t) VALUES
    (1, 9223372036854775807, 18446744073709551615, -2147483648, -128, TRUE, 12345678901234.123456, 0.1, 1.5, 'Größe 😀 漢字', '{"a": [1, null, "x"]}',
     '2026-07-01 12:34:56.789012', '2026-07-01 12:34:56.789', '2026-02-28', '-12:34:56.5', x'00ff10', 42, 2026, x'deadbeef00', 'line1\nline2\ttab\\ \'quote\''),
    (2, -9223372036854775808, 0, 2147483647, 127, FALSE, -0.000001, -1e300, -0.25, '', '[]',
     '1970-01-01 00:00:00', '1970-01-01 00:00:01', '1000-01-01', '838:59:59', x'', 0, 1901, x'', ''),
    (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"""
COPIED = "CREATE TABLE copied (id BIGINT, price DECIMAL(10,2), name VARCHAR(100), at DATETIME(6), day DATE, bin VARBINARY(20), ratio DOUBLE)"
LONG = "ß" * 40_000  # 80,000 bytes: more than two bytes of length

# A step: its name, the statement, the arguments, and what every driver must say.
STEPS = [
    ("start", "TRUNCATE TABLE copied", [], 0),
    ("rows", "SELECT id, big, ubig, small, tiny, flag, price, ratio, f, name, at, stamp, day, bin, `user.age`, b, t FROM typed ORDER BY id", [], [
        ["int 1", "int 9223372036854775807", "int 18446744073709551615", "int -2147483648", "int -128", "int 1", "dec 12345678901234.123456", "flt 0.1",
         "flt 1.5", "txt Größe 😀 漢字", "at 2026-07-01 12:34:56.789012", "at 2026-07-01 12:34:56.789", "date 2026-02-28", "bin 00ff10", "int 42",
         "bin deadbeef00", "txt line1\nline2\ttab\\ 'quote'"],
        ["int 2", "int -9223372036854775808", "int 0", "int 2147483647", "int 127", "int 0", "dec -0.000001", "flt -1e+300", "flt -0.25", "txt ",
         "at 1970-01-01 00:00:00", "at 1970-01-01 00:00:01", "date 1000-01-01", "bin ", "int 0", "bin ", "txt "],
        ["int 3"] + [None] * 16]),
    ("documents", "SELECT doc FROM typed ORDER BY id", [], [['txt {"a": [1, null, "x"]}'], ["txt []"], [None]]),
    ("years", "SELECT y FROM typed ORDER BY id", [], [["int 2026"], ["int 1901"], [None]]),
    ("clocks", "SELECT clock FROM typed ORDER BY id", [], [["time -12:34:56.5"], ["time 838:59:59"], [None]]),
    ("filter", "SELECT id, `user.age` FROM typed WHERE name = ? AND price = ? AND day = ? AND big = ? AND small < ?",
     ["txt Größe 😀 漢字", "dec 12345678901234.123456", "date 2026-02-28", "int 9223372036854775807", "int 5"], [["int 1", "int 42"]]),
    ("filter by time", "SELECT id FROM typed WHERE at = ?", ["at 2026-07-01 12:34:56.789012"], [["int 1"]]),
    ("filter by bytes", "SELECT id FROM typed WHERE bin = ?", ["bin 00ff10"], [["int 1"]]),
    ("filter by ratio", "SELECT id FROM typed WHERE ratio = ?", ["flt 0.1"], [["int 1"]]),
    ("arguments", "SELECT ? AS a, ? AS b, ? AS c", ["txt it's \"é\" \\ 100% ?", "int -5", None], [["txt it's \"é\" \\ 100% ?", "int -5", None]]),
    ("sums", "SELECT SUM(big), AVG(small), COUNT(*), MAX(at), MIN(day), SUM(ubig) + 1 AS more FROM typed", [],
     [["dec -1", "dec -0.5000", "int 3", "at 2026-07-01 12:34:56.789012", "date 1000-01-01", "dec 18446744073709551616"]]),
    ("computed", "SELECT CONCAT(name, '!'), id = 1, small + 0.5, DATE(at), YEAR(at), CAST(at AS CHAR), IF(id = 1, 'yes', 'no') FROM typed WHERE id = 1", [],
     [["txt Größe 😀 漢字!", "int 1", "dec -2147483647.5", "date 2026-07-01", "int 2026", "txt 2026-07-01 12:34:56.789012", "txt yes"]]),
    ("truth", "SELECT flag, id = 1, TRUE, 1, 'it''s', CURDATE() > day, NOT flag FROM typed WHERE id < 3 ORDER BY id", [],
     [["int 1", "int 1", "int 1", "int 1", "txt it's", "int 1", "int 0"], ["int 0", "int 0", "int 1", "int 1", "txt it's", "int 1", "int 1"]]),
    ("no rows", "SELECT id, name FROM typed WHERE id < ?", ["int 0"], []),
    ("dotted", "SELECT `user.age`, page FROM `web.clicks-v1`", [], [["int 30", "txt /"]]),
    ("long", "SELECT note FROM long_text", [], [["txt " + LONG]]),
    ("unknown table", "SELECT * FROM nothing", [], (1146, "42S02")),
    ("unknown column", "SELECT nope FROM typed", [], (1054, "42S22")),
    ("syntax", "SELEC 1", [], (1064, "42000")),
    ("overflow", "SELECT big + 1 FROM typed", [], (1690, "22003")),
    ("ambiguous", "SELECT id FROM typed a JOIN typed b ON a.id = b.id", [], (1052, "23000")),
    ("after errors", "SELECT COUNT(*) FROM typed", [], [["int 3"]]),
    ("zone", "SET time_zone = 'America/New_York'", [], 0),
    ("zoned", "SELECT stamp, at, CAST(stamp AS CHAR) AS words FROM typed WHERE id = ?", ["int 1"],
     [["at 2026-07-01 08:34:56.789", "at 2026-07-01 12:34:56.789012", "txt 2026-07-01 08:34:56.789"]]),
    ("insert", "INSERT INTO copied (id, price, name, at, day, bin, ratio) VALUES (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?)",
     ["int 1152921504606846977", "dec 1.25", "txt ß'\"\\", "at 2026-01-01 00:00:00.5", "date 2026-01-02", "bin 000102", "flt 0.3",
      "int 2", None, None, None, None, None, None], 2),
    ("inserted", "SELECT id, price, name, at, day, bin, ratio FROM copied ORDER BY id DESC", [],
     [["int 1152921504606846977", "dec 1.25", "txt ß'\"\\", "at 2026-01-01 00:00:00.5", "date 2026-01-02", "bin 000102", "flt 0.3"], ["int 2"] + [None] * 6]),
]
COLUMNS = {"rows": ["id", "big", "ubig", "small", "tiny", "flag", "price", "ratio", "f", "name", "at", "stamp", "day", "bin", "user.age", "b", "t"],
           "no rows": ["id", "name"], "dotted": ["user.age", "page"],
           "truth": ["flag", "id = 1", "TRUE", "1", "it's", "CURDATE() > day", "NOT flag"],
           "sums": ["SUM(big)", "AVG(small)", "COUNT(*)", "MAX(at)", "MIN(day)", "more"], "zoned": ["stamp", "at", "words"]}

BYTES = [["bin " + b'{"a": [1, null, "x"]}'.hex()], ["bin " + b"[]".hex()], [None]]
NODE_JSON = [['json {"a":[1,null,"x"]}'], ["json []"], [None]]
UNSIGNED = {"int -128": "int 128"}
# Where a driver is wrong or has its own way, on MariaDB 10.11 just as here (or, for JSON, by MySQL's description of such columns). None: the step is
# left out, since the driver itself breaks on it.
OWN_WAY = {
    "connector-pure-prepared": {"documents": BYTES, "years": [["bin 07"], ["bin 07"], [None]],  # reads a YEAR as text, forgets a time's sign
                                "clocks": [["time 12:34:56.5"], ["time 838:59:59"], [None]]},
    "connector-c-prepared": {"documents": BYTES, "filter by ratio": [],  # sends doubles as floats, reads every integer as signed
                             "rows": {"int 18446744073709551615": "int -1"}, "inserted": {"flt 0.3": "flt 0.30000001192092896"}},
    "mariadb": {"documents": BYTES},
    "mariadb-binary": {"documents": BYTES, "rows": UNSIGNED},  # reads a TINYINT as unsigned
    "aiomysql": {"filter by bytes": None, "insert": None, "inserted": None},  # 0.3.2 cannot send bytes with PyMySQL 1.2
    "odbc": {"documents": None, "clocks": None,  # pyodbc knows no JSON columns, and no times outside of a day
             "filter by time": [], "inserted": {"at 2026-01-01 00:00:00.5": "at 2026-01-01 00:00:00"}},  # sends whole seconds
    "mysql2-query": {"documents": NODE_JSON}, "mysql2-execute": {"documents": NODE_JSON, "arguments": {"int -5": "flt -5"}},  # numbers are doubles
    "node-mariadb-query": {"documents": NODE_JSON}, "node-mariadb-execute": {"documents": NODE_JSON},
    "cj8 text": {"overflow": (1690, "22001")}, "cj9 text": {"overflow": (1690, "22001")},  # its own state for numbers out of range
    "cj8 binary": {"overflow": (1690, "22001"), "clocks": [["time 12:34:56.5"], ["time 838:59:59"], [None]]},  # forgets a time's sign
    "cj9 binary": {"overflow": (1690, "22001"), "clocks": [["time 12:34:56.5"], ["time 838:59:59"], [None]]},
    "cj26 text": {"overflow": (1690, "22001")}, "cj26 binary": {"overflow": (1690, "22001")},
    "jmariadb text": {"documents": BYTES},
    "jmariadb binary": {"documents": BYTES, "years": [["int -741"], ["int 569"], [None]]},  # reads a YEAR as text
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    m = Millrace(tmp_path_factory.mktemp("values") / "data").start()
    m.sql(TYPED, ROWS, COPIED)
    p = Producer({"bootstrap.servers": m.bootstrap})
    p.produce("web.clicks-v1", value='{"user":{"age":30},"page":"/"}')
    p.produce("long_text", value=json.dumps({"note": LONG}))
    assert p.flush(20) == 0
    yield m
    m.stop()


def check(client, said):
    """said: an answer for each step that the client was given, in order."""
    own = OWN_WAY.get(client, {})
    wrong = []
    for name, sql, _, want in steps(client):
        got = said.pop(0)
        way = own.get(name, want)
        if isinstance(way, dict):  # words in other words
            way = [[way.get(w, w) for w in row] for row in want]
        if isinstance(way, tuple):
            ok = got.get("error") == list(way) or got.get("error") == [way[0]]  # some drivers keep the state to themselves
        elif isinstance(way, int):
            ok = got.get("affected") == way
        else:
            ok = same(got.get("rows"), way) and ("columns" not in got or got["columns"] == COLUMNS.get(name, got["columns"]))
        if not ok:
            wrong.append(f"{name}: {sql}\n  want {str(way)[:1500]}\n  got  {str(got)[:1500]}")
    assert not wrong, "\n".join(wrong)
    assert not said


def same(got, want):
    if got is None or len(got) != len(want):
        return False
    return all(len(g) == len(w) and all(equal(a, b) for a, b in zip(g, w)) for g, w in zip(got, want))


def equal(a, b):
    if a is not None and b is not None and a.startswith("flt ") and b.startswith("flt "):
        return float(a[4:]) == float(b[4:])
    return a == b


def steps(client):
    own = OWN_WAY.get(client, {})
    return [s for s in STEPS if s[0] not in own or own[s[0]] is not None]


def run(client, argv, text, **kw):
    r = subprocess.run([str(a) for a in argv], input=text, capture_output=True, text=True, timeout=120, **kw)
    assert r.returncode == 0, f"{client}: {r.stdout[-2000:]}{r.stderr[-3000:]}"
    return [json.loads(line) for line in r.stdout.splitlines() if line.startswith("{")]


def lines(client):
    return "".join(json.dumps({"sql": sql, "args": args}) + "\n" for _, sql, args, _ in steps(client))


@pytest.mark.parametrize("client", ["pymysql", "mysqlclient", "connector-pure", "connector-pure-prepared", "connector-c", "connector-c-prepared", "mariadb",
                                    "mariadb-binary", "aiomysql", "asyncmy", "odbc"])
def test_python(server, client):
    # The C extension of MySQL's connector brings an OpenSSL that is newer than Debian's.
    vendor = next((CACHE / "bi").glob("lib/python3*/site-packages/mysql/vendor"), "")
    check(client, run(client, [PYTHON, HERE / "values.py", client, server.mysql_port], lines(client), env={**os.environ, "LD_LIBRARY_PATH": str(vendor)}))


@pytest.mark.parametrize("client", ["mysql2-query", "mysql2-execute", "node-mariadb-query", "node-mariadb-execute"])
def test_node(server, client):
    (CACHE / "node" / "values.mjs").write_text((HERE / "values.mjs").read_text())
    check(client, run(client, ["node", CACHE / "node" / "values.mjs", client.removeprefix("node-"), server.mysql_port], lines(client)))


@pytest.mark.parametrize("client", ["go-text", "go-binary"])
def test_go(server, client):
    check(client, run(client, [CACHE / "go" / "sqlvalues", client, server.mysql_port], lines(client)))


def escape(s):
    return s.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


# MariaDB's driver verifies certificates by default from 4.0 on; a server that has none of its own makes one that nobody signed.
TRUST = {"jmariadb4": "&sslMode=trust"}


# The drivers of the registry's newest day are run in full only.
@pytest.mark.parametrize("driver", ["cj8", "cj9", "jmariadb", pytest.param("cj26", marks=pytest.mark.full), pytest.param("jmariadb4", marks=pytest.mark.full)])
def test_java(server, driver):
    text = "".join("\t".join(["" if w is None else escape(w) for w in [sql, *args]]) + "\n" for _, sql, args, _ in STEPS)
    folder, scheme = (driver[1:], "mariadb") if driver.startswith("j") else (driver, "mysql")
    common = "yearIsDateType=false&connectionTimeZone=UTC" + TRUST.get(driver, "")
    said = run(driver, ["java", "-Xmx256m", "-Duser.timezone=UTC", "-cp", f"{CACHE}/jdbc/classes:{CACHE}/jdbc/{folder}/*", "Values",
                        f"jdbc:{scheme}://127.0.0.1:{server.mysql_port}/kafka", common, common + "&useServerPrepStmts=true"], text)
    half, like = len(STEPS), driver.replace("jmariadb4", "jmariadb")
    check(like + " text", said[:half])
    check(like + " binary", said[half:])


def test_columns_are_described_as_mysql_does(server):
    """What drivers go by: the type's number, the length, the digits, and NOT NULL where that is sure."""
    with server.connect() as c, c.cursor() as cur:
        cur.execute("SELECT _partition, flag, tiny, big, ubig, price, name, at, stamp, day, bin, b, doc, y FROM typed")
        assert [(f.name, f.type_code, f.length, f.scale, f.flags & 1, f.flags & 32) for f in cur._result.fields] == [
            ("_partition", 3, 11, 0, 1, 0), ("flag", 1, 1, 0, 0, 0), ("tiny", 1, 4, 0, 0, 0), ("big", 8, 20, 0, 0, 0), ("ubig", 8, 20, 0, 0, 32),
            ("price", 246, 22, 6, 0, 0), ("name", 253, 400, 0, 0, 0), ("at", 12, 26, 6, 0, 0), ("stamp", 7, 26, 3, 0, 0), ("day", 10, 10, 0, 0, 0),
            ("bin", 253, 20, 0, 0, 0), ("b", 252, 65535, 0, 0, 0), ("doc", 245, 4294967295, 0, 0, 0), ("y", 13, 4, 0, 0, 32)]
        cur.execute("SELECT id = 1, 1, MAX(at), CURDATE(), NOW(3), small + 0.5, SUM(price) FROM typed GROUP BY id, small")
        assert [(f.type_code, f.scale, f.flags & 1) for f in cur._result.fields] == [
            (8, 0, 0), (8, 0, 0), (12, 6, 0), (10, 0, 0), (12, 6, 0), (246, 1, 0), (246, 6, 0)]
