(* concord-trace PROGRAM [ARG...]: see [description]. *)

open Concord_trace

type options = {
  perfetto : string;
  html : string option;
  last : float option;
  table : bool;
  program : string;
  args : string list;
  pid : (int * int) option;  (** And the signal: a process that runs. *)
}

exception Cannot of string

let say format = Printf.ksprintf (Printf.eprintf "concord-trace: %s\n%!") format

(* --- While it runs ------------------------------------------------------------ *)

let seconds_between_looks = 0.02
let is_interrupted = Atomic.make false
let seconds_to_begin = 5.

(* Programs that it started may go on when it has ended. *)
let most_rests = 100

let follow recorder { table; program; last; pid; _ } =
  let board = Board.create ~table ~program recorder in
  let last_ns = Option.map (fun s -> Float.to_int (s *. 1e9)) last in
  let kept = Kept.create ?last_ns () in
  let take item =
    Kept.add kept item;
    Board.add board item
  in
  let rec rest n = if Recorder.poll recorder take && n > 0 then rest (n - 1) in
  let began = Unix.gettimeofday () in
  let is_refused () =
    Option.is_some pid
    && (not (Recorder.has_begun recorder))
    && Unix.gettimeofday () -. began > seconds_to_begin
  in
  let rec loop () =
    let status =
      if Atomic.get is_interrupted || is_refused () then begin
        Recorder.stop recorder;
        Some (Unix.WEXITED 0)
      end
      else Recorder.ended recorder
    in
    let is_more = Recorder.poll recorder take in
    match status with
    | None ->
        Board.show board;
        (if not is_more then
           try Unix.sleepf seconds_between_looks
           with Unix.Unix_error (EINTR, _, _) -> ());
        loop ()
    | Some status ->
        if is_more then rest most_rests;
        Board.show_all board;
        status
  in
  let status = Fun.protect loop ~finally:(fun () -> Board.leave board) in
  (status, kept, Board.profile board)

(* --- Afterwards --------------------------------------------------------------- *)

let write path f =
  match open_out_bin path with
  | exception Sys_error text -> raise (Cannot ("cannot write " ^ text))
  | channel -> (
      match
        f channel;
        close_out channel
      with
      | () -> ()
      | exception Sys_error text ->
          close_out_noerr channel;
          raise (Cannot (Printf.sprintf "cannot write %s: %s" path text)))

let report_faults recorder ~program items =
  let is_told (item : Recorder.item) =
    match item.event with Told _ -> true | Lost _ | Paused _ -> false
  in
  if not (List.exists is_told items) then
    if Recorder.has_events recorder then
      say
        "%s told nothing: it does not use Concord, or it was linked with a \
         version before Concord.Tools.Trace"
        program
    else
      say
        "%s has no events of OCaml's runtime: it is not a program of OCaml 5.1 \
         or later"
        program
  else begin
    let is_of_task (item : Recorder.item) =
      match item.event with
      | Told (Began _) | Lost _ | Paused _ -> false
      | Told _ -> true
    in
    if not (List.exists is_of_task items) then
      say "%s used Concord, but no task of it waited" program
  end;
  match Recorder.lost recorder with
  | 0 -> ()
  | lost ->
      say
        "%s of events were lost, as they came faster than they were read: what \
         was written has gaps (OCAMLRUNPARAM=e=20 makes more room)"
        (Board.amount lost)

let write_files options recorder kept profile =
  let timeline = Timeline.make ?from_ns:(Kept.from_ns kept) (Kept.items kept)
  and names = Recorder.names recorder in
  let lost = Recorder.lost recorder in
  write options.perfetto (fun channel ->
      Perfetto.write channel ~names ~lost timeline);
  say "%s can be opened in https://ui.perfetto.dev" options.perfetto;
  Option.iter
    (fun path ->
      let title = Filename.basename options.program in
      write path (fun channel ->
          Page.write channel ~title ~names ~lost ~profile timeline);
      say "%s can be opened in a browser" path)
    options.html

(* A terminal sends the first two to the program, too. *)
let handle_signals pid =
  let handle f signal = Sys.set_signal signal (Signal_handle f) in
  let pass signal =
    handle
      (fun _ -> try Unix.kill pid signal with Unix.Unix_error _ -> ())
      signal
  in
  List.iter
    (if Unix.isatty Unix.stdin then handle ignore else pass)
    [ Sys.sigint; Sys.sigquit ];
  List.iter pass [ Sys.sigterm; Sys.sighup; Sys.sigusr1; Sys.sigusr2 ];
  Sys.set_signal Sys.sigpipe Signal_ignore

let stop_when_interrupted () =
  let stop _ = Atomic.set is_interrupted true in
  List.iter
    (fun signal -> Sys.set_signal signal (Signal_handle stop))
    [ Sys.sigint; Sys.sigterm; Sys.sighup ]

let start { program; args; pid; _ } =
  match pid with
  | Some (pid, signal) ->
      stop_when_interrupted ();
      Recorder.attach pid ~signal
  | None -> Recorder.start program args

let report_not_begun recorder =
  say
    "process %d has not begun to emit events within %g s: all of its threads \
     may be blocked, or the signal has stopped a trace that was on"
    (Recorder.pid recorder) seconds_to_begin

let trace options =
  (* Before the program runs for long: can the files be written? *)
  let check path = write path (fun channel -> output_string channel "") in
  match
    if Option.is_none options.pid then
      ignore (Recorder.find options.program : string);
    check options.perfetto;
    Option.iter check options.html;
    start options
  with
  | exception Failure text ->
      say "%s" text;
      127
  | exception Cannot text ->
      say "%s" text;
      125
  | recorder -> (
      if Option.is_none options.pid then handle_signals (Recorder.pid recorder);
      Fun.protect ~finally:(fun () -> Recorder.close recorder) @@ fun () ->
      let status, kept, profile = follow recorder options in
      if Option.is_some options.pid && not (Recorder.has_begun recorder) then
        report_not_begun recorder
      else report_faults recorder ~program:options.program (Kept.items kept);
      match write_files options recorder kept profile with
      | () -> Exit_code.of_status status
      | exception Cannot text ->
          say "%s" text;
          125)

(* --- The command -------------------------------------------------------------- *)

open Cmdliner

let perfetto =
  let doc =
    "Write what happened to $(docv), which Perfetto (https://ui.perfetto.dev) \
     and chrome://tracing open."
  in
  Arg.(
    value
    & opt string "concord-trace.json"
    & info [ "o"; "output" ] ~docv:"FILE" ~doc)

let html =
  let doc =
    "Also write it as a page to $(docv): a timeline, which needs nothing else \
     and no network."
  in
  Arg.(value & opt (some string) None & info [ "html" ] ~docv:"FILE" ~doc)

let last =
  let seconds =
    let parse text =
      match float_of_string_opt text with
      | Some s when s > 0. && s < 1e9 -> Ok s
      | Some _ | None ->
          Error (`Msg (Printf.sprintf "%S is not a positive number" text))
    in
    Arg.conv (parse, fun ppf -> Format.fprintf ppf "%g")
  in
  let doc =
    "Keep and write only what happened in the last $(docv) of the run, so that \
     a program can be traced for days. The sums of waiting times count all of \
     the run."
  in
  Arg.(value & opt (some seconds) None & info [ "last" ] ~docv:"SECONDS" ~doc)

let no_table =
  let doc = "Do not show what goes on while the program runs." in
  Arg.(value & flag & info [ "no-table" ] ~doc)

let command_line =
  let doc =
    "The program and its arguments. Options before it are the command's."
  in
  Arg.(value & pos_all string [] & info [] ~docv:"PROGRAM" ~doc)

let pid =
  let doc =
    "Instead of running a program, trace the process $(docv), which was \
     started with CONCORD_DEBUG=sigusr2 or has called \
     Concord.Tools.Trace.on_signal, until it ends or this command is \
     interrupted (SIGINT, SIGTERM). On Linux."
  in
  Arg.(value & opt (some int) None & info [ "pid" ] ~docv:"PID" ~doc)

let signal =
  let doc =
    "The signal that $(b,--pid) sends: $(b,usr1) or $(b,usr2), as the program \
     has passed it to on_signal."
  in
  Arg.(
    value
    & opt (enum [ ("usr1", Sys.sigusr1); ("usr2", Sys.sigusr2) ]) Sys.sigusr2
    & info [ "signal" ] ~docv:"SIGNAL" ~doc)

let description =
  [
    `S Manpage.s_description;
    `P
      "$(cmd) runs a program that uses Concord, and tells which of its tasks \
       wait, in which operations, and who wakes them: tasks of any library, on \
       any domain. While the program runs, a table on the standard output \
       shows the tasks of each host and domain, how many wait, how often tasks \
       suspend and go on in a second, and the longest waits. Where that is no \
       terminal, there is a line each second, and the table at the end. The \
       last table is followed by the sums of waiting times by operation, \
       structure and line, the pauses of the collector, and the marks of the \
       program (Concord.Tools.Trace.mark).";
    `P
      "Then a file for Perfetto is written. Each process has two groups of \
       tracks there, its domains and its tasks. A wait is a slice, and an \
       arrow leads from the task that woke to the task that was woken.";
    `P
      "The program needs not be changed or linked otherwise. It runs with \
       $(b,trace) in CONCORD_DEBUG, and with the runtime's events on. The \
       programs that it starts are traced, too.";
    `S "SIGNALS";
    `P
      "SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on to the program; so \
       are SIGINT and SIGQUIT, unless the standard input is a terminal, which \
       sends them to the program by itself. The files are written when the \
       program has ended.";
    `S Manpage.s_exit_status;
    `P
      "That of the program, or 128 and the number of the signal that ended it; \
       127 if there is no such program, 125 if a file cannot be written, 124 \
       if the arguments are not understood.";
    `S Manpage.s_examples;
    `Pre "$(cmd) -o server.json --html server.html ./server.exe --port 8080";
    `Pre "$(cmd) --last 30 --html now.html --pid 4711";
  ]

let command =
  let run perfetto html last no_table pid signal command_line =
    let options program args pid =
      { perfetto; html; last; table = not no_table; program; args; pid }
    in
    match (command_line, pid) with
    | program :: args, None -> `Ok (trace (options program args None))
    | [], Some pid ->
        let program = Printf.sprintf "process %d" pid in
        `Ok (trace (options program [] (Some (pid, signal))))
    | [], None -> `Error (true, "required argument PROGRAM is missing")
    | _ :: _, Some _ -> `Error (true, "there is both --pid and a PROGRAM")
  in
  let doc = "show who waits for whom while a program runs" in
  Cmd.v
    (Cmd.info "concord-trace" ~doc ~exits:[] ~man:description)
    Term.(
      ret
        (const run $ perfetto $ html $ last $ no_table $ pid $ signal
       $ command_line))

(* What comes after PROGRAM is the program's, as if "--" stood before it. *)
let with_dashes argv =
  let takes_value =
    [ "-o"; "--output"; "--html"; "--last"; "--pid"; "--signal" ]
  in
  let rec from = function
    | [] -> []
    | "--" :: _ as rest -> rest
    | option :: value :: rest when List.mem option takes_value ->
        option :: value :: from rest
    | option :: rest when String.length option > 1 && option.[0] = '-' ->
        option :: from rest
    | rest -> "--" :: rest
  in
  match Array.to_list argv with
  | command :: rest -> Array.of_list (command :: from rest)
  | [] -> argv

let () = exit (Cmd.eval' ~argv:(with_dashes Sys.argv) command)
