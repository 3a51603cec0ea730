(* A signal handler raises at any moment. No task is lost. *)

open Concord.Tools
open Concord_test_support
open Check
module Inbox = Concord.Tools.Host_kit.Inbox

exception Interrupted

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
    [ ("handlers that raise", [ test "in the queue of wakes" served ]) ]
