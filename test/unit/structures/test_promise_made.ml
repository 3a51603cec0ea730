(* Promises that are made of others, and promises of threads and domains. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Bang

(* Neither a tail call nor inlined, because the backtrace must name it. *)
let[@inline never] culprit () = if true then raise Boom
let waiting what p n = int (what ^ ": waiters") n (Promise.waiters p)
let is p outcome = Promise.peek p = Some outcome
let pending p = Promise.peek p = None
let fail_by_culprit p = try culprit () with Boom -> Promise.fail p Boom

let refused what f =
  match f () with
  | () -> Alcotest.failf "%s: it has waited" what
  | exception Invalid_argument text -> yes what (contains text "Promise")

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

(* If a function of a promise that was made of [p] raises, [fill] raises that exception at
   its end. *)
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
  let any = Promise.first_filled ps in
  Promise.fail (nth 1) Boom;
  yes "pending" (pending any);
  Promise.fill (nth 2) 2;
  yes "the first that is filled" (is any (Ok 2));
  waiting "not kept" (nth 0) 0;
  yes "from the start" (is (Promise.first_filled ps) (Ok 2));
  waiting "not kept" (nth 0) 0;
  let ps : int Promise.t list = List.init 3 (fun _ -> Promise.create ()) in
  let any = Promise.first_filled ps in
  fail_by_culprit (List.nth ps 1);
  Promise.fail (List.nth ps 2) Bang;
  yes "pending" (pending any);
  Promise.fail (List.nth ps 0) Exit;
  raises_at "culprit" (fun () -> Promise.await any);
  yes "the first failure" (is any (Error Boom));
  yes "in the order of the list" (is (Promise.first_filled ps) (Error Exit));
  match Promise.first_filled ([] : int Promise.t list) with
  | _ -> Alcotest.fail "of none"
  | exception Invalid_argument _ -> ()

(* A promise that is never resolved is used as a source repeatedly. *)
let long_lived () =
  let clean = Promise.create () in
  let before = words clean in
  for _ = 1 to 2_000 do
    let p = Promise.create () in
    let any = Promise.first_filled [ clean; p ] in
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

(* Two domains resolve the sources. One of them withdraws a function meanwhile. *)
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
    and any = Promise.first_filled [ p; q ]
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
  (* One task waits while its sibling runs. *)
  let gate = Promise.create () in
  let n, () =
    Concord_fifo.run (fun () ->
        Tasks.both
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
      ( "made of others",
        [
          test "map" maps;
          test "a called function raises" chain_raises;
          test "resolved by hand" resolved_by_hand;
          test "to_result" results;
          test "both" boths;
          test "all" alls;
          test "any" anys;
          test "a source that lives long" long_lived;
        ] );
      ("domains", [ test "a race" raced; test "map" other_domain ]);
      ( "threads and domains",
        [
          test "in_thread" (spawned Promise.in_thread);
          test "in_domain" (spawned Promise.in_domain);
          test "joining" joins;
          test "many domains" many_domains;
        ] );
    ]
