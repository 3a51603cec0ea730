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

(* In the first program, a task waits by the effect alone, so not in a structure. In the second
   one, Eio's loop waits for messages, which a report leaves out. *)
let differs mode = List.mem mode [ "leaked continuation"; "beside loops" ]

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

let () =
  run_if_allowed "Waits of other hosts" @@ fun () ->
  [
    ("found", found "./waiting_hosts.exe" ~least:60);
    ( "broken",
      modes ()
      |> List.filter (fun mode -> not (differs mode))
      |> Race.drawn
      |> List.map (fun mode -> test mode (of_broken mode)) );
  ]
