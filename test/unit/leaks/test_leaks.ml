(* Lost tasks of [concord.fifo], and lost threads. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Lost

let in_first_task wait = Concord_fifo.run (fun () -> told wait)

let in_forked_task wait =
  Concord_fifo.run (fun () ->
      let was_told = ref false in
      ignore
        (Concord_fifo.fork (fun () -> was_told := told wait)
          : Concord_fifo.handle);
      collect_until was_told Concord_fifo.yield;
      !was_told)

let lazily wait = Concord_fifo.run ~cancellation:`Lazy (fun () -> told wait)

(* The joining task isn't lost. It gets the exception of the task that it joins. *)
let joined wait =
  Concord_fifo.run (fun () ->
      let task = Concord_fifo.fork wait in
      told (fun () -> Concord_fifo.join task))

let in_a_handler wait =
  Concord_fifo.run (fun () ->
      told (fun () ->
          Effect.Deep.match_with wait ()
            { retc = Fun.id; exnc = raise; effc = (fun _ -> None) }))

let in_fifo_in_fifo wait =
  Concord_fifo.run (fun () -> Concord_fifo.run (fun () -> told wait))

(* Performs the effect directly instead of calling the library. *)
let[@inline never] performs () =
  Effect.perform (Suspend.Suspend (fun (_ : unit Suspend.resumer) -> None));
  ignore (Sys.opaque_identity () : unit)

let performed () =
  let was_told, report =
    with_report ~reports:1 (fun () -> in_first_task performs)
  in
  yes "the task got the exception" was_told;
  yes "the report shows performs" (contains report "performs")

(* The lost task must release the mutex that it holds. *)
let unwinds () =
  let (), _ =
    with_report ~reports:1 (fun () ->
        Concord_fifo.run (fun () ->
            let mutex = Mutex.create () in
            let holds () = Mutex.protect mutex waits_in_vain in
            ignore (told holds : bool);
            yes "the mutex is free" (Mutex.try_lock mutex)))
  in
  ()

(* Each task is kept alive only by the code that will resume it. *)
let awaited () =
  Concord_fifo.run (fun () ->
      let box = Mvar.create_empty () and gate = Latch.create 1 in
      let taker = Concord_fifo.fork (fun () -> int "taken" 1 (Mvar.take box)) in
      let putter =
        Concord_fifo.fork (fun () ->
            Latch.await gate;
            Mvar.put box 1)
      in
      let sleeper =
        Concord_fifo.fork (fun () -> Event.sync (Event.timeout 0.01))
      in
      Concord_fifo.yield ();
      Gc.full_major ();
      Latch.count_down gate;
      List.iter Concord_fifo.join [ taker; putter; sleeper ])

let from_domains () =
  let box = Mvar.create_empty () in
  let domain =
    Domain.spawn (fun () ->
        for i = 1 to 100 do
          if i mod 10 = 0 then Gc.full_major ();
          Mvar.put box i
        done)
  in
  Concord_fifo.run (fun () ->
      for i = 1 to 100 do
        int "in order" i (Mvar.take box)
      done);
  Domain.join domain

let cancelled cancellation () =
  Concord_fifo.run ~cancellation (fun () ->
      let never = Promise.create () in
      let wait () = Promise.await never in
      let task = Concord_fifo.fork wait in
      Gc.full_major ();
      Concord_fifo.cancel task;
      Concord_fifo.join task;
      int "it was withdrawn" 0 (Promise.waiters never))

let scope_is_cancelled () =
  let never = Promise.create () in
  (match
     Concord_fifo.run (fun () ->
         ignore
           (Concord_fifo.fork (fun () -> Promise.await never)
             : Concord_fifo.handle);
         Gc.full_major ();
         raise Exit)
   with
  | () -> Alcotest.fail "Exit was not raised"
  | exception Exit -> ());
  int "it was withdrawn" 0 (Promise.waiters never)

(* If the thread waited in a structure, its stack would keep that alive, and the program
   would hang. *)
let thread wait = told wait

(* A host whose resumer returns [true] twice. *)
let second_resumption () =
  let open Effect.Deep in
  let effc (type a) (e : a Effect.t) : ((a, _) continuation -> _) option =
    match e with
    | Suspend.Suspend block ->
        Some
          (fun k ->
            let got = ref None in
            let resumer outcome =
              got := Some outcome;
              true
            in
            ignore (block resumer : a option);
            match Option.get !got with
            | Ok v -> continue k v
            | Error e -> discontinue k e)
    | _ -> None
  in
  let twice () =
    Suspend.suspend (fun resumer ->
        ignore (resumer (Ok ()) : bool);
        ignore (resumer (Ok ()) : bool);
        None)
  in
  let (), report = with_report (fun () -> try_with twice () { effc }) in
  int "reports" 1 (count report "returned true twice")

let () =
  restart ();
  run "CONCORD_DEBUG=leaks"
    [
      ( "found",
        [
          test "the first task of fifo" (found `Both in_first_task);
          test "a forked task of fifo" (found `Both in_forked_task);
          test "with lazy cancellation" (found `Both lazily);
          test "below a handler" (found `Both in_a_handler);
          test "a run in a run" (found `Both in_fifo_in_fifo);
          test "another task joins it" (found `Both joined);
          test "the effect is performed directly" performed;
          test "a thread, in no structure" (found `No_structure thread);
          test "it unwinds" unwinds;
          test "a second resumption" second_resumption;
        ] );
      ( "nothing to be found",
        [
          test "tasks that will be resumed" (nothing awaited);
          test "by another domain" (nothing from_domains);
          test "cancelled" (nothing (cancelled `Eager));
          test "cancelled lazily" (nothing (cancelled `Lazy));
          test "cancelled with the scope" (nothing scope_is_cancelled);
        ] );
    ]
