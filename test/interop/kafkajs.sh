#!/usr/bin/env bash
# kafkajs.sh [node flags]: what kafkajs's specs check against a broker (kafkajs.mjs),
# against bin/millrace with and without users. kafkajs-allow.txt says what must pass; its
# names have dashes for blanks. About half a minute.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
cache=$PWD/.cache/interop
make -s build
source "$here/serve.sh"
serve open
export MILLRACE_KAFKA=$address KAFKAJS_HOME=$cache/node KAFKAJS_NO_PARTITIONER_WARNING=1
bin/millrace user add kafkajs --password-stdin --data "$dir/users" <<<"kafkajs-secret" >/dev/null
listener=sasl:// serve users
export MILLRACE_KAFKA_USERS=$address

timeout 240 node --test-force-exit --test-reporter=tap "$@" "$here/kafkajs.mjs" >"$cache/kafkajs.log" 2>&1 || true
sed -nE 's/^(not ok|ok) [0-9]+ - (.*)$/\1|\2/p' "$cache/kafkajs.log" | sed -E 's/ # .*//; s/^ok\|/PASSED\|/; s/^not ok\|/FAILED\|/; s/ /-/g; s/\|/ /' >"$dir/results"
source "$here/judge.sh"
judge kafkajs "$dir/results" "${1:+part}" || { echo "log: .cache/interop/kafkajs.log" >&2; exit 1; }
