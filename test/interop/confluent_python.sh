#!/usr/bin/env bash
# confluent_python.sh [pytest arguments]: what confluent-kafka-python's integration tests
# check (confluent_python.py), against bin/millrace with and without users.
# confluent_python-allow.txt says what must pass. About a minute.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
cache=$PWD/.cache/interop
make -s build
source "$here/serve.sh"
serve open
export MILLRACE_KAFKA=$address
bin/millrace user add confluent --password-stdin --data "$dir/users" <<<"confluent-secret" >/dev/null
listener=sasl:// serve users
export MILLRACE_KAFKA_USERS=$address

"$cache/py/bin/python" -m pytest -q -p no:cacheprovider -rA "$here/confluent_python.py" "$@" >"$cache/confluent_python.log" 2>&1 || true
sed -nE 's!^(PASSED|FAILED|ERROR) [^ ]*confluent_python\.py::([^ ]*).*!\1 \2!; s/^ERROR/FAILED/; /^(PASSED|FAILED) /p' "$cache/confluent_python.log" >"$dir/results"
source "$here/judge.sh"
judge confluent_python "$dir/results" "${1:+part}" || { echo "log: .cache/interop/confluent_python.log" >&2; exit 1; }
