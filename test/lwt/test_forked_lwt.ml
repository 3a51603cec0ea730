(* [Lwt_unix.fork] gives the child its own notifications. So the child's threads can wake its
   loop while the parent's loop runs. After [Unix.fork] the two processes share the
   notifications, and either may hang. This program starts no domain, because OCaml forbids a
   fork after that. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let rounds = 50

let loop () =
  Lwt_main.run
    (let rec round n =
       if n = 0 then Lwt.return_unit
       else begin
         let box = Mvar.create_empty () in
         let join = thread (fun () -> Mvar.put box n) in
         let* v = Concord_lwt.Mvar.take box in
         join ();
         int "the value" n v;
         round (n - 1)
       end
     in
     round rounds)

(* It is killed by a signal that Lwt can't block. *)
let rec wait_for child deadline =
  match Unix.waitpid [ WNOHANG ] child with
  | 0, _ when Unix.gettimeofday () > deadline ->
      Unix.kill child Sys.sigkill;
      snd (Unix.waitpid [] child)
  | 0, _ ->
      Unix.sleepf 0.001;
      wait_for child deadline
  | _, status -> status

let forked () =
  loop ();
  match Lwt_unix.fork () with
  | 0 -> (
      match loop () with
      | () -> Unix._exit 0
      | exception e ->
          prerr_endline (Printexc.to_string e);
          Unix._exit 1)
  | child ->
      loop ();
      yes "the child's loop ends"
        (wait_for child (Unix.gettimeofday () +. 20.) = WEXITED 0)

let () =
  Check.run "Concord_lwt, in the child of a fork"
    [ ("Lwt_unix.fork", [ test "a loop in both processes" forked ]) ]
