(* A loop that looks at the decision of its last task before it sleeps, while another
   domain resumes that task: what signal handlers do meanwhile, on top of the loop. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Interrupt

let this_thread () = Thread.id (Thread.self ())

(* In the calling thread only. *)
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

(* [ask v] has another domain put [v] into [answers], a moment later. *)
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

(* What is put after a waiting task was cancelled is not for that task; unless the handler
   came in its [block], as one in four may do. *)
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
      "what stays in the box" due
      (List.sort Int.compare stayed) );
  yes "it was mostly cancelled" (!taken_late < !left)

(* A task that waits for a handler, beside the one that waits for the other domain. No
   handler runs in a thread that sleeps, so the handler may come too late. *)
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
      (* the loop looks at the one that waits last *)
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

(* The handler raises in the loop: all tasks are cancelled then but those that are
   protected, and the run raises. *)
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
    (* one that came too late for the sleeping loop is raised by the next wait *)
    let rec take () = try Mvar.take answers with Interrupt -> take () in
    int "what was put" i (take ())
  end

let () =
  run "A loop of Fifo that looks before it sleeps"
    [
      ( "signal handlers",
        [
          test "cancel the task that it looks at" (cancelled ?cancellation:None);
          test "cancel it lazily" (cancelled ~cancellation:`Lazy);
          test "resume a task" resumed;
        ]
        @ Interrupting.only (test "raise" interrupted) );
    ]
