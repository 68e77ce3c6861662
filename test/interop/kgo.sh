#!/usr/bin/env bash
# kgo.sh [go test flags]: franz-go's own client suite against bin/millrace. Tests
# listed in kgo-skip.txt (one name a line, with the reason) need what we do not have
# yet; others skip themselves for what we do not advertise.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
make -s build
source "$here/serve.sh"

serve open
open=$address
# A second server, with a user, for the tests that log in.
bin/millrace user add kgo --password-stdin --data "$dir/users" <<<"kgo-secret" >/dev/null
listener=sasl:// serve users
users=$address

skip=$(sed -E 's/#.*//; s/[[:space:]]+$//; /^$/d; s/.*/^&$/' "$here/kgo-skip.txt" | paste -sd'|')
cd "$here/go"
KGO_SEEDS=$open KGO_TEST_RF=1 KGO_TEST_RECORDS=${KGO_TEST_RECORDS:-10000} \
  KGO_TEST_SCRAM_SEEDS=$users KGO_TEST_SCRAM=kgo:kgo-secret:512 \
  go test -count=1 -timeout "${KGO_TIMEOUT:-4m}" ${skip:+-skip "$skip"} "$@" -v github.com/twmb/franz-go/pkg/kgo >"$dir/kgo.out" 2>&1 || failed=1
grep -E '^ *--- (FAIL|SKIP)|^panic|^FAIL|^ok' "$dir/kgo.out" || true
echo "PASSED $(grep -c '^--- PASS' "$dir/kgo.out" || true), SKIPPED $(grep -c '^--- SKIP' "$dir/kgo.out" || true), FAILED $(grep -c '^--- FAIL' "$dir/kgo.out" || true)"
if [[ -n ${failed:-} ]]; then
  cat "$dir/kgo.out"
  exit 1
fi
