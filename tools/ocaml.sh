#!/usr/bin/env bash
# tools/ocaml.sh FOLDER tsan|flambda: builds, in FOLDER, an OCaml with ThreadSanitizer or with flambda, and the libraries that
# the tests need. The sources are the archives in FOLDER/sources. This runs inside the toolchain.
set -euo pipefail

tools=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")") variant=$2
cd "$1"
mkdir source alcotest
tar -xf sources/ocaml_*.orig.tar.* -C source --strip-components=1
tar -xf sources/ocaml-alcotest_*.orig.tar.* -C alcotest --strip-components=1
cd source
# Since GCC 16, __tsan_func_exit takes no argument. OCaml 5.4.1 still passes one in this one call.
if [ "$variant" = tsan ]; then sed -i 's/__tsan_func_exit(NULL)/caml_tsan_func_exit()/' runtime/weak.c; fi
./configure --prefix="$1" --enable-"$variant" --disable-ocamldoc --disable-ocamltest --disable-debugger \
  --disable-debug-runtime --disable-instrumented-runtime
make -j"$(nproc)"
make install
cd ..
libraries=
if [ "$variant" = flambda ]; then libraries=random; fi
PATH=$1/bin:$PATH bash "$tools/libs.sh" "$1" "$1/libs" "$1/alcotest" $libraries
rm -rf sources source alcotest libs
