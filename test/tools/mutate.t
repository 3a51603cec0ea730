The faults of a file.

  $ mkdir -p lib test/unit test/model test/stress bin
  $ cat >lib/counter.ml <<'END'
  > (* if this && that then true *)
  > let make n =
  >   if n < 0 then invalid_arg "make";
  >   Atomic.make (n, "a + 1")
  > 
  > let rec add t =
  >   let (n, s) as before = Atomic.get t in
  >   assert (n >= 0 && true);
  >   if not (Atomic.compare_and_set t before (n + 1, s)) then add t
  > 
  > let reset t =
  >   ignore (Atomic.compare_and_set t (0, "") (1, "") : bool);
  >   let () = print_newline () in
  >   while fst (Atomic.get t) = 0 || (* not yet *) false do
  >     print_string "."
  >   done
  > 
  > let sign = function n when succ n > 1 -> 1 | n -> n - 2
  > END
  $ mutate=../../tools/mutate/mutate.exe
  $ $mutate --list lib/counter.ml
  lib/counter.ml:3: n < 0: <= for <
  lib/counter.ml:3: n < 0: negated
  lib/counter.ml:3: invalid_arg "make": left out
  lib/counter.ml:4: Atomic.make (n, "a + 1"): left out
  lib/counter.ml:9: (Atomic.compare_and_set t before (n + 1, s)): answers always false
  lib/counter.ml:9: (Atomic.compare_and_set t before (n + 1, s)): answers always true
  lib/counter.ml:9: n + 1: - for +
  lib/counter.ml:9: n + 1: without + 1
  lib/counter.ml:12: ignore (Atomic.compare_and_set t (0, "") (1, "") : bool): left out
  lib/counter.ml:13: print_newline (): left out
  lib/counter.ml:14: fst (Atomic.get t) = 0: <> for =
  lib/counter.ml:14: fst (Atomic.get t) = 0 || (* not yet *) false: && for ||
  lib/counter.ml:14: fst (Atomic.get t) = 0 || (* not yet *) false: negated
  lib/counter.ml:14: false: true for false
  lib/counter.ml:18: succ: pred for succ
  lib/counter.ml:18: succ n > 1: negated
  lib/counter.ml:18: succ n > 1: >= for >
  lib/counter.ml:18: n - 2: + for -
  $ $mutate --list --only 3 lib/counter.ml
  lib/counter.ml:3: n < 0: <= for <
  lib/counter.ml:3: n < 0: negated
  lib/counter.ml:3: invalid_arg "make": left out
  $ $mutate --list --only 1-2 lib/counter.ml
  mutate: --only: no fault can be made on lines 1 to 2 (--list shows all)
  [2]
  $ $mutate --list --only 9
  lib/counter.ml:9: (Atomic.compare_and_set t before (n + 1, s)): answers always false
  lib/counter.ml:9: (Atomic.compare_and_set t before (n + 1, s)): answers always true
  lib/counter.ml:9: n + 1: - for +
  lib/counter.ml:9: n + 1: without + 1
  $ $mutate --only 9-x lib/counter.ml
  mutate: --only: '9-x' is neither a line (12) nor a range of lines (12-20)
  [2]
  $ $mutate --only
  mutate: --only needs a line, for example --only 12
  [2]
  $ $mutate --list --sample 2 --only 14-18 lib/counter.ml
  lib/counter.ml:14: false: true for false
  lib/counter.ml:18: n - 2: + for -
  $ $mutate --sample 0 lib/counter.ml
  mutate: --sample: '0' is not a positive number of faults (for example 20)
  [2]
  $ $mutate --lst lib/counter.ml
  mutate: unknown option '--lst'. The options are --list, --near, --only LINE, --own, --sample NUMBER and --verbose
  [2]
  $ $mutate lib/conter.ml
  mutate: there is no file 'lib/conter.ml'. Name a file of the library, for example lib/structures/latch.ml
  [2]
  $ $mutate /bin/sh
  mutate: '/bin/sh' is not an .ml file of $TESTCASE_ROOT. Name a file of the library, for example lib/structures/latch.ml
  [2]
  $ echo '{|' >lib/wrong.ml; $mutate lib/wrong.ml; rm lib/wrong.ml
  mutate: 'lib/wrong.ml' does not parse as OCaml (files that need a preprocessor are not supported)

The faults of a step.

  $ cat >lib/gate.ml <<'END'
  > let rec leave () = function
  >   | Open -> Step.Return (Open, ())
  >   | Shut [] -> Become (Open, Step.Then (tell ()))
  >   | Shut (w :: waiters) ->
  >       Hand_over
  >         {
  >           state = Shut waiters;
  >           waiter = w;
  >           outcome = Ok ();
  >           accepted = Done 1;
  >           refused = Again;
  >         }
  > 
  > and let_in state waiter accepted refused =
  >   Step.Hand_over { state; waiter; outcome; accepted; refused }
  > 
  > let all ws = Become (Open, Step.resume_all ws (Ok ()) Step.finished)
  > END
  $ $mutate --list lib/gate.ml; rm lib/gate.ml
  lib/gate.ml:3: Become (Open, Step.Then (tell ())): Return for Become
  lib/gate.ml:3: Step.Then (tell ()): left out
  lib/gate.ml:5: Hand_over { state = Shut waiters; waiter ... used = Again; }: skipped
  lib/gate.ml:5: Hand_over { state = Shut waiters; waiter ... used = Again; }: not resumed
  lib/gate.ml:5: Hand_over { state = Shut waiters; waiter ... used = Again; }: accepted and refused exchanged
  lib/gate.ml:10: Done 1: Again for Done
  lib/gate.ml:11: Again: Done () for Again
  lib/gate.ml:15: Step.Hand_over { state; waiter; outcome; accepted; refused }: not resumed
  lib/gate.ml:15: Step.Hand_over { state; waiter; outcome; accepted; refused }: skipped
  lib/gate.ml:15: Step.Hand_over { state; waiter; outcome; accepted; refused }: accepted and refused exchanged
  lib/gate.ml:17: Become (Open, Step.resume_all ws (Ok ()) Step.finished): Return for Become
  lib/gate.ml:17: Step.resume_all ws (Ok ()) Step.finished: nobody resumed
  lib/gate.ml:17: Step.finished: Again for finished

The order in which tests are tried. First come the tests that are named after the file, then
those that name its module. Dune is a script that prints this, and notices some of the faults.

  $ echo 'let twice t = Counter.add t; Counter.add t' >lib/double.ml
  $ echo 'module Counter = Counter module Double = Double' >lib/all.ml
  $ echo 'Counter' | tee test/unit/test_counter.ml test/model/model_counter.ml test/stress/storm.ml >test/unit/helper.ml
  $ echo 'Helper (* Elsewhere *)' >test/unit/test_by_helper.ml
  $ mkdir -p test/support/hosts/one; echo 'Counter' | tee test/support/general.ml >test/support/hosts/one/deeper.ml
  $ echo 'Deeper' >test/support/hosts/shared.ml
  $ echo 'Shared' >test/unit/test_by_shared.ml
  $ echo 'General' >test/unit/test_by_support.ml
  $ echo 'Double' >test/unit/test_double.ml
  $ echo 'All (* Counter *) "Counter"' >test/unit/test_other.ml
  $ mkdir test/own; echo 'Counter' >test/own/test_own.ml; touch test/own/counter.ml
  $ cat >tests <<'END'
  > test/model model_counter @test/model/runtest-model_counter
  > test/own test_own @test/own/runtest-test_own
  > test/stress storm @test/stress/runtest-storm
  > test/unit cram @test/unit/cram
  > test/unit test_by_helper @test/unit/runtest-test_by_helper
  > test/unit test_by_shared @test/unit/runtest-test_by_shared
  > test/unit test_by_support @test/unit/runtest-test_by_support
  > test/unit test_counter @test/unit/runtest-test_counter
  > test/unit test_double @test/unit/runtest-test_double
  > test/unit test_other @test/unit/runtest-test_other
  > END
  $ cat >bin/dune <<'END'
  > #!/bin/sh
  > has() { grep -q "$1" lib/counter.ml; }
  > case "$*" in
  > *.exe) ! has '^  ()' ;;
  > *-test_counter) if has 'invalid_arg.*;'; then ! has '<=' ; else sleep 60; fi ;;
  > *-model_counter) ! has 'in false' ;;
  > *-test_double) ! has 'n - 1' ;;
  > esac
  > END
  $ chmod +x bin/dune
  $ PATH=$PWD/bin:$PATH
  $ $mutate --only 1-10 --verbose lib/counter.ml <tests
  lib/counter.ml: 8 faults, tried with test_counter, then model_counter, then test_by_helper test_by_shared, then test_double
  lib/counter.ml:3: n < 0: <= for <: noticed
  lib/counter.ml:3: n < 0: negated: survives
  lib/counter.ml:3: invalid_arg "make": left out: a test hangs
  lib/counter.ml:4: Atomic.make (n, "a + 1"): left out: does not compile
  lib/counter.ml:9: (Atomic.compare_and_set t before (n + 1, s)): answers always false: noticed
  lib/counter.ml:9: (Atomic.compare_and_set t before (n + 1, s)): answers always true: survives
  lib/counter.ml:9: n + 1: - for +: noticed
  lib/counter.ml:9: n + 1: without + 1: survives
  lib/counter.ml: 4 noticed, 1 of them because a test hangs. 3 survive. 1 do not compile
  [1]
  $ $mutate --near --only 9-10 lib/counter.ml <tests
  lib/counter.ml: 4 faults, tried with test_counter, then model_counter, then test_by_helper test_by_shared
  lib/counter.ml:9: (Atomic.compare_and_set t before (n + 1, s)): answers always true
  lib/counter.ml:9: n + 1: - for +
  lib/counter.ml:9: n + 1: without + 1
  lib/counter.ml: 1 noticed, 0 of them because a test hangs. 3 survive. 0 do not compile
  [1]

With --own it runs the tests named after the file, and those in a folder "described" which depend on it. No test is named after
lib/inner.ml, so it runs those named after the file that uses it.

  $ mkdir test/unit/described; echo 'Double' >test/unit/described/test_all.ml
  $ echo 'Elsewhere' >test/unit/described/test_others.ml
  $ cat - tests >more_tests <<'END'
  > test/unit/described test_all @test/unit/described/runtest-test_all
  > test/unit/described test_others @test/unit/described/runtest-test_others
  > END
  $ $mutate --own --only 9-10 lib/counter.ml <more_tests
  lib/counter.ml: 4 faults, tried with test_all test_counter, then model_counter
  lib/counter.ml:9: (Atomic.compare_and_set t before (n + 1, s)): answers always true
  lib/counter.ml:9: n + 1: - for +
  lib/counter.ml:9: n + 1: without + 1
  lib/counter.ml: 1 noticed, 0 of them because a test hangs. 3 survive. 0 do not compile
  [1]
  $ echo 'let add n = n + 1' >lib/inner.ml; echo 'let twice n = Inner.add n' >lib/double.ml
  $ $mutate --own lib/inner.ml <more_tests
  lib/inner.ml: 2 faults, tried with test_all test_double
  lib/inner.ml:1: n + 1: - for +
  lib/inner.ml:1: n + 1: without + 1
  lib/inner.ml: 0 noticed, 0 of them because a test hangs. 2 survive. 0 do not compile
  [1]
  $ echo 'let twice t = Counter.add t; Counter.add t' >lib/double.ml

If the tests fail without any fault, they can't notice one.

  $ sed -i 's/n < 0/n <= 0/' lib/counter.ml; $mutate --only 9 lib/counter.ml <tests
  lib/counter.ml: 4 faults, tried with test_counter, then model_counter, then test_by_helper test_by_shared, then test_double
  mutate: the tests of lib/counter.ml fail, or take ten minutes, even without a fault
  [2]
