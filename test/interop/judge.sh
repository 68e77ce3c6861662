# Sourced by the scripts of the peers' suites: the verdict on one run.
# shellcheck shell=bash

# judge NAME RESULTS [part] compares the "PASSED test" and "FAILED test" lines in the
# file RESULTS with NAME-allow.txt. A test in the list that did not pass fails the run;
# one that passes and is not in the list is reported, to be added: the lists only grow.
# With part, the run was of a few tests only: those that did not run are not missed.
judge() {
  local name=$1 results=$2 part=${3:-} list=$here/$1-allow.txt passed failed allowed new broken
  passed=$(sed -n 's/^PASSED //p' "$results" | sort -u)
  failed=$(sed -n 's/^FAILED //p' "$results" | sort -u)
  allowed=$(sed -E 's/(^|[[:space:]]+)#.*//; s/[[:space:]]+$//; /^$/d' "$list" | sort -u)
  new=$(comm -13 <(echo "$allowed") <(echo "$passed"))
  if [[ -n $part ]]; then
    broken=$(comm -12 <(echo "$allowed") <(echo "$failed"))
  else
    broken=$(comm -23 <(echo "$allowed") <(echo "$passed"))
  fi
  [[ -z $failed ]] || sed 's/^/failed: /' <<<"$failed"
  [[ -z $new ]] || sed "s/^/passes, but is not in $name-allow.txt: /" <<<"$new"
  echo "$name: PASSED $(grep -c . <<<"$passed" || true), FAILED $(grep -c . <<<"$failed" || true)"
  if [[ -n $broken ]]; then
    sed 's/^/MUST PASS: /' <<<"$broken" >&2
    return 1
  fi
}
