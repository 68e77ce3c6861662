# Sourced by the suites' scripts: servers for the run of one script, under $dir.
# shellcheck shell=bash

dir=$(mktemp -d)
servers=()

# serve NAME [FLAGS...] starts bin/millrace on free ports, keeps its data under
# $dir/NAME, and sets $address to what Kafka clients connect to.
serve() {
  local name=$1 log=$dir/$1.log; shift
  : >"$log" # the server's own redirection may come after our first look
  bin/millrace serve --data "$dir/$name" --kafka "${listener:-}127.0.0.1:0" --mysql 127.0.0.1:0 --http 127.0.0.1:0 "$@" >"$log" 2>&1 &
  servers+=($!)
  address=
  for _ in {1..200}; do
    address=$(sed -n 's/.*millrace is ready.* kafka=\([^ ]*\).*/\1/p' "$log")
    [[ -n $address ]] && return
    kill -0 $! 2>/dev/null || break
    sleep 0.05
  done
  cat "$log" >&2
  return 1
}

stop_servers() {
  local code=$?
  if ((${#servers[@]})); then
    kill "${servers[@]}" 2>/dev/null || true
    wait "${servers[@]}" 2>/dev/null || true
  fi
  rm -rf "$dir"
  exit "$code"
}
trap stop_servers EXIT
