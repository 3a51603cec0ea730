(* Promises of threads and domains in which signal handlers raise. *)

open Concord
open Concord_test_support
open Check

exception Tick

let this_thread () = Thread.id (Thread.self ())
let mask () = List.sort compare (Thread.sigmask SIG_BLOCK [])
let is_blocked signal = List.mem signal (mask ())

(* [f] has the signal mask of its caller, and the caller keeps its mask. *)
let masks (start : (unit -> int list) -> int list Promise.t) () =
  let check what =
    let before = mask () in
    yes (what ^ ": the function's") (Promise.await (start mask) = before);
    yes (what ^ ": the caller's") (mask () = before)
  in
  check "as it was";
  let before = Thread.sigmask SIG_BLOCK [ Sys.sigusr2 ] in
  check "one is blocked";
  yes "it still is" (is_blocked Sys.sigusr2);
  ignore (Thread.sigmask SIG_SETMASK before : int list);
  (* A callback has the mask too, and so has a thread that the function starts. *)
  let seen = ref [] in
  let gate = Promise.create () in
  let p =
    start (fun () ->
        Promise.await gate;
        Promise.await (start mask))
  in
  Promise.on_resolve p (fun _ -> seen := mask ());
  seen := [ 0 ];
  Promise.fill gate ();
  yes "a thread within" (Promise.await p = mask ());
  eventually "a callback's" (fun () -> !seen = mask ())

(* A handler raises at any moment of the thread, including its beginning and its end. *)
let interrupted (start : (unit -> int) -> int Promise.t) () =
  let this = this_thread () in
  let in_thread () = this_thread () <> this in
  let ended = ref 0 and ticks = ref 0 in
  let begun = Unix.gettimeofday () in
  (* This takes longer only if the machine is so busy that one of the two outcomes hasn't
     come. *)
  let goes_on () =
    let elapsed = Unix.gettimeofday () -. begun in
    elapsed < 0.5 || ((!ended = 0 || !ticks = 0) && elapsed < 30.)
  in
  (* An exception that comes when the promise is resolved ends the thread. *)
  Thread.set_uncaught_exception_handler (function
    | Tick -> ()
    | e -> prerr_endline (Printexc.to_string e));
  while goes_on () do
    let p =
      Interrupting.others ~by:Tick ~in_thread (fun () ->
          let p = start (fun () -> 1) in
          (* A sleep that is interrupted every 50 us doesn't end, because the system adds as
             much to it each time. So this yields instead. *)
          eventually ~pause:Thread.yield "resolved" (fun () ->
              Promise.is_resolved p);
          p)
    in
    match Promise.peek p with
    | Some (Ok 1) -> incr ended
    | Some (Error Tick) -> incr ticks
    | Some _ | None -> Alcotest.fail "another outcome"
  done;
  yes "some have ended" (!ended > 0);
  yes "some were interrupted" (!ticks > 0)

let () =
  run "Threads and domains of promises"
    [
      ( "in_thread",
        test "masks" (masks Promise.in_thread)
        :: Interrupting.only
             (test "interrupted" (interrupted Promise.in_thread)) );
      ( "in_domain",
        test "masks" (masks Promise.in_domain)
        :: Interrupting.only
             (test "interrupted" (interrupted Promise.in_domain)) );
    ]
