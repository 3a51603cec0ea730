open Concord
open Concord_test_support
open Check

exception Boom
exception Worse

(* Records the disposed resources, which are numbers from 1 on. *)
type made = { t : int Pool.t; disposed : int list ref }

let pool ?validate ?(dispose = ignore) ?keep_after ?idle_time ?lifetime
    ?(make = ignore) n =
  let made = ref 0 and disposed = ref [] in
  let dispose v =
    disposed := v :: !disposed;
    dispose v
  and make () =
    make ();
    incr made;
    !made
  in
  let t =
    Pool.create ?validate ~dispose ?keep_after ?idle_time ?lifetime n make
  in
  { t; disposed }

let disposed what expected p =
  strings (what ^ ": disposed of")
    (List.map string_of_int expected)
    (List.rev_map string_of_int !(p.disposed))

let counts what (size, idle, waiters) { t; _ } =
  int (what ^ ": size") size (Pool.size t);
  int (what ^ ": idle") idle (Pool.idle t);
  int (what ^ ": in use") (size - idle) (Pool.in_use t);
  int (what ^ ": waiters") waiters (Pool.waiters t)

(* Uses a resource until [gate] is filled. *)
let hold p gate =
  Hand.start (fun () ->
      Pool.use p.t (fun v ->
          Promise.await gate;
          v))

let held p =
  let gate = Promise.create () in
  (hold p gate, gate)

let open_ gate =
  Promise.fill gate ();
  Hand.settle ()

let wait say p name =
  Hand.start (fun () ->
      Pool.use p.t (fun v -> say (Printf.sprintf "%s %d" name v)))

(* --- Making and using ------------------------------------------------------- *)

let misuse () =
  raises "none"
    (Invalid_argument "Pool.create: the limit is 0, but must be at least 1")
    (fun () -> Pool.create 0 ignore);
  raises "an idle time"
    (Invalid_argument
       "Pool.create: idle_time is -1 seconds, but must be a number from 0 on")
    (fun () -> Pool.create ~idle_time:(-1.) 1 ignore);
  raises "a lifetime"
    (Invalid_argument
       "Pool.create: lifetime is nan seconds, but must be a number from 0 on")
    (fun () -> Pool.create ~lifetime:nan 1 ignore)

let as_needed () =
  let p = pool 3 in
  counts "at first" (0, 0, 0) p;
  int "the first" 1 (Pool.use p.t Fun.id);
  int "again" 1 (Pool.use p.t Fun.id);
  let a, gate_a = held p in
  let b, gate_b = held p in
  counts "two in use" (2, 0, 0) p;
  open_ gate_b;
  open_ gate_a;
  int "a" 1 (Hand.result a);
  int "b" 2 (Hand.result b);
  counts "both idle" (2, 2, 0) p;
  int "the one that was used last" 1 (Pool.use p.t Fun.id);
  int "capacity" 3 (Pool.capacity p.t)

let tries () =
  let p = pool 1 in
  yes "it is made" (Pool.try_use p.t Fun.id = Some 1);
  yes "in use"
    (Pool.use p.t (fun _ -> (Pool.try_use p.t Fun.id, Pool.try_obtain p.t))
    = (None, None));
  let lease = Option.get (Pool.try_obtain p.t) in
  int "its value" 1 (Pool.value lease);
  yes "obtained" (Pool.try_use p.t Fun.id = None);
  Pool.give_back ~keep:true lease;
  raises "it fails" Exit (fun () -> Pool.try_use p.t (fun _ -> raise Exit));
  yes "another one" (Pool.try_use p.t Fun.id = Some 2);
  Pool.close p.t;
  raises "closed" Pool.Closed (fun () -> Pool.try_use p.t Fun.id);
  raises "closed, a lease" Pool.Closed (fun () -> Pool.try_obtain p.t)

let in_order () =
  traced [ "given back"; "a 1"; "b 1"; "c 1" ] @@ fun say ->
  let p = pool 1 in
  let first, gate = held p in
  let tasks = List.map (wait say p) [ "a"; "b"; "c" ] in
  counts "three wait" (1, 0, 3) p;
  Promise.fill gate ();
  say "given back";
  Hand.settle ();
  int "first" 1 (Hand.result first);
  List.iter Hand.result tasks;
  counts "in the end" (1, 1, 0) p

(* The late task comes after the resource was given back, but before the waiter runs. *)
let no_overtaking () =
  let p = pool 1 in
  let first, gate = held p in
  let order = ref [] in
  let came name () = order := name :: !order in
  let use name = Hand.start (fun () -> Pool.use p.t (fun _ -> came name ())) in
  let a = use "a" in
  let late = ref [] and comes = ref true in
  Hand.before_turns
    (fun () ->
      (* The resource was given back, and "a" hasn't run yet. *)
      if Pool.waiters p.t = 0 && !comes then begin
        comes := false;
        late := [ use "b" ]
      end)
    (fun () -> open_ gate);
  ignore (Hand.result first : int);
  Hand.result a;
  int "b came" 1 (List.length !late);
  List.iter Hand.result !late;
  strings "order" [ "a"; "b" ] (List.rev !order)

let cancelled_waiter () =
  traced [ "b 1" ] @@ fun say ->
  let p = pool 1 in
  let first, gate = held p in
  let a = wait say p "a" and b = wait say p "b" in
  Hand.unwind a;
  counts "one is left" (1, 0, 1) p;
  open_ gate;
  Hand.result b;
  ignore (Hand.result first : int);
  counts "in the end" (1, 1, 0) p;
  disposed "in the end" [] p

(* --- Making fails ------------------------------------------------------------- *)

let make_fails () =
  let fail = ref true in
  let gate = Promise.create () in
  let p =
    pool 1 ~make:(fun () ->
        if !fail then begin
          Promise.await gate;
          raise Boom
        end)
  in
  let a = Hand.start (fun () -> Pool.use p.t Fun.id) in
  let b = Hand.start (fun () -> Pool.use p.t Fun.id) in
  counts "it is being made" (1, 0, 1) p;
  fail := false;
  open_ gate;
  raises "a" Boom (fun () -> Hand.result a);
  int "the next one makes it" 1 (Hand.result b);
  counts "in the end" (1, 1, 0) p;
  disposed "in the end" [] p;
  fail := true;
  int "it is not made again" 1 (Pool.use p.t Fun.id)

let make_fails_alone () =
  let p = pool 1 ~make:(fun () -> raise Boom) in
  raises "once" Boom (fun () -> Pool.use p.t Fun.id);
  raises "twice" Boom (fun () -> Pool.use p.t Fun.id);
  counts "nothing is lost" (0, 0, 0) p;
  raises_at "test_pool" (fun () -> Pool.use p.t Fun.id)

let make_cancelled () =
  let gate = Promise.create () in
  let p = pool 1 ~make:(fun () -> Promise.await gate) in
  let a = Hand.start (fun () -> Pool.use p.t Fun.id) in
  let b = Hand.start (fun () -> Pool.use p.t Fun.id) in
  Hand.unwind a;
  counts "b makes it" (1, 0, 0) p;
  open_ gate;
  int "b" 1 (Hand.result b);
  counts "in the end" (1, 1, 0) p

(* --- Validation ----------------------------------------------------------------- *)

let validated () =
  let bad = ref [] in
  let p = pool 2 ~validate:(fun v -> not (List.mem v !bad)) in
  int "a fresh one" 1 (Pool.use p.t Fun.id);
  int "valid" 1 (Pool.use p.t Fun.id);
  bad := [ 1 ];
  int "another one" 2 (Pool.use p.t Fun.id);
  disposed "the bad one" [ 1 ] p;
  counts "in its place" (1, 1, 0) p

let validate_raises () =
  let bad = ref false in
  let p = pool 1 ~validate:(fun _ -> if !bad then raise Boom else true) in
  int "a fresh one" 1 (Pool.use p.t Fun.id);
  bad := true;
  raises "its own exception" Boom (fun () -> Pool.use p.t Fun.id);
  disposed "the bad one" [ 1 ] p;
  counts "there is room" (0, 0, 0) p;
  int "another one" 2 (Pool.use p.t Fun.id)

let validate_cancelled () =
  let gate = Promise.create () in
  let p =
    pool 1 ~validate:(fun _ ->
        Promise.await gate;
        true)
  in
  int "a fresh one" 1 (Pool.use p.t Fun.id);
  let a = Hand.start (fun () -> Pool.use p.t Fun.id) in
  let b = Hand.start (fun () -> Pool.use p.t Fun.id) in
  Hand.unwind a;
  disposed "the validated one" [ 1 ] p;
  int "b makes another one" 2 (Hand.result b)

(* The old resource was disposed of and making another one failed, so there must be room for
   one. *)
let remake_fails () =
  let fail = ref false in
  let p =
    pool 1 ~validate:(fun _ -> false) ~make:(fun () -> if !fail then raise Boom)
  in
  int "a fresh one" 1 (Pool.use p.t Fun.id);
  fail := true;
  raises "making" Boom (fun () -> Pool.use p.t Fun.id);
  disposed "the old one" [ 1 ] p;
  counts "there is room" (0, 0, 0) p;
  fail := false;
  int "another one" 2 (Pool.use p.t Fun.id)

(* --- After a failure -------------------------------------------------------------- *)

let use_fails () =
  let p = pool 1 in
  raises "its own exception" Boom (fun () -> Pool.use p.t (fun _ -> raise Boom));
  disposed "the resource" [ 1 ] p;
  counts "there is room" (0, 0, 0) p;
  raises_at "test_pool" (fun () -> Pool.use p.t (fun _ -> raise Boom));
  int "another one" 3 (Pool.use p.t Fun.id)

let use_cancelled () =
  let p = pool 1 in
  let a, _ = held p in
  let b = Hand.start (fun () -> Pool.use p.t Fun.id) in
  Hand.unwind a;
  disposed "the resource" [ 1 ] p;
  int "b makes another one" 2 (Hand.result b)

let kept () =
  let p = pool 1 ~keep_after:(fun e -> e = Not_found) in
  raises "not found" Not_found (fun () ->
      Pool.use p.t (fun _ -> raise Not_found));
  disposed "it is kept" [] p;
  int "the same" 1 (Pool.use p.t Fun.id);
  raises "another one" Boom (fun () -> Pool.use p.t (fun _ -> raise Boom));
  disposed "it is not" [ 1 ] p;
  let p = pool 1 ~keep_after:(fun _ -> raise Worse) in
  raises "the first one" Boom (fun () -> Pool.use p.t (fun _ -> raise Boom));
  disposed "it is not kept" [ 1 ] p

(* The task is cancelled, and must still dispose of the resource. *)
let dispose_suspends () =
  let gate = Promise.create () and ended = ref false in
  let dispose _ =
    Promise.await gate;
    ended := true
  in
  let p = pool 1 ~dispose in
  let a, _ = held p in
  Hand.stop a;
  Hand.settle ();
  yes "a disposes" (Hand.waits a);
  counts "it still counts" (1, 0, 0) p;
  let b = Hand.start (fun () -> Pool.use p.t Fun.id) in
  counts "b waits" (1, 0, 1) p;
  open_ gate;
  Hand.unwound a;
  yes "it was disposed of" !ended;
  int "b" 2 (Hand.result b)

let dispose_raises () =
  let bad = ref false in
  let p =
    pool 1
      ~validate:(fun _ -> not !bad)
      ~dispose:(fun _ -> raise Worse)
      ~keep_after:(fun e -> e = Not_found)
  in
  raises "the first exception" Boom (fun () ->
      Pool.use p.t (fun _ -> raise Boom));
  counts "there is room" (0, 0, 0) p;
  int "another one" 2 (Pool.use p.t Fun.id);
  bad := true;
  raises "that of dispose" Worse (fun () -> Pool.use p.t Fun.id);
  counts "there is room again" (0, 0, 0) p;
  bad := false;
  int "another one" 3 (Pool.use p.t Fun.id);
  raises "that of dispose" Worse (fun () -> Pool.close p.t);
  Pool.await_closed p.t;
  disposed "each once" [ 1; 2; 3 ] p

(* --- The end ------------------------------------------------------------------------ *)

let closing () =
  let p = pool 2 in
  let a, gate_a = held p in
  let b, gate_b = held p in
  open_ gate_b;
  int "b" 2 (Hand.result b);
  let ends = Hand.start (fun () -> Pool.await_closed p.t) in
  let c, gate_c = held p in
  let waits = Hand.start (fun () -> Pool.use p.t Fun.id) in
  counts "two wait" (2, 0, 2) p;
  no "open" (Pool.is_closed p.t);
  open_ gate_c;
  int "c" 2 (Hand.result c);
  int "the waiter" 2 (Hand.result waits);
  let other, gate = held p in
  let waits = Hand.start (fun () -> Pool.use p.t Fun.id) in
  open_ gate;
  int "other" 2 (Hand.result other);
  int "the waiter" 2 (Hand.result waits);
  let other, gate = held p in
  let waits = Hand.start (fun () -> Pool.use p.t Fun.id) in
  Pool.close p.t;
  yes "closed" (Pool.is_closed p.t);
  Hand.settle ();
  raises "the waiter" Pool.Closed (fun () -> Hand.result waits);
  raises "a newcomer" Pool.Closed (fun () -> Pool.use p.t Fun.id);
  disposed "none is idle" [] p;
  counts "two in use" (2, 0, 1) p;
  yes "too soon" (Event.sync_before 0.001 (Pool.await_closed_evt p.t) = None);
  Pool.close p.t;
  open_ gate;
  int "other" 2 (Hand.result other);
  disposed "as it comes back" [ 2 ] p;
  yes "one is in use" (Hand.waits ends);
  open_ gate_a;
  int "a" 1 (Hand.result a);
  Hand.result ends;
  disposed "all" [ 2; 1 ] p;
  counts "in the end" (0, 0, 0) p;
  Pool.await_closed p.t

let closing_idle () =
  let p = pool 3 ~dispose:(fun v -> if v = 2 then raise Worse) in
  let all = List.init 3 (fun _ -> held p) in
  List.iter (fun (_, gate) -> open_ gate) all;
  counts "all idle" (3, 3, 0) p;
  raises "one of them raises" Worse (fun () -> Pool.close p.t);
  disposed "all" [ 3; 2; 1 ] p;
  counts "in the end" (0, 0, 0) p;
  Pool.await_closed p.t;
  let p = pool 1 in
  let ends = Hand.start (fun () -> Pool.await_closed p.t) in
  Pool.close p.t;
  Hand.settle ();
  Hand.result ends

(* A task that was making a resource gives it back to a closed pool. *)
let closed_while_made () =
  let gate = Promise.create () in
  let p = pool 1 ~make:(fun () -> Promise.await gate) in
  let a = Hand.start (fun () -> Pool.use p.t Fun.id) in
  Pool.close p.t;
  open_ gate;
  int "it is used" 1 (Hand.result a);
  disposed "after that" [ 1 ] p;
  Pool.await_closed p.t

(* --- Leases ------------------------------------------------------------------ *)

let leases () =
  let p = pool 1 in
  let a = Pool.obtain p.t in
  int "its resource" 1 (Pool.value a);
  counts "in use" (1, 0, 0) p;
  let b = Hand.start (fun () -> Pool.obtain p.t) in
  counts "b waits" (1, 0, 1) p;
  Pool.give_back ~keep:true a;
  Hand.settle ();
  let b = Hand.result b in
  int "it passes to b" 1 (Pool.value b);
  let twice () =
    raises "twice"
      (Invalid_argument
         "Pool.give_back: this lease has ended. Each lease is given back once")
      (fun () -> Pool.give_back ~keep:true a)
  in
  twice ();
  counts "b still uses it" (1, 0, 0) p;
  let c = Hand.start (fun () -> Pool.obtain p.t) in
  Pool.give_back ~keep:false b;
  Hand.settle ();
  disposed "the first one" [ 1 ] p;
  let c = Hand.result c in
  int "c makes another one" 2 (Pool.value c);
  Pool.close p.t;
  twice ();
  Pool.give_back ~keep:true c;
  disposed "the pool was closed" [ 1; 2 ] p;
  raises "closed" Pool.Closed (fun () -> Pool.obtain p.t)

let lease_events () =
  let p = pool 1 in
  let a = Event.sync (Pool.obtain_evt p.t) in
  yes "polled" (Event.poll (Pool.obtain_evt p.t) = None);
  let b = Hand.start (fun () -> Event.sync (Pool.obtain_evt p.t)) in
  Pool.give_back ~keep:true a;
  Hand.settle ();
  int "b" 1 (Pool.value (Hand.result b))

(* The limit holds for the wait and for [make], and not for the use. *)
let within_a_time () =
  let gate = Promise.create () and makes = ref true in
  let make () = if !makes then Promise.await gate in
  let p = pool 1 ~make in
  let obtain () = Pool.obtain p.t in
  yes "making takes too long" (Tasks.with_timeout 0.001 obtain = None);
  counts "there is room" (0, 0, 0) p;
  makes := false;
  let a = Option.get (Tasks.with_timeout 60. obtain) in
  yes "waiting takes too long" (Tasks.with_timeout 0.001 obtain = None);
  counts "nothing is lost" (1, 0, 0) p;
  Pool.give_back ~keep:true a;
  counts "in the end" (1, 1, 0) p

(* --- Old resources --------------------------------------------------------------- *)

let cleared () =
  let p = pool 2 in
  let a, gate_a = held p in
  let b, gate_b = held p in
  open_ gate_b;
  int "b" 2 (Hand.result b);
  Pool.clear p.t;
  disposed "the idle one" [ 2 ] p;
  counts "a still uses the other one" (1, 0, 0) p;
  open_ gate_a;
  int "a" 1 (Hand.result a);
  disposed "when it comes back" [ 2; 1 ] p;
  counts "none is left" (0, 0, 0) p;
  int "a new one" 3 (Pool.use p.t Fun.id);
  int "it is kept" 3 (Pool.use p.t Fun.id);
  disposed "in the end" [ 2; 1 ] p

let cleared_for_a_waiter () =
  let p = pool 1 in
  let a, gate = held p in
  let b = Hand.start (fun () -> Pool.use p.t Fun.id) in
  Pool.clear p.t;
  open_ gate;
  int "a" 1 (Hand.result a);
  int "b makes another one" 2 (Hand.result b);
  disposed "the first one" [ 1 ] p;
  counts "in the end" (1, 1, 0) p

(* It may be connected to a server that the program has just left. *)
let cleared_while_made () =
  let gate = Promise.create () in
  let p = pool 1 ~make:(fun () -> Promise.await gate) in
  let a = Hand.start (fun () -> Pool.use p.t Fun.id) in
  Pool.clear p.t;
  open_ gate;
  int "it is used" 1 (Hand.result a);
  disposed "after that" [ 1 ] p

let clear_raises () =
  let p = pool 2 ~dispose:(fun v -> if v = 2 then raise Worse) in
  let all = List.init 2 (fun _ -> held p) in
  List.iter (fun (_, gate) -> open_ gate) all;
  raises "one of them raises" Worse (fun () -> Pool.clear p.t);
  disposed "all" [ 2; 1 ] p;
  counts "in the end" (0, 0, 0) p

let never_idle () =
  let p = pool 1 ~idle_time:0. in
  int "the first" 1 (Pool.use p.t Fun.id);
  disposed "at once" [ 1 ] p;
  let a, gate = held p in
  let b = Hand.start (fun () -> Pool.use p.t Fun.id) in
  open_ gate;
  int "a" 2 (Hand.result a);
  int "one that passes to a waiter was not idle" 2 (Hand.result b);
  counts "in the end" (0, 0, 0) p

let used_once () =
  let p = pool 1 ~lifetime:0. in
  let a, gate = held p in
  let b = Hand.start (fun () -> Pool.use p.t Fun.id) in
  open_ gate;
  int "a" 1 (Hand.result a);
  int "it doesn't pass to a waiter" 2 (Hand.result b);
  disposed "both" [ 1; 2 ] p;
  counts "in the end" (0, 0, 0) p

(* Three are idle for too long. A use takes the one that was used last, and makes another one
   for it. When it gives that back, it disposes of one more. *)
let too_old () =
  let p = pool 3 ~idle_time:0.005 in
  let three () =
    let all = List.init 3 (fun _ -> Pool.obtain p.t) in
    List.iter (Pool.give_back ~keep:true) (List.rev all)
  in
  three ();
  let number = Pool.idle p.t in
  yes "some are idle" (number > 0);
  Tasks.sleep 0.01;
  Pool.use p.t ignore;
  int "two were disposed of" (Int.max 1 (number - 1)) (Pool.size p.t);
  Tasks.sleep 0.01;
  Pool.trim p.t;
  counts "trimmed" (0, 0, 0) p;
  let p = pool 1 ~idle_time:60. ~lifetime:60. in
  Pool.use p.t ignore;
  Pool.trim p.t;
  int "it isn't old" 1 (Pool.use p.t Fun.id);
  disposed "none" [] p

(* --- Events -------------------------------------------------------------------------- *)

let events () =
  let p = pool 1 in
  let use = Pool.use_evt p.t Fun.id in
  int "now" 1 (Event.sync use);
  let first, gate = held p in
  yes "polled" (Event.poll use = None);
  let box = Mvar.create_empty () in
  let a = Hand.start (fun () -> Event.select [ use; Mvar.take_evt box ]) in
  counts "a choice waits" (1, 0, 1) p;
  Mvar.put box 7;
  Hand.settle ();
  int "another one is chosen" 7 (Hand.result a);
  let b = Hand.start (fun () -> Event.select [ Mvar.take_evt box; use ]) in
  open_ gate;
  int "it is chosen" 1 (Hand.result b);
  ignore (Hand.result first : int);
  raises "it fails" Boom (fun () ->
      Event.sync (Pool.use_evt p.t (fun _ -> raise Boom)));
  disposed "then" [ 1 ] p;
  counts "in the end" (0, 0, 0) p

(* --- At the same time ------------------------------------------------------------------ *)

(* Tasks of three domains use the pool, in brackets and by leases, and some of them fail. Now
   and then one clears the pool. A resource must have one user at a time, and at most [limit]
   may exist. *)
let domains () =
  let limit = 3 and rounds = if debugged then 200 else 2_000 in
  let exist = Atomic.make 0 and wrong = Atomic.make 0 in
  let made = Atomic.make 0 and disposed = Atomic.make 0 in
  let check condition = if not condition then Atomic.incr wrong in
  let make () =
    check (Atomic.fetch_and_add exist 1 < limit);
    if Atomic.fetch_and_add made 1 mod 7 = 6 then begin
      Atomic.decr exist;
      Atomic.incr disposed;
      raise Boom
    end;
    Atomic.make false
  and dispose used =
    check (Atomic.compare_and_set used false true);
    Atomic.decr exist;
    Atomic.incr disposed
  and validate _ = Random.int 20 > 0 in
  let t = Pool.create limit ~idle_time:1e-4 ~validate ~dispose make in
  let use used =
    check (Atomic.compare_and_set used false true);
    if Random.int 10 = 0 then Tasks.yield ();
    check (Atomic.compare_and_set used true false);
    if Random.int 10 = 0 then raise Boom
  in
  let lease () =
    let lease = Pool.obtain t in
    let keep =
      match use (Pool.value lease) with () -> true | exception Boom -> false
    in
    Pool.give_back ~keep lease
  in
  let work () =
    for i = 1 to rounds do
      (match if i land 1 = 0 then Pool.use t use else lease () with
      | () -> ()
      | exception Boom -> ());
      if Random.int 40 = 0 then Pool.clear t
    done
  in
  let tasks () =
    Concord_fifo.run (fun () ->
        ignore (Tasks.all [ work; work; work ] : unit list))
  in
  let joins = [ domain tasks; domain tasks; thread work ] in
  List.iter (fun join -> join ()) joins;
  Pool.close t;
  Pool.await_closed t;
  int "wrong" 0 (Atomic.get wrong);
  int "none exists" 0 (Atomic.get exist);
  int "all that were made were disposed of" (Atomic.get made)
    (Atomic.get disposed);
  int "size" 0 (Pool.size t)

let no_effect () =
  let t = Pool.create 1 Fun.id in
  Pool.use t ignore;
  yes "an event" (Event.poll (Pool.use_evt t ignore) = Some ());
  int "size" 1 (Pool.size t);
  no "open" (Pool.is_closed t)

let () =
  run "Pool"
    [
      ( "operations",
        [
          test "misuse" misuse;
          test "made when needed, the last one first" as_needed;
          test "only tried" tries;
          test "in order" in_order;
          test "no task overtakes" no_overtaking;
          test "a waiter is cancelled" cancelled_waiter;
          test "events" events;
          test "threads and domains" domains;
        ] );
      ( "failures",
        [
          test "make raises, another waits" make_fails;
          test "make raises" make_fails_alone;
          test "make is cancelled" make_cancelled;
          test "validation" validated;
          test "validate raises" validate_raises;
          test "validate is cancelled" validate_cancelled;
          test "make raises after validation" remake_fails;
          test "the user fails" use_fails;
          test "the user is cancelled" use_cancelled;
          test "kept resources" kept;
          test "dispose suspends" dispose_suspends;
          test "dispose raises" dispose_raises;
        ] );
      ( "the end",
        [
          test "in use" closing;
          test "idle" closing_idle;
          test "being made" closed_while_made;
        ] );
      ( "leases",
        [
          test "operations" leases;
          test "events" lease_events;
          test "within a time" within_a_time;
        ] );
      ( "old resources",
        [
          test "cleared" cleared;
          test "cleared, a task waits" cleared_for_a_waiter;
          test "cleared while one is made" cleared_while_made;
          test "cleared, dispose raises" clear_raises;
          test "never idle" never_idle;
          test "used once" used_once;
          test "idle for too long" too_old;
        ] );
      Outside.suite no_effect;
    ]
