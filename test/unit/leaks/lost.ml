(* Helpers for tests of lost tasks, in a program that looks for them. A task is lost if
   nothing can resume it. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

(* Starts the program again with CONCORD_DEBUG, because the library reads it when it is
   initialised. In bytecode the stack keeps unused values alive. *)
let restart () =
  if Sys.backend_type <> Sys.Native then begin
    print_endline "skipped: in bytecode the collector finds less";
    exit 0
  end;
  if Sys.getenv_opt "CONCORD_DEBUG" <> Some "leaks" then begin
    Unix.putenv "CONCORD_DEBUG" "leaks";
    Unix.execv Sys.executable_name Sys.argv
  end

let count report part =
  let n = String.length part in
  let rec from i found =
    if i + n > String.length report then found
    else
      from (i + 1) (if String.sub report i n = part then found + 1 else found)
  in
  from 0 0

let gone = "its resumer was garbage-collected"

(* Returns the result of [f ()] and the text that it wrote to the standard error. The searching
   thread writes a report after it has resumed the task. So this waits for [reports] of them. *)
let with_report ?(reports = 0) f =
  let file = Filename.temp_file "leaks" ".txt" in
  let kept = Unix.dup Unix.stderr in
  let out = Unix.openfile file [ O_WRONLY; O_TRUNC ] 0o600 in
  Unix.dup2 out Unix.stderr;
  Unix.close out;
  let restore () =
    Unix.dup2 kept Unix.stderr;
    Unix.close kept
  in
  let written () = In_channel.with_open_bin file In_channel.input_all in
  let all () =
    let result = f () in
    eventually "the reports are written" (fun () ->
        count (written ()) gone >= reports);
    result
  in
  let result = Fun.protect ~finally:restore all in
  let report = written () in
  Sys.remove file;
  (result, report)

(* The tasks wait in these functions, so the report must show their frames. *)
let[@inline never] waits_in_vain () =
  Promise.await (Promise.create () : unit Promise.t);
  ignore (Sys.opaque_identity () : unit)

let[@inline never] waits_for_nothing () =
  Suspend.suspend (fun (_ : unit Suspend.resumer) -> None);
  ignore (Sys.opaque_identity () : unit)

let told f =
  match f () with () -> false | exception Suspend.Never_resumed -> true

(* [f wait] returns whether the task that called [wait] got [Never_resumed]. *)
let found name f () =
  Printexc.record_backtrace true;
  List.iter
    (fun (frame, wait) ->
      let was_told, report = with_report ~reports:1 (fun () -> f wait) in
      yes "the task got the exception" was_told;
      int "reports" 1 (count report gone);
      yes ("the report shows " ^ frame) (contains report frame))
    (match name with
    | `Both ->
        [
          ("waits_in_vain", waits_in_vain);
          ("waits_for_nothing", waits_for_nothing);
        ]
    | `No_structure -> [ ("waits_for_nothing", waits_for_nothing) ])

let nothing f () =
  let (), report = with_report f in
  no ("no report: " ^ report) (contains report "concord:")

(* Collects until the collector has found the task. *)
let collect_until told yield =
  eventually "it is found" ~pause:yield (fun () ->
      (* The runtime keeps the latest exception alive, so raise another one. *)
      (try raise Exit with Exit -> ());
      Gc.full_major ();
      !told)
