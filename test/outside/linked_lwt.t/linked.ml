(* concord-lwt is among the libraries, but no line names it. *)

open Concord
open Lwt.Syntax

let in_a_task () =
  let box = Mvar.create_empty () in
  let task = Lwt_direct.spawn (fun () -> Mvar.take box) in
  let* () = Lwt.pause () in
  Mvar.put box "the task was suspended";
  task

let in_a_callback () =
  let stream = Stream.create 1 in
  let* () = Lwt.pause () in
  Stream.add stream 1;
  match Stream.add stream 2 with
  | () -> Lwt.return "the stream holds more than its capacity"
  | exception e -> Lwt.return (Printexc.exn_slot_name e)

let () =
  print_endline (Lwt_main.run (in_a_task ()));
  print_endline (Lwt_main.run (in_a_callback ()))
