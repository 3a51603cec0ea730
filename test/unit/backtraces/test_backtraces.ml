(* Backtraces that a program prints when an exception ends it, in tasks of [concord.fifo],
   threads, domains and styles. The text is in [test_backtraces.expected]. *)

open Trace
open Concord
open Concord.Tools

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

(* OCaml keeps one backtrace for each thread, that of the latest exception. If the handler
   waits and another task raises meanwhile, the backtrace becomes the other task's. *)
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
  fifo "both" (fun () -> fst (Tasks.both work (fun () -> 1)));
  fifo "all" (fun () -> List.hd (Tasks.all [ work; (fun () -> 1) ]));
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
  fifo "below two handlers" (fun () ->
      with_match_with (fun () -> with_match_with work));
  fifo "a scheduler of the user's" (fun () ->
      with_queue (fun () -> outer turn_and_wait));
  fifo "below shallow handlers" (fun () ->
      with_shallow (fun () -> outer turn_and_wait));
  fifo "another domain" (fun () ->
      from_domain ~record:true (fun () -> Concord_fifo.run work));
  fifo "another domain, not recorded" (fun () ->
      from_domain ~record:false (fun () -> Concord_fifo.run work))

let thread_cases () =
  case "thread: work" work;
  case "thread: both" (fun () -> fst (Tasks.both work (fun () -> 1)));
  case "thread: another thread" (fun () ->
      let promise = Promise.create () in
      let thread = Thread.create (fun () -> failing promise work) () in
      Fun.protect
        ~finally:(fun () -> Thread.join thread)
        (fun () -> Promise.await promise));
  case "thread: resumed with an Error" resumed_with_error;
  case "thread: block raises" block_raises;
  case "thread: a scheduler of the user's" (fun () ->
      with_queue (fun () -> outer turn_and_wait));
  case "thread: another domain" (fun () -> from_domain ~record:true work);
  case "thread: Domain.join" (fun () ->
      Domain.join
        (Domain.spawn (fun () ->
             Printexc.record_backtrace true;
             work ())))

let where_they_wait () =
  Concord_fifo.run (fun () ->
      where_it_waits "fifo: where a task waits" ~fork ~yield:Tasks.yield);
  where_it_waits "thread: where it waits"
    ~fork:(fun f -> ignore (Thread.create f () : Thread.t))
    ~yield:Thread.yield;
  let open Concord_styles.Callcc in
  spawn (fun () ->
      where_it_waits "styles: where a thread of callcc waits" ~fork:spawn ~yield);
  start ()

module Direct (S : Concord_styles.Direct) = struct
  let case name =
    case ("styles: " ^ name) (fun () ->
        S.spawn (fun () -> ignore (outer S.yield : int));
        S.start ();
        1)
end

(* A thread of an indirect style has no stack while it waits. So a backtrace has only the
   frames since it last continued. [direct] has a stack and keeps all frames. *)

let fail () = outer ignore
let fails () = ignore (fail () : int)
let raises_next () = ignore (raises () : int)
let full () = Event.wrap (Mvar.take_evt (Mvar.create 1)) (fun _ -> work ())

module Trampolined (S : Concord_styles.Trampolined) = struct
  let case name what f =
    case (Printf.sprintf "styles: %s, %s" name what) (fun () ->
        S.spawn f;
        S.start ();
        1)

  let cases name =
    let case = case name in
    case "yield" (fun () -> S.(yield >>= fails));
    case "take_mvar" (fun () ->
        let box = S.make_mvar () in
        S.spawn (fun () -> S.put_mvar box () ignore);
        S.take_mvar box fails);
    case "sync, wrap" (fun () -> S.sync (full ()) ignore);
    case "sync, failed" (fun () ->
        S.sync (Promise.await_evt (failed fail)) ignore);
    case "direct" (fun () -> S.direct work ignore);
    case "called, no wait" (fun () ->
        calls (fun () -> S.(skip >>= raises_next)));
    case "called, waited" (fun () ->
        calls (fun () -> S.(yield >>= raises_next)))
end

module Monadic (S : Concord_styles.Monadic) = struct
  let case name what f =
    case (Printf.sprintf "styles: %s, %s" name what) (fun () ->
        S.spawn f;
        S.start ();
        1)

  let cases name =
    let case = case name in
    let then_ f () =
      f ();
      S.skip
    in
    let fails = then_ fails and raises_next = then_ raises_next in
    let ends _ = S.skip in
    case "at once" fails;
    case "yield" (fun () -> S.(yield () >>= fails));
    case "take_mvar" (fun () ->
        let box = S.make_mvar () in
        S.spawn (fun () -> S.put_mvar box ());
        S.(take_mvar box >>= fails));
    case "sync, wrap" (fun () -> S.(sync (full ()) >>= ends));
    case "sync, failed" (fun () ->
        S.(sync (Promise.await_evt (failed fail)) >>= ends));
    case "direct" (fun () -> S.(direct work >>= ends));
    case "called, no wait" (fun () ->
        S.(skip >>= fun () -> calls (fun () -> raises_next ())));
    case "called, waited" (fun () ->
        S.(
          skip >>= fun () ->
          calls (fun () -> yield () >>= fun () -> raises_next ())))
end

let () =
  Printexc.record_backtrace true;
  fifo_cases ();
  thread_cases ();
  where_they_wait ();
  let open Concord_styles in
  (let module Case = Direct (Threads) in
   Case.case "threads");
  (let module Case = Direct (Callcc) in
   Case.case "callcc");
  (let module Case = Direct (Delimited) in
   Case.case "delimited");
  (let module Cases = Trampolined (Trampoline) in
   Cases.cases "trampoline");
  (let module Cases = Trampolined (Events) in
   Cases.cases "events");
  (let module Cases = Monadic (Continuation) in
   Cases.cases "continuation");
  let module Cases = Monadic (Concord_styles.Promise) in
  Cases.cases "promise"
