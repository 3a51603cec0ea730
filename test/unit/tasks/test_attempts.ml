(* Functions that are called until something happens, or until one succeeds. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Other

let fifo f = Concord_fifo.run f
let eio f = Eio_main.run (fun _ -> f ())
let lwt f = Concord_lwt.run (fun () -> Concord_lwt.direct f)

let job f =
  Workers.with_workers ~domains:1 (fun workers -> Workers.run workers f)

let hosts =
  [
    ("a thread", fun f -> f ());
    ("Concord_fifo", fifo);
    ("Eio", eio);
    ("Concord_lwt.direct", lwt);
    ("Workers", job);
  ]

let on_hosts case =
  List.map (fun (name, host) -> test name (fun () -> host case)) hosts

let never () = Event.sync Event.never
let unwound count f = Fun.protect f ~finally:(fun () -> incr count)

(* --- unless --------------------------------------------------------------------- *)

let unless () =
  let stop = Promise.create () in
  let event = Promise.await_evt stop in
  yes "it returns" (Tasks.unless event (fun () -> 1) = Ok 1);
  int "the event is left" 0 (Promise.waiters stop);
  yes "it returns after a wait"
    (Tasks.unless event (fun () ->
         Tasks.yield ();
         2)
    = Ok 2);
  int "the event is left" 0 (Promise.waiters stop);
  let ended = ref 0 in
  let (_ : unit), result =
    Tasks.both
      (fun () ->
        eventually ~pause:Tasks.yield "it waits" (fun () ->
            Promise.waiters stop = 1);
        Promise.fill stop "stop")
      (fun () -> Tasks.unless event (fun () -> unwound ended never))
  in
  yes "the event" (result = Error "stop");
  int "unwound" 1 !ended;
  let called = ref false in
  yes "at once"
    (Tasks.unless event (fun () ->
         called := true;
         never ())
    = Error "stop");
  yes "it is called nevertheless" !called;
  yes "a value comes late"
    (Tasks.unless event (fun () ->
         (try never () with _ -> ());
         3)
    = Ok 3);
  raises "a failure" Boom (fun () ->
      Tasks.unless
        (Promise.await_evt (Promise.create ()))
        (fun () -> raise Boom));
  let failed = Promise.create () in
  Promise.fail failed Other;
  raises "a failure of the event" Other (fun () ->
      Tasks.unless (Promise.await_evt failed) never);
  yes "cancelled from outside"
    (Tasks.with_timeout 0.001 (fun () ->
         Tasks.unless (Promise.await_evt (Promise.create ())) never)
    = None)

(* --- hedge ----------------------------------------------------------------------- *)

let hedge () =
  int "the first" 1 (Tasks.hedge [ (fun () -> 1); (fun () -> assert false) ]);
  int "after a failure" 2
    (Tasks.hedge [ (fun () -> raise Boom); (fun () -> 2); never ]);
  let ended = ref 0 and calls = ref 0 in
  let slow () =
    incr calls;
    unwound ended never
  in
  int "after a delay" 3 (Tasks.hedge ~delay:0.001 [ slow; slow; (fun () -> 3) ]);
  int "both were called" 2 !calls;
  int "both are unwound" 2 !ended;
  int "all at once" 4
    (Tasks.hedge ~delay:0.
       [
         slow;
         (fun () -> raise Boom);
         (fun () ->
           Tasks.yield ();
           4);
       ]);
  int "unwound" 3 !ended;
  (* A failure of one that isn't the last to be called. *)
  let second_waits = Promise.create () in
  int "a failure starts the next one" 5
    (Tasks.hedge ~delay:60.
       [
         (fun () -> raise Boom);
         (fun () ->
           Promise.fill second_waits ();
           raise Other);
         (fun () ->
           Promise.await second_waits;
           5);
       ]);
  raises "the first failure" Boom (fun () ->
      Tasks.hedge ~delay:0.001
        [
          (fun () -> raise Boom);
          (fun () ->
            Tasks.yield ();
            raise Other);
          (fun () -> raise Other);
        ]);
  yes "cancelled"
    (Tasks.with_timeout 0.001 (fun () -> Tasks.hedge [ slow ]) = None);
  int "unwound" 4 !ended;
  let refused what f =
    match f () with
    | (_ : int) -> Alcotest.fail what
    | exception Invalid_argument text -> yes text (contains text "Tasks.hedge")
  in
  refused "nothing" (fun () -> Tasks.hedge []);
  refused "negative" (fun () -> Tasks.hedge ~delay:(-1.) [ (fun () -> 1) ]);
  refused "nan" (fun () -> Tasks.hedge ~delay:nan [ (fun () -> 1) ])

(* --- retry ------------------------------------------------------------------------ *)

let[@inline never] culprit () = if true then raise Boom

let retry () =
  let calls = ref 0 in
  let failing n v () =
    incr calls;
    if !calls <= n then culprit ();
    v
  in
  let counted what n f =
    calls := 0;
    f ();
    int what n !calls
  in
  counted "at once" 1 (fun () -> int "value" 7 (Tasks.retry (failing 0 7)));
  counted "the third time" 3 (fun () ->
      int "value" 8 (Tasks.retry ~delay:1e-4 (failing 2 8)));
  counted "too often" 4 (fun () ->
      raises_at "culprit" (fun () ->
          Tasks.retry ~attempts:4 ~delay:1e-4 (failing 9 0)));
  counted "no failure to try again" 1 (fun () ->
      raises "another" Boom (fun () ->
          Tasks.retry ~on:(fun e -> e <> Boom) (failing 9 0)));
  counted "cancelled" 1 (fun () ->
      yes "in time"
        (Tasks.with_timeout 0.001 (fun () ->
             Tasks.retry ~delay:0. (fun () ->
                 incr calls;
                 never ()))
        = None));
  counted "cancelled while it waits" 1 (fun () ->
      yes "in time"
        (Tasks.with_timeout 0.001 (fun () ->
             Tasks.retry ~delay:60. (failing 9 0))
        = None));
  (* A wait beyond the deadline would be in vain. *)
  counted "before the deadline" 1 (fun () ->
      raises "the failure" Boom (fun () ->
          Tasks.with_deadline 1. (fun () ->
              Tasks.retry ~delay:60. ~most:60. (failing 9 0))));
  let refused what f =
    match f () with
    | (_ : int) -> Alcotest.fail what
    | exception Invalid_argument text -> yes text (contains text "Tasks.retry")
  in
  refused "never" (fun () -> Tasks.retry ~attempts:0 (fun () -> 1));
  refused "nan" (fun () -> Tasks.retry ~delay:nan (fun () -> 1));
  refused "negative" (fun () -> Tasks.retry ~most:(-1.) (fun () -> 1))

(* The waits are at least a half of what they would be without the random part. *)
let waits () =
  let calls = ref 0 and begun = Unix.gettimeofday () in
  let f () =
    incr calls;
    if !calls <= 3 then raise Boom
  in
  Tasks.retry ~delay:0.01 ~most:0.02 f;
  let took = Unix.gettimeofday () -. begun in
  yes
    (Printf.sprintf "it took %g s" took)
    (took >= 0.5 *. (0.01 +. 0.02 +. 0.02))

let () =
  run "Attempts"
    [
      ("unless", on_hosts unless);
      ("hedge", on_hosts hedge);
      ("retry", on_hosts retry);
      ("retry waits", on_hosts waits);
    ]
