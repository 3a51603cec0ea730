(* Scopes in which signal handlers raise. *)

open Concord
open Concord_test_support
open Check
open Tasks_kit

(* A handler may raise at any moment. Whatever it interrupts, no task is left behind. The
   result is the handler's exception. It is [Cancelled] if the handler interrupted the
   scheduler around the scope, because the scheduler then cancels its tasks and raises the
   handler's exception itself. *)
let interrupted ?(around = Bang) place () =
  let count = ref 0 and left_behind = ref 0 and others = ref [] in
  let work () =
    let over = ref false in
    let task () =
      for _ = 1 to 50 do
        if !over then incr left_behind;
        Tasks.yield ()
      done
    in
    let run scope =
      for i = 1 to 5 do
        Scope.fork scope task;
        ignore
          (Scope.fork_promise scope (if i > 2 then ignore else task)
            : unit Promise.t)
      done;
      task ()
    in
    match Scope.run run with
    | () -> over := true
    | exception e ->
        over := true;
        if e <> Bang && e <> around then
          others := Printexc.to_string e :: !others;
        raise e
  in
  let until = Unix.gettimeofday () +. 0.5 in
  while Unix.gettimeofday () < until || !count < 50 do
    try Interrupting.run ~by:Bang ~count (fun () -> place work)
    with Bang -> ()
  done;
  int "left behind" 0 !left_behind;
  strings "other exceptions" [] !others

let interrupts =
  [
    test "a thread" (interrupted (fun f -> f ()));
    test "Fifo"
      (interrupted ~around:Concord_fifo.Cancelled (fun f -> Concord_fifo.run f));
    test "Fifo, lazy"
      (interrupted ~around:Concord_fifo.Cancelled (fun f ->
           Concord_fifo.run ~cancellation:`Lazy f));
  ]
