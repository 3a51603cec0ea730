(* Without the adapter, Concord can't switch the values of a library's tasks. *)

open Concord_test_support.Check
open Concord_test_hosts.Storage_cases

(* A task of [Lwt_direct] doesn't end the wait of Lwt's loop, but a paused promise does. *)
let in_lwt_direct f =
  Lwt_main.run
    (Lwt_direct.spawn (fun () ->
         f ();
         ignore (Lwt.pause () : unit Lwt.t)))

let () =
  run "Values of the host's tasks, without adapters"
    [
      suite shared ("Eio", Values.in_eio) Values.eio;
      suite shared ("Lwt_direct", in_lwt_direct) Values.lwt;
      (* These need no adapter, because they are on the stack of each task. *)
      suite kept ~also:[ fifo_inside ] ("Eio, Local", Values.in_eio) local;
    ]
