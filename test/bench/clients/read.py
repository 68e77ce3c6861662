"""Reads all rows of a query, so many times: read.py PORT PUSHDOWN TIMES QUERY"""
import sys

import pymysql
import pymysql.cursors

port, pushdown, times, query = sys.argv[1:]
rows = 0
with pymysql.connect(host="127.0.0.1", port=int(port), user="app", database="kafka") as c:
    if pushdown != "-":
        c.cursor().execute(f"SET millrace_pushdown={pushdown}")
    for _ in range(int(times)):
        with c.cursor(pymysql.cursors.SSCursor) as cur:
            cur.execute(query)
            while batch := cur.fetchmany(10_000):
                rows += len(batch)
print(rows)
