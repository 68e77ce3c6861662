#!/usr/bin/env bash
# run.sh smoke|full [pytest arguments]: real clients against bin/millrace. full
# adds the long runs and the clients' own suites.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mode=${1:-smoke}; shift || true
"$here/setup.sh" "$mode"
cd "$here"
filter=(); [[ $mode == smoke ]] && filter=(-m "not full")
"$here/../../.cache/interop/py/bin/python" -m pytest -q -p no:cacheprovider "${filter[@]}" "$@"
if [[ $mode == full && $# == 0 ]]; then
  for suite in kgo kafka_python confluent_python kafkajs librdkafka; do
    "$here/$suite.sh"
  done
fi
