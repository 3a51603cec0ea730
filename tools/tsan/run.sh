#!/usr/bin/env bash
# tools/tsan/run.sh PROJECT FOLDER [NAME...] <TESTS: builds the tests with the OCaml in FOLDER, which has ThreadSanitizer,
# runs those of these names or all, one after the other, and fails on any race that tools/tsan/suppressions does not list.
# TESTS are lines of list_tests (tools/tests.sh): other programs are started by tests, which know their arguments. This runs
# inside the toolchain.
set -euo pipefail

top=$1 tsan=$2 names=("${@:3}")
build=$top/_build-tsan reports=$top/_build-tsan/reports
say() { printf 'tsan: %s\n' "$*" >&2; }

# Leaves out tests that ThreadSanitizer changes:
# - Those that measure the heap and the depth of the stack. They have one domain.
# - Those that are about signals, on the main thread too. If a handler raises at the beginning of a function, OCaml's
#   instrumentation loses count of the calls, and after some thousands ThreadSanitizer itself crashes (OCaml 5.4.1; a loop of
#   List.iter is enough).
# - test_styles, for the same reason: it also crashes after some exceptions that f x raises in f x y, if f has one argument.
#   What the styles do with domains is in test_styles_domains.
# - Those that must be the only thread, because ThreadSanitizer has one of its own. One of them, test_alone, also has children
#   of fork spawn domains. There ThreadSanitizer reports races within OCaml's runtime, in C, between accesses that hold the
#   same lock.
is_wanted() {
  case $1 in
  *_memory | test_fifo_signals | test_styles_signals | test_*interrupted | test_styles | test_styles_deadlock | test_wakers | \
    test_alone | test_leaks_thread)
    [ "${#names[@]}" = 0 ] || [[ " ${names[*]} " != *" $1 "* ]] || say "$1: left out; tools/tsan/run.sh says why"
    return 1
    ;;
  esac
  [ "${#names[@]}" = 0 ] || [[ " ${names[*]} " = *" $1 "* ]]
}

# Prints, for each race of the program named $1, or of all, the first OCaml function of its first stack.
races_of() {
  find "$reports" -name "${1:-*}.[0-9]*" -exec awk '
    /^WARNING: ThreadSanitizer/ { if (wanted) print "(no OCaml function)"; wanted = 1 }
    wanted && /^ +#[0-9]+ caml[A-Z]/ { print $2, $3; wanted = 0 }
    END { if (wanted) print "(no OCaml function)" }' {} +
}

# A race is reported into a file, as Alcotest hides what a test prints. Of mutexes only races are of interest: there are
# tests that misuse them. A test may fork, although it has threads.
run() {
  local name=$1 program=$2
  TSAN_OPTIONS="suppressions=$top/tools/tsan/suppressions print_suppressions=1 log_path=$reports/$name
 exitcode=66 history_size=7 report_mutex_bugs=0 report_destroy_locked=0 report_signal_unsafe=0 die_after_fork=0" \
    CONCORD_TSAN=1 timeout --kill-after=10 300 "$program" </dev/null >"$reports/$name.out" 2>&1
}

export OCAMLFIND_CONF=$tsan/findlib.conf PATH=$tsan/bin:$PATH
cd "$top"
# The tests of these names, or all, as "PATH NAME", the path without its ending. Of concord-aio's only those that need no
# other scheduler.
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
    [ -n "$path" ] || { say "test: --tsan has no test that is named '$name'"; exit 1; }
    targets+=("./$path.exe")
    # It may start other programs of its folder.
    if [[ $path != test/aio/* ]] && grep -q '^(executable' "${path%/*}/dune"; then targets+=("@@${path%/*}/all"); fi
  done
fi
say "building: the first time this takes minutes, as the compiler is instrumented too"
# Dune runs some of the tests when it builds everything: not yet.
TSAN_OPTIONS=report_bugs=0 dune build --root . --no-print-directory --build-dir "$build" \
  --only-packages concord,concord-suspend,concord-generator,concord-schedulers,concord-testkit,concord-aio "${targets[@]}"

rm -rf "$reports"
mkdir "$reports"

# A run without reports is worth something only if there would be one.
cp tools/tsan/canary.ml "$reports/"
(cd "$reports" && ocamlfind ocamlopt -g -package unix,threads.posix -linkpkg canary.ml -o canary.exe)
result=0
run canary "$reports/canary.exe" || result=$?
if [ $result != 66 ] || ! races_of canary | grep -q 'camlCanary\.race_'; then
  say "ThreadSanitizer does not report the race in tools/tsan/canary.ml (exit code $result): see $reports"
  exit 1
fi
rm "$reports"/canary*

failed=() n=0
for test in "${tests[@]}"; do
  program=$build/default/${test% *}.exe name=${test#* }
  # A test of another package is not built.
  [ -e "$program" ] || continue
  if ! is_wanted "$name"; then continue; fi
  n=$((n + 1)) start=$SECONDS
  for attempt in first last; do
    result=0
    (cd "$(dirname "$program")" && run "$name" "$program") || result=$?
    # What it started, and what ends at once or not at all, does not tell by the exit code.
    races=$(races_of "$name" | wc -l)
    # Everything is ten times slower: a test with a limit of time, or one that needs luck, gets a second chance.
    case "$result $races $attempt" in "0 "* | *" 0 first") ;; *) break ;; esac
    [ "$result" != 0 ] || break
    say "$name: failed without a race (exit code $result); again"
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
  say "where they are, and how often; the reports are in $reports:"
  sort <<<"$races" | uniq -c | sort -rn | head -n 20 >&2
  say "one that is meant goes into tools/tsan/suppressions, with the reason"
fi
if [ "${#names[@]}" = 0 ]; then
  unused=$(grep -v '^#' tools/tsan/suppressions | while read -r line; do
    [ -z "$line" ] || grep -qhFx -e "${line}" <(sed -n 's/^[0-9]* //p' "$reports"/*.[0-9]*) || echo " $line"
  done)
  [ -z "$unused" ] || say "suppressions of which no use was made this time:$unused"
fi
echo "$((n - ${#failed[@]})) passed, ${#failed[@]} failed"
[ "${#failed[@]}" = 0 ]
