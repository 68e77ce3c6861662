"""The clients of analysts, each as its users use it: SQLAlchemy over three drivers, pandas, mysqlclient, mysql-connector-python, ODBC, mycli."""
import json
import os
import subprocess

import pytest
from confluent_kafka import Producer

from millrace import CACHE, ROOT

PYTHON = CACHE / "bi" / "bin" / "python"


@pytest.fixture
def orders(server):
    p = Producer({"bootstrap.servers": server.bootstrap})
    for i, (city, amount) in enumerate([("a", 2.5), ("b", 4), ("a", 1.25), (None, 9)]):
        p.produce("orders", timestamp=1767261600000 + i * 60_000, value=json.dumps({"id": i, "city": city, "amount": amount, "ok": i % 2 == 0}))
    for i in range(2000):
        p.produce("big", value=f'{{"i":{i}}}')
    assert p.flush(20) == 0
    return server


@pytest.mark.parametrize("client", ["sqlalchemy_pymysql", "sqlalchemy_mysqldb", "sqlalchemy_mysqlconnector", "sqlalchemy_mariadbconnector", "sqlalchemy_aiomysql",
                                    "sqlalchemy_asyncmy", "sqlalchemy_pyodbc", "pandas", "mysqlclient", "connector_python", "connector_c", "odbc"])
def test_client(orders, client):
    vendor = next((CACHE / "bi").glob("lib/python3*/site-packages/mysql/vendor"), "")  # the OpenSSL of mysql-connector-python's C extension
    r = subprocess.run([PYTHON, ROOT / "test/interop/clients/bi.py", client, str(orders.mysql_port)], capture_output=True, text=True, timeout=120,
                       env={**os.environ, "LD_LIBRARY_PATH": str(vendor)})
    assert r.returncode == 0, r.stdout + r.stderr


def test_mycli(orders):
    r = subprocess.run([CACHE / "bi/bin/mycli", "-h", "127.0.0.1", "-P", str(orders.mysql_port), "-u", "app", "-D", "kafka"],
                       input="select city, count(*) from orders group by city order by city", capture_output=True, text=True, timeout=60)
    assert r.returncode == 0, r.stderr
    assert {"a\t2", "b\t1"} <= set(r.stdout.splitlines()), r.stdout
