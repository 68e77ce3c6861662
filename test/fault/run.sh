#!/usr/bin/env bash
# run.sh short|long: fault runs against bin/millrace. Needs root (tmpfs) and strace.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
go build -o .cache/fault ./test/fault
case ${1:-short} in
short)
  exec .cache/fault -kills 40 -rounds 3 -points 12 -flips 40 kill diskfull syncs eio flips churn cuts memory transactions commits
  ;;
long)
  exec .cache/fault -kills 500 -rounds 50 -points 60 -flips 1000 -transactions 100000 kill diskfull syncs eio flips churn cuts memory transactions commits
  ;;
*)
  echo "run.sh short|long" >&2
  exit 2
  ;;
esac
