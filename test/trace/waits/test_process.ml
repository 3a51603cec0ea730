(* The waits that concord-trace finds from outside are those of the program's own report. This test
   needs no other library, so it also runs with other compilers. *)

open Concord_test_support
open Check
open Concord_waits
open Started

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

(* Somebody whose program hangs has to know what to try next. *)
let names_the_next_step () =
  let text waits = Text.of_found 12 { Finder.waits; unseen = 0 } in
  let is_there waits = contains (text waits) "gdb -p 12 -batch" in
  yes "without waits" (is_there []);
  no "with one" (is_there [ { Finder.targets = []; lines = [] } ])

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

(* The colour of garbage is one of three, in turns. *)
let in_each_colour () =
  for collections = 0 to 5 do
    during "./plain.exe" [ string_of_int collections ] @@ fun child ->
    says child "ready";
    strings "waits" in_box (targets child)
  done

(* --- All ------------------------------------------------------------------------------ *)

let () =
  run_if_allowed "Waits of a process" @@ fun () ->
  [
    ( "found",
      found "./waiting.exe" ~least:100
      @ [
          test "those of a program without symbols" of_stripped;
          test "those in each phase of the collector" in_each_colour;
        ] );
    ( "refused",
      [
        test "bytecode" (refuses "./silent.bc" "bytecode");
        test "without Concord" (refuses "./silent.exe" "doesn't use Concord");
        test "without OCaml" refuses_no_ocaml;
        test "no process" refuses_nobody;
        test "another user's" refuses_another_user;
      ] );
    ("text", [ test "without waits, it says what to do" names_the_next_step ]);
    ( "the process",
      [
        test "continues" continues;
        test "stays stopped if it was" stays_stopped;
        test "outlives the command" outlives_the_command;
      ] );
  ]
