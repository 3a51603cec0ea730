A stub of a checkout, and of our patch:

  $ mkdir -p concord/bench/upstream concord/lib domainslib
  $ cp ./try concord/bench/upstream/
  $ cp -rL ../../lib/contract concord/lib/
  $ cat >domainslib/dune-project <<'END'
  > (lang dune 3.9)
  > END
  $ cat >domainslib/dune <<'END'
  > (test
  >  (name stub))
  > END
  $ cat >domainslib/stub.ml <<'END'
  > let () = print_endline "as published"
  > END
  $ cat >concord/bench/upstream/domainslib.patch <<'END'
  > --- a/dune
  > +++ b/dune
  > @@ -1,2 +1,3 @@
  >  (test
  > - (name stub))
  > + (name stub)
  > + (libraries concord-suspend))
  > --- a/stub.ml
  > +++ b/stub.ml
  > @@ -1 +1,5 @@
  > -let () = print_endline "as published"
  > +let () =
  > +  let block (_ : int Concord_suspend.resumer) = Some 0 in
  > +  match Effect.perform (Concord_suspend.Suspend block) with
  > +  | (_ : int) -> print_endline "handled"
  > +  | exception Effect.Unhandled _ -> print_endline "changed"
  > END
  $ export TMPDIR=$PWD/folders
  $ mkdir "$TMPDIR"
  $ concord/bench/upstream/try domainslib domainslib 2>&1 | sed '/(cd /d; s/upstream-.*/upstream-X/'
  try: $TESTCASE_ROOT/folders/upstream-X
  patching file dune
  patching file stub.ml
  changed
  $ concord/bench/upstream/try --unpatched domainslib domainslib 2>&1 | sed '/(cd /d; s/upstream-.*/upstream-X/'
  try: $TESTCASE_ROOT/folders/upstream-X
  as published

The checkout is unchanged. If the patch doesn't apply, nothing is built:

  $ cat domainslib/stub.ml
  let () = print_endline "as published"
  $ echo 'let () = ()' >domainslib/stub.ml
  $ concord/bench/upstream/try domainslib domainslib >out 2>&1
  [1]
  $ grep -c FAILED out
  2

  $ concord/bench/upstream/try lwt domainslib
  try: the library must be eio or domainslib (got lwt)
  [2]
  $ concord/bench/upstream/try eio concord
  try: concord has no dune-project. Name a checkout of eio
  [2]
