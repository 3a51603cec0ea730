(* Scopes, [both], [all] and [yield] in code in direct style. *)

open Concord_test_support
open Concord_test_hosts
open Check
open Tasks_cases

let direct f = Concord_lwt.run (fun () -> Concord_lwt.direct f)
let task f = Concord_lwt.run (fun () -> Lwt_direct.spawn f)

let both_in spawn f g =
  Concord_lwt.run (fun () ->
      let first = spawn f in
      let second = spawn g in
      Lwt.join [ first; second ])

let all_in_direct fs =
  Concord_lwt.run (fun () -> Lwt.join (List.map Concord_lwt.direct fs))

let lwt =
  {
    Cancelling.run = direct;
    fork =
      (fun f ->
        let p = Concord_lwt.direct f in
        fun () -> Lwt.cancel p);
    pause = Concord.Tasks.yield;
    is_cancellation = (fun e -> e = Lwt.Canceled);
    protects = true;
  }

let () =
  run "Tasks in Lwt"
    [
      everywhere ("direct", direct);
      everywhere ("Lwt_direct", task);
      everywhere ("Fifo in Lwt_direct", within task fifo);
      everywhere ("Eio in direct", within direct eio);
      Tasks_cancelled.from_outside "direct" lwt;
      ( "cancelled",
        [
          test "is_cancellation" (Tasks_cancelled.is_known lwt);
          test "is_cancelled" (Reach_cases.cancelled lwt);
        ] );
      ("direct, reached", Reach_cases.(place "direct" suspends direct));
      ("Lwt_direct, reached", Reach_cases.(place "Lwt_direct" suspends task));
      (* [Lwt.cancel] unwinds the task. *)
      Lazy_policies.suite ~runs_meanwhile:true "direct, lazy" lwt;
      ("direct, lazy, undefined", Lazy_undefined.within direct);
      ("Lwt_direct, lazy, undefined", Lazy_undefined.within task);
      ("lazy, among tasks", Lazy_undefined.among all_in_direct);
      ( "beside others",
        [
          test "direct" (beside_others (both_in Concord_lwt.direct));
          test "Lwt_direct" (beside_others (both_in Lwt_direct.spawn));
        ] );
    ]
