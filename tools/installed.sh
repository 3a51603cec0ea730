#!/usr/bin/env bash
# tools/installed.sh PROJECT [NAME...] <TESTS: builds the packages for release, and installs them into a folder. Then it
# builds the tests of reports, traces and concord-trace, or the named ones, in a project that has only these packages, and
# runs them. TESTS are lines of list_tests (tools/tests.sh). This runs inside the toolchain.
set -euo pipefail

top=$1 names=("${@:2}")
# Builds in the checkout pass over this folder, with the copy of the packages in its install/, because dune ignores names that
# begin with an underscore.
build=$top/_build-installed
prefix=$build/prefix project=$build/project
say() { printf 'installed: %s\n' "$*" >&2; }

# test/unit/diagnosis/debugged repeats tests of other folders.
targets=()
while read -r folder name alias; do
  case $folder in
  test/unit/diagnosis/debugged) continue ;;
  test/unit/diagnosis | test/unit/diagnosis/* | test/trace | test/trace/*) ;;
  *) continue ;;
  esac
  [ "${#names[@]}" = 0 ] || [[ " ${names[*]} " = *" $name "* ]] || continue
  targets+=("$alias")
done
[ "${#targets[@]}" != 0 ] || { say "none of the tests of reports and traces is named '${names[*]}'"; exit 1; }

# The packages that these tests use.
packages=(concord concord-core concord-domainslib concord-eio concord-lwt concord-schedulers concord-suspend concord-trace)
cd "$top"
dune build --root . --no-print-directory --profile release --build-dir "$build" "${packages[@]/%/.install}"
rm -rf "$prefix" "$project"
dune install --root . --no-print-directory --profile release --build-dir "$build" --prefix "$prefix" "${packages[@]}" 2>/dev/null

# The project has the tests and what they share, but nothing of the library. It has the command's modules, which have tests
# of their own. Here they read processes that were linked with the installed packages.
mkdir -p "$project/test/unit" "$project/trace"
cp dune-project "$project/"
cp -r test/support test/trace "$project/test/"
cp -r test/unit/diagnosis "$project/test/unit/"
cp -r trace/src trace/waits "$project/trace/"

# Otherwise dune's variables would reach the tests, and they would find the packages of the checkout.
export OCAMLPATH=$prefix/lib${OCAMLPATH:+:$OCAMLPATH} PATH=$prefix/bin:$PATH
unset DUNE_BUILD_DIR DUNE_PROFILE DUNE_WORKSPACE
limit=${CONCORD_TEST_LIMIT:-900}
if [ "$limit" != 0 ]; then bash "$top/tools/late.sh" $$ "$limit" >&2 & trap "kill $! 2>/dev/null" EXIT; fi
log=$build/log
say "the tests use the packages in $prefix"
dune build --root "$project" --no-print-directory --force "${targets[@]}" 2>&1 | tee "$log"
count=$(awk '/^Test Successful in .* tests? run/ { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^tests?$/) n += $i } END { print n + 0 }' "$log")
[ "$count" != 0 ] || { say "no test ran"; exit 1; }
echo "${#targets[@]} programs passed with installed packages. $count cases passed"
