(* Lwt's loop: which threads touch it, and what wakes it. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let run = Concord_lwt.run
let thread () = Thread.id (Thread.self ())

(* --- How often it is notified ---------------------------------------------- *)

let notifications = Atomic.make 0

(* Counts the wake-ups of the loop. Concord_lwt makes one notification when it is initialised.
   Lwt numbers notifications in a type that it hides. *)
let () =
  let next = Lwt_unix.make_notification ignore in
  let last : Lwt_unix.notification = Obj.magic ((Obj.magic next : int) - 1) in
  Lwt_unix.set_notification last (fun () -> Atomic.incr notifications)

(* --- Who touches Lwt's state ----------------------------------------------- *)

(* [guarded f] fails if a promise is paused in another thread than this one. [f] has to count
   each callback with [here]. *)
let guarded f =
  let this = (Domain.self (), thread ()) in
  let foreign = Atomic.make 0 and called = Atomic.make 0 in
  let check () =
    if (Domain.self (), thread ()) <> this then Atomic.incr foreign
  in
  Lwt.register_pause_notifier (fun _ -> check ());
  let here () =
    Atomic.incr called;
    check ()
  in
  Fun.protect
    ~finally:(fun () -> Lwt.register_pause_notifier ignore)
    (fun () -> f here);
  int "called elsewhere" 0 (Atomic.get foreign);
  yes "called" (Atomic.get called > 0)

let wakers = 4
let wakes = 10_000

(* [wakes] promises. [wakers] domains fill them after [go] is set. *)
let burst here ~before ~meanwhile =
  let ps = Array.init wakes (fun _ -> Promise.create ()) in
  let go = Atomic.make false and filled = Atomic.make 0 in
  let fill i () =
    while not (Atomic.get go) do
      Domain.cpu_relax ()
    done;
    for j = 0 to (wakes / wakers) - 1 do
      Promise.fill ps.(i + (j * wakers)) (i + (j * wakers));
      Atomic.incr filled
    done
  in
  let joins = List.init wakers (fun i -> Check.domain (fill i)) in
  let seen = ref 0 in
  run (fun () ->
      let all =
        List.init wakes (fun i ->
            let+ v = Concord_lwt.Promise.await ps.(i) in
            here ();
            if v = i then incr seen)
      in
      let* () = before () in
      Atomic.set notifications 0;
      Atomic.set go true;
      meanwhile (fun () -> Atomic.get filled = wakes);
      let* () = Lwt.join all in
      List.iter (fun join -> join ()) joins;
      (* A notification is counted when the loop looks for it. *)
      Lwt.pause ());
  int "all are woken" wakes !seen

(* While the loop is busy, it isn't woken. Only the first wake-up may notify it, because the
   loop had nothing to do before. *)
let one_batch () =
  guarded @@ fun here ->
  burst here ~before:Lwt.pause ~meanwhile:(fun done_ ->
      eventually ~pause:Domain.cpu_relax "all are filled" done_);
  yes "at most one notification" (Atomic.get notifications <= 1)

(* The loop sleeps when the first wake-up comes. Then it is kept busy until all have come. *)
let one_notification () =
  guarded @@ fun here ->
  let first = Promise.create () and n = 1_000 in
  let rest = Array.init n (fun _ -> Promise.create ()) in
  let asleep = Atomic.make false and filled = Atomic.make 0 in
  let hook =
    Lwt_main.Enter_iter_hooks.add_last (fun () ->
        if Lwt.paused_count () = 0 && Promise.waiters first = 1 then
          Atomic.set asleep true)
  in
  let fill () =
    eventually "it sleeps" (fun () -> Atomic.get asleep);
    Promise.fill first ();
    Array.iter (fun p -> Promise.fill p ()) rest;
    Atomic.set filled 1
  in
  let join = Check.domain fill in
  run (fun () ->
      (* A notification of an earlier test may remain. *)
      let* () = Lwt.pause () in
      Atomic.set notifications 0;
      let begun =
        let+ () = Concord_lwt.Promise.await first in
        here ();
        eventually "all are filled" (fun () -> Atomic.get filled = 1)
      in
      Lwt.join
        (begun
        :: List.init n (fun i ->
            Lwt.map here (Concord_lwt.Promise.await rest.(i)))));
  Lwt_main.Enter_iter_hooks.remove hook;
  join ();
  int "notifications" 1 (Atomic.get notifications)

let () =
  Check.run "Concord_lwt, its loop"
    [
      ( "Lwt's state",
        [
          test "one notification at most while the loop is busy" one_batch;
          test "one for each batch" one_notification;
        ] );
    ]
