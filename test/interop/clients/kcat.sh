#!/usr/bin/env bash
# The commands of _kit.py with kcat. kcat cannot create topics: auto-creation
# (or the broker's default partition count) has to serve.
set -euo pipefail
command=$1 bootstrap=$2 topic=$3
case $command in
create) kcat -L -b "$bootstrap" -t "$topic" -X allow.auto.create.topics=true >/dev/null ;;
produce)
  for ((i = $4; i < $4 + $5; i++)); do echo "k$((i % 10)):{\"n\":$i}"; done | kcat -P -b "$bootstrap" -t "$topic" -K: ;;
consume)
  # kcat says "% Group g rebalanced (memberid m): assigned: t [0], t [1]" on stderr.
  kcat -u -G "$4" -b "$bootstrap" -X auto.offset.reset=earliest -f 'RECORD %p %o %s\n' "$topic" \
    2> >(sed -uE '/assigned:/!d; s/.*assigned: ?//; s/[^ ]* \[([0-9]+)\],? ?/\1,/g; s/,$//; s/^/ASSIGNED /' >&2) &
  kcat=$!
  trap 'kill -TERM $kcat' TERM
  wait $kcat || true
  wait $kcat 2>/dev/null || true ;;
esac
