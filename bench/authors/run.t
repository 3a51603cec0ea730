A stub of a folder with the authors' programs:

  $ mkdir theirs
  $ cat >theirs/dune-project <<'END'
  > (lang dune 2.9)
  > END
  $ cat >theirs/dune <<'END'
  > (executables (names greets fails waits) (modules greets fails waits) (libraries unix))
  > (executable (name lacks) (modules lacks) (libraries a_library_that_nobody_has))
  > END
  $ echo 'let () = print_endline "a"; print_endline "b"' >theirs/greets.ml
  $ echo 'let () = print_endline "no argument"; exit 3' >theirs/fails.ml
  $ echo 'let () = Unix.sleep 60' >theirs/waits.ml
  $ echo 'let () = ()' >theirs/lacks.ml
  $ ./run theirs 1 | sed 's/ in [0-9]* ms/ in MS ms/'
  not built: dune: Error: Library "a_library_that_nobody_has" not found.
  fails: exit code 3, no argument
  greets: 2 lines in MS ms
  waits: stopped after 1 s
  $ ls theirs
  dune
  dune-project
  fails.ml
  greets.ml
  lacks.ml
  waits.ml

  $ rm theirs/*.ml && echo >theirs/dune
  $ ./run theirs
  run: there is no executable
  [1]
  $ ./run nowhere
  run: nowhere has no dune-project
  [2]
  $ ./run theirs soon
  run: the limit must be a number of seconds (got soon)
  [2]
