"""values.py CLIENT PORT: runs the steps of standard input ({"sql", "args"} a line) and prints what this driver makes of each answer, a line a step.

A value is told with its kind, as the driver's users get it, without asking for another type: "int 5", "dec 0.10", "flt 0.5", "txt x",
"bin 00ff", "time -12:34:56.5", "date 2026-02-28", "at 2026-07-01 12:34:56.789", or null. Arguments come in the same words.
"""
import asyncio
import datetime
import decimal
import json
import sys

client, port = sys.argv[1], int(sys.argv[2])
LOGIN = dict(host="127.0.0.1", port=port, user="app")


def fraction(micros):
    return f".{micros:06}".rstrip("0") if micros else ""


def say(v):
    if v is None:
        return None
    if isinstance(v, (bool, int)):
        return f"int {int(v)}"
    if isinstance(v, decimal.Decimal):
        return f"dec {v:f}"
    if isinstance(v, float):
        return f"flt {v!r}"
    if isinstance(v, (bytes, bytearray)):
        return f"bin {bytes(v).hex()}"
    if isinstance(v, datetime.datetime):
        return f"at {v:%Y-%m-%d %H:%M:%S}{fraction(v.microsecond)}".replace("at 1-", "at 0001-")
    if isinstance(v, datetime.date):
        return f"date {v.isoformat()}"
    if isinstance(v, datetime.time):
        return f"time {v:%H:%M:%S}{fraction(v.microsecond)}"
    if isinstance(v, datetime.timedelta):
        micros = v // datetime.timedelta(microseconds=1)
        sign, micros = ("-", -micros) if micros < 0 else ("", micros)
        s = micros // 1_000_000
        return f"time {sign}{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}{fraction(micros % 1_000_000)}"
    if isinstance(v, str):
        return f"txt {v}"
    return f"{type(v).__name__} {v}"


def argument(word):
    if word is None:
        return None
    kind, _, text = word.partition(" ")
    if kind == "at":
        return datetime.datetime.fromisoformat(text)
    return {"int": int, "dec": decimal.Decimal, "flt": float, "txt": str, "bin": bytes.fromhex, "date": datetime.date.fromisoformat}[kind](text)


def percent(sql):
    """Question marks as the drivers that format statements themselves write them."""
    return sql.replace("%", "%%").replace("?", "%s")


def dbapi(connect, errors, state, cursor=lambda c: c.cursor(), marks=percent):
    c = connect()

    def step(sql, args):
        cur = cursor(c)
        try:
            if args:
                cur.execute(marks(sql), tuple(args))
            else:
                cur.execute(sql)
            if not cur.description:
                return {"affected": cur.rowcount}
            names = [d[0] for d in cur.description]
            return {"columns": names, "rows": [[say(v) for v in row] for row in cur.fetchall()]}
        except errors as e:
            return {"error": state(e)}
        finally:
            cur.close()
    return step


def run(step):
    for line in sys.stdin:
        s = json.loads(line)
        print(json.dumps(step(s["sql"], [argument(a) for a in s.get("args", [])])), flush=True)


def number(e):
    return [e.args[0]]


def pymysql():
    import pymysql as m
    run(dbapi(lambda: m.connect(database="kafka", autocommit=True, **LOGIN), m.MySQLError, number))


def mysqlclient():
    import MySQLdb as m
    run(dbapi(lambda: m.connect(db="kafka", autocommit=True, charset="utf8mb4", **LOGIN), m.MySQLError, number))


def connector(pure, prepared):
    import mysql.connector as m
    run(dbapi(lambda: m.connect(database="kafka", autocommit=True, use_pure=pure, **LOGIN), m.Error, lambda e: [e.errno, e.sqlstate],
              lambda c: c.cursor(prepared=prepared)))


def mariadb(binary):
    import mariadb as m
    run(dbapi(lambda: m.connect(database="kafka", autocommit=True, **LOGIN), m.Error, lambda e: [e.errno, e.sqlstate],
              lambda c: c.cursor(binary=binary), lambda sql: sql))


def odbc():
    import pyodbc as m
    dsn = f"DRIVER=/usr/lib/x86_64-linux-gnu/odbc/libmaodbc.so;SERVER=127.0.0.1;PORT={port};DATABASE=kafka;UID=app;PWD=;CHARSET=utf8mb4"
    # pyodbc tells states only; the number is in the text, in brackets.
    run(dbapi(lambda: m.connect(dsn, autocommit=True), m.Error, lambda e: [int(e.args[1].rsplit("(", 2)[-2].split(")")[0]), e.args[0]], marks=lambda sql: sql))


def awaited(module):
    m = __import__(module)
    loop = asyncio.new_event_loop()
    c = loop.run_until_complete(m.connect(db="kafka", autocommit=True, charset="utf8mb4", **LOGIN))

    async def ask(sql, args):
        async with c.cursor() as cur:
            try:
                await cur.execute(percent(sql) if args else sql, args or None)
                if not cur.description:
                    return {"affected": cur.rowcount}
                return {"columns": [d[0] for d in cur.description], "rows": [[say(v) for v in row] for row in await cur.fetchall()]}
            except errors as e:
                return {"error": number(e)}
    errors = getattr(m, "MySQLError", None) or m.errors.MySQLError
    run(lambda sql, args: loop.run_until_complete(ask(sql, args)))
    c.close()


{
    "pymysql": pymysql, "mysqlclient": mysqlclient, "odbc": odbc,
    "connector-pure": lambda: connector(True, False), "connector-pure-prepared": lambda: connector(True, True),
    "connector-c": lambda: connector(False, False), "connector-c-prepared": lambda: connector(False, True),
    "mariadb": lambda: mariadb(False), "mariadb-binary": lambda: mariadb(True),
    "aiomysql": lambda: awaited("aiomysql"), "asyncmy": lambda: awaited("asyncmy"),
}[client]()
