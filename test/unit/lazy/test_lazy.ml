open Concord
open Concord_test_support
open Check

exception Boom

(* Neither a tail call nor inlined, because the backtrace must name it. *)
let[@inline never] culprit () = if true then raise Boom

let failing () =
  Lazy.from_fun (fun () ->
      culprit ();
      1)

let waiting t n = int "waiters" n (Lazy.waiters t)

(* Returns a value whose computation waits for the promise, and counts the computations. *)
let held () =
  let gate = Promise.create () and runs = ref 0 in
  let compute () =
    incr runs;
    Promise.await gate
  in
  (Lazy.from_fun compute, gate, runs)

let force t say name =
  Hand.start (fun () -> say (Printf.sprintf "%s=%d" name (Lazy.force t)))

let same what e f =
  match f () with
  | (_ : int) -> Alcotest.failf "%s: nothing was raised" what
  | exception raised -> yes (what ^ ": the very exception") (raised == e)

(* --- Operations ----------------------------------------------------------- *)

let states () =
  let unforced t =
    yes "unforced" (Lazy.peek t = None && not (Lazy.is_val t));
    waiting t 0
  and forced t v =
    yes "forced" (Lazy.peek t = Some (Ok v) && Lazy.is_val t);
    waiting t 0
  in
  let t = Lazy.from_fun (fun () -> 1) in
  unforced t;
  int "force" 1 (Lazy.force t);
  forced t 1;
  let t = Lazy.from_fun (fun () -> 2) in
  int "force_val" 2 (Lazy.force_val t);
  forced t 2;
  forced (Lazy.from_val 3) 3;
  int "from_val" 3 (Lazy.force (Lazy.from_val 3));
  let t = failing () in
  unforced t;
  raises "force" Boom (fun () -> Lazy.force t);
  yes "failed" (Lazy.peek t = Some (Error Boom) && not (Lazy.is_val t));
  waiting t 0;
  let t, gate, _ = held () in
  let task = Hand.start (fun () -> Lazy.force t) in
  unforced t;
  Promise.fill gate 4;
  Hand.settle ();
  int "the task" 4 (Hand.result task);
  forced t 4

let once () =
  let runs = ref 0 in
  let check force e =
    let t =
      Lazy.from_fun (fun () ->
          incr runs;
          match e with None -> 7 | Some e -> raise e)
    in
    runs := 0;
    for _ = 1 to 3 do
      match force t with
      | v -> int "value" 7 v
      | exception raised -> yes "raised" (Some raised = e)
    done;
    int "computed" 1 !runs
  in
  let each check =
    check None;
    check (Some Boom)
  in
  each (check Lazy.force);
  each (check Lazy.force_val);
  each (check (fun t -> Lazy.force (Lazy.map Fun.id t)))

let mapping () =
  let runs = ref 0 in
  let f v =
    incr runs;
    v + 1
  in
  let t = Lazy.from_fun (fun () -> 1) in
  let u = Lazy.map f t and w = Lazy.map_val f t in
  no "nothing is forced yet" (Lazy.is_val t || Lazy.is_val u || Lazy.is_val w);
  int "f was not called" 0 !runs;
  int "map" 2 (Lazy.force u);
  yes "it has forced the other" (Lazy.is_val t);
  int "map_val of an unforced one" 2 (Lazy.force w);
  int "f was called for each" 2 !runs;
  no "map of a forced one" (Lazy.is_val (Lazy.map f t));
  int "map calls nothing" 2 !runs;
  yes "map_val of a forced one" (Lazy.peek (Lazy.map_val f t) = Some (Ok 2));
  int "map_val calls f" 3 !runs;
  raises "map_val" Boom (fun () -> Lazy.map_val (fun _ -> raise Boom) t);
  let t = failing () in
  raises "map of a failure" Boom (fun () -> Lazy.force (Lazy.map f t));
  let u = Lazy.map_val f t in
  raises "map_val of a failure" Boom (fun () -> Lazy.force u);
  int "f was not called" 3 !runs

let of_stdlib () =
  yes "one exception" (Lazy.Undefined == Stdlib.Lazy.Undefined);
  let runs = ref 0 in
  let l =
    lazy
      (incr runs;
       5)
  in
  let t = Lazy.of_stdlib l in
  yes "not yet" (!runs = 0 && Lazy.peek t = None);
  int "force" 5 (Lazy.force t);
  int "again" 5 (Lazy.force t);
  int "the other" 5 (Stdlib.Lazy.force l);
  int "computed" 1 !runs;
  int "one that was forced" 5 (Lazy.force (Lazy.of_stdlib l));
  let t =
    Lazy.of_stdlib
      (lazy
        (culprit ();
         1))
  in
  raises "force" Boom (fun () -> Lazy.force t);
  raises_at "culprit" (fun () -> Lazy.force t);
  let rec l = lazy (Stdlib.Lazy.force l + 1) in
  let t = Lazy.of_stdlib l in
  raises "it needs itself" Lazy.Undefined (fun () -> Lazy.force t);
  yes "that is remembered" (Lazy.peek t = Some (Error Lazy.Undefined))

(* Stdlib's function forces [l] itself meanwhile. *)
let of_stdlib_meanwhile () =
  let through = ref (fun () -> 0) in
  let l = lazy (try !through () with Lazy.Being_forced -> 5) in
  let t = Lazy.of_stdlib l in
  (through := fun () -> Lazy.force t);
  int "the other" 5 (Stdlib.Lazy.force l);
  yes "not remembered" (Lazy.peek t = None);
  int "force" 5 (Lazy.force t)

let without_scheduler () =
  let t = Lazy.from_fun (fun () -> 1) in
  yes "poll" (Event.poll (Lazy.await_evt t) = None);
  int "force" 1 (Lazy.force (Lazy.map Fun.id t));
  yes "poll" (Event.poll (Lazy.await_evt t) = Some 1);
  raises "force" Boom (fun () -> Lazy.force (failing ()));
  yes "peek" (Lazy.peek t = Some (Ok 1) && Lazy.is_val t)

(* --- Waiting -------------------------------------------------------------- *)

let in_order () =
  traced [ "a=5"; "b=5"; "c=5"; "d=5"; "event 1=5"; "event 2=5" ] @@ fun say ->
  let t, gate, runs = held () in
  let watch name =
    Hand.start (fun () ->
        say (Printf.sprintf "%s=%d" name (Event.sync (Lazy.await_evt t))))
  in
  (* The events come last, even one that was there before the computation. *)
  let one = watch "event 1" in
  let ab = List.map (force t say) [ "a"; "b" ] in
  let two = watch "event 2" in
  let cd = List.map (force t say) [ "c"; "d" ] in
  waiting t 5;
  Promise.fill gate 5;
  waiting t 5;
  Hand.settle ();
  waiting t 0;
  List.iter Hand.result (ab @ cd @ [ one; two ]);
  int "computed" 1 !runs

(* --- Exceptions ----------------------------------------------------------- *)

exception Carries of int ref

let failure () =
  let original = Carries (ref 0) in
  let[@inline never] culprit () = if true then raise original in
  let gate = Promise.create () in
  let t =
    Lazy.from_fun (fun () ->
        Promise.await gate;
        culprit ();
        1)
  in
  let forcer = Hand.start (fun () -> Lazy.force t) in
  let waiter = Hand.start (fun () -> Lazy.force t) in
  let watcher = Hand.start (fun () -> Event.sync (Lazy.await_evt t)) in
  Promise.fill gate ();
  Hand.settle ();
  (* Another exception in between must not replace the backtrace. *)
  let check what f =
    (try raise Exit with Exit -> ());
    same what original f;
    raises_at "culprit" f
  in
  check "forcer" (fun () -> Hand.result forcer);
  check "waiter" (fun () -> Hand.result waiter);
  check "watcher" (fun () -> Hand.result watcher);
  check "later" (fun () -> Lazy.force t);
  check "event" (fun () -> Event.sync (Lazy.await_evt t));
  check "map" (fun () -> Lazy.force (Lazy.map Fun.id t));
  check "a domain" (fun () ->
      in_domain (fun () ->
          Printexc.record_backtrace true;
          Lazy.force t))

let () =
  run "Lazy"
    [
      ( "operations",
        [
          test "states" states;
          test "computed once" once;
          test "map, map_val" mapping;
          test "of_stdlib" of_stdlib;
          test "of_stdlib, forced by another" of_stdlib_meanwhile;
        ] );
      Outside.suite without_scheduler;
      ("waiting", [ test "in the order of arrival, then the events" in_order ]);
      ("exceptions", [ test "one for all tasks, with its backtrace" failure ]);
      Lazy_events.suite;
    ]
