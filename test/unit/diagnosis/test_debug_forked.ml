(* Reports in the child of a fork. These are a separate program, because one that has
   spawned domains can't fork. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let () = Debug.keep_waits ()

let hosts () =
  List.map (fun (wait : Debug.wait) -> wait.task.host) (Debug.report ()).waits

(* A thread waits, and so does a task of the loop that forks. Only the task exists in the
   child. *)
let in_the_child () =
  let box = Mvar.create_empty () in
  let ended = thread (fun () -> Mvar.take box) in
  eventually "the thread waits" (fun () -> hosts () = [ "" ]);
  let in_loop () =
    let task = Concord_fifo.fork (fun () -> Mvar.take box) in
    Concord_fifo.yield ();
    strings "both" [ ""; "fifo" ] (hosts ());
    match Unix.fork () with
    | 0 -> Unix._exit (if hosts () = [ "fifo" ] then 0 else 1)
    | child ->
        Mvar.put box ();
        Mvar.put box ();
        Concord_fifo.join task;
        snd (Unix.waitpid [] child)
  in
  let status = Concord_fifo.run in_loop in
  ended ();
  yes "only the task waits in the child" (status = Unix.WEXITED 0)

let () =
  run "Debug, forked" [ ("reports", [ test "in the child" in_the_child ]) ]
