(* The same for tasks of other libraries, and for broken programs. *)

open Concord_test_support
open Check
open Started

(* --- Broken programs ----------------------------------------------------------- *)

let broken = "../../unit/diagnosis/broken/broken.exe"

(* Without a mode, the program prints them all. *)
let modes () =
  let input = Unix.open_process_in broken in
  let modes = In_channel.input_lines input in
  ignore (Unix.close_process_in input : Unix.process_status);
  modes

(* What a report leaves out, or can't say as the command does. *)
let is_comparable mode wait =
  match mode with
  (* A task waits by the effect alone, so it is in no structure, and isn't found. *)
  | "leaked continuation" -> not (String.starts_with ~prefix:" @" wait)
  (* Eio's loop waits for messages. *)
  | "beside loops" -> wait <> "Mailbox.take @ a tail call"
  | _ -> true

let told child errors =
  Unix.kill child.pid Sys.sigquit;
  Told.waits (In_channel.with_open_bin errors In_channel.input_all)

(* A program prints that it is ready just before the last task waits. *)
let of_broken mode () =
  let errors = Filename.temp_file "waits" ".txt" in
  Fun.protect ~finally:(fun () -> Sys.remove errors) @@ fun () ->
  during ~debug:"sigquit" ~errors broken [ mode ] @@ fun prepared ->
  during broken [ mode ] @@ fun plain ->
  says prepared "ready";
  says plain "ready";
  let comparable waits = List.filter (is_comparable mode) waits in
  let told () = comparable (told prepared errors)
  and found child () = comparable (find child) in
  same "the report, and what is found in the same process" told (found prepared);
  same "the report, and what is found in a plain process" told (found plain)

let () =
  run_if_allowed "Waits of other hosts" @@ fun () ->
  [
    ("found", found "./waiting_hosts.exe" ~least:60);
    ( "broken",
      modes () |> Race.drawn
      |> List.map (fun mode -> test mode (of_broken mode)) );
  ]
