(* With CONCORD_DEBUG=strict, even a free lock is refused in a callback, because a callback
   can't wait. *)

open Concord
open Concord_test_support
open Check

(* The library reads the variable when it is initialised, so the program starts itself again. *)
let restart () =
  if Sys.getenv_opt "CONCORD_DEBUG" <> Some "strict" then begin
    Unix.putenv "CONCORD_DEBUG" "strict";
    Unix.execv Sys.executable_name Sys.argv
  end

(* Each operation with its lock, which is free. *)
let locks =
  let mutex = Mutex.create ()
  and rwlock = Rwlock.create ()
  and permits = Semaphore.Counting.make 1
  and pool = Pool.create 1 ignore
  and box = Mvar.create () in
  [
    ( "Mutex.lock",
      fun () ->
        Mutex.lock mutex;
        Mutex.unlock mutex );
    ("Mutex.protect", fun () -> Mutex.protect mutex ignore);
    ("Rwlock.read", fun () -> Rwlock.read rwlock ignore);
    ("Rwlock.write", fun () -> Rwlock.write rwlock ignore);
    ( "Rwlock.write_lock",
      fun () ->
        Rwlock.write_lock rwlock;
        Rwlock.write_unlock rwlock );
    ( "Semaphore.with_permit",
      fun () -> Semaphore.Counting.with_permit permits ignore );
    ("Pool.use", fun () -> Pool.use pool ignore);
    ("Mvar.modify", fun () -> Mvar.modify box (fun () -> ((), ())));
    ("Lazy.force", fun () -> Lazy.force (Lazy.from_fun (fun () -> ())));
  ]

(* If the thread is held up just before the host refuses, the lock isn't refused. On a busy
   machine this happens now and then. *)
let is_refused lock =
  match lock () with () -> false | exception Concord_lwt.In_callback -> true

let in_callback lock () =
  Lwt_main.run
    (Lwt.bind (Lwt.pause ()) (fun () ->
         eventually "it is refused" (fun () -> is_refused lock);
         Lwt.return ()))

(* Code that can wait is not refused. *)
let in_direct lock () =
  Lwt_main.run (Concord_lwt.direct lock);
  Lwt_main.run (Lwt_direct.spawn lock)

let in_fiber lock () = Eio_main.run (fun _ -> lock ())
let in_task lock () = Concord_fifo.run lock
let in_thread lock () = thread lock ()

(* The check doesn't suspend a task of a host that handles the effect. *)
let stays_in_turn lock () =
  let others = ref 0 in
  Concord_fifo.run (fun () ->
      let other () =
        Concord_fifo.yield ();
        incr others
      in
      ignore (Concord_fifo.fork other : Concord_fifo.handle);
      lock ();
      int "turns of others" 0 !others)

(* An operation that never waits is allowed everywhere. *)
let trying () =
  let mutex = Mutex.create () in
  Lwt_main.run
    (Lwt.bind (Lwt.pause ()) (fun () ->
         yes "locked" (Mutex.try_lock mutex);
         Mutex.unlock mutex;
         Lwt.return ()))

(* --- Operations of Lwt, in a task of another scheduler ------------------------------- *)

let is_about_host text =
  String.starts_with ~prefix:"Concord_lwt: called in a task of " text

module Ready = Concord_test_hosts.Promise_ready.Make (In_lwt.Library)

(* They are refused although none of them has to wait. *)
let is_refused_elsewhere operation =
  match Lwt.state (operation ()) with
  | Return () | Sleep -> false
  | Fail (Invalid_argument text) | (exception Invalid_argument text) ->
      is_about_host text
  | Fail e -> raise e

let all_are_refused () =
  let check (name, operation) = yes name (is_refused_elsewhere operation) in
  List.iter check (Ready.operations ())

let elsewhere () =
  Eio_main.run (fun _ -> all_are_refused ());
  Concord_fifo.run all_are_refused;
  Attached_pools.with_pool (fun pool ->
      Promise.await (Concord_domainslib.submit pool all_are_refused))

(* Before a loop, in a loop, in direct style, and in a loop that runs in a fiber. *)
let where_lwt_is () =
  let each (_, operation) = operation () in
  let all () = Lwt_list.iter_s each (Ready.operations ()) in
  Lwt_main.run (all ());
  Lwt_main.run (Lwt.bind (Lwt.pause ()) all);
  let await_all () = Lwt_direct.await (all ()) in
  Lwt_main.run (Lwt_direct.spawn await_all);
  let in_direct (_, operation) =
    Concord_lwt.direct (fun () -> ignore (operation () : unit Lwt.t))
  in
  Lwt_main.run (Lwt_list.iter_s in_direct (Ready.operations ()));
  Eio_main.run (fun _ -> Lwt_main.run (Lwt.bind (Lwt.pause ()) all))

let () =
  restart ();
  let each f = List.map (fun (name, lock) -> test name (f lock)) locks in
  run "CONCORD_DEBUG=strict"
    [
      ("in a callback", test "try_lock" trying :: each in_callback);
      ("in direct style", each in_direct);
      ("in a fiber", each in_fiber);
      ("in a task", each in_task);
      ("in turn", each stays_in_turn);
      ("in a thread", each in_thread);
      ( "of Lwt",
        [
          test "in a task of another scheduler" elsewhere;
          test "where Lwt is" where_lwt_is;
        ] );
    ]
