(* Mutexes and conditions of Eio fibers that are cancelled, and locks shared with threads and
   domains. The table of hosts ([Test_waits]) has each operation, its order and its
   cancellation. *)

open Concord
open Concord_test_support
open Check
module Fiber = Eio.Fiber

exception Boom

let main f () = Eio_main.run (fun _ -> f ())
let until what = eventually ~pause:Fiber.yield what
let was_cancelled = function Eio.Cancel.Cancelled _ -> true | _ -> false

(* Runs [f] in a fiber that is cancelled as soon as [waits ()] is true. *)
let cancelled ~waits f = Fiber.first f (fun () -> until "it waits" waits)

(* Checks that [f ()] raises because its fiber was cancelled. Then calls [after ()] in that
   fiber. *)
let refused f after =
  match f () with
  | () -> Alcotest.fail "it was not cancelled"
  | exception e when was_cancelled e ->
      after ();
      raise e

let protect_cancelled () =
  let m = Mutex.create () in
  let inside = ref false in
  Fiber.first
    (fun () ->
      Mutex.protect m (fun () ->
          inside := true;
          Fiber.await_cancel ()))
    (fun () -> until "it is inside" (fun () -> !inside));
  no "unlocked" (Mutex.is_locked m)

(* --- Condition ------------------------------------------------------------ *)

let choice c m =
  Event.select [ Condition.wait_evt c m; Mvar.take_evt (Mvar.create_empty ()) ]

let wait_cancelled wait () =
  let c = Condition.create () and m = Mutex.create () in
  cancelled
    ~waits:(fun () -> Condition.waiters c = 1)
    (fun () ->
      Mutex.lock m;
      refused
        (fun () -> wait c m)
        (fun () ->
          yes "locked again" (Mutex.is_locked m);
          Mutex.unlock m));
  int "withdrawn" 0 (Condition.waiters c);
  no "unlocked" (Mutex.is_locked m)

(* Another fiber holds the mutex when the waiting fiber is cancelled. *)
let wait_cancelled_busy wait () =
  traced [ "the owner unlocks"; "locked again" ] @@ fun say ->
  let c = Condition.create () and m = Mutex.create () in
  let owns = ref false in
  Fiber.both
    (fun () ->
      cancelled
        ~waits:(fun () -> !owns)
        (fun () ->
          Mutex.lock m;
          refused
            (fun () -> wait c m)
            (fun () ->
              say "locked again";
              Mutex.unlock m)))
    (fun () ->
      Mutex.protect m @@ fun () ->
      owns := true;
      until "the fiber waits for the mutex" (fun () -> Mutex.waiters m = 1);
      int "withdrawn" 0 (Condition.waiters c);
      say "the owner unlocks");
  no "unlocked" (Mutex.is_locked m)

(* The waiter has its signal and waits for the mutex when it is cancelled. It must still
   return with the mutex. *)
let signalled_then_cancelled wait () =
  traced [ "cancelled"; "the owner unlocks"; "returned" ] @@ fun say ->
  let c = Condition.create () and m = Mutex.create () in
  let is_cancelled = ref false in
  Fiber.both
    (fun () ->
      Fiber.first
        (fun () ->
          Mutex.lock m;
          wait c m;
          say "returned";
          Mutex.unlock m;
          match Fiber.check () with
          | () -> Alcotest.fail "it was not cancelled"
          | exception e when was_cancelled e -> ())
        (fun () ->
          until "the fiber waits for the mutex" (fun () -> Mutex.waiters m = 1);
          say "cancelled";
          is_cancelled := true))
    (fun () ->
      Mutex.protect m @@ fun () ->
      Condition.signal c;
      until "it is cancelled" (fun () -> !is_cancelled);
      (* The cancellation reaches the waiter only after the other fiber has ended, so leave
         it some turns. *)
      for _ = 1 to 3 do
        Fiber.yield ()
      done;
      say "the owner unlocks");
  no "unlocked" (Mutex.is_locked m)

let already_cancelled () =
  let c = Condition.create () and m = Mutex.create () in
  (try
     Eio.Switch.run @@ fun sw ->
     Mutex.lock m;
     Eio.Switch.fail sw Boom;
     refused
       (fun () -> Condition.wait c m)
       (fun () -> yes "locked" (Mutex.is_locked m))
   with Boom -> ());
  int "no waiter" 0 (Condition.waiters c);
  yes "it stays locked" (Mutex.is_locked m)

let signal_goes_on () =
  let c = Condition.create () and m = Mutex.create () in
  let got = ref 0 in
  let wait () =
    Mutex.protect m @@ fun () ->
    Condition.wait c m;
    incr got
  in
  Fiber.both
    (fun () ->
      (* This fiber is cancelled, and signalled before it runs again. *)
      try
        Eio.Switch.run @@ fun sw ->
        Fiber.fork ~sw wait;
        until "both wait" (fun () -> Condition.waiters c = 2);
        Eio.Switch.fail sw Boom;
        Condition.signal c
      with Boom -> ())
    wait;
  int "one was signalled" 1 !got;
  int "no task waits" 0 (Condition.waiters c);
  no "unlocked" (Mutex.is_locked m)

(* --- The others ----------------------------------------------------------- *)

(* [b] is cancelled, and the last party comes before [b] runs again. So [b] was a party, and
   the others go through without it. *)
let barrier_cancelled () =
  let t = Barrier.create 3 and passed = ref 0 in
  let await () =
    Barrier.await t;
    incr passed
  in
  let context = ref None in
  let b () =
    Eio.Cancel.sub (fun sub ->
        context := Some sub;
        Barrier.await t;
        Alcotest.fail "it was cancelled")
  in
  Fiber.all
    [
      await;
      (fun () ->
        match b () with () -> () | exception e when was_cancelled e -> ());
      (fun () ->
        int "two wait" 2 (Barrier.waiters t);
        Eio.Cancel.cancel (Option.get !context) Boom;
        await ());
    ];
  int "two have passed" 2 !passed;
  int "none waits" 0 (Barrier.waiters t)

(* A fiber, a thread and a domain take turns. *)
let with_others () =
  let m = Mutex.create () and c = Condition.create () in
  let turn = ref 0 and rounds = 300 in
  let player me () =
    for _ = 1 to rounds do
      Mutex.protect m @@ fun () ->
      while !turn mod 3 <> me do
        Condition.wait c m
      done;
      incr turn;
      Condition.broadcast c
    done
  in
  let thread = thread (player 0) and domain = domain (player 1) in
  Fiber.both (player 2) Fiber.yield;
  thread ();
  domain ();
  int "turns" (3 * rounds) !turn

let () =
  let fiber name f = test name (main f) in
  let both name case =
    [
      fiber name (case Condition.wait);
      fiber (name ^ ", in a choice") (case choice);
    ]
  in
  run "Eio: locks"
    [
      ("Mutex", [ fiber "protect unlocks" protect_cancelled ]);
      ( "Condition",
        both "cancelled: locks again" wait_cancelled
        @ both "cancelled, and the mutex is busy" wait_cancelled_busy
        @ both "signalled, then cancelled" signalled_then_cancelled
        @ [
            fiber "already cancelled: the mutex stays locked" already_cancelled;
            fiber "a signal goes to the next one" signal_goes_on;
          ] );
      ( "others",
        [
          fiber "barrier, cancelled as the last one comes" barrier_cancelled;
          fiber "a fiber, a thread and a domain" with_others;
        ] );
    ]
