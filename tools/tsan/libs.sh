#!/usr/bin/env bash
# tools/libs.sh COMPILER WORK ALCOTEST: builds the libraries that the unit tests need for the OCaml in the folder
# COMPILER, and installs them there. Their sources are those that were installed with the toolchain's own libraries. These
# lack Alcotest's C stubs, which are taken from its source in the folder ALCOTEST, and those of iomux. Everything is made
# in the folder WORK, which is emptied first. This runs inside the toolchain.
set -euo pipefail

compiler=$1 work=$2 alcotest=$3

# library PUBLIC_NAME MODULE [FIELD...]: lays out the sources of a library and says how to build it. Generated modules and
# those for the toplevel are left out. Warnings are its authors' affair.
library() {
  local name=$1 module=$2 to=$work/$1 from file
  shift 2
  from=$(ocamlfind query "$name")
  mkdir -p "$to"
  for file in "$from"/*.ml "$from"/*.mli "$from"/*.c; do
    case $file in *__.ml | *_top.ml* | *_init.ml | */\**) ;; *) cp "$file" "$to/" ;; esac
  done
  {
    echo "(library (name $module) (public_name $name) (flags (:standard -w -a))"
    printf ' %s\n' "$@" ')'
  } >"$to/dune"
  echo "(package (name ${name%%.*}) (allow_empty))" >>"$work/packages"
}

rm -rf "$work"
mkdir -p "$work"
library thread-table thread_table
library domain-local-await domain_local_await '(libraries thread-table)'
library mtime mtime
library mtime.clock mtime_clock '(libraries mtime)' '(foreign_stubs (language c) (names mtime_clock_stubs))'
library astring astring '(wrapped false)'
library cmdliner cmdliner '(wrapped false)'
library fmt fmt
library fmt.tty fmt_tty '(libraries fmt unix)'
library fmt.cli fmt_cli '(libraries fmt cmdliner)'
library uutf uutf
library re re
library alcotest.stdlib_ext alcotest_stdlib_ext '(libraries astring cmdliner uutf)'
library alcotest.engine alcotest_engine '(libraries alcotest.stdlib_ext astring cmdliner fmt fmt.cli re uutf)'
library alcotest alcotest '(libraries alcotest.engine astring fmt fmt.tty unix)' \
  '(foreign_stubs (language c) (names alcotest_stubs))'
find "$alcotest" -name alcotest_stubs.c -exec cp {} "$work/alcotest/" \;
# Of its C stubs there is an archive, which is taken as it is: they only poll.
library iomux iomux '(libraries unix)' '(foreign_archives iomux_stubs)'
cp "$(ocamlfind query iomux)"/{,../stublibs/}*iomux_stubs.* "$work/iomux/"
# Its old name, which Concord still uses.
mkdir "$work/mtime.clock.os"
echo '(deprecated_library_name (old_public_name mtime.clock.os) (new_public_name mtime.clock))' >"$work/mtime.clock.os/dune"
{ echo '(lang dune 3.17)'; sort -u "$work/packages"; } >"$work/dune-project"

# Nothing of the toolchain's libraries may be found: they were compiled otherwise.
printf 'path="%s/lib:%s/lib/ocaml"\ndestdir="%s/lib"\n' "$compiler" "$compiler" "$compiler" >"$compiler/findlib.conf"
export OCAMLFIND_CONF=$compiler/findlib.conf PATH=$compiler/bin:$PATH
cd "$work"
dune build --root . --profile release @install
dune install --root . --prefix "$compiler"
