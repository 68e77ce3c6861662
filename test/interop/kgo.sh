#!/usr/bin/env bash
# franz-go's own client suite against bin/millrace. Tests listed in kgo-skip.txt
# (one name a line, with the reason) need what we do not have yet.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
make -s build
dir=$(mktemp -d)
port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
kafka=127.0.0.1:$(port)
bin/millrace serve --data "$dir/data" --kafka "$kafka" --mysql "127.0.0.1:$(port)" --http "127.0.0.1:$(port)" >"$dir/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; rm -rf "$dir"' EXIT
for _ in {1..200}; do (exec 3<>"/dev/tcp/${kafka%:*}/${kafka#*:}") 2>/dev/null && break; sleep 0.05; done
skip=$(sed -E 's/#.*//; s/[[:space:]]+$//; /^$/d; s/.*/^&$/' test/interop/kgo-skip.txt | paste -sd'|')
cd test/interop/go
KGO_SEEDS=$kafka KGO_TEST_RF=1 KGO_TEST_RECORDS=${KGO_TEST_RECORDS:-10000} \
  go test -count=1 -timeout "${KGO_TIMEOUT:-9m}" ${skip:+-skip "$skip"} "$@" github.com/twmb/franz-go/pkg/kgo
