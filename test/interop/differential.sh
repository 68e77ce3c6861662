#!/usr/bin/env bash
# differential.sh [TOTAL [FIRST_SEED]]: TOTAL random queries (default a million), 10,000 to a seed, of bin/millrace with and
# without pushdown, sealed and restarted, and of MariaDB. A seed that differs is told, with the query, and the run goes on.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
total=${1:-1000000} seed=${2:-1} each=10000 bad=()
"$here/setup.sh" full
cd "$here"
for ((asked = 0; asked < total; asked += each, seed++)); do
  if QUERIES=$each SEED=$seed DIFFERENCES=20 "$here/../../.cache/interop/py/bin/python" -m pytest -q -p no:cacheprovider test_sql_differential.py::test_all_ways_to_answer_give_the_same_answer > "/tmp/differential-$seed.log" 2>&1; then
    rm "/tmp/differential-$seed.log"
  else
    bad+=("$seed")
    grep "^E  " "/tmp/differential-$seed.log" | cut -c9- || true
  fi
  echo "$((asked + each)) of $total queries, seeds that differ: ${bad[*]:-none}"
done
((${#bad[@]} == 0))
