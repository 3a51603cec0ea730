(* Promises of promises, functions that are called when a promise is resolved, and
   promises of threads and domains. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Bang

(* Not a tail call, and not inlined: it must be named in the backtrace. *)
let[@inline never] culprit () = if true then raise Boom
let waiting what p n = int (what ^ ": waiters") n (Promise.waiters p)
let is p outcome = Promise.peek p = Some outcome
let pending p = Promise.peek p = None
let ignore_result : (int, exn) result -> unit = ignore
let fail_by_culprit p = try culprit () with Boom -> Promise.fail p Boom

(* --- Results --------------------------------------------------------------- *)

let resolve () =
  let p = Promise.create () in
  Promise.resolve p (Ok 1);
  yes "filled" (is p (Ok 1));
  raises "again" Promise.Already_filled (fun () -> Promise.resolve p (Ok 2));
  no "try" (Promise.try_resolve p (Error Boom));
  let p = Promise.create () in
  yes "try" (Promise.try_resolve p (Error Boom));
  yes "failed" (is p (Error Boom));
  let p : int Promise.t = Promise.create () in
  let backtrace =
    match culprit () with
    | () -> assert false
    | exception Boom -> Printexc.get_raw_backtrace ()
  in
  (try raise Exit with Exit -> ());
  Promise.resolve ~backtrace p (Error Boom);
  raises_at "culprit" (fun () -> Promise.await p)

let await_result () =
  let p = Promise.create () and q = Promise.create () in
  let a = Hand.start (fun () -> Promise.await_result p) in
  let b = Hand.start (fun () -> Event.sync (Promise.await_result_evt q)) in
  let c = Hand.start (fun () -> Promise.await_result q) in
  Hand.unwind c;
  waiting "c is unwound" q 1;
  Promise.fill p 1;
  Promise.fail q Boom;
  Hand.settle ();
  yes "filled" (Hand.result a = Ok 1);
  yes "failed" (Hand.result b = Error Boom);
  yes "at once" (Promise.await_result p = Ok 1);
  yes "at once" (Promise.await_result q = Error Boom);
  yes "polled" (Event.poll (Promise.await_result_evt q) = Some (Error Boom))

let chose_another () =
  let p : unit Promise.t = Promise.create () and q = Promise.create () in
  let task =
    Hand.start (fun () ->
        Event.select [ Promise.await_evt p; Promise.await_evt q ])
  in
  let plain = Hand.start (fun () -> Promise.await p) in
  Promise.fill q ();
  (* The task has not had its turn: its waiter is still in the queue. *)
  waiting "both" p 2;
  int "one of them has the exception" 1 (Promise.fail_waiters p Boom);
  Hand.settle ();
  Hand.result task;
  raises "plain" Boom (fun () -> Hand.result plain)

(* --- Functions ------------------------------------------------------------- *)

let in_order () =
  traced [ "task 1"; "f"; "task 2"; "at once" ] @@ fun say ->
  let p = Promise.create () in
  (* Those who wait say so where they are resumed. *)
  let watch name =
    Promise.on_resolve p (fun r ->
        yes name (r = Ok 7);
        say name)
  in
  watch "task 1";
  watch "f";
  watch "task 2";
  waiting "three" p 3;
  Promise.fill p 7;
  waiting "none" p 0;
  watch "at once"

let with_tasks () =
  let p = Promise.create () and called = ref 0 in
  let first = Hand.start (fun () -> Promise.await p) in
  Promise.on_resolve p (fun _ -> incr called);
  let last = Hand.start (fun () -> Promise.await p) in
  Promise.fill p 3;
  int "called" 1 !called;
  Hand.settle ();
  int "first" 3 (Hand.result first);
  int "last" 3 (Hand.result last)

let one_raises () =
  let p = Promise.create () and calls = ref 0 and later = ref 0 in
  Promise.on_resolve p (fun _ ->
      incr calls;
      culprit ());
  Promise.on_resolve p (fun _ -> incr later);
  let task = Hand.start (fun () -> Promise.await p) in
  raises_at "culprit" (fun () -> Promise.fill p 1);
  int "called once" 1 !calls;
  int "the next one too" 1 !later;
  Hand.settle ();
  int "and the task" 1 (Hand.result task);
  raises "resolved" Promise.Already_filled (fun () -> Promise.fill p 1);
  raises "at once" Boom (fun () -> Promise.on_resolve p (fun _ -> culprit ()))

let failure_has_its_backtrace () =
  let p : int Promise.t = Promise.create () and seen = ref false in
  Promise.on_resolve p (fun _ ->
      raises_at "culprit" (fun () -> Promise.await p);
      seen := true);
  fail_by_culprit p;
  yes "seen" !seen

let refused what f =
  match f () with
  | () -> Alcotest.failf "%s: it has waited" what
  | exception Invalid_argument text -> yes what (contains text "Promise")

(* In the task that resolves, in the loop that ends a task, in a thread, at once. *)
let may_not_wait () =
  let never () = Promise.await (Promise.create ()) in
  let p = Promise.create () in
  Promise.on_resolve p (fun _ -> never ());
  refused "thread" (fun () -> Promise.fill p ());
  refused "at once" (fun () -> Promise.on_resolve p (fun _ -> never ()));
  let told = ref false in
  (match
     Concord_fifo.run (fun () ->
         let gate = Promise.create () in
         let p = Concord_fifo.fork_promise (fun () -> Promise.await gate) in
         Promise.on_resolve p (fun _ ->
             refused "the end of a task" never;
             told := true);
         Promise.fill gate ();
         Promise.await p)
   with
  | () -> ()
  | exception e -> raise e);
  yes "told" !told;
  (* What need not wait is no wait. *)
  let p = Promise.create () and box = Mvar.create_empty () in
  Promise.on_resolve p (fun _ -> Mvar.put box "put");
  Promise.fill p ();
  yes "put" (Mvar.take box = "put")

let withdrawn () =
  let p = Promise.create () and called = ref [] in
  let watch n =
    Promise.on_resolve_cancellable p (fun _ -> called := n :: !called)
  in
  let a = watch 1 in
  let b = watch 2 in
  let c = watch 3 in
  yes "withdrawn" (b ());
  no "twice" (b ());
  waiting "two" p 2;
  Promise.fill p 0;
  yes "the others" (!called = [ 3; 1 ]);
  no "too late" (a ());
  no "too late" (c ())

let withdrawn_in_the_other () =
  let p = Promise.create () and withdraw = ref (fun () -> false) in
  let called = ref false and answer = ref false in
  Promise.on_resolve p (fun _ -> answer := !withdraw ());
  withdraw := Promise.on_resolve_cancellable p (fun _ -> called := true);
  Promise.fill p 0;
  yes "in time" !answer;
  no "not called" !called

let kept_no_longer () =
  let p : int Promise.t = Promise.create () in
  let before = words p in
  for _ = 1 to 1_000 do
    let big = Array.make 100 0 in
    let withdraw =
      Promise.on_resolve_cancellable p (fun _ -> ignore (big : int array))
    in
    yes "withdrawn" (withdraw ())
  done;
  yes "withdrawn functions are not kept" (words p < before + 500)

let in_a_handler () =
  let p = Promise.create () and mapped = ref 0 in
  Promise.on_resolve
    (Promise.map (( * ) 2) p)
    (fun r -> mapped := Result.get_ok r);
  let fill _ = Promise.fill p 21 in
  let previous = Sys.signal Sys.sigusr1 (Signal_handle fill) in
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  eventually "called" (fun () -> !mapped = 42);
  Sys.set_signal Sys.sigusr1 previous

(* --- map ------------------------------------------------------------------- *)

let maps () =
  let p = Promise.create () and calls = ref 0 in
  let double n =
    incr calls;
    2 * n
  in
  let q = Promise.map double p in
  let r = Promise.map string_of_int (Promise.map double q) in
  yes "pending" (pending q && pending r);
  let task = Hand.start (fun () -> Promise.await r) in
  Promise.fill p 3;
  Hand.settle ();
  yes "the task" (Hand.result task = "12");
  int "called once each" 2 !calls;
  yes "at once" (is (Promise.map double p) (Ok 6));
  let p : int Promise.t = Promise.create () in
  let q = Promise.map double p in
  fail_by_culprit p;
  raises_at "culprit" (fun () -> Promise.await q);
  let q = Promise.map culprit (Promise.of_value ()) in
  raises_at "culprit" (fun () -> Promise.await q);
  let q =
    Promise.map
      (fun () -> Promise.await (Promise.create ()))
      (Promise.of_value ())
  in
  refused "it waits" (fun () -> Promise.await q)

(* What one that was made of it raises comes out at the end. *)
let chain_raises () =
  let p = Promise.create () in
  let q = Promise.map succ p in
  let r = Promise.map succ p in
  Promise.on_resolve q (fun _ -> culprit ());
  raises "fill" Boom (fun () -> Promise.fill p 1);
  yes "both are filled" (is q (Ok 2) && is r (Ok 2))

let resolved_by_hand () =
  let p = Promise.create () in
  let q = Promise.map succ p and a = Promise.all [ p ] in
  Promise.fill q 0;
  Promise.fill a [];
  Promise.fill p 1;
  yes "as they were" (is q (Ok 0) && is a (Ok []))

let results () =
  let p = Promise.create () and q : int Promise.t = Promise.create () in
  let rp = Promise.to_result p and rq = Promise.to_result q in
  Promise.fill p 1;
  Promise.fail q Boom;
  yes "filled" (Promise.await rp = Ok 1);
  yes "failed" (Promise.await rq = Error Boom)

(* --- Several --------------------------------------------------------------- *)

let boths () =
  let p = Promise.create () and q = Promise.create () in
  let both = Promise.both p q in
  Promise.fill q "q";
  yes "pending" (pending both);
  Promise.fill p 1;
  yes "both" (is both (Ok (1, "q")));
  let p : int Promise.t = Promise.create ()
  and q : int Promise.t = Promise.create () in
  let both = Promise.both p q in
  fail_by_culprit q;
  waiting "not kept" p 0;
  raises_at "culprit" (fun () -> Promise.await both);
  Promise.fail p Bang;
  raises "the first" Boom (fun () -> Promise.await both);
  let p = Promise.of_value 1 in
  yes "the same one" (is (Promise.both p p) (Ok (1, 1)))

let alls () =
  let ps = List.init 4 (fun _ -> Promise.create ()) in
  let all = Promise.all ps in
  List.iteri (fun i p -> Promise.fill p i) ps;
  yes "in order" (is all (Ok [ 0; 1; 2; 3 ]));
  yes "at once" (is (Promise.all ps) (Ok [ 0; 1; 2; 3 ]));
  yes "none" (is (Promise.all ([] : int Promise.t list)) (Ok []));
  let ps = List.init 4 (fun _ -> Promise.create ()) in
  let all = Promise.all ps in
  fail_by_culprit (List.nth ps 2);
  raises_at "culprit" (fun () -> Promise.await all);
  List.iteri (fun i p -> waiting (string_of_int i) p 0) ps;
  yes "failed from the start" (is (Promise.all ps) (Error Boom));
  List.iteri (fun i p -> waiting (string_of_int i) p 0) ps

let anys () =
  let ps = List.init 3 (fun _ -> Promise.create ()) in
  let nth = List.nth ps in
  let any = Promise.any ps in
  Promise.fail (nth 1) Boom;
  yes "pending" (pending any);
  Promise.fill (nth 2) 2;
  yes "the first that is filled" (is any (Ok 2));
  waiting "not kept" (nth 0) 0;
  yes "from the start" (is (Promise.any ps) (Ok 2));
  waiting "not kept" (nth 0) 0;
  let ps : int Promise.t list = List.init 3 (fun _ -> Promise.create ()) in
  let any = Promise.any ps in
  fail_by_culprit (List.nth ps 1);
  Promise.fail (List.nth ps 2) Bang;
  yes "pending" (pending any);
  Promise.fail (List.nth ps 0) Exit;
  raises_at "culprit" (fun () -> Promise.await any);
  yes "the first failure" (is any (Error Boom));
  yes "in the order of the list" (is (Promise.any ps) (Error Exit));
  match Promise.any ([] : int Promise.t list) with
  | _ -> Alcotest.fail "of none"
  | exception Invalid_argument _ -> ()

(* One that is never resolved is a source again and again. *)
let long_lived () =
  let clean = Promise.create () in
  let before = words clean in
  for _ = 1 to 2_000 do
    let p = Promise.create () in
    let any = Promise.any [ clean; p ] in
    Promise.fill p 1;
    int "any" 1 (Promise.await any);
    let p = Promise.create () in
    let all = Promise.all [ clean; p ] in
    Promise.fail p Boom;
    yes "all" (is all (Error Boom))
  done;
  waiting "clean" clean 0;
  yes "no memory" (words clean < before + 200)

(* --- Domains --------------------------------------------------------------- *)

let rounds = if instrumented then 50 else 500

(* Two domains resolve the sources; functions are withdrawn meanwhile. *)
let raced () =
  for round = 1 to rounds do
    let p = Promise.create () and q = Promise.create () in
    let start = Atomic.make 0 in
    let calls = Atomic.make 0 and withdrawn = Atomic.make 0 in
    let withdraw =
      Promise.on_resolve_cancellable p (fun _ -> Atomic.incr calls)
    in
    let meet () =
      Atomic.incr start;
      while Atomic.get start < 2 do
        Domain.cpu_relax ()
      done
    in
    let other =
      domain (fun () ->
          meet ();
          if withdraw () then Atomic.incr withdrawn;
          if round land 1 = 0 then Promise.fill q round else Promise.fail q Boom)
    in
    meet ();
    let both = Promise.both p q
    and any = Promise.any [ p; q ]
    and all = Promise.all [ q; p ] in
    Promise.fill p 0;
    other ();
    int "called, or withdrawn" 1 (Atomic.get calls + Atomic.get withdrawn);
    (match Promise.await any with 0 -> () | v -> int "any" round v);
    let failed = round land 1 = 1 in
    yes "both" (is both (if failed then Error Boom else Ok (0, round)));
    yes "all" (is all (if failed then Error Boom else Ok [ round; 0 ]));
    waiting "p" p 0;
    waiting "q" q 0
  done

let other_domain () =
  let p = Promise.create () in
  let q = Promise.map succ p in
  let domain = domain (fun () -> Promise.await q) in
  eventually "it waits" (fun () -> Promise.waiters q = 1);
  in_domain (fun () -> Promise.fill p 1);
  int "map" 2 (domain ())

(* --- Signal handlers ------------------------------------------------------- *)

(* Whatever they interrupt, what is made of a promise is resolved once that is. *)
let interrupted () =
  let count = ref 0 and lost = ref 0 in
  let promises = ref [] in
  let work () =
    for _ = 1 to 200 do
      let p = Promise.create () and q = Promise.create () in
      let mapped = Promise.map succ p in
      let both = Promise.both p q and any = Promise.any [ q; p ] in
      let all = Promise.all [ mapped; p ] in
      Promise.on_resolve p ignore_result;
      promises := (p, q, mapped, both, any, all) :: !promises;
      Promise.fill p 1;
      Promise.fill q 2
    done
  in
  let until = Unix.gettimeofday () +. 0.5 in
  while Unix.gettimeofday () < until || !count < 50 do
    (try Interrupting.run ~by:Bang ~count work with Bang -> ());
    List.iter
      (fun (p, q, mapped, both, any, all) ->
        ignore (Promise.try_fill p 1 : bool);
        ignore (Promise.try_fill q 2 : bool);
        let pending name p =
          if pending p then begin
            incr lost;
            print_endline name
          end
        in
        pending "map" mapped;
        pending "both" both;
        pending "any" any;
        pending "all" all)
      !promises;
    promises := []
  done;
  int "lost" 0 !lost

(* --- Threads and domains --------------------------------------------------- *)

let spawned place () =
  int "value" 42 (Promise.await (place (fun () -> 42)));
  let failing =
    place (fun () ->
        culprit ();
        0)
  in
  raises "failure" Boom (fun () -> Promise.await failing);
  raises_at "culprit" (fun () -> Promise.await failing);
  (* A task waits, and its siblings go on. *)
  let gate = Promise.create () in
  let n, () =
    Concord_fifo.run (fun () ->
        both
          (fun () -> Promise.await (place (fun () -> Promise.await gate)))
          (fun () -> Promise.fill gate 7))
  in
  int "beside siblings" 7 n

let joins () =
  let domain = Domain.spawn (fun () -> 6) in
  let thread = Thread.create ignore () in
  Concord_fifo.run (fun () ->
      int "domain" 6
        (Promise.await (Promise.in_thread (fun () -> Domain.join domain)));
      Promise.await (Promise.in_thread (fun () -> Thread.join thread)))

let many_domains () =
  for i = 1 to 300 do
    int "domain" i (Promise.await (Promise.in_domain (fun () -> i)))
  done

let () =
  run "Promises made of others"
    [
      ( "results",
        [
          test "resolve" resolve;
          test "await_result" await_result;
          test "fail_waiters counts those who chose it" chose_another;
        ] );
      ( "functions",
        [
          test "in order" in_order;
          test "beside tasks" with_tasks;
          test "one raises" one_raises;
          test "await in one" failure_has_its_backtrace;
          test "they may not wait" may_not_wait;
          test "withdrawn" withdrawn;
          test "withdrawn by another one" withdrawn_in_the_other;
          test "kept no longer" kept_no_longer;
          test "in a signal handler" in_a_handler;
        ] );
      ( "made of others",
        [
          test "map" maps;
          test "what is called raises" chain_raises;
          test "resolved by hand" resolved_by_hand;
          test "to_result" results;
          test "both" boths;
          test "all" alls;
          test "any" anys;
          test "a source that lives long" long_lived;
        ] );
      ("domains", [ test "a race" raced; test "map" other_domain ]);
      ("a signal handler raises", [ test "at any moment" interrupted ]);
      ( "threads and domains",
        [
          test "in_thread" (spawned Promise.in_thread);
          test "in_domain" (spawned Promise.in_domain);
          test "joining" joins;
          test "many domains" many_domains;
        ] );
    ]
