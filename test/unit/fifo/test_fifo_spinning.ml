(* Before a loop sleeps, it spins on the decision of its last task. Another domain resumes
   that task, while signal handlers run on top of the loop. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Interrupt

let this_thread () = Thread.id (Thread.self ())

(* [ring] runs in the calling thread only. *)
let with_alarm ring f =
  let me = this_thread () in
  let handler _ = if this_thread () = me then ring () in
  let before = Sys.signal Sys.sigalrm (Signal_handle handler) in
  let every seconds =
    ignore
      (Unix.setitimer ITIMER_REAL { it_interval = seconds; it_value = seconds })
  in
  let restore () =
    every 0.;
    Sys.set_signal Sys.sigalrm before
  in
  Fun.protect ~finally:restore (fun () ->
      every 1e-4;
      f ())

(* [ask v] makes another domain put [v] into [answers] a moment later. *)
let with_partner f =
  let asked = Mvar.create_empty () and answers = Mvar.create_empty () in
  let random = Random.State.make [| 7 |] in
  let rec answer () =
    match Mvar.take asked with
    | 0 -> ()
    | v ->
        for _ = 1 to Random.State.int random 3_000 do
          Domain.cpu_relax ()
        done;
        Mvar.put answers v;
        answer ()
  in
  let partner = Domain.spawn answer in
  Fun.protect
    ~finally:(fun () ->
      Mvar.put asked 0;
      Domain.join partner)
    (fun () -> f ~ask:(Mvar.put asked) answers)

let rounds enough round =
  let until = Unix.gettimeofday () +. 0.7 in
  let rec go i =
    if Unix.gettimeofday () < until || not (enough ()) then begin
      round i;
      go (i + 1)
    end
  in
  go 1

(* A value that was put after a waiting task was cancelled isn't for that task. The
   exception is a handler that ran within the task's [block], which may happen one time in
   four. *)
let cancelled ?cancellation () =
  let taken = ref 0 and left = ref 0 and late = -1 and taken_late = ref 0 in
  let task = ref None and is_late = ref false in
  with_partner @@ fun ~ask answers ->
  let ring () =
    match !task with
    | Some t when Mvar.waiters answers > 0 ->
        Fifo.cancel t;
        task := None;
        is_late := Mvar.try_put answers late
    | _ -> ()
  in
  ( with_alarm ring @@ fun () ->
    rounds (fun () -> !taken > 20 && !left > 20) @@ fun i ->
    let got = ref 0 in
    is_late := false;
    ask i;
    Fifo.run ?cancellation (fun () ->
        task := Some (Fifo.fork (fun () -> got := Mvar.take answers)));
    task := None;
    incr (if !got = i then taken else if !got = late then taken_late else left);
    let put = if !is_late then [ late; i ] else [ i ] in
    let due = List.filter (fun v -> v <> !got) put in
    let stayed = List.map (fun _ -> Mvar.take answers) due in
    Alcotest.(check (list int))
      "values that stay in the box" due
      (List.sort Int.compare stayed) );
  yes "it was mostly cancelled" (!taken_late < !left)

(* One task waits for the handler, and another one waits for the other domain. A sleeping
   thread runs no handler, so the handler may come too late. *)
let resumed () =
  let from_handler = ref 0 in
  let box = Mvar.create_empty () in
  let ring () =
    if Mvar.waiters box > 0 && Mvar.try_put box () then incr from_handler
  in
  with_partner @@ fun ~ask answers ->
  with_alarm ring @@ fun () ->
  rounds (fun () -> !from_handler > 20) @@ fun i ->
  ask i;
  Fifo.run (fun () ->
      let await_ring () = Fifo.fork_promise (fun () -> Mvar.take box)
      and await_answer () = Fifo.fork_promise (fun () -> Mvar.take answers) in
      (* The loop spins for the task that waited last. *)
      let rung, answer =
        if i land 1 = 0 then
          let rung = await_ring () in
          (rung, await_answer ())
        else
          let answer = await_answer () in
          (await_ring (), answer)
      in
      int "the answer" i (Promise.await answer);
      if not (Promise.is_resolved rung) then ignore (Mvar.try_put box () : bool);
      Promise.await rung;
      ignore (Mvar.try_take box))

(* The handler raises in the loop. Then all tasks except protected ones are cancelled, and
   [run] raises. *)
let interrupted () =
  let taken = ref 0 and interrupts = ref 0 and in_loop = ref false in
  let ring () = if !in_loop then raise Interrupt in
  with_partner @@ fun ~ask answers ->
  with_alarm ring @@ fun () ->
  rounds (fun () -> !taken > 20 && !interrupts > 20) @@ fun i ->
  let got = ref 0 and is_protected = i land 1 = 0 in
  let take () =
    in_loop := true;
    match Mvar.take answers with
    | v ->
        in_loop := false;
        got := v
    | exception (Fifo.Cancelled | Interrupt) -> in_loop := false
  in
  let take () = if is_protected then Suspend.protect take else take () in
  ask i;
  (match Fifo.run (fun () -> ignore (Fifo.fork take : Fifo.handle)) with
  | () -> in_loop := false
  | exception Interrupt ->
      in_loop := false;
      incr interrupts);
  if !got = i then incr taken
  else begin
    int "it was cancelled" 0 !got;
    (* An exception that came too late for the sleeping loop is raised by the next wait. *)
    let rec take () = try Mvar.take answers with Interrupt -> take () in
    int "the value that was put" i (take ())
  end

let () =
  run "A loop of Fifo that spins before it sleeps"
    [
      ( "signal handlers",
        [
          test "cancel the task that it spins for"
            (cancelled ?cancellation:None);
          test "cancel it lazily" (cancelled ~cancellation:`Lazy);
          test "resume a task" resumed;
        ]
        @ Interrupting.only (test "raise" interrupted) );
    ]
