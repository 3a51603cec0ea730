(* Tests of [first] and [any], together with the cases of [Tasks_bounded]. The cases are the
   same on every host. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Tasks_cases

let never : unit -> unit = never

(* --- The first ------------------------------------------------------------- *)

let firsts () =
  let unwound = ref 0 in
  let waits () : unit = counting unwound never in
  int "the first" 1
    (Tasks.first
       (fun () -> 1)
       (fun () ->
         waits ();
         2));
  int "the second" 2
    (Tasks.first
       (fun () ->
         waits ();
         1)
       (fun () -> 2));
  int "one of three" 3
    (Tasks.any
       [
         (fun () ->
           waits ();
           1);
         (fun () ->
           waits ();
           2);
         (fun () ->
           Tasks.yield ();
           3);
       ]);
  int "unwound" 3 !unwound;
  int "of one" 1 (Tasks.any [ (fun () -> 1) ]);
  match Tasks.any ([] : (unit -> int) list) with
  | _ -> Alcotest.fail "any of an empty list returned"
  | exception Invalid_argument _ -> ()

let others_do_not_begin () =
  let begun = ref 0 in
  let f () =
    incr begun;
    !begun
  in
  int "the first" 1 (Tasks.any [ f; f; f ]);
  int "no other one" 1 !begun

(* [first] returns only when the slow task has been unwound. *)
let waits_for_the_slow_one () =
  let over = ref false in
  int "the fast one" 1
    (Tasks.first
       (fun () ->
         match never () with
         | () -> 0
         | exception e ->
             Suspend.protect (fun () ->
                 Tasks.yield ();
                 Tasks.yield ());
             over := true;
             raise e)
       (fun () ->
         Tasks.yield ();
         1));
  yes "it was unwound" !over

(* Both tasks have their values before one of them continues. *)
let combines () =
  let gate = Promise.create () in
  let task v () =
    Promise.await gate;
    v
  in
  let opens () =
    Promise.fill gate ();
    never ();
    []
  in
  let v = Tasks.any ~combine:( @ ) [ task [ 1 ]; task [ 2 ]; opens ] in
  yes "the first, or both" (v = [ 1; 2 ] || v = [ 1 ]);
  let gate = Promise.create () in
  let task v () =
    Promise.await gate;
    v
  in
  int "by default the first" 1
    (Tasks.any
       [
         task 1;
         task 2;
         (fun () ->
           Promise.fill gate ();
           never ();
           3);
       ])

(* The tasks that lost while they waited take nothing. *)
let loses_nothing () =
  for _ = 1 to 20 do
    let a = Mvar.create_empty () and b = Mvar.create_empty () in
    let got =
      Tasks.first
        (fun () -> Mvar.take a)
        (fun () ->
          Mvar.put b 1;
          Mvar.take b)
    in
    int "got" 1 got;
    yes "no task waits" (Mvar.waiters a = 0);
    Mvar.put a 2;
    yes "it is there" (Mvar.try_take a = Some 2)
  done

let failures () =
  let unwound = ref 0 in
  let waits () : unit = counting unwound never in
  raises "the first" Boom (fun () -> Tasks.first explode waits);
  raises "the second" Boom (fun () -> Tasks.first waits explode);
  raises_at "explode" (fun () -> Tasks.any [ waits; explode; waits ]);
  raises "while it is unwound" Boom (fun () ->
      Tasks.first
        (fun () -> try never () with _ -> raise Boom)
        (fun () -> Tasks.yield ()));
  raises "combine" Boom (fun () ->
      let gate = Promise.create () in
      let task () = Promise.await gate in
      let combine () () = raise Boom in
      (* This task ignores its cancellation, so that two tasks return on all hosts. *)
      let stubborn () = try never () with _ -> () in
      Tasks.any ~combine [ task; stubborn; (fun () -> Promise.fill gate ()) ])

let nested () =
  let unwound = ref 0 in
  let waits () : unit = counting unwound never in
  int "nested" 2
    (Tasks.first
       (fun () ->
         Tasks.first
           (fun () ->
             waits ();
             0)
           (fun () ->
             waits ();
             1))
       (fun () ->
         Tasks.yield ();
         2));
  int "unwound" 2 !unwound;
  Tasks.yield ()

let cases =
  [
    ("first, any", firsts);
    ("the others do not begin", others_do_not_begin);
    ("it waits for the slow one", waits_for_the_slow_one);
    ("combine", combines);
    ("nothing is lost", loses_nothing);
    ("failures", failures);
    ("one in another", nested);
    ( "in protect",
      fun () ->
        Suspend.protect (fun () ->
            firsts ();
            Tasks_bounded.too_late ();
            Tasks_bounded.lists ()) );
  ]
  @ Tasks_bounded.cases

let everywhere (name, place) =
  (name, List.map (fun (name, case) -> test name (fun () -> place case)) cases)

(* --- Cancelled from outside ------------------------------------------------ *)

let drop f = ignore (f () : unit list)

let cancellations host =
  let test name work = test name (Tasks_cancelled.cancelled host work) in
  [
    test "first" (fun waits -> Tasks.first waits waits);
    test "any" (fun waits -> Tasks.any [ waits; waits ]);
    test "with_timeout" (fun waits ->
        ignore
          (Tasks.with_timeout 60. (fun () -> Tasks.both waits waits) : _ option));
    test "iter" (fun waits -> Tasks.iter ~max_tasks:2 waits [ (); (); (); () ]);
    test "map" (fun waits -> drop (fun () -> Tasks.map waits [ (); () ]));
  ]

(* A value that exists is returned even if the caller was cancelled meanwhile. The caller then
   notices the cancellation later. *)
let a_value_wins work (host : Cancelling.host) () =
  host.run @@ fun () ->
  let waits = ref false and go_on = Promise.create () in
  let got = ref None and told = ref false in
  let owner () =
    let slow () =
      try never ()
      with e ->
        Suspend.protect (fun () ->
            waits := true;
            Promise.await go_on);
        raise e
    in
    got := Some (work slow);
    match Tasks.yield () with
    | () -> ()
    | exception e ->
        told := host.is_cancellation e;
        raise e
  in
  let cancel = host.fork owner in
  Cancelling.until host "it is being unwound" (fun () -> !waits);
  cancel ();
  Promise.fill go_on ();
  Cancelling.until host "it has returned" (fun () -> !got <> None && !told);
  yes "the value" (!got = Some 1)

let from_outside name (host : Cancelling.host) =
  ( name ^ ", cancelled from outside",
    cancellations host
    @
    if host.protects then
      [
        test "a value of first wins"
          (a_value_wins
             (fun slow ->
               Tasks.first
                 (fun () ->
                   slow ();
                   0)
                 (fun () -> 1))
             host);
        test "a value of any wins"
          (a_value_wins
             (fun slow ->
               Tasks.any
                 [
                   (fun () ->
                     slow ();
                     0);
                   (fun () ->
                     Tasks.yield ();
                     1);
                 ])
             host);
      ]
    else [] )

(* --- A host that cannot cancel --------------------------------------------- *)

let not_cancelled () =
  Plain_host.run @@ fun () ->
  let gate = Promise.create () and ended = ref 0 in
  let slow () =
    Promise.await gate;
    incr ended;
    0
  in
  int "any waits for the slow one" 1
    (Tasks.any
       [
         slow;
         (fun () ->
           Tasks.yield ();
           Tasks.yield ();
           Promise.fill gate ();
           1);
       ]);
  int "it has ended" 1 !ended;
  yes "a value, too late"
    (Tasks.with_timeout 0.001 (fun () ->
         Tasks.sleep 0.005;
         1)
    = Some 1);
  let begun = ref 0 in
  raises "a failure" Boom (fun () ->
      Tasks.iter ~max_tasks:2
        (fun i ->
          incr begun;
          if i = 3 then explode () else Tasks.yield ())
        (List.init 50 Fun.id));
  yes "no other one begins" (!begun < 7)

let cannot_cancel =
  ("a host that cannot cancel", [ test "they run to their end" not_cancelled ])
