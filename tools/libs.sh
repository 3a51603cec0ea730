#!/usr/bin/env bash
# tools/libs.sh FOLDER WORK ALCOTEST [random|all]: builds libraries for the OCaml that is first in PATH, and installs them in
# FOLDER. It builds those of the unit tests, with "random" also those of the random operations, and with "all" also those of
# the other tests and of the documentation's examples. The sources are those that the toolchain's own libraries installed.
# They lack the C stubs of Alcotest, which are taken from its source in the folder ALCOTEST, and those of iomux. The build
# happens in the folder WORK, which is emptied first. This runs inside the toolchain.
set -euo pipefail

folder=$1 work=$2 alcotest=$3 more=${4:-}

# library PUBLIC_NAME MODULE [FIELD...]: copies the sources of a library and writes its dune file. Generated modules and those
# for the toplevel are left out. Warnings are off, because this project can't fix them.
library() {
  local name=$1 module=$2 to=$work/$1 from file
  shift 2
  from=$(env -u OCAMLFIND_CONF ocamlfind query "$name")
  mkdir -p "$to"
  for file in "$from"/*.ml "$from"/*.mli "$from"/*.c; do
    case $file in *__.ml | */astring_top.ml* | *_init.ml | */\**) ;; *) cp "$file" "$to/" ;; esac
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
# The archive of its C stubs is used as it is. That is safe, because they only poll.
library iomux iomux '(libraries unix)' '(foreign_archives iomux_stubs)'
cp "$(env -u OCAMLFIND_CONF ocamlfind query iomux)"/{,../stublibs/}*iomux_stubs.* "$work/iomux/"
if [ -n "$more" ]; then
  library qcheck-core qcheck_core '(wrapped false)' '(libraries unix)'
  library qcheck-core.runner qcheck_runner '(wrapped false)' '(libraries qcheck-core)'
  library qcheck-multicoretests-util util '(wrapped false)' '(libraries qcheck-core.runner unix)'
  library qcheck-stm.stm STM '(wrapped false)' '(libraries qcheck-core qcheck-multicoretests-util)'
  library qcheck-stm.sequential STM_sequential '(wrapped false)' '(libraries qcheck-core qcheck-stm.stm)'
  library qcheck-stm.domain STM_domain '(wrapped false)' '(libraries qcheck-core qcheck-stm.stm)'
fi
if [ "$more" = all ]; then
  library dscheck dscheck
  library camlp-streams camlp_streams '(wrapped false)'
  library result result '(wrapped false)'
  library csexp csexp
  library logs logs
  library ocaml-version ocaml_version '(wrapped false)'
  # Its installed sources still need their preprocessor.
  cppo='(preprocess (action (run cppo -V OCAML:%{ocaml_version} %{input-file})))'
  library mdx.__private__.odoc_parser odoc_parser '(libraries astring camlp-streams result)'
  library mdx mdx "$cppo" \
    '(libraries astring compiler-libs.common csexp fmt logs mdx.__private__.odoc_parser ocaml-version re str unix)'
  library mdx.top mdx_top "$cppo" '(modes byte)' '(libraries compiler-libs.toplevel findlib.top mdx threads unix)'
  library mdx.test mdx_test '(modes byte)' '(libraries compiler-libs.toplevel mdx mdx.top threads unix)'
fi
# The old name of the library, which Concord still uses.
mkdir "$work/mtime.clock.os"
echo '(deprecated_library_name (old_public_name mtime.clock.os) (new_public_name mtime.clock))' >"$work/mtime.clock.os/dune"
{ echo '(lang dune 3.17)'; sort -u "$work/packages"; } >"$work/dune-project"

# The toolchain's own libraries must not be found, because another compiler built them.
printf 'path="%s/lib:%s"\ndestdir="%s/lib"\n' "$folder" "$(ocamlc -where)" "$folder" >"$folder/findlib.conf"
export OCAMLFIND_CONF=$folder/findlib.conf
cd "$work"
dune build --root . --profile release @install
dune install --root . --prefix "$folder"
