#!/usr/bin/env bash
# tools/tsan/run.sh PROJECT FOLDER [NAME...] <TESTS: builds the tests with the OCaml in FOLDER, which has ThreadSanitizer. It
# runs the named tests, or all, one after the other, and fails on any race that tools/tsan/suppressions does not list. TESTS
# are lines of list_tests (tools/tests.sh). Other programs are started by tests, which know their arguments. This runs inside
# the toolchain.
set -euo pipefail

top=$1 tsan=$2 names=("${@:3}")
build=$top/_build-tsan reports=$top/_build-tsan/reports
say() { printf 'tsan: %s\n' "$*" >&2; }

# Leaves out tests that ThreadSanitizer changes:
# - Tests that measure the heap and the depth of the stack. They have one domain.
# - Tests about signals, even on the main thread. If a handler raises at the beginning of a function, OCaml's
#   instrumentation loses count of the calls, and after some thousands ThreadSanitizer itself crashes (OCaml 5.4.1; a loop of
#   List.iter is enough). test_policies has such tests too.
# - test_styles, for the same reason. ThreadSanitizer also crashes after some exceptions that f x raises in f x y, if f has one
#   argument. The styles' use of domains is tested in test_styles_domains.
# - Tests that must be the only thread, because ThreadSanitizer has a thread of its own. In one of them, test_alone, children
#   of fork also spawn domains. There ThreadSanitizer reports races within OCaml's runtime, in C, between accesses that hold the
#   same lock.
is_wanted() {
  case $1 in
  *_memory | test_fifo_signals | test_styles_signals | test_*interrupted | test_styles | test_policies | test_*_deadlock | \
    test_wakers | test_alone | test_leaks_thread)
    [ "${#names[@]}" = 0 ] || [[ " ${names[*]} " != *" $1 "* ]] || say "$1: left out, for a reason that is in tools/tsan/run.sh"
    return 1
    ;;
  esac
  [ "${#names[@]}" = 0 ] || [[ " ${names[*]} " = *" $1 "* ]]
}

# Prints the first OCaml function of the first stack of each race, for the program named $1 or for all.
races_of() {
  find "$reports" -name "${1:-*}.[0-9]*" -exec awk '
    /^WARNING: ThreadSanitizer/ { if (wanted) print "(no OCaml function)"; wanted = 1 }
    wanted && /^ +#[0-9]+ caml[A-Z]/ { print $2, $3; wanted = 0 }
    END { if (wanted) print "(no OCaml function)" }' {} +
}

# Races are reported in files, because Alcotest hides a test's output. Misuse of mutexes is not reported, because some tests
# misuse them on purpose. A test may fork although it has threads.
run() {
  local name=$1 program=$2
  TSAN_OPTIONS="suppressions=$top/tools/tsan/suppressions print_suppressions=1 log_path=$reports/$name
 exitcode=66 history_size=7 report_mutex_bugs=0 report_destroy_locked=0 report_signal_unsafe=0 die_after_fork=0" \
    CONCORD_TSAN=1 timeout --kill-after=10 300 "$program" </dev/null >"$reports/$name.out" 2>&1
}

export OCAMLFIND_CONF=$tsan/findlib.conf PATH=$tsan/bin:$PATH
cd "$top"
# The tests of these names, or all, as "PATH NAME", where the path has no extension. The tests of concord-aio that need another
# scheduler are left out.
tests=()
while read -r folder name _; do
  path=$folder/$name
  case $folder/ in */opened/*) name=opened_$name ;; esac
  case $folder/ in
  test/unit/* | test/generator/* | test/schedulers/*) tests+=("$path $name") ;;
  test/testkit/operation/) case $name in test_contract) tests+=("$path $name") ;; esac ;;
  test/aio/) case $name in test_aio_wake | test_aio_styles) tests+=("$path $name") ;; esac ;;
  esac
done
targets=(@test/unit/all @test/generator/all @test/schedulers/all ./test/testkit/operation/test_contract.exe
  ./test/aio/test_aio_wake.exe ./test/aio/test_aio_styles.exe)
if [ "${#names[@]}" != 0 ]; then
  targets=()
  for name in "${names[@]}"; do
    path=$(printf '%s\n' "${tests[@]}" | awk -v name="$name" '$2 == name { print $1; exit }')
    [ -n "$path" ] || { say "test: --tsan: no test is named '$name'"; exit 1; }
    targets+=("./$path.exe")
    # The test may start other programs of its folder.
    if [[ $path != test/aio/* ]] && grep -q '^(executable' "${path%/*}/dune"; then targets+=("@@${path%/*}/all"); fi
  done
fi
say "building, which takes minutes the first time, because the compiler is instrumented too"
# The build may already run some of the tests, so reports are off until it has ended.
TSAN_OPTIONS=report_bugs=0 dune build --root . --no-print-directory --build-dir "$build" \
  --only-packages concord,concord-buffered,concord-core,concord-suspend,concord-generator,concord-schedulers,concord-testkit,concord-aio "${targets[@]}"

rm -rf "$reports"
mkdir "$reports"

# A run without reports means something only if a real race is reported, so this checks one first.
cp tools/tsan/canary.ml "$reports/"
(cd "$reports" && ocamlfind ocamlopt -g -package unix,threads.posix -linkpkg canary.ml -o canary.exe)
result=0
run canary "$reports/canary.exe" || result=$?
if [ $result != 66 ] || ! races_of canary | grep -q 'camlCanary\.race_'; then
  say "ThreadSanitizer does not report the race in tools/tsan/canary.ml (exit code $result). See $reports"
  exit 1
fi
rm "$reports"/canary*

failed=() n=0
for test in "${tests[@]}"; do
  program=$build/default/${test% *}.exe name=${test#* }
  # A test that was not built belongs to another package.
  [ -e "$program" ] || continue
  if ! is_wanted "$name"; then continue; fi
  n=$((n + 1)) start=$SECONDS
  for attempt in first last; do
    result=0
    (cd "$(dirname "$program")" && run "$name" "$program") || result=$?
    # The exit code doesn't show races of programs that the test started, or of a test that exits early or hangs.
    races=$(races_of "$name" | wc -l)
    # Everything is ten times slower, so a test with a time limit, or one that needs luck, gets a second chance.
    case "$result $races $attempt" in "0 "* | *" 0 first") ;; *) break ;; esac
    [ "$result" != 0 ] || break
    say "$name: failed without a race (exit code $result), so it runs again"
  done
  if [ "$races" != 0 ]; then say "$name: $races reports"
  elif [ "$result" = 0 ]; then say "$name: no race, $((SECONDS - start)) s"; continue
  elif [ "$result" = 124 ]; then say "$name: has not ended after 300 s"
  else say "$name: failed (exit code $result):"; tail -n 20 "$reports/$name.out" >&2
  fi
  failed+=("$name")
done
[ $n != 0 ] || exit 1

races=$(races_of)
if [ -n "$races" ]; then
  say "these functions have races, each with their number (the reports are in $reports):"
  sort <<<"$races" | uniq -c | sort -rn | head -n 20 >&2
  say "if a race is intended, add it to tools/tsan/suppressions, with the reason"
fi
if [ "${#names[@]}" = 0 ]; then
  unused=$(grep -v '^#' tools/tsan/suppressions | while read -r line; do
    [ -z "$line" ] || grep -qhFx -e "${line}" <(sed -n 's/^[0-9]* //p' "$reports"/*.[0-9]*) || echo " $line"
  done)
  [ -z "$unused" ] || say "suppressions that were not used this time:$unused"
fi
echo "$((n - ${#failed[@]})) passed, ${#failed[@]} failed"
[ "${#failed[@]}" = 0 ]
