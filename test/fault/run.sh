#!/usr/bin/env bash
# run.sh short|long: fault runs against bin/millrace.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
go build -o .cache/fault ./test/fault
case ${1:-short} in
short) exec .cache/fault -kills 40 -rounds 3 kill diskfull ;;
long) exec .cache/fault -kills 500 -rounds 50 kill diskfull ;;
*) echo "run.sh short|long" >&2; exit 2 ;;
esac
