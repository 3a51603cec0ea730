(* concord-trace reads a process that has other numbers, and sees other files, as in a container. *)

open Concord_test_support

external enter : string -> unit = "container_enter"

let program = "attachable.exe"

(* In the process that is going to be the container's. *)
let become_contained folder ~environment =
  let text = In_channel.with_open_bin program In_channel.input_all in
  enter folder;
  Sys.chdir folder;
  Out_channel.with_open_gen [ Open_creat; Open_wronly; Open_binary ]
    0o755 program (fun channel -> Out_channel.output_string channel text);
  match Unix.fork () with
  | 0 -> Unix.execve ("./" ^ program) [| program |] environment
  | pid -> pid

(* The first line says how it went. The process ends when its input does. *)
let keep_contained folder ~environment =
  match become_contained folder ~environment with
  | exception Unix.Unix_error (error, call, _) ->
      Printf.printf "%s: %s\n%!" call (Unix.error_message error)
  | pid ->
      Printf.printf "%d\n%!" pid;
      ignore (In_channel.input_all stdin : string);
      Unix.kill pid Sys.sigkill

exception Forbidden of string

(* [f] gets the number of the contained process. *)
let within_container ~events_in f =
  let folder = Filename.temp_dir "container" "" in
  let environment =
    Array.append
      [|
        "CONCORD_DEBUG=sigusr2"; "OCAML_RUNTIME_EVENTS_DIR=" ^ events_in folder;
      |]
      (Unix.environment ())
  in
  let input, input_end = Unix.pipe ~cloexec:true ()
  and output_end, output = Unix.pipe ~cloexec:true () in
  match Unix.fork () with
  | 0 ->
      Unix.close input_end;
      Unix.dup2 input Unix.stdin;
      Unix.dup2 output Unix.stdout;
      keep_contained folder ~environment;
      Unix._exit 0
  | keeper ->
      Unix.close input;
      Unix.close output;
      let lines = Unix.in_channel_of_descr output_end in
      Fun.protect
        ~finally:(fun () ->
          Unix.close input_end;
          ignore (Unix.waitpid [] keeper : int * Unix.process_status);
          close_in lines;
          Unix.rmdir folder)
        (fun () ->
          let line = input_line lines in
          match int_of_string_opt line with
          | None -> raise (Forbidden line)
          | Some pid ->
              let sees name =
                Sys.file_exists (Printf.sprintf "/proc/%d/cwd/%s" pid name)
              in
              Check.eventually "it is ready" (fun () -> sees "ready");
              Check.yes "its files can't be seen from here"
                (Sys.readdir folder = [||]);
              f pid ~sees)

let start ~output args =
  Unix.create_process "concord-trace"
    (Array.of_list ("concord-trace" :: args))
    Unix.stdin output Unix.stderr

let ends_well command =
  Check.yes "it ends well" (snd (Unix.waitpid [] command) = Unix.WEXITED 0)

let contents file = In_channel.with_open_bin file In_channel.input_all

let shows_waits pid ~sees:_ =
  let file = "container_waits.txt" in
  let channel = open_out_bin file in
  let command =
    start
      ~output:(Unix.descr_of_out_channel channel)
      [ "--waits"; string_of_int pid ]
  in
  ends_well command;
  close_out channel;
  let shown = contents file in
  let says part =
    if not (Check.contains shown part) then
      Alcotest.failf "%S is not in:\n%s" part shown
  in
  says (Printf.sprintf "in process %d (1 in its container)" pid);
  says "in Mvar.take of \"";
  says "attachable.ml:"

let is_traced pid ~sees =
  let file = "container.json" in
  let command =
    start ~output:Unix.stderr
      [ "--no-table"; "-o"; file; "--pid"; string_of_int pid ]
  in
  Check.eventually "a trace" (fun () -> sees "seen");
  Unix.kill command Sys.sigint;
  ends_well command;
  Check.yes "the waits are in the file"
    (Check.contains (contents file) "\"structure\":\"back\"");
  Check.eventually "the trace ends" (fun () -> not (sees "seen"));
  Check.yes "the command has removed its sign" (not (sees "1.reader"))

let both ~events_in () =
  within_container ~events_in @@ fun pid ~sees ->
  shows_waits pid ~sees;
  is_traced pid ~sees

let () =
  match within_container ~events_in:Fun.id (fun _ ~sees:_ -> ()) with
  | exception Forbidden reason ->
      prerr_endline
        ("left out: this process can't make a container (" ^ reason ^ ")")
  | () ->
      Check.run "containers"
        [
          ( "read from outside",
            [
              Check.test "the events are in the program's folder"
                (both ~events_in:(fun _ -> "."));
              Check.test "the events are in a folder of the container"
                (both ~events_in:Fun.id);
            ] );
        ]
