#!/usr/bin/env bash
# Millrace's SQL against DuckDB and ClickHouse in one run; arguments go to bench.py
# (--events 3000000 --threads 1 --only Q3,Q7 --cold --peers duckdb,spark,stock).
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
venv=.cache/bench-sql
if [ ! -x $venv/bin/python ] || ! $venv/bin/python -c 'import duckdb, chdb, pymysql' 2>/dev/null; then
  python3 -m venv $venv
  $venv/bin/pip install -q --disable-pip-version-check -r test/bench/sql/requirements.txt
fi
if [[ "$*" == *spark* && ! -e .cache/interop/spark3.ok ]]; then
  test/interop/setup.sh full
fi
go build -o .cache/sqlgen ./test/bench/sql/gen
(cd test/bench/stock && go build -o ../../../.cache/stock .)
exec $venv/bin/python test/bench/sql/bench.py --gen .cache/sqlgen --stock .cache/stock \
  --spark .cache/interop/spark3 --spark-jars "$root/.cache/interop/spark3-jars" --work "${WORK:-.cache/bench-sql-data}" "$@"
