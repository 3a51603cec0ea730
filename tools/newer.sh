#!/usr/bin/env bash
# tools/newer.sh FOLDER VERSION: builds, in FOLDER, the libraries that the tests need, for the OCaml in FOLDER/usr. Their
# sources are the archives in FOLDER/sources. This runs inside the toolchain, with FOLDER/usr mounted over its /usr.
set -euo pipefail

tools=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cd "$1"
case $(ocamlc -version) in "$2".*) ;; *) echo "newer: Debian experimental has OCaml $(ocamlc -version), not $2"; exit 1 ;; esac
mkdir findlib alcotest
tar -xf sources/findlib_*.orig.tar.* -C findlib --strip-components=1
tar -xf sources/ocaml-alcotest_*.orig.tar.* -C alcotest --strip-components=1
(
  cd findlib
  ./configure -sitelib "$1/lib" -config "$1/findlib/unused.conf" -bindir "$1/findlib/bin" -mandir "$1/findlib/man" -no-topfind
  make all
  make opt
  make install
)
bash "$tools/libs.sh" "$1" "$1/libs" "$1/alcotest" all
rm -rf sources findlib alcotest libs
