A page with sessions of a toplevel says how to start one. The libraries that it names are enough: what its examples print has no
error that the page doesn't show. A normal run tries the pages that are read most.

  $ . ../project.sh
  $ install concord concord-aio concord-buffered concord-core concord-domainslib concord-eio \
  >   concord-generator concord-lwt concord-schedulers concord-suspend concord-testkit
  $ export CAML_LD_LIBRARY_PATH="$installed/lib/stublibs"
  $ try() {
  >   page=../../../doc/$1.mld
  >   {
  >     echo '#use "topfind";;'
  >     sed -n 's/.*\[utop -require \([^]]*\)\].*/\1/p' "$page" | head -n 1 | tr , '\n' | sed 's/.*/#require "&";;/'
  >     # The page has readers write this file before.
  >     [ "$1" != schedulers ] || printf '#mod_use "%s";;\n' ../../../doc/schedulers/rounds.ml
  >     ../../doc/examples.bc typed "$page"
  >   } >typed.ml
  >   bounded 60 ocaml -noinit -noprompt -no-version <typed.ml >"$1.output"
  >   grep -E '^(Error|No such package|Cannot)' "$1.output" | while read -r error; do
  >     grep -qF "$error" "$page" || echo "$1: $error"
  >   done
  > }
  $ for page in ../../../doc/*.mld; do
  >   name=$(basename "$page" .mld)
  >   [ -n "$(../../doc/examples.bc typed "$page")" ] || continue
  >   grep -q '\[utop -require .*page-start.toplevel' "$page" || echo "$name: how to start a toplevel?"
  >   case ${CONCORD_LONG:-$name} in 1 | cookbook | eio | elsewhere) try "$name" ;; esac
  > done
