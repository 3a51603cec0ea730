(* A signal handler raises at any moment. No task is lost. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Inbox = Concord.Tools.Host_kit.Inbox

exception Interrupted

(* --- Resuming -------------------------------------------------------------- *)

(* Waits until the test resumes it by hand. *)
let waiting waiters =
  {
    Structure_kit.default with
    name = "test";
    how =
      By_hand
        {
          attempt = (fun () () -> None);
          enlist =
            (fun () w ->
              waiters := w :: !waiters;
              true);
          withdraw = (fun () _ -> ());
        };
  }

(* If a resumer raises, its task has been resumed, by this resumer or by another one (H2). *)
let resumed () =
  let n = 10_000 and interruptions = ref 0 and rounds = ref 0 in
  while !interruptions < 300 && !rounds < 100 do
    incr rounds;
    let waiters = ref [] and answers = ref 0 in
    let wait _ = Concord_lwt.sync (Event.make (waiting waiters) () ()) in
    let all = List.init n wait in
    (* With CONCORD_DEBUG=strict, operations pause before they wait if many are performed at once. *)
    let rec all_wait () =
      if List.compare_length_with !waiters n < 0 then
        Lwt.bind (Lwt.pause ()) all_wait
      else Lwt.return ()
    in
    Lwt_main.run (all_wait ());
    let left = ref !waiters and called = ref false in
    let next answer =
      called := false;
      left := List.tl !left;
      if answer then incr answers
    in
    let resume_all () =
      while not (List.is_empty !left) do
        let w = List.hd !left in
        match
          called := true;
          w.Structure_kit.resumer (Ok ())
        with
        | answer -> next answer
        | exception e ->
            if !called then next true;
            raise e
      done
    in
    Interrupting.run ~by:Interrupted ~count:interruptions resume_all;
    let is_done () = List.for_all (fun p -> not (Lwt.is_sleeping p)) all in
    Lwt_main.run
      (Lwt.pick
         [
           Lwt.join all;
           Lwt.map
             (fun () ->
               let lost = List.length (List.filter Lwt.is_sleeping all) in
               Alcotest.failf "%d of %d are lost" lost n)
             (Lwt_unix.sleep 10.);
         ]);
    yes "all are woken" (is_done ());
    yes "not more than once" (!answers <= n)
  done;
  yes "it was interrupted" (!interruptions > 0)

(* --- Serving --------------------------------------------------------------- *)

(* Each message is served once and in order, although the serving code is interrupted at any
   moment. *)
let served () =
  let n = 300_000 in
  let wakes = Inbox.create () in
  let post () =
    for i = 1 to n do
      match
        Inbox.decide_and_post wakes (Host_kit.Decision.create ()) (Ok ()) i
      with
      | Refused -> assert false
      | Posted | Posted_to_sleeper -> ()
    done
  in
  let join = Check.domain post in
  let last = ref 0 and sum = ref 0 in
  (* If an interrupted message is served a second time, this does nothing. *)
  let serve i =
    if i <> !last then begin
      if i <> !last + 1 then Alcotest.failf "%d after %d" i !last;
      (* a polling point *)
      ignore (Sys.opaque_identity (ref i) : int ref);
      incr sum;
      last := i
    end
  in
  let interruptions = ref 0 in
  let serve_all () =
    while !last < n do
      if not (Inbox.serve wakes serve) then Domain.cpu_relax ()
    done
  in
  Interrupting.run ~by:Interrupted ~count:interruptions serve_all;
  join ();
  int "served" n !sum;
  no "nothing is left" (Inbox.serve wakes serve);
  Printf.printf "%d interruptions\n" !interruptions

let () =
  Check.run "Concord_lwt, signal handlers that raise"
    [
      ( "handlers that raise",
        [ test "in a resumer" resumed; test "in the queue of wakes" served ] );
    ]
