"""Apache Superset, started for real: the database added, topics as datasets, SQL Lab, charts and a dashboard on a live topic, looked at
with headless Chromium."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import pytest
from confluent_kafka import Producer

from millrace import CACHE, ROOT, free_port

HERE = ROOT / "test" / "interop" / "superset"
PYTHON = CACHE / "superset" / "bin" / "python"


class Superset:
    def __init__(self, home):
        shutil.copytree(CACHE / "superset-home", home)
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = home / "superset.log"
        self.token = None
        env = {**os.environ, "SUPERSET_HOME": str(home), "SUPERSET_CONFIG_PATH": str(HERE / "superset_config.py")}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [PYTHON, "-m", "gunicorn", "--workers", "1", "--worker-class", "gthread", "--threads", "8", "--timeout", "300",
                 "--bind", f"127.0.0.1:{self.port}", "superset.app:create_app()"], stdout=log, stderr=log, env=env, cwd=home)
        deadline = time.monotonic() + 240
        while True:
            try:
                urllib.request.urlopen(f"{self.base}/health", timeout=60).read()
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"Superset did not start: {self.log.read_text()[-3000:]}")
                time.sleep(0.2)
        self.token = self("POST", "/api/v1/security/login", {"username": "admin", "password": "admin", "provider": "db"})["access_token"]

    def __call__(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.base + path, method=method, headers=headers, data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as e:
            raise AssertionError(f"{method} {path}: {e.code} {e.read().decode()[:2000]}\n{self.log.read_text()[-1500:]}") from e

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


@pytest.fixture
def superset(tmp_path):
    s = Superset(tmp_path / "superset")
    yield s
    s.stop()


CITIES = ["Aachen", "Bonn", "Celle"]
START = 1767261600000  # 2026-01-01 10:00 UTC


def produce(server, numbers):
    """One order a minute, the amount its number, the city in turn; each tenth is refused."""
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i in numbers:
        p.produce("orders", key=f"k{i}", timestamp=START + i * 60_000,
                  value=json.dumps({"id": i, "city": CITIES[i % 3], "amount": i, "price": i / 4, "ok": i % 10 != 0, "user": {"age": 20 + i % 50}}))
    assert p.flush(20) == 0


def sql_lab(superset, database, sql):
    r = superset("POST", "/api/v1/sqllab/execute/", {"database_id": database, "schema": "kafka", "sql": sql, "runAsync": False, "queryLimit": 1000})
    assert r["status"] == "success", r
    return [c["column_name"] for c in r["columns"]], [list(row.values()) for row in r["data"]]


def chart_data(superset, dataset, query):
    body = {"datasource": {"id": dataset, "type": "table"}, "force": True, "queries": [query], "result_format": "json", "result_type": "full"}
    (r,) = superset("POST", "/api/v1/chart/data", body)["result"]
    assert r["status"] == "success" and not r["error"], r
    return r["data"]


def metric(expression, label):
    return {"expressionType": "SQL", "sqlExpression": expression, "label": label}


@pytest.mark.full
def test_a_dashboard_on_a_live_topic(server, superset):
    produce(server, range(180))
    p = Producer({"bootstrap.servers": server.bootstrap})
    p.produce("web.clicks-v1", value='{"page":"/","ms":12.5}')
    assert p.flush(20) == 0

    # The database, and the test button before it.
    uri = f"mysql+pymysql://app@127.0.0.1:{server.mysql_port}/kafka"
    assert superset("POST", "/api/v1/database/test_connection/", {"sqlalchemy_uri": uri, "database_name": "Millrace"})["message"] == "OK"
    database = superset("POST", "/api/v1/database/", {"sqlalchemy_uri": uri, "database_name": "Millrace", "expose_in_sqllab": True,
                                                      "extra": json.dumps({"allows_virtual_table_explore": True})})["id"]
    assert {"kafka", "millrace"} <= set(superset("GET", f"/api/v1/database/{database}/schemas/?q=(force:!t)")["result"])
    tables = superset("GET", f"/api/v1/database/{database}/tables/?q=(force:!t,schema_name:kafka)")["result"]
    assert {t["value"]: t["type"] for t in tables} == {"orders": "table", "web.clicks-v1": "table"}
    described = superset("GET", f"/api/v1/database/{database}/table_metadata/?name=orders&schema=kafka")
    assert {c["name"]: c["type"] for c in described["columns"]} == {
        "_partition": "INTEGER", "_offset": "BIGINT", "_timestamp": "TIMESTAMP", "_key": "VARCHAR", "_headers": "JSON", "_value": "LONGTEXT",
        "_error": "TEXT", "id": "BIGINT", "city": "VARCHAR", "amount": "BIGINT", "price": "DOUBLE", "ok": "TINYINT", "user.age": "BIGINT"}, described
    assert "FROM kafka.orders" in described["selectStar"].replace("`", "")

    # Topics as datasets; a column that appears later is there after a sync.
    dataset = superset("POST", "/api/v1/dataset/", {"database": database, "schema": "kafka", "table_name": "orders"})["id"]
    superset("POST", "/api/v1/dataset/", {"database": database, "schema": "kafka", "table_name": "web.clicks-v1"})
    columns = {c["column_name"]: c for c in superset("GET", f"/api/v1/dataset/{dataset}")["result"]["columns"]}
    assert columns["_timestamp"]["is_dttm"] and not columns["amount"]["is_dttm"]
    p.produce("orders", value='{"id":1000,"coupon":"X"}', timestamp=START)
    assert p.flush(20) == 0
    superset("PUT", f"/api/v1/dataset/{dataset}/refresh")
    names = {c["column_name"] for c in superset("GET", f"/api/v1/dataset/{dataset}")["result"]["columns"]}
    assert {"coupon", "user.age", "amount"} <= names

    # SQL Lab.
    assert sql_lab(superset, database, "SELECT city, COUNT(*) AS n, SUM(amount) AS total FROM orders WHERE ok = 1 GROUP BY city ORDER BY city") == (
        ["city", "n", "total"], [[c, sum(1 for i in range(180) if i % 10 and CITIES[i % 3] == c),
                                  sum(i for i in range(180) if i % 10 and CITIES[i % 3] == c)] for c in CITIES])
    assert sql_lab(superset, database, "SELECT page, ms FROM `web.clicks-v1`") == (["page", "ms"], [["/", 12.5]])
    assert sql_lab(superset, database, "SELECT topic, SUM(end_offset) AS n FROM millrace.partitions WHERE topic = 'orders' GROUP BY topic") == (
        ["topic", "n"], [["orders", 181]])

    # A time-series chart, every grain that Superset offers, and a filtered table.
    line = {"columns": [{"timeGrain": "PT1H", "columnType": "BASE_AXIS", "sqlExpression": "_timestamp", "label": "_timestamp", "expressionType": "SQL"}, "city"],
            "metrics": [metric("SUM(amount)", "total")], "filters": [{"col": "_timestamp", "op": "TEMPORAL_RANGE", "val": "2026-01-01 : 2026-01-02"},
                                                                     {"col": "id", "op": "<", "val": 1000}],
            "orderby": [["_timestamp", True]], "row_limit": 10000}

    def totals():
        return {(row["_timestamp"], row["city"]): float(row["total"]) for row in chart_data(superset, dataset, line)}

    def expected(n):
        out = {}
        for i in range(n):
            key = (START + i // 60 * 3_600_000, CITIES[i % 3])
            out[key] = out.get(key, 0) + i
        return out

    assert totals() == expected(180)
    for grain in ("PT1S", "PT1M", "PT1H", "P1D", "P1W", "P1M", "P3M", "P1Y", "1969-12-29T00:00:00Z/P1W"):
        query = {**line, "columns": [{**line["columns"][0], "timeGrain": grain}]}
        data = chart_data(superset, dataset, query)
        assert data and all(row["_timestamp"] is not None for row in data), grain
        assert sum(float(row["total"]) for row in data) == sum(range(180)), grain
    table = chart_data(superset, dataset, {
        "columns": ["id", "city", "amount", "user.age"], "metrics": [], "orderby": [["amount", False]], "row_limit": 5,
        "filters": [{"col": "city", "op": "IN", "val": ["Aachen", "Bonn"]}, {"col": "amount", "op": ">=", "val": 100}, {"col": "city", "op": "ILIKE", "val": "%aach%"},
                    {"col": "_key", "op": "IS NOT NULL"}]})
    assert [row["id"] for row in table] == [177, 174, 171, 168, 165]
    assert table[0] == {"id": 177, "city": "Aachen", "amount": 177, "user.age": 47}
    values = superset("GET", f"/api/v1/datasource/table/{dataset}/column/city/values/")["result"]
    assert set(CITIES) <= set(values)

    # The topic grows, and so does the chart.
    produce(server, range(180, 300))
    assert totals() == expected(300)

    # A dashboard of both, looked at.
    def chart(name, viz, params):
        params = {"datasource": f"{dataset}__table", "viz_type": viz, "adhoc_filters": [], **params}
        return superset("POST", "/api/v1/chart/", {"slice_name": name, "viz_type": viz, "datasource_id": dataset, "datasource_type": "table",
                                                   "params": json.dumps(params)})["id"]

    known = {"clause": "WHERE", "expressionType": "SIMPLE", "subject": "id", "operator": "<", "operatorId": "LESS_THAN", "comparator": 1000}
    charts = [chart("Orders by hour", "echarts_timeseries_line", {"x_axis": "_timestamp", "time_grain_sqla": "PT1H", "metrics": [metric("SUM(amount)", "total")],
                                                                  "groupby": ["city"], "row_limit": 10000, "adhoc_filters": [known], "show_legend": True}),
              chart("Large orders of Bonn", "table", {"query_mode": "raw", "all_columns": ["id", "city", "amount", "price", "user.age"], "row_limit": 8,
                                                      "order_by_cols": ['["amount", false]'], "adhoc_filters": [
                                                          {**known, "subject": "city", "operator": "==", "operatorId": "EQUALS", "comparator": "Bonn"}]})]
    position = {"DASHBOARD_VERSION_KEY": "v2", "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
                "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": ["ROW-1"], "parents": ["ROOT_ID"]},
                "ROW-1": {"type": "ROW", "id": "ROW-1", "children": ["CHART-0", "CHART-1"], "parents": ["ROOT_ID", "GRID_ID"],
                          "meta": {"background": "BACKGROUND_TRANSPARENT"}}}
    for i, c in enumerate(charts):
        position[f"CHART-{i}"] = {"type": "CHART", "id": f"CHART-{i}", "children": [], "parents": ["ROOT_ID", "GRID_ID", "ROW-1"],
                                  "meta": {"chartId": c, "width": 6, "height": 70}}
    dashboard = superset("POST", "/api/v1/dashboard/", {"dashboard_title": "Live orders", "published": True, "position_json": json.dumps(position)})["id"]
    for c in charts:
        superset("PUT", f"/api/v1/chart/{c}", {"dashboards": [dashboard]})
    picture = pathlib.Path(tempfile.mkdtemp(prefix="superset-")) / "dashboard.png"
    seen = subprocess.run([PYTHON, HERE / "look.py", superset.base, str(dashboard), "2", picture], capture_output=True, text=True, timeout=300)
    assert seen.returncode == 0, seen.stderr[-3000:]
    print(f"the dashboard: {picture}")
    assert picture.stat().st_size > 20_000
    for text in ("Orders by hour", "Large orders of Bonn", "298", "74.5", "user.age"):
        assert text in seen.stdout, seen.stdout
    assert "error" not in seen.stdout.lower(), seen.stdout
    # What was asked on the way worked: nothing that Superset sent was refused.
    failed = server.sql("SELECT statement, errors FROM millrace.statements WHERE errors > 0")
    assert failed == [], failed
