(* The waits that concord-trace finds from outside are those of the program's own report. *)

open Concord_test_support
open Check
open Concord_waits

(* --- Programs ----------------------------------------------------------------- *)

type child = { pid : int; input : out_channel; output : in_channel }

let environment debug =
  let is_other binding =
    not (String.starts_with ~prefix:"CONCORD_DEBUG=" binding)
  in
  let others = List.filter is_other (Array.to_list (Unix.environment ())) in
  Array.of_list (("CONCORD_DEBUG=" ^ debug) :: others)

(* [errors] is a file for the standard error. *)
let during ?(debug = "") ?errors program args f =
  let in_read, in_write = Unix.pipe ~cloexec:true () in
  let out_read, out_write = Unix.pipe ~cloexec:true () in
  let err =
    match errors with
    | Some file -> Unix.openfile file [ O_WRONLY; O_CLOEXEC ] 0
    | None -> Unix.dup ~cloexec:true Unix.stderr
  in
  let pid =
    Unix.create_process_env program
      (Array.of_list (program :: args))
      (environment debug) in_read out_write err
  in
  List.iter Unix.close [ in_read; out_write; err ];
  let input = Unix.out_channel_of_descr in_write
  and output = Unix.in_channel_of_descr out_read in
  Fun.protect
    ~finally:(fun () ->
      (try Unix.kill pid Sys.sigkill with Unix.Unix_error _ -> ());
      (try ignore (Unix.waitpid [] pid : int * Unix.process_status)
       with Unix.Unix_error (ECHILD, _, _) -> ());
      close_out_noerr input;
      close_in_noerr output)
    (fun () -> f { pid; input; output })

let rec says child text =
  if input_line child.output <> text then says child text

let report child =
  output_string child.input "report\n";
  flush child.input;
  let rec lines () =
    match input_line child.output with "end" -> [] | line -> line :: lines ()
  in
  lines ()

let find { pid; _ } = Shown.found (Finder.find pid)

(* --- Comparison ------------------------------------------------------------------ *)

(* The lists are sorted. *)
let rec without all others =
  match (all, others) with
  | [], _ -> []
  | all, [] -> all
  | a :: all, b :: others when a = b -> without all others
  | a :: all, (b :: _ as others) when a < b -> a :: without all others
  | all, _ :: others -> without all others

(* From outside, the stack of a suspended task ends where its scheduler began it. The report also
   has the lines of the task that started the scheduler. So a wait without a line equals one that
   has a line. *)
let rec without_lines found reported =
  match found with
  | [] -> ([], reported)
  | line :: rest -> (
      let what = Shown.without_line line in
      let is_it other = Shown.without_line other = what in
      match List.partition is_it reported with
      | _ :: others, rest_reported when not (Shown.has_line line) ->
          without_lines rest (others @ rest_reported)
      | _ ->
          let invented, missed = without_lines rest reported in
          (line :: invented, missed))

(* While its tasks wait, a loop within a task of another host waits too. That is not an operation, so
   it isn't found. Its tasks are. *)
let is_of_task line = not (contains line "Concord_fifo.run @")

let difference reported found =
  let reported = List.filter is_of_task reported in
  let invented, missed =
    without_lines (without found reported) (without reported found)
  in
  List.map (( ^ ) "missed   ") missed @ List.map (( ^ ) "invented ") invented

(* A task that spins in a queue is in the queue before it waits. *)
let until_no_difference what difference =
  let last = ref [] in
  match
    eventually what (fun () ->
        last := difference ();
        !last = [])
  with
  | () -> ()
  | exception e ->
      List.iter prerr_endline !last;
      raise e

let same what reported found =
  until_no_difference what (fun () -> difference (reported ()) (found ()))

let same_lists what reported found =
  until_no_difference what (fun () ->
      let reported = reported () and found = found () in
      List.map (( ^ ) "missed   ") (without reported found)
      @ List.map (( ^ ) "invented ") (without found reported))

let least = 100
let prepared = ref []

let of_prepared () =
  during ~debug:"waits" "./waiting.exe" [ "collect" ] @@ fun child ->
  says child "ready";
  same "the report, and what is found"
    (fun () -> report child)
    (fun () -> find child);
  prepared := find child;
  yes "waits" (List.length !prepared > least)

let of_plain args () =
  during "./waiting.exe" args @@ fun child ->
  says child "ready";
  same "the report of the prepared program, and what is found"
    (fun () -> !prepared)
    (fun () -> find child)

(* --- Broken programs ----------------------------------------------------------- *)

let broken = "../../unit/diagnosis/broken/broken.exe"

(* Without a mode, the program prints them all. *)
let modes () =
  let input = Unix.open_process_in broken in
  let modes = In_channel.input_lines input in
  ignore (Unix.close_process_in input : Unix.process_status);
  modes

(* This task waits by the effect alone, so not in a structure. *)
let has_no_structure mode = mode = "leaked continuation"

let targets child =
  (Finder.find child.pid).waits
  |> List.concat_map (fun { Finder.targets; _ } -> targets)
  |> List.map (fun { Finder.operation; name; _ } -> Shown.target operation name)
  |> List.sort compare

let told child errors =
  Unix.kill child.pid Sys.sigquit;
  Told.targets (In_channel.with_open_bin errors In_channel.input_all)

(* A program prints that it is ready just before the last task waits. *)
let of_broken mode () =
  let errors = Filename.temp_file "waits" ".txt" in
  Fun.protect ~finally:(fun () -> Sys.remove errors) @@ fun () ->
  during ~debug:"sigquit" ~errors broken [ mode ] @@ fun prepared ->
  during broken [ mode ] @@ fun plain ->
  says prepared "ready";
  says plain "ready";
  same_lists "the report of the prepared program, and what is found"
    (fun () -> told prepared errors)
    (fun () -> targets plain)

(* --- What is refused -------------------------------------------------------------- *)

let refused part pid =
  match Finder.find pid with
  | (_ : Finder.found) -> Alcotest.fail "it was read"
  | exception Refused.Refused text ->
      if not (contains text part) then
        Alcotest.failf "%S is not in: %s" part text

let refuses program part () =
  during program [] @@ fun child ->
  says child "ready";
  refused part child.pid

let refuses_no_ocaml () =
  during "/bin/cat" [] @@ fun child ->
  output_string child.input "ready\n";
  flush child.input;
  says child "ready";
  refused "isn't a program of OCaml" child.pid

let refuses_nobody () = refused "there is no process" 999_999_999

(* Only root can become another user, who may not read the process. *)
let refuses_another_user () =
  if Unix.geteuid () <> 0 then prerr_endline "left out: another user"
  else
    during "./plain.exe" [] @@ fun child ->
    says child "ready";
    match Unix.fork () with
    | 0 ->
        Unix.setuid 65_534;
        Unix._exit
          (match refused "Call the command as root" child.pid with
          | () -> 0
          | exception _ -> 1)
    | forked -> yes "it is refused" (snd (Unix.waitpid [] forked) = WEXITED 0)

(* --- Stopping ----------------------------------------------------------------------- *)

let in_box = [ {|Mvar.take of "box"|} ]

let state child =
  let status = Printf.sprintf "/proc/%d/status" child.pid in
  In_channel.with_open_bin status In_channel.input_lines
  |> List.filter (fun line ->
      String.starts_with ~prefix:"State:" line
      || String.starts_with ~prefix:"TracerPid:" line)
  |> String.concat " "

let is_stopped child = contains (state child) "stop"
let is_traced child = not (contains (state child) "TracerPid:\t0")

let goes_on child =
  close_out child.input;
  yes "its end" (snd (Unix.waitpid [] child.pid) = WEXITED 0)

let continues () =
  during "./plain.exe" [] @@ fun child ->
  says child "ready";
  for _ = 1 to 10 do
    strings "waits" in_box (targets child)
  done;
  goes_on child

let stays_stopped () =
  during "./plain.exe" [] @@ fun child ->
  says child "ready";
  Unix.kill child.pid Sys.sigstop;
  eventually "it stops" (fun () -> is_stopped child);
  strings "waits" in_box (targets child);
  (* Its threads run for a moment, until they see that they have to stop. *)
  eventually "it is still stopped" (fun () ->
      is_stopped child && not (is_traced child));
  Unix.kill child.pid Sys.sigcont;
  goes_on child

let outlives_the_command () =
  during "./plain.exe" [] @@ fun child ->
  says child "ready";
  during "./holding.exe"
    [ string_of_int child.pid ]
    (fun holding ->
      says holding "ready";
      yes "it stands still" (is_traced child && is_stopped child);
      refused "is traced already" child.pid);
  (* [during] has killed the other one. *)
  eventually "it is free" (fun () -> not (is_traced child || is_stopped child));
  goes_on child

let of_stripped () =
  if not (Sys.file_exists "stripped.exe") then prerr_endline "left out: strip"
  else
    during "./stripped.exe" [] @@ fun child ->
    says child "ready";
    strings "waits" in_box (targets child)

(* --- All ------------------------------------------------------------------------------ *)

(* In a container, ptrace may be forbidden. *)
let is_allowed () =
  during "./plain.exe" [] @@ fun child ->
  says child "ready";
  match Finder.find child.pid with
  | (_ : Finder.found) -> true
  | exception Refused.Refused text when contains text "may not read" -> false

let all () =
  [
    ( "found",
      [
        test "those of a prepared program" of_prepared;
        test "those of the same program, started plainly" (of_plain []);
        test "those of the same program, after a collection"
          (of_plain [ "collect" ]);
        test "those of a program without symbols" of_stripped;
      ] );
    ( "broken",
      modes ()
      |> List.filter (fun mode -> not (has_no_structure mode))
      |> Race.drawn
      |> List.map (fun mode -> test mode (of_broken mode)) );
    ( "refused",
      [
        test "bytecode" (refuses "./silent.bc" "bytecode");
        test "without Concord" (refuses "./silent.exe" "doesn't use Concord");
        test "without OCaml" refuses_no_ocaml;
        test "no process" refuses_nobody;
        test "another user's" refuses_another_user;
      ] );
    ( "the process",
      [
        test "continues" continues;
        test "stays stopped if it was" stays_stopped;
        test "outlives the command" outlives_the_command;
      ] );
  ]

let () =
  if is_allowed () then run "Waits of a process" (all ())
  else
    prerr_endline
      "left out: this system doesn't let a process read another one (ptrace)"
