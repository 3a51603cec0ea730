A project with a few tests, and programs that replace those of the toolchain.

  $ mkdir -p project/bin project/test/unit/queues project/test/ppx project/lib
  $ cp -L ../../dev project; cp -RL ../../tools project
  $ cd project
  $ cat >test/unit/dune <<'END'
  > ; (test (name commented_out))
  > (tests (names
  >   test_mvar ; the box
  >   test_latch) (modules :standard \ helper))
  > (test (name test_mutex) (action (progn (echo "(test (name no))") (run %{test}))))
  > (executable (name helper))
  > (test (name program) (build_if %{lib-available:unix}) (action (progn)))
  > END
  $ echo '(tests (names test_stream test_mvar))' >test/unit/queues/dune
  $ touch test/ppx/errors.t test/unit/test_mvar.ml
  $ mkdir test/ppx/whole.t; echo '(test (name no))' >test/ppx/whole.t/dune; touch test/ppx/whole.t/run.t
  $ cat >bin/dune <<'END'
  > #!/bin/sh
  > echo "dune $*" | sed "s|--root [^ ]*|--root ROOT|" >&2
  > case "$*" in
  > *@all) ;;
  > *) if [ -e output ]; then cat output >&2; exit 1; fi ;;
  > esac
  > case "$*" in *runtest-test_mvar*) echo 'Test Successful in 0.1s. 25 tests run.' >&2 ;; esac
  > END
  $ for program in ocamlfind ocaml-mdx curl; do printf '#!/bin/sh\necho 5.4.1\n' >bin/$program; done
  $ chmod +x bin/*
  $ export PATH=$PWD/bin:$PATH CONCORD_TOOLCHAIN=host
  $ dev() { bash ./dev "$@"; }

opam installs what the machine lacks. In order to say so, ./dev needs no apt, no sha256sum and
no namespace.

  $ mkdir bare; for program in bash cat dirname; do ln -s "$(command -v $program)" bare/; done
  $ bare() { (export PATH=$PWD/bare CONCORD_TOOLCHAIN=$1; bash ./dev setup); }
  $ bare auto
  dev: the host lacks dune. Install OCaml >= 5.3 and the libraries with opam (opam switch create . --deps-only --with-test -y). Only Debian can have a private toolchain
  [1]
  $ bare host
  dev: CONCORD_TOOLCHAIN=host, but the host lacks dune. Install it with opam (opam switch create . --deps-only --with-test -y)
  [1]

The switch of this folder is used, even if it is not the current one.

  $ mkdir _opam; printf '#!/bin/sh\necho "PATH=%s:$PATH"\n' $PWD/bin >bare/opam; chmod +x bare/opam
  $ bare host
  dev: the toolchain is ready
  $ rmdir _opam

The list of tests.

  $ dev test --list
  test/ppx: errors whole
  test/unit: test_latch test_mutex test_mvar
  test/unit/queues: test_mvar test_stream

Programs are selected by name, by a part of the path, or by the file, from any folder. They run
even if nothing has changed.

  $ dev test test_latch errors
  dune build --root ROOT --no-print-directory --force @test/unit/runtest-test_latch @test/ppx/errors
  dev: passed, without a count of tests
  $ dev test test_mvar
  dune build --root ROOT --no-print-directory --force @test/unit/runtest-test_mvar @test/unit/queues/runtest-test_mvar
  Test Successful in 0.1s. 25 tests run.
  25 passed, 0 failed
  $ dev test unit/test_mvar
  dune build --root ROOT --no-print-directory --force @test/unit/runtest-test_mvar
  Test Successful in 0.1s. 25 tests run.
  25 passed, 0 failed
  $ dev test ./test/unit/test_mvar.ml
  dune build --root ROOT --no-print-directory --force @test/unit/runtest-test_mvar
  Test Successful in 0.1s. 25 tests run.
  25 passed, 0 failed
  $ (cd test/unit; bash ../../dev test queues/test_mvar.ml)
  dune build --root ROOT --no-print-directory --force @test/unit/queues/runtest-test_mvar
  Test Successful in 0.1s. 25 tests run.
  25 passed, 0 failed

For a folder, only the tests run that a change may have affected.

  $ dev test test/unit
  dune build --root ROOT --no-print-directory @test/unit/runtest
  dev: passed, without a count of tests
  $ dev test queues ppx/
  dune build --root ROOT --no-print-directory @test/unit/queues/runtest @test/ppx/runtest
  dev: passed, without a count of tests
  $ (cd test; bash ../dev test .)
  dune build --root ROOT --no-print-directory @test/runtest
  dev: passed, without a count of tests
  $ dev test --force --long unit
  dune build --root ROOT --no-print-directory --force @test/unit/runtest
  dev: passed, without a count of tests
  $ dev test lib
  dune build --root ROOT --no-print-directory @lib/runtest
  dev: passed, without a count of tests

Everything is built before it is tested.

  $ dev test
  dune build --root ROOT --no-print-directory @all
  dune build --root ROOT --no-print-directory @runtest
  0 passed, 0 failed
  $ dev build
  dune build --root ROOT --no-print-directory @all
  $ dev build @fmt ./test/unit/test_latch.exe
  dune build --root ROOT --no-print-directory @fmt ./test/unit/test_latch.exe
  $ dev watch test_latch
  dune build --root ROOT --no-print-directory --watch @test/unit/runtest-test_latch
  $ dev watch
  dune build --root ROOT --no-print-directory --watch @all @runtest

If two commands run at once, the second one waits for the first. If both begin at the same
moment, a message says so.

  $ soon() { for _ in $(seq 400); do if "$@"; then return; fi; sleep 0.05; done; echo "never: $*"; }
  $ mkdir -p other _build
  $ cat >other/dune <<'END'
  > #!/bin/sh
  > echo $$ >_build/.lock
  > until [ -e ended ]; do sleep 0.05; done
  > : >_build/.lock
  > END
  $ chmod +x other/dune
  $ other/dune & soon test -s _build/.lock
  $ dev test test_latch >waiting 2>&1 & soon grep -q another waiting
  $ sed -E 's/process [0-9]+/process PID/' waiting
  dev: another dune (process PID) is running in this checkout; waiting for it
  $ touch ended; wait; tail -n +2 waiting
  dune build --root ROOT --no-print-directory --force @test/unit/runtest-test_latch
  dev: passed, without a count of tests
  $ echo 'Error: Another Dune instance is currently running. Aborting...' >output
  $ dev test test_latch
  dune build --root ROOT --no-print-directory --force @test/unit/runtest-test_latch
  Error: Another Dune instance is currently running. Aborting...
  dev: another dune is running in this checkout, so nothing was tested. Try again when it has ended
  [1]
  $ rm output
  $ dev test --failed
  dev: test: --failed: no test has failed

A test that takes too long is killed together with its child processes, and a message says so.

  $ cat >bin/slow <<'END'
  > #!/bin/sh
  > sleep 1000 & wait
  > echo "it ended"
  > END
  $ cp bin/dune dune.before
  $ printf '%s\n' '#!/bin/sh' 'slow || { echo "the test was killed" >&2; exit 1; }' >bin/dune
  $ chmod +x bin/slow
  $ CONCORD_TEST_LIMIT=2 dev test test_mvar 2>&1 | grep -E 'no end|slow|sleep|the test' | sed -E 's|/bin/sh .*/slow|sh slow|; s/^(    [a-z]+) .*/\1 (where)/' | sort
      sleep (where)
      slow (where)
    sh slow 
    sleep 1000 
  dev: no end after 2 s, so killed:
  the test was killed
  $ mv dune.before bin/dune
  $ CONCORD_TEST_LIMIT=soon dev test test_mvar
  dev: test: CONCORD_TEST_LIMIT is 'soon', but it must be a whole number of seconds, or 0 for no limit
  [1]
  $ dev test test_mvar 2>/dev/null
  25 passed, 0 failed

Bad arguments.

  $ dev test test_mvra
  test/ppx: errors whole
  test/unit: test_latch test_mutex test_mvar
  test/unit/queues: test_mvar test_stream
  dev: test: no test above, and no folder, is named 'test_mvra' (did you mean test_mvar?)
  [1]
  $ dev test mvar test_latch
  test/ppx: errors whole
  test/unit: test_latch test_mutex test_mvar
  test/unit/queues: test_mvar test_stream
  dev: test: no test above, and no folder, is named 'mvar' (did you mean test_mvar?)
  [1]
  $ dev test nothing_like_it
  test/ppx: errors whole
  test/unit: test_latch test_mutex test_mvar
  test/unit/queues: test_mvar test_stream
  dev: test: no test above, and no folder, is named 'nothing_like_it'
  [1]
  $ dev watch test/unti
  test/ppx: errors whole
  test/unit: test_latch test_mutex test_mvar
  test/unit/queues: test_mvar test_stream
  dev: watch: no test above, and no folder, is named 'test/unti' (did you mean test/unit?)
  [1]
  $ dev test --lnog
  dev: test: unknown option '--lnog'. The options are --failed, --force, --list, --long, --compiler, --bytecode, --flambda, --installed, --peers, --oldest, --strict and --tsan
  [1]
  $ CONCORD_LOWEST=lowest dev test --oldest
  dev: test: --oldest: CONCORD_LOWEST must name a folder of libraries that the toolchain's compiler has built (got 'lowest')
  [1]
  $ mkdir lowest; CONCORD_LOWEST=lowest dev test --oldest
  dev: test: --oldest: there is no library in lowest
  [1]
  $ dev test --peers picos,moonpol
  dev: test: --peers: there is no peer 'moonpol'. The peers are async, picos, moonpool and miou
  [1]
  $ dev test --compiler 5.2
  dev: test: --compiler: the version must be 5.3 or 5.5 (got '5.2')
  [1]
  $ dev test --failed test_mvar
  dev: test: --failed chooses the tests itself, so leave out 'test_mvar'
  [1]
  $ dev test -- --help
  dev: test: -- passes arguments to a program, so name one, for example ./dev test test_mvar -- --help
  [1]
  $ dev test unit -- --help
  dev: test: -- passes arguments to one program, but test/unit is not a program
  [1]
  $ dev test test_mvar -- --help
  dev: test: -- passes arguments to one program, but these are 2: test/unit/test_mvar, test/unit/queues/test_mvar
  [1]
  $ dev bulid 2>&1 | tail -n 1
  dev: unknown command 'bulid'
  $ dev doc 1.0 here
  dev: doc: takes one version (got '1.0' and 'here')
  [1]
  $ dev doc --open
  dev: doc: unknown option '--open'. It takes only a version
  [1]
  $ dev doc a/b
  dev: doc: 'a/b' is not a version
  [1]

The toplevel runs in the folder from which it is called.

  $ mkdir -p _build/default/tools/toplevel
  $ printf '#!/bin/sh\necho "$0 $*, in $PWD"\n' >_build/default/tools/toplevel/concord_top.exe
  $ chmod +x _build/default/tools/toplevel/concord_top.exe
  $ (cd test; bash ../dev utop -noinit)
  dune build --root ROOT --no-print-directory ./tools/toplevel/concord_top.exe
  $TESTCASE_ROOT/project/_build/default/tools/toplevel/concord_top.exe -short-paths -noinit, in $TESTCASE_ROOT/project/test

An unknown group of the benchmark is reported before anything is built.

  $ mkdir bench; printf '%s\n' mvar cancel-cost >bench/groups.txt
  $ dev bench mvar no-such-group
  dev: bench: there is no group 'no-such-group'. The groups are mvar, cancel-cost
  [2]
  $ dev bench --json --quick --minutes=1 -- cancel
  dev: bench: there is no group 'cancel'. The groups are mvar, cancel-cost
  [2]
  $ mkdir -p _build-release/default/bench
  $ printf '#!/bin/sh\necho "bench $*"\n' >_build-release/default/bench/main.exe
  $ chmod +x _build-release/default/bench/main.exe
  $ dev bench mvar --quick --json file 2>&1 | tail -n 1
  bench mvar --quick --json file
  $ dev bench --compare before after 2>/dev/null
  bench --compare before after
  $ dev bench 2>/dev/null
  bench 
  $ dev bench --refill-from other.json 2>/dev/null | sed "s|$PWD|TOP|g"
  bench --from other.json --json TOP/bench/results.json --charts TOP/bench/charts --fill TOP/bench/RESULTS.md
  $ dev bench --refill-from
  dev: bench: --refill-from needs a file (bench --refill-from 24-cores.json)
  [1]
  $ printf '%s\n' mvar cancel-cost search lazy fib effect generator web styles >bench/groups.txt
  $ dev bench --papers 24.json --minutes 60 2>/dev/null
  bench mvar cancel-cost search lazy fib effect generator web styles --number 45 --rate 50 --json 24.json --minutes 60

The requirements of a release are checked before anything is made.

  $ dev release
  dev: release: name a version, for example ./dev release 1.0.0
  [1]
  $ dev release 1/0
  dev: release: '1/0' is not a version
  [1]
  $ dev release 1.0 --fast
  dev: release: unknown option '--fast'. The options are --quick and --unchecked
  [1]
  $ dev release 1.0 --unchecked
  dev: release: --unchecked: name the checks, separated by commas (--unchecked solver,lowest)
  [1]
  $ printf '#!/bin/sh\n[ ! -e changed ]\n' >bin/git; chmod +x bin/git
  $ echo '# Unreleased' >CHANGES.md
  $ dev release 1.0
  dev: release: CHANGES.md does not begin with '# 1.0' (--quick does not check this)
  [1]
  $ touch changed
  $ dev release 1.0 --quick
  dev: release: some changes are not committed. Commit them first
  [1]
  $ rm changed bin/git

One program with its own arguments.

  $ mkdir -p _build/default/test/unit
  $ printf '#!/bin/sh\necho "$0 $*, CONCORD_LONG=$CONCORD_LONG"\n' >_build/default/test/unit/test_latch.exe
  $ chmod +x _build/default/test/unit/test_latch.exe
  $ dev test --long test_latch -- test cancellation 3
  dune build --root ROOT --no-print-directory ./test/unit/test_latch.exe
  $TESTCASE_ROOT/project/_build/default/test/unit/test_latch.exe test cancellation 3, CONCORD_LONG=1

Failed tests are recorded: a program, a cram test, a page, and one that doesn't compile.

  $ dev test --failed
  dev: test: --failed: no test has failed
  $ cat >output <<'END'
  > File "test/unit/dune", line 4, characters 2-12:
  > 4 |   test_latch)
  >       ^^^^^^^^^^
  > File "somewhere", line 3, characters 0-0:
  > File "test/ppx/errors.t", line 1, characters 0-0:
  > File "test/ppx/whole.t/run.t", line 1, characters 0-0:
  > File "lib/mvar.mli", line 1, characters 0-0:
  > File "test/unit/queues/test_stream.ml", lines 3-4, characters 1-12:
  > END
  $ dev test
  dune build --root ROOT --no-print-directory @all
  dune build --root ROOT --no-print-directory @runtest
  File "test/unit/dune", line 4, characters 2-12:
  4 |   test_latch)
        ^^^^^^^^^^
  File "somewhere", line 3, characters 0-0:
  File "test/ppx/errors.t", line 1, characters 0-0:
  File "test/ppx/whole.t/run.t", line 1, characters 0-0:
  File "lib/mvar.mli", line 1, characters 0-0:
  File "test/unit/queues/test_stream.ml", lines 3-4, characters 1-12:
  dev: failed: lib, test/ppx/errors, test/ppx/whole, test/unit/queues/test_stream, test/unit/test_latch
  dev: run ./dev test --failed to run these again
  [1]
  $ dev test --failed
  dune build --root ROOT --no-print-directory @@lib/runtest @test/ppx/errors @test/ppx/whole @test/unit/queues/runtest-test_stream @test/unit/runtest-test_latch
  File "test/unit/dune", line 4, characters 2-12:
  4 |   test_latch)
        ^^^^^^^^^^
  File "somewhere", line 3, characters 0-0:
  File "test/ppx/errors.t", line 1, characters 0-0:
  File "test/ppx/whole.t/run.t", line 1, characters 0-0:
  File "lib/mvar.mli", line 1, characters 0-0:
  File "test/unit/queues/test_stream.ml", lines 3-4, characters 1-12:
  dev: failed: lib, test/ppx/errors, test/ppx/whole, test/unit/queues/test_stream, test/unit/test_latch
  dev: run ./dev test --failed to run these again
  [1]

A run removes the tests that pass from the record, and leaves those that it doesn't run.

  $ rm output
  $ dev test ppx
  dune build --root ROOT --no-print-directory @test/ppx/runtest
  dev: passed, without a count of tests
  $ dev test test_latch
  dune build --root ROOT --no-print-directory --force @test/unit/runtest-test_latch
  dev: passed, without a count of tests
  $ touch output
  $ dev test --failed
  dune build --root ROOT --no-print-directory @@lib/runtest @test/unit/queues/runtest-test_stream
  dev: failed: lib, test/unit/queues/test_stream
  dev: run ./dev test --failed to run these again
  [1]

If no file is reported, nothing was built, so the selected test counts as failed.

  $ dev test test_mutex
  dune build --root ROOT --no-print-directory --force @test/unit/runtest-test_mutex
  dev: failed: test/unit/test_mutex
  dev: run ./dev test --failed to run these again
  [1]
  $ rm output
  $ dev test
  dune build --root ROOT --no-print-directory @all
  dune build --root ROOT --no-print-directory @runtest
  0 passed, 0 failed
  $ dev test --failed
  dev: test: --failed: no test has failed
