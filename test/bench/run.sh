#!/usr/bin/env bash
# Millrace against Apache Kafka in one run; arguments go to the program (-time 40s).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/test/interop/setup.sh"
cd "$root"
mkdir -p .cache
go build -o .cache/bench ./test/bench
exec .cache/bench "$@"
