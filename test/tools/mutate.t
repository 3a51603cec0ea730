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
  $ $mutate --list lib/gate.ml
  lib/gate.ml:3: Become (Open, Step.Then (tell ())): Return for Become
  lib/gate.ml:3: Step.Then (tell ()): left out
  lib/gate.ml:5: Hand_over { state = Shut waiters; waiter ... used = Again; }: skipped
  lib/gate.ml:5: Hand_over { state = Shut waiters; waiter ... used = Again; }: not resumed
  lib/gate.ml:5: Hand_over { state = Shut waiters; waiter ... used = Again; }: accepted and refused exchanged
  lib/gate.ml:10: Done 1: Again for Done
  lib/gate.ml:11: Again: Done for Again
  lib/gate.ml:15: Step.Hand_over { state; waiter; outcome; accepted; refused }: not resumed
  lib/gate.ml:15: Step.Hand_over { state; waiter; outcome; accepted; refused }: skipped
  lib/gate.ml:15: Step.Hand_over { state; waiter; outcome; accepted; refused }: accepted and refused exchanged
  lib/gate.ml:17: Become (Open, Step.resume_all ws (Ok ()) Step.finished): Return for Become
  lib/gate.ml:17: Step.resume_all ws (Ok ()) Step.finished: nobody resumed
  lib/gate.ml:17: Step.finished: Again for finished

The code of these faults. Dune is a script that prints it.

  $ cp lib/gate.ml gate; echo 'Gate' >test/unit/test_gate.ml
  $ echo 'test/unit test_gate @test/unit/runtest-test_gate' >tests
  $ cat >bin/dune <<'END'
  > #!/bin/sh
  > case "$*" in *.exe) diff gate lib/gate.ml | sed -n 's/^> *//p' >&3 ;; esac
  > END
  $ chmod +x bin/dune
  $ code() { PATH=$PWD/bin:$PATH $mutate --own --only $1 lib/gate.ml <tests 3>&1 >/dev/null 2>&1; }
  $ code 3
  | Shut [] -> (Return (Open, (Obj.magic ())))
  | Shut [] -> Become (Open, (Step.Done (Obj.magic ())))
  [1]
  $ code 11
  refused = (Done (Obj.magic ()));
  [1]
  $ code 15-17
  (Step.Become (state, accepted))
  (Step.Become (state, refused))
  Step.Hand_over { state; waiter; outcome; accepted = refused; refused = accepted }
  let all ws = (Return (Open, (Obj.magic ())))
  let all ws = Become (Open, (Step.resume_all Waiters.empty (Ok ()) Step.finished))
  let all ws = Become (Open, Step.resume_all ws (Ok ()) Step.Again)
  [1]
  $ rm lib/gate.ml gate test/unit/test_gate.ml

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

With --own it runs the tests named after the file, and those in a folder "described" or "steps" which depend on it. No test is
named after lib/inner.ml, so it runs those named after the file that uses it.

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

The tests of an adapter need not name it. With --own it runs those which have its name in theirs, or in their folder's, and with
--near also those with its library in their dune file.

  $ mkdir -p adapters/star/inside test/star test/unit/linked; echo 'let one = 0 + 1' >adapters/star/inside/ray.ml
  $ echo '(tests (libraries concord concord-star))' >test/unit/linked/dune; echo 'concord-stare' >test/unit/dune
  $ touch test/star/test_other.ml test/unit/test_star_ray.ml test/unit/test_stare.ml test/unit/linked/test_links.ml
  $ cat >star_tests <<'END'
  > test/star test_other @test/star/runtest-test_other
  > test/unit test_star_ray @test/unit/runtest-test_star_ray
  > test/unit test_stare @test/unit/runtest-test_stare
  > test/unit/linked test_links @test/unit/linked/runtest-test_links
  > END
  $ $mutate --own adapters/star/inside/ray.ml <star_tests
  adapters/star/inside/ray.ml: 2 faults, tried with test_other test_star_ray
  adapters/star/inside/ray.ml:1: 0 + 1: - for +
  adapters/star/inside/ray.ml:1: 0 + 1: without + 1
  adapters/star/inside/ray.ml: 0 noticed, 0 of them because a test hangs. 2 survive. 0 do not compile
  [1]
  $ $mutate --near adapters/star/inside/ray.ml <star_tests
  adapters/star/inside/ray.ml: 2 faults, tried with test_other test_star_ray, then test_links
  adapters/star/inside/ray.ml:1: 0 + 1: - for +
  adapters/star/inside/ray.ml:1: 0 + 1: without + 1
  adapters/star/inside/ray.ml: 0 noticed, 0 of them because a test hangs. 2 survive. 0 do not compile
  [1]

If the tests fail without any fault, they can't notice one.

  $ sed -i 's/n < 0/n <= 0/' lib/counter.ml; $mutate --only 9 lib/counter.ml <tests
  lib/counter.ml: 4 faults, tried with test_counter, then model_counter, then test_by_helper test_by_shared, then test_double
  mutate: the tests of lib/counter.ml fail, or take ten minutes, even without a fault
  [2]
