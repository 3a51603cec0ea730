#!/usr/bin/env bash
# tools/strict.sh PROJECT [NAME...] <TESTS: builds the named tests, or all, and runs them with CONCORD_DEBUG=strict, one after
# the other. TESTS are lines of list_tests (tools/tests.sh). tools/strict.txt has what is left out, and why. The programs are
# those of the ordinary build. This runs inside the toolchain.
set -euo pipefail

top=$1 names=("${@:2}")
build=$top/_build/default left_out=$top/tools/strict.txt
say() { printf 'strict: %s\n' "$*" >&2; }

# All tests that run operations, except for the models, which check the sources without the diagnosis, and the projects of
# test/outside. The examples' programs are started by their own tests.
folders='test/(aio|buffered|generator|lin|lwt|matrix|schedulers|stress|testkit|unit)(/|$)'

tests=() targets=()
while read -r folder name _; do
  [[ $folder =~ ^$folders ]] || continue
  [ "${#names[@]}" = 0 ] || [[ " ${names[*]} " = *" $name "* ]] || continue
  tests+=("$folder/$name")
  [[ " ${targets[*]-} " = *" @$folder/all "* ]] || targets+=("@$folder/all")
done
[ "${#tests[@]}" != 0 ] || { say "none of the tests that can run so is named '${names[*]}'"; exit 1; }

cd "$top"
# test_operations_interrupted reads this page.
targets+=(./doc/threads.mld)
dune build --root . --no-print-directory "${targets[@]}"

failed=() n=0 cases=0
for test in "${tests[@]}"; do
  program=$build/$test.exe name=${test##*/}
  # Some tests are built only if a library is installed.
  [ -e "$program" ] || continue
  reason=$(sed -n "s/^$name | \* | \* | //p" "$left_out")
  if [ -n "$reason" ]; then say "$name is left out: $reason"; continue; fi
  n=$((n + 1)) start=$SECONDS result=0
  output=$(cd "$(dirname "$program")" && CONCORD_DEBUG=strict CONCORD_LEAVE_OUT=$left_out \
    timeout --kill-after=10 300 "$program" </dev/null 2>&1) || result=$?
  cases=$((cases + $(awk '/^Test Successful in .* tests? run/ { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^tests?$/) n += $i }
    /^success \(ran [0-9]+ tests?\)/ { n += $3 } END { print n + 0 }' <<<"$output")))
  if [ $result = 0 ]; then say "$test: passed, $((SECONDS - start)) s"; continue; fi
  tail -n 40 <<<"$output" >&2
  say "$test: failed (exit code $result)"
  failed+=("$test")
done
echo "$((n - ${#failed[@]})) programs passed, ${#failed[@]} failed. $cases cases passed"
[ "${#failed[@]}" = 0 ]
