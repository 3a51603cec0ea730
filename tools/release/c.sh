#!/usr/bin/env bash
# tools/release/c.sh FOLDER: compiles the C files of the packages in FOLDER by gcc and clang, with warnings as errors, as they are and
# as on a system that isn't Linux. It prints the compilers that it doesn't find. This runs inside the toolchain.
set -uo pipefail

cd "$1" || exit
# A primitive has the arguments of its OCaml function, whether it needs them or not.
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wno-unused-parameter -Werror"
files=$(find lib aio trace adapters buffered generator schedulers testkit ppx -name '*.c' | sort)
[ -n "$files" ] || { echo "release: there are no C files in $1" >&2; exit 1; }
result=0
for compiler in gcc clang; do
  type -P "$compiler" >/dev/null || { echo "$compiler"; continue; }
  for system in '' -U__linux__; do
    while read -r file; do
      # OCaml's headers have warnings of their own.
      # shellcheck disable=SC2086  # a list of words
      "$compiler" -std=gnu11 -O2 -c -o /dev/null $warnings $system -isystem "$(ocamlc -where)" "$file" >&2 ||
        { echo "release: $compiler${system:+ $system}: $file has warnings" >&2; result=1; }
    done <<<"$files"
  done
done
exit $result
