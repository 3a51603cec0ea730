(* A signal handler raises while a scheduler asks whether it is the innermost one. The
   scheduler holds a continuation then, so it must get the right answer. The thread's next
   wait raises the exception. *)

open Concord.Tools
open Concord_test_support
open Check

let next_wait () = Host_kit.suspend_thread (fun _ -> Some ())

let asked_anew t n =
  (* This lowers the flag, so the scheduler has to ask again. *)
  ignore (Domain_local_await.prepare_for_await () : Domain_local_await.t);
  Moments.at n (fun () -> Host_kit.is_innermost t)

let rec each_moment t n ~kept =
  match asked_anew t n with
  | Ok false -> Alcotest.failf "interrupted at moment %d: not the innermost" n
  | Ok true when Moments.was_raised () ->
      raises "it comes later" Moments.Interrupt next_wait;
      each_moment t (n + 1) ~kept:(kept + 1)
  | Ok true -> kept
  | Error Moments.Interrupt ->
      (* before the question *) each_moment t (n + 1) ~kept
  | Error e -> raise e

let interrupted () =
  let t = Host_kit.create () in
  let kept = Host_kit.using t (fun () -> each_moment t 1 ~kept:0) in
  yes "some came during the question" (kept > 0);
  next_wait ()

let () =
  run "Innermost, interrupted"
    [ ("is_innermost", [ test "at each moment" interrupted ]) ]
