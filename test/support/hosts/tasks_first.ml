(* [first], [any], [with_timeout], [iter] and [map]: the same cases on every host. *)

open Concord
open Concord_test_support
open Check
open Tasks_cases

let never : unit -> unit = never

(* --- The first ------------------------------------------------------------- *)

let firsts () =
  let unwound = ref 0 in
  let waits () : unit = counting unwound never in
  int "the first" 1
    (first
       (fun () -> 1)
       (fun () ->
         waits ();
         2));
  int "the second" 2
    (first
       (fun () ->
         waits ();
         1)
       (fun () -> 2));
  int "one of three" 3
    (any
       [
         (fun () ->
           waits ();
           1);
         (fun () ->
           waits ();
           2);
         (fun () ->
           yield ();
           3);
       ]);
  int "unwound" 3 !unwound;
  int "of one" 1 (any [ (fun () -> 1) ]);
  match any ([] : (unit -> int) list) with
  | _ -> Alcotest.fail "of none"
  | exception Invalid_argument _ -> ()

let others_do_not_begin () =
  let begun = ref 0 in
  let f () =
    incr begun;
    !begun
  in
  int "the first" 1 (any [ f; f; f ]);
  int "no other one" 1 !begun

(* It returns when the slow one has been unwound. *)
let waits_for_the_slow_one () =
  let over = ref false in
  int "the fast one" 1
    (first
       (fun () ->
         match never () with
         | () -> 0
         | exception e ->
             Suspend.protect (fun () ->
                 yield ();
                 yield ());
             over := true;
             raise e)
       (fun () ->
         yield ();
         1));
  yes "it was unwound" !over

(* Both have their values before one of them goes on. *)
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
  let v = any ~combine:( @ ) [ task [ 1 ]; task [ 2 ]; opens ] in
  yes "the first, or both" (v = [ 1; 2 ] || v = [ 1 ]);
  let gate = Promise.create () in
  let task v () =
    Promise.await gate;
    v
  in
  int "by default the first" 1
    (any
       [
         task 1;
         task 2;
         (fun () ->
           Promise.fill gate ();
           never ();
           3);
       ])

(* Nothing is taken by those that lost while they waited. *)
let loses_nothing () =
  for _ = 1 to 20 do
    let a = Mvar.create_empty () and b = Mvar.create_empty () in
    let got =
      first
        (fun () -> Mvar.take a)
        (fun () ->
          Mvar.put b 1;
          Mvar.take b)
    in
    int "got" 1 got;
    yes "none waits" (Mvar.waiters a = 0);
    Mvar.put a 2;
    yes "it is there" (Mvar.take_available a = Some 2)
  done

let failures () =
  let unwound = ref 0 in
  let waits () : unit = counting unwound never in
  raises "the first" Boom (fun () -> first explode waits);
  raises "the second" Boom (fun () -> first waits explode);
  raises_at "explode" (fun () -> any [ waits; explode; waits ]);
  raises "while it is unwound" Boom (fun () ->
      first (fun () -> try never () with _ -> raise Boom) (fun () -> yield ()));
  raises "combine" Boom (fun () ->
      let gate = Promise.create () in
      let task () = Promise.await gate in
      let combine () () = raise Boom in
      (* so that both return, on all hosts *)
      let stubborn () = try never () with _ -> () in
      any ~combine [ task; stubborn; (fun () -> Promise.fill gate ()) ])

let nested () =
  let unwound = ref 0 in
  let waits () : unit = counting unwound never in
  int "nested" 2
    (first
       (fun () ->
         first
           (fun () ->
             waits ();
             0)
           (fun () ->
             waits ();
             1))
       (fun () ->
         yield ();
         2));
  int "unwound" 2 !unwound;
  yield ()

(* --- Timeouts -------------------------------------------------------------- *)

let in_time () =
  yes "value" (with_timeout 60. (fun () -> 1) = Some 1);
  yes "it waits"
    (with_timeout 60. (fun () ->
         yield ();
         1)
    = Some 1);
  yes "infinity"
    (with_timeout infinity (fun () ->
         yield ();
         1)
    = Some 1);
  raises "failure" Boom (fun () -> with_timeout 60. explode);
  raises_at "explode" (fun () -> with_timeout 60. explode);
  match with_timeout nan ignore with
  | _ -> Alcotest.fail "not a number"
  | exception Invalid_argument _ -> ()

let too_late () =
  let unwound = ref 0 in
  let waits () : unit = counting unwound never in
  yes "it waits" (with_timeout 0.001 waits = None);
  int "unwound" 1 !unwound;
  yes "its tasks" (with_timeout 0.001 (fun () -> both waits waits) = None);
  int "unwound" 3 !unwound;
  yes "not positive" (with_timeout 0. waits = None);
  yes "not positive, and it waits for nothing"
    (with_timeout (-1.) (fun () -> 1) = Some 1);
  raises "a failure, while it is unwound" Boom (fun () ->
      with_timeout 0.001 (fun () -> try never () with _ -> raise Boom));
  yes "what it returns nevertheless"
    (with_timeout 0.001 (fun () ->
         try
           never ();
           0
         with _ -> 1)
    = Some 1);
  yield ()

let timeouts_within () =
  yes "the inner one"
    (with_timeout 60. (fun () -> with_timeout 0.001 never) = Some None);
  yes "the outer one"
    (with_timeout 0.001 (fun () -> with_timeout 60. never) = None);
  yes "after an operation"
    (with_timeout 60. (fun () ->
         let box = Mvar.create_empty () in
         let taken = with_timeout 0.001 (fun () -> Mvar.take box) in
         Mvar.put box 1;
         (taken, Mvar.take box))
    = Some (None, 1))

(* A value is in the box, or was taken. *)
let at_the_same_time () =
  for i = 1 to 50 do
    let box = Mvar.create_empty () in
    let give () =
      Tasks.sleep (float_of_int (i mod 5) *. 0.0002);
      Mvar.put box i
    in
    let got, () =
      both (fun () -> with_timeout 0.0004 (fun () -> Mvar.take box)) give
    in
    match (got, Mvar.take_available box) with
    | Some v, None | None, Some v -> int "value" i v
    | Some _, Some _ -> Alcotest.fail "twice"
    | None, None -> Alcotest.fail "lost"
  done

(* --- Lists ----------------------------------------------------------------- *)

let lists () =
  let squares n = List.init n (fun i -> i * i) in
  let square i =
    yield ();
    i * i
  in
  yes "map" (Tasks.map square (List.init 20 Fun.id) = squares 20);
  List.iter
    (fun max_tasks ->
      yes "map, limited"
        (Tasks.map ~max_tasks square (List.init 20 Fun.id) = squares 20))
    [ 1; 3; 20; 21; max_int ];
  yes "none" (Tasks.map ~max_tasks:2 square [] = []);
  traced [ "a"; "b"; "c" ] (fun say -> Tasks.iter say [ "a"; "b"; "c" ]);
  traced [ "a"; "b"; "c" ] (fun say ->
      Tasks.iter ~max_tasks:2 say [ "a"; "b"; "c" ]);
  match Tasks.iter ~max_tasks:0 ignore [] with
  | () -> Alcotest.fail "max_tasks:0"
  | exception Invalid_argument _ -> ()

let limited () =
  let at_once = ref 0 and most = ref 0 in
  let f _ =
    incr at_once;
    most := max !most !at_once;
    yield ();
    yield ();
    decr at_once
  in
  Tasks.iter ~max_tasks:4 f (List.init 30 Fun.id);
  int "at once" 4 !most;
  (* Each waits for the next one: all of them are there. *)
  let boxes = Array.init 11 (fun _ -> Mvar.create_empty ()) in
  Mvar.put boxes.(10) 10;
  Tasks.iter
    (fun i -> Mvar.put boxes.(i) (Mvar.take boxes.(i + 1) - 1))
    (List.init 10 Fun.id);
  int "all at once" 0 (Mvar.take boxes.(0))

let fails_in_the_middle () =
  let begun = ref 0 and unwound = ref 0 in
  let f i =
    incr begun;
    if i = 5 then explode () else if i > 2 then counting unwound never
  in
  raises "one of them" Boom (fun () ->
      Tasks.iter ~max_tasks:3 f (List.init 100 Fun.id));
  yes "no other one begins" (!begun = 6);
  int "unwound" (!begun - 4) !unwound;
  raises "map" Boom (fun () ->
      Tasks.map
        (fun i -> if i = 50 then explode () else never ())
        (List.init 100 Fun.id))

let cases =
  [
    ("first, any", firsts);
    ("the others do not begin", others_do_not_begin);
    ("it waits for the slow one", waits_for_the_slow_one);
    ("combine", combines);
    ("nothing is lost", loses_nothing);
    ("failures", failures);
    ("one in another", nested);
    ("in time", in_time);
    ("too late", too_late);
    ("timeouts within", timeouts_within);
    ("at the same time", at_the_same_time);
    ("lists", lists);
    ("limited", limited);
    ("a failure in the middle", fails_in_the_middle);
    ( "in protect",
      fun () ->
        Suspend.protect (fun () ->
            firsts ();
            too_late ();
            lists ()) );
  ]

let everywhere (name, place) =
  (name, List.map (fun (name, case) -> test name (fun () -> place case)) cases)

(* --- Cancelled from outside ------------------------------------------------ *)

let drop f = ignore (f () : unit list)

let cancellations host =
  let test name work = test name (cancelled host work) in
  [
    test "first" (fun waits -> first waits waits);
    test "any" (fun waits -> any [ waits; waits ]);
    test "with_timeout" (fun waits ->
        ignore (with_timeout 60. (fun () -> both waits waits) : _ option));
    test "iter" (fun waits -> Tasks.iter ~max_tasks:2 waits [ (); (); (); () ]);
    test "map" (fun waits -> drop (fun () -> Tasks.map waits [ (); () ]));
  ]

(* A value that is there is returned, although the caller was cancelled meanwhile; then
   it is told. *)
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
    match yield () with
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
               first
                 (fun () ->
                   slow ();
                   0)
                 (fun () -> 1))
             host);
        test "a value of any wins"
          (a_value_wins
             (fun slow ->
               any
                 [
                   (fun () ->
                     slow ();
                     0);
                   (fun () ->
                     yield ();
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
    (any
       [
         slow;
         (fun () ->
           yield ();
           yield ();
           Promise.fill gate ();
           1);
       ]);
  int "it has ended" 1 !ended;
  yes "a value, too late"
    (with_timeout 0.001 (fun () ->
         Tasks.sleep 0.005;
         1)
    = Some 1);
  let begun = ref 0 in
  raises "a failure" Boom (fun () ->
      Tasks.iter ~max_tasks:2
        (fun i ->
          incr begun;
          if i = 3 then explode () else yield ())
        (List.init 50 Fun.id));
  yes "no other one begins" (!begun < 7)

let cannot_cancel =
  ("a host that cannot cancel", [ test "they run to their end" not_cancelled ])
