(* Of tasks of [concord.fifo], of threads and domains, and of the styles: what a program
   prints when an exception ends it. The text is in [test_backtraces.expected]. *)

open Concord
open Trace

let fifo what f = case ("fifo: " ^ what) (fun () -> Concord_fifo.run f)
let never () = Promise.await (Promise.create ())
let fork f = ignore (Concord_fifo.fork f : Concord_fifo.handle)

let cancelled () =
  let told = ref None in
  let body () =
    try ignore (outer never : int)
    with Concord_fifo.Cancelled as e ->
      told := Some (e, Printexc.get_raw_backtrace ())
  in
  let task = Concord_fifo.fork body in
  Concord_fifo.cancel task;
  Concord_fifo.join task;
  let e, backtrace = Option.get !told in
  Printexc.raise_with_backtrace e backtrace

let chosen () =
  let box = Mvar.create_empty () in
  fork (fun () ->
      Concord_fifo.yield ();
      Mvar.put box ());
  Event.sync
    (Event.choose
       [
         Event.wrap (Mvar.take_evt box) work;
         Event.wrap (Mvar.take_evt (Mvar.create_empty ())) (fun () -> 1);
       ])

let forced_again () =
  let v = Lazy.from_fun work in
  (try ignore (Lazy.force v : int) with Boom -> ());
  Lazy.force v

(* OCaml has one backtrace for a thread, that of the exception which was raised last:
   another task's, if the handler waits for one that raises. *)
let others_raise () =
  try work ()
  with e ->
    let other () = try ignore (raises () : int) with Boom -> () in
    Concord_fifo.join (Concord_fifo.fork other);
    raise e

let fifo_cases () =
  fifo "run" work;
  fifo "fork, join" (fun () ->
      Concord_fifo.join (Concord_fifo.fork task);
      1);
  fifo "fork, not joined" (fun () ->
      fork task;
      never ());
  fifo "fork_promise" (fun () -> Promise.await (Concord_fifo.fork_promise work));
  fifo "fork_promise, await_evt" (fun () ->
      Event.sync (Promise.await_evt (Concord_fifo.fork_promise work)));
  fifo "a run in a task" (fun () -> Concord_fifo.run work);
  fifo "Concord_fifo.Scope.run" (fun () ->
      Concord_fifo.Scope.run (fun _ -> work ()));
  fifo "Scope.run" (fun () -> Scope.run (fun _ -> work ()));
  fifo "Scope.fork" (fun () ->
      Scope.run (fun scope ->
          Scope.fork scope task;
          never ()));
  fifo "Scope.fork_promise" (fun () ->
      Scope.run (fun scope -> Promise.await (Scope.fork_promise scope work)));
  fifo "both" (fun () -> fst (both work (fun () -> 1)));
  fifo "all" (fun () -> List.hd (all [ work; (fun () -> 1) ]));
  fifo "protect" (fun () -> Suspend.protect work);
  fifo "Mutex.protect" (fun () -> Mutex.protect (Mutex.create ()) work);
  fifo "Mvar.modify" (fun () ->
      Mvar.modify (Mvar.create 1) (fun v -> (v, work ())));
  fifo "Event.wrap" chosen;
  fifo "a lazy value, forced again" forced_again;
  fifo "Fun.protect, finally waits" (fun () -> Fun.protect ~finally:waits work);
  fifo "raised again after others raised" others_raise;
  fifo "cancelled" cancelled;
  fifo "resumed with an Error" resumed_with_error;
  fifo "block raises" block_raises;
  fifo "below try_with" (fun () -> with_try_with work);
  fifo "below match_with" (fun () -> with_match_with work);
  fifo "another domain" (fun () ->
      from_domain ~record:true (fun () -> Concord_fifo.run work));
  fifo "another domain, not recorded" (fun () ->
      from_domain ~record:false (fun () -> Concord_fifo.run work))

let thread_cases () =
  case "thread: work" work;
  case "thread: both" (fun () -> fst (both work (fun () -> 1)));
  case "thread: another thread" (fun () ->
      let promise = Promise.create () in
      let thread = Thread.create (fun () -> failing promise work) () in
      Fun.protect
        ~finally:(fun () -> Thread.join thread)
        (fun () -> Promise.await promise));
  case "thread: resumed with an Error" resumed_with_error;
  case "thread: block raises" block_raises;
  case "thread: another domain" (fun () -> from_domain ~record:true work);
  case "thread: Domain.join" (fun () ->
      Domain.join
        (Domain.spawn (fun () ->
             Printexc.record_backtrace true;
             work ())))

module Direct (S : Concord_styles.Direct) = struct
  let case name =
    case ("styles: " ^ name) (fun () ->
        S.spawn (fun () -> ignore (outer S.yield : int));
        S.start ();
        1)
end

module Indirect (S : Concord_styles.Trampolined) = struct
  let case name =
    case ("styles: " ^ name) (fun () ->
        S.spawn (fun () -> S.(yield >>= fun () -> ignore (outer ignore : int)));
        S.start ();
        1)
end

let () =
  Printexc.record_backtrace true;
  fifo_cases ();
  thread_cases ();
  let open Concord_styles in
  (let module Case = Direct (Threads) in
   Case.case "threads");
  (let module Case = Direct (Callcc) in
   Case.case "callcc");
  (let module Case = Direct (Delimited) in
   Case.case "delimited");
  let module Case = Indirect (Trampoline) in
  Case.case "trampoline"
