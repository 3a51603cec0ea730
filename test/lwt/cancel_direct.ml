(* [Lwt.cancel] of code in direct style: where it raises, and what is protected. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run

(* As in other hosts, a cancelled task can only wait in [Suspend.protect]. *)
let for_good () =
  run @@ fun () ->
  let box = Mvar.create_empty () and p = Promise.create () in
  let again = ref false and told = ref false in
  let code () =
    (try Promise.await p
     with Lwt.Canceled -> told := not (Suspend.is_cancelled ()));
    try Mvar.take box
    with Lwt.Canceled ->
      again := Suspend.is_cancelled ();
      Suspend.protect (fun () -> Mvar.take box)
  in
  let task = Concord_lwt.direct code in
  (* The task gets this exception, but it isn't cancelled. *)
  Promise.fail p Lwt.Canceled;
  let* () = Lwt.pause () in
  let* () = Lwt.pause () in
  int "it still waits" 1 (Mvar.waiters box);
  yes "not cancelled" !told;
  Lwt.cancel task;
  yes "cancelled" !again;
  int "protected" 1 (Mvar.waiters box);
  Mvar.put box ();
  task

(* Protected waits can't be cancelled, even if there are several. All of them end. *)
let protected_on () =
  run @@ fun () ->
  let boxes = List.init 3 (fun _ -> Mvar.create_empty ()) in
  let cleaned = ref 0 in
  let p =
    Concord_lwt.direct (fun () ->
        Suspend.protect (fun () ->
            List.iter
              (fun box ->
                Mvar.take box;
                incr cleaned)
              boxes);
        Mvar.take (Mvar.create_empty ()))
  in
  let* () =
    Lwt_list.iter_s
      (fun box ->
        int "it waits" 1 (Mvar.waiters box);
        Lwt.cancel p;
        Mvar.put box ();
        turns 2)
      boxes
  in
  let* () = is_unwound "cancelled" p in
  int "all was cleaned" 3 !cleaned;
  Lwt.return_unit

(* If the code doesn't wait again, it returns. *)
let protected_last () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let p =
    Concord_lwt.direct (fun () -> Suspend.protect (fun () -> Mvar.take box))
  in
  Lwt.cancel p;
  Mvar.put box 1;
  let+ v = p in
  int "its value" 1 v

(* The task is resumed and then cancelled. The operation is undone, and raises. *)
let between () =
  run @@ fun () ->
  let first = Mvar.create_empty () and second = Mvar.create_empty () in
  let got = ref 0 in
  let task wait_again =
    Concord_lwt.direct (fun () ->
        got := Mvar.take first;
        wait_again ();
        ())
  in
  let cancelled what p =
    Mvar.put first 7;
    Lwt.cancel p;
    let* () = is_unwound what p in
    int (what ^ ": the task has no value") 0 !got;
    int (what ^ ": the box has it again") 7 (Mvar.take first);
    int (what ^ ": it does not wait again") 0 (Mvar.waiters second);
    Lwt.return_unit
  in
  let* () = cancelled "direct" (task (fun () -> Mvar.take second)) in
  let* () =
    cancelled "wrap"
      (Concord_lwt.sync
         (Event.wrap (Mvar.take_evt first) (fun v ->
              got := v;
              Mvar.take second)))
  in
  int "no task waits" 0 (Mvar.waiters first);
  Lwt.return_unit

(* The operation can't be undone, so its function runs, and is cancelled where it waits. *)
let performed () =
  run @@ fun () ->
  let barrier = Barrier.create 2 in
  let box = Mvar.create_empty () and has_run = ref false in
  let wait_again () =
    has_run := true;
    Mvar.take box
  in
  let p =
    Concord_lwt.sync (Event.wrap (Barrier.await_evt barrier) wait_again)
  in
  let* () = Concord_lwt.Barrier.await barrier in
  Lwt.cancel p;
  let* () = is_unwound "cancelled" p in
  yes "its function has run" !has_run;
  int "it does not wait again" 0 (Mvar.waiters box);
  Lwt.return_unit
