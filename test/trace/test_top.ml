(* The command concord-trace top in a pseudo-terminal. The test reads what a user would see. *)

open Concord_test_support

external open_ : unit -> Unix.file_descr = "pty_open"
external name : Unix.file_descr -> string = "pty_name"
external resize : Unix.file_descr -> int -> int -> unit = "pty_resize"

type t = { master : Unix.file_descr; pid : int; mutable output : string }

let seconds = 20.

(* The command is the first process of a session, whose terminal this is. *)
let start ?(rows = 24) ?(columns = 100) args =
  let master = open_ () in
  resize master rows columns;
  let terminal = name master in
  match Unix.fork () with
  | 0 ->
      ignore (Unix.setsid () : int);
      let fd = Unix.openfile terminal [ O_RDWR ] 0 in
      List.iter (Unix.dup2 fd) [ Unix.stdin; Unix.stdout; Unix.stderr ];
      Unix.execvp "concord-trace" (Array.of_list ("concord-trace" :: args))
  | pid -> { master; pid; output = "" }

let read t =
  match Unix.select [ t.master ] [] [] 0.05 with
  | [], _, _ -> ()
  | _ -> (
      let bytes = Bytes.create 4096 in
      match Unix.read t.master bytes 0 4096 with
      | n -> t.output <- t.output ^ Bytes.sub_string bytes 0 n
      | exception Unix.Unix_error (EIO, _, _) -> ())

(* The last frame that is complete. *)
let screen t =
  let ends = Str.regexp_string "\027[J"
  and begins = Str.regexp_string "\027[H" in
  match Str.search_backward ends t.output (String.length t.output) with
  | exception Not_found -> []
  | until -> (
      match Str.search_backward begins t.output until with
      | exception Not_found -> []
      | from ->
          String.sub t.output (from + 3) (until - from - 3)
          |> Str.global_replace (Str.regexp "\027\\[K") ""
          |> Str.split_delim (Str.regexp "\r+\n"))

let press t keys =
  ignore (Unix.write_substring t.master keys 0 (String.length keys) : int)

(* Until the screen is as expected. *)
let shows t what is_right =
  let until = Unix.gettimeofday () +. seconds in
  let rec look () =
    read t;
    if not (is_right (screen t)) then
      if Unix.gettimeofday () < until then look ()
      else
        Alcotest.failf "%s isn't there:\n%s" what
          (String.concat "\n" (screen t))
  in
  look ()

let words line = List.filter (( <> ) "") (Str.split (Str.regexp "[ >]+") line)

let row part lines =
  Option.map words (List.find_opt (fun line -> Check.contains line part) lines)

let has part lines = List.exists (fun line -> Check.contains line part) lines

let status t =
  let until = Unix.gettimeofday () +. seconds in
  let rec wait () =
    read t;
    match Unix.waitpid [ WNOHANG ] t.pid with
    | 0, _ when Unix.gettimeofday () < until -> wait ()
    | 0, _ -> Alcotest.fail "it doesn't end"
    | _, status -> status
  in
  let status = wait () in
  read t;
  status

let has_mode t =
  let { Unix.c_icanon; c_echo; _ } = Unix.tcgetattr t.master in
  (c_icanon, c_echo)

let restored t =
  Alcotest.(check (pair bool bool))
    "the mode is as before" (true, true) (has_mode t);
  Check.yes "the cursor and the screen are back"
    (Check.contains t.output "\027[?25h\027[?1049l")

let during ?rows ?columns f =
  let output, in_ = Unix.pipe ~cloexec:true () in
  let folder = Filename.temp_dir "top" "" in
  let environment =
    Array.append (Unix.environment ())
      [| "CONCORD_DEBUG=sigusr2"; "OCAML_RUNTIME_EVENTS_DIR=" ^ folder |]
  in
  let program = "./topped.exe" in
  let pid =
    Unix.create_process_env program [| program |] environment Unix.stdin in_
      Unix.stderr
  in
  Unix.close in_;
  let channel = Unix.in_channel_of_descr output in
  Fun.protect
    ~finally:(fun () ->
      Unix.kill pid Sys.sigkill;
      ignore (Unix.waitpid [] pid : int * Unix.process_status);
      close_in channel;
      ignore (Sys.command ("rm -rf " ^ Filename.quote folder) : int))
    (fun () ->
      Alcotest.(check string) "begins" "ready" (input_line channel);
      let t = start ?rows ?columns [ "top"; string_of_int pid ] in
      Fun.protect
        ~finally:(fun () ->
          (try Unix.kill t.pid Sys.sigkill with Unix.Unix_error _ -> ());
          Unix.close t.master)
        (fun () -> f t))

(* A time such as "10.4 ms", in seconds. *)
let time number unit =
  float_of_string number
  *. List.assoc unit [ ("us", 1e-6); ("ms", 1e-3); ("s", 1.) ]

let between least most value = value >= least && value <= most

let columns () =
  during @@ fun t ->
  shows t "three that wait for letters, and no time of waits that ended"
    (fun lines ->
      match row "Mailbox.take" lines with
      | Some
          [ "3"; longest; unit; "0.0"; "-"; "-"; "Mailbox.take"; "\"letters\"" ]
        ->
          between 0.5 60. (time longest unit)
      | _ -> false);
  shows t "the lock" (fun lines ->
      match row "Mutex.lock" lines with
      | Some
          [
            "1";
            longest;
            longest_unit;
            wakes;
            wait;
            wait_unit;
            hold;
            hold_unit;
            "Mutex.lock";
            "\"lock\"";
          ] ->
          between 0. 5. (time longest longest_unit)
          && between 1. 100. (float_of_string wakes)
          && between 0.01 5. (time wait wait_unit)
          && between 0.01 5. (time hold hold_unit)
      | _ -> false);
  shows t "the sum" (has "4 waiting");
  press t "t";
  shows t "a thread that waits" (fun lines ->
      match row "letters" lines with
      | Some
          ("waits" :: for_ :: unit :: "0.0" :: "0.0" :: "100%" :: "thread" :: _)
        ->
          between 0.5 60. (time for_ unit)
      | _ -> false);
  shows t "a thread that wakes the other" (fun lines ->
      List.exists
        (fun line ->
          match words line with
          | ("waits" | "woken" | "runs")
            :: _ :: _ :: resumed :: woke :: waited :: "thread" :: _ ->
              between 0.5 100. (float_of_string resumed)
              && between 0.5 100. (float_of_string woke)
              && waited <> "0%" && waited <> "100%"
          | _ -> false)
        lines);
  press t "q";
  Check.yes "status 0" (status t = WEXITED 0);
  restored t

let details () =
  during @@ fun t ->
  shows t "the lock" (fun lines ->
      has "Mutex.lock \"lock\"" lines && has "Mailbox.take" lines);
  Check.yes "keys come at once" (has_mode t = (false, false));
  press t "r";
  shows t "the lock first" (fun lines ->
      match List.nth_opt lines 2 with
      | Some line -> Check.contains line "Mutex.lock" && line.[0] = '>'
      | None -> false);
  press t "\r";
  shows t "who has woken tasks there" (fun lines ->
      has "Woken by, times:" lines && not (has "Mailbox.take" lines));
  press t "\027";
  shows t "the structures" (has "Mailbox.take");
  press t "w";
  shows t "the letters first" (fun lines ->
      match List.nth_opt lines 2 with
      | Some line -> Check.contains line "Mailbox.take" && line.[0] = '>'
      | None -> false);
  press t "\r";
  shows t "the waiting tasks" (fun lines ->
      has "TASK" lines
      && List.length
           (List.filter (has "thread") (List.map (fun l -> [ l ]) lines))
         >= 3);
  press t "\r";
  shows t "one of them" (fun lines ->
      has "Has waited, times:" lines
      && row "      1  Mailbox.take" lines
         = Some [ "1"; "Mailbox.take"; "\"letters\"" ]);
  resize t.master 12 50;
  shows t "12 rows of 50 columns" (fun lines ->
      List.length lines = 12
      && List.for_all (fun line -> String.length line <= 50) lines);
  Unix.kill t.pid Sys.sigterm;
  Check.yes "status 0" (status t = WEXITED 0);
  restored t

let signals () =
  during ~columns:80 @@ fun t ->
  shows t "24 rows of 80 columns" (fun lines ->
      List.length lines = 24
      && List.for_all (fun line -> String.length line <= 80) lines);
  Unix.kill t.pid Sys.sighup;
  Check.yes "status 0" (status t = WEXITED 0);
  restored t

let refused () =
  let t = start ~rows:5 [ "top"; string_of_int (Unix.getpid ()) ] in
  Check.yes "status 127" (status t = WEXITED 127);
  let output = t.output in
  Check.yes output (Check.contains output "has no handler for SIGUSR2");
  Unix.close t.master

let too_small () =
  during ~rows:5 @@ fun t ->
  Check.yes "status 127" (status t = WEXITED 127);
  Check.yes t.output
    (Check.contains t.output
       "the terminal has 5 rows and 100 columns, but top needs 10 and 40")

let () =
  let test = Check.test in
  Check.run "top"
    [
      ( "in a terminal",
        [
          test "every column" columns;
          test "details, and SIGTERM" details;
          test "80 columns, and SIGHUP" signals;
          test "unprepared" refused;
          test "too small" too_small;
        ] );
    ]
