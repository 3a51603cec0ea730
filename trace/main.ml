(* The command concord-trace. [description], below, is its manual. *)

open Concord_trace

type options = {
  perfetto : string option;
  html : string option;
  last : float option;
  most : int;
  table : bool;
  program : string;
  args : string list;
  pid : (int * int) option;
      (** The running process to attach to, and the signal to send to it. *)
}

exception Cannot of string

let say format = Printf.ksprintf (Printf.eprintf "concord-trace: %s\n%!") format

(* --- While it runs ------------------------------------------------------------ *)

let seconds_between_looks = 0.02
let is_interrupted = Atomic.make false
let seconds_to_begin = 5

(* [is_late ()] becomes [true] when this time has passed. *)
let time_to_begin () =
  let until_ns = Recorder.now_ns () + (seconds_to_begin * 1_000_000_000) in
  fun () -> Recorder.now_ns () > until_ns

(* When the program has ended, programs that it started may still emit events. So reading the
   rest needs a bound. *)
let most_rests = 100

let follow recorder { table; program; last; most; pid; _ } =
  let board = Board.create ~table ~program recorder in
  let last_ns = Option.map (fun s -> Float.to_int (s *. 1e9)) last in
  let kept = Kept.create ?last_ns ~most () in
  let take item =
    Kept.add kept item;
    Board.add board item
  in
  (* After all rings were read, because they aren't in the order of time. *)
  let poll () =
    let is_more = Recorder.poll recorder take in
    Kept.trim kept;
    is_more
  in
  let rec rest n = if poll () && n > 0 then rest (n - 1) in
  let is_late = time_to_begin () in
  let is_refused () =
    Option.is_some pid && (not (Recorder.has_begun recorder)) && is_late ()
  in
  let rec loop () =
    let status =
      if Atomic.get is_interrupted || is_refused () then begin
        Recorder.stop recorder;
        Some (Unix.WEXITED 0)
      end
      else Recorder.ended recorder
    in
    let is_more = poll () in
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
    if Recorder.were_removed recorder then
      say
        "the events of %s were removed while it ran. A program must leave the \
         folder OCAML_RUNTIME_EVENTS_DIR as it is"
        program
    else if Recorder.has_events recorder then
      say
        "%s emitted no events of Concord, so it doesn't use Concord, or its \
         version of Concord has no Concord.Tools.Trace"
        program
    else
      say
        "%s emitted no events of OCaml's runtime, so it isn't a program of \
         OCaml 5.3 or later"
        program
  else begin
    let is_of_task (item : Recorder.item) =
      match item.event with
      | Told (Began _) | Lost _ | Paused _ -> false
      | Told _ -> true
    in
    if not (List.exists is_of_task items) then
      say "%s uses Concord, but none of its tasks waited" program
  end;
  match Recorder.lost recorder with
  | 0 -> ()
  | lost ->
      say
        "%s of events were lost, because they came faster than they were read. \
         The output has gaps. Set OCAMLRUNPARAM=e=20 for larger buffers"
        (Board.amount lost)

let report_sampling { most; _ } (sampling : Kept.sampling) =
  let seconds ns = float ns *. 1e-9 in
  let { Kept.number; complete_ns; width_ns; share; cut_ns } = sampling in
  let before =
    if share = 1 then ""
    else
      Printf.sprintf
        ", and %.2f s of each %.2f s before. Of the other waits they have the \
         longest of each kind"
        (seconds width_ns)
        (seconds (share * width_ns))
  and cut ns =
    Printf.sprintf ". What was earlier than %.1f s before the end is missing"
      (seconds ns)
  in
  say
    "there were %d events, more than --most %d. The files have all of the last \
     %.1f s%s%s. The sums count all waits"
    number most (seconds complete_ns) before
    (Option.fold ~none:"" ~some:cut cut_ns)

let write_files options recorder kept profile =
  let timeline = Kept.timeline kept
  and sampling = Kept.sampling kept
  and names = Recorder.names recorder in
  let lost = Recorder.lost recorder in
  Option.iter (report_sampling options) sampling;
  Option.iter
    (fun path ->
      write path (fun channel -> Perfetto.write channel ~names ~lost timeline);
      say "%s can be opened in https://ui.perfetto.dev" path)
    options.perfetto;
  Option.iter
    (fun path ->
      let title = Filename.basename options.program in
      write path (fun channel ->
          Page.write channel ~title ~names ~lost ~profile timeline);
      say "%s can be opened in a browser" path)
    options.html

(* A terminal sends SIGINT and SIGQUIT to the program by itself. Without a terminal the command
   has to pass them on. The result is to be called with the program's number once it runs, because
   a signal may come before. *)
let handle_signals () =
  let program = ref None and early = ref [] in
  let send pid signal =
    try Unix.kill pid signal with Unix.Unix_error _ -> ()
  in
  let handle f signal = Sys.set_signal signal (Signal_handle f) in
  let pass signal =
    handle
      (fun _ ->
        match !program with
        | Some pid -> send pid signal
        | None -> early := signal :: !early)
      signal
  in
  List.iter
    (if Unix.isatty Unix.stdin then handle ignore else pass)
    [ Sys.sigint; Sys.sigquit ];
  List.iter pass [ Sys.sigterm; Sys.sighup; Sys.sigusr1; Sys.sigusr2 ];
  fun pid ->
    program := Some pid;
    List.iter (send pid) (List.rev !early);
    (* Not earlier, because the program would inherit it. *)
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
  | None ->
      let began = handle_signals () in
      let recorder = Recorder.start program args in
      began (Recorder.pid recorder);
      recorder

let report_not_begun recorder =
  say
    "process %d emitted no events within %d s. Either all of its threads are \
     blocked, or a trace was already on and the signal stopped it. In that \
     case, call this command again"
    (Recorder.pid recorder) seconds_to_begin

let trace options =
  (* If a file can't be written, the user should know now, not after a long run. *)
  let check path = write path (fun channel -> output_string channel "") in
  match
    if Option.is_none options.pid then
      ignore (Program.find options.program : string);
    Option.iter check options.perfetto;
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
    "Write the trace to $(docv). You can open it in Perfetto \
     (https://ui.perfetto.dev) and in chrome://tracing. Without $(b,--html), \
     the default is concord-trace.json."
  in
  Arg.(
    value & opt (some string) None & info [ "o"; "output" ] ~docv:"FILE" ~doc)

let html =
  let doc =
    "Also write a timeline to $(docv), as a page for your browser. It needs no \
     other files and no network."
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
    "Keep and write only the last $(docv) of the run, so that you can trace a \
     program for days. The sums of waiting times still count the whole run."
  in
  Arg.(value & opt (some seconds) None & info [ "last" ] ~docv:"SECONDS" ~doc)

let most =
  let number =
    let parse text =
      match int_of_string_opt text with
      | Some n when n > 0 -> Ok n
      | Some _ | None ->
          Error (`Msg (Printf.sprintf "%S is not a positive number" text))
    in
    Arg.conv (parse, fun ppf -> Format.fprintf ppf "%d")
  in
  let doc =
    "Write at most about $(docv) events, so that the files can be opened. If \
     there are more, half of the room is for the newest ones. Of the time \
     before, the files have complete parts at equal distances, and from \
     between them the longest wait of each kind (operation, structure, line, \
     outcome, sort of task, and about how long it took), with the number of \
     waits for which it stands. The sums of waiting times count all waits."
  in
  Arg.(value & opt number 150_000 & info [ "most" ] ~docv:"EVENTS" ~doc)

let no_table =
  let doc = "Show no table, neither while the program runs nor at the end." in
  Arg.(value & flag & info [ "no-table" ] ~doc)

let command_line =
  let doc =
    "The program and its arguments. Options of concord-trace itself must come \
     before it."
  in
  Arg.(value & pos_all string [] & info [] ~docv:"PROGRAM" ~doc)

let pid =
  let doc =
    "Trace the running process $(docv) instead of starting a program. The \
     process must have been started with CONCORD_DEBUG=sigusr2, or have called \
     Concord.Tools.Trace.on_signal. The trace ends when the process ends, or \
     when you interrupt this command (SIGINT, SIGTERM, SIGHUP). This works on \
     Linux only."
  in
  Arg.(value & opt (some int) None & info [ "pid" ] ~docv:"PID" ~doc)

let waits =
  let doc =
    "Print which tasks of the running process $(docv) wait, in which \
     operations, structures and lines, and end. The process need not have been \
     prepared, and continues. See $(b,WAITS) below."
  in
  Arg.(value & opt (some int) None & info [ "waits" ] ~docv:"PID" ~doc)

let signal =
  let doc =
    "The signal that $(b,--pid) sends, $(b,usr1) or $(b,usr2). It must be the \
     one that the program has passed to on_signal."
  in
  Arg.(
    value
    & opt (enum [ ("usr1", Sys.sigusr1); ("usr2", Sys.sigusr2) ]) Sys.sigusr2
    & info [ "signal" ] ~docv:"SIGNAL" ~doc)

let description =
  [
    `S Manpage.s_description;
    `P
      "$(cmd) runs a program that uses Concord. It shows which tasks of all \
       libraries and domains wait, in which operations, and which tasks resume \
       them. While the program runs, a table on the standard output has the \
       tasks of each host and domain, the number of tasks that wait, the \
       number of suspended and resumed tasks per second, and the longest \
       waits. If the standard output isn't a terminal, there is one line each \
       second instead, and the table at the end. After the last table come the \
       sums of waiting times by operation, structure and line, the pauses of \
       the garbage collector, and the marks of the program \
       (Concord.Tools.Trace.mark).";
    `P
      "Then the command writes a file for Perfetto. Each process has two \
       groups of tracks there, one for its domains and one for its tasks. A \
       wait is a slice. An arrow leads from the task that resumed another one \
       to the task that was resumed.";
    `P
      "You don't need to change the program, or link it differently. The \
       command adds $(b,trace) to CONCORD_DEBUG and turns on the events of \
       OCaml's runtime. Programs that your program starts are traced too.";
    `S "WAITS";
    `P
      "With $(b,--waits), the command prints which tasks of a running process \
       wait in Concord's operations, with the lines of the program. Nobody has \
       to prepare the process. The command reads its memory, and stops it for \
       some milliseconds, but sends no signal. It needs Linux on x86-64, a \
       program of OCaml 5.3 to 5.5 in native code, and the right to trace the \
       process (root, or the user of the process; in a container the \
       capability SYS_PTRACE).";
    `P
      "It doesn't know the names of tasks, holders, cycles and times. For \
       these, start the program with CONCORD_DEBUG=sigquit. A wait that is the \
       last call of its function has no line. A wait whose task was dropped is \
       listed until the garbage collector finds it.";
    `S "TOP";
    `P
      "$(cmd) $(b,top) PID shows a running process live in a terminal. See \
       $(cmd) $(b,top --help). A program of this name is traced by $(cmd) \
       ./top.";
    `S "SIGNALS";
    `P
      "The command passes SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 on to the \
       program. It also passes SIGINT and SIGQUIT on, unless the standard \
       input is a terminal, because a terminal sends these to the program by \
       itself. The files are written when the program has ended.";
    `S Manpage.s_exit_status;
    `P
      "The exit status of the program, or 128 plus the number of the signal \
       that ended it. 127 means that the program can't be run, or the process \
       can't be traced or read. 125 means that a file can't be written, and \
       124 that the arguments are wrong.";
    `S Manpage.s_examples;
    `Pre "$(cmd) -o server.json --html server.html ./server.exe --port 8080";
    `Pre "$(cmd) --last 30 --html now.html --pid 4711";
    `Pre "$(cmd) --waits 4711";
    `Pre "$(cmd) top 4711";
  ]

let print_waits pid =
  match Concord_waits.Finder.find pid with
  | found ->
      print_string (Concord_waits.Text.of_found pid found);
      0
  | exception Concord_waits.Refused.Refused text ->
      say "cannot read the waits of process %d: %s" pid text;
      127

let command =
  let run perfetto html last most no_table pid waits signal command_line =
    let perfetto =
      if Option.is_some perfetto || Option.is_some html then perfetto
      else Some "concord-trace.json"
    in
    let options program args pid =
      { perfetto; html; last; most; table = not no_table; program; args; pid }
    in
    match (command_line, pid) with
    | [], None when Option.is_some waits -> `Ok (print_waits (Option.get waits))
    | _ when Option.is_some waits -> `Error (true, "give --waits alone")
    | program :: args, None -> `Ok (trace (options program args None))
    | [], Some pid ->
        let program = Printf.sprintf "process %d" pid in
        `Ok (trace (options program [] (Some (pid, signal))))
    | [], None -> `Error (true, "required argument PROGRAM is missing")
    | _ :: _, Some _ -> `Error (true, "give either --pid or PROGRAM, not both")
  in
  let doc = "show which tasks of a program wait for each other" in
  Cmd.v
    (Cmd.info "concord-trace" ~doc ~exits:[] ~man:description)
    Term.(
      ret
        (const run $ perfetto $ html $ last $ most $ no_table $ pid $ waits
       $ signal $ command_line))

(* Options after PROGRAM belong to the program. Cmdliner would take them for the command's, so
   this inserts "--" before PROGRAM. *)
let with_dashes argv =
  let takes_value =
    [
      "-o";
      "--output";
      "--html";
      "--last";
      "--most";
      "--pid";
      "--waits";
      "--signal";
    ]
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

(* --- concord-trace top ----------------------------------------------------------- *)

let top pid signal =
  let refuse text =
    say "%s" text;
    127
  in
  match Recorder.attach pid ~signal with
  | exception Failure text -> refuse text
  | recorder -> (
      stop_when_interrupted ();
      let is_late = time_to_begin () in
      let is_refused () = (not (Recorder.has_begun recorder)) && is_late () in
      let stop () = Atomic.get is_interrupted || is_refused () in
      let title = Printf.sprintf "process %d" pid in
      match
        Fun.protect
          (fun () -> Top.run recorder ~title ~stop)
          ~finally:(fun () ->
            Recorder.stop recorder;
            Recorder.close recorder)
      with
      | () ->
          if is_refused () then report_not_begun recorder;
          0
      | exception Failure text -> refuse text)

let top_description =
  [
    `S Manpage.s_description;
    `P
      "$(cmd) shows in a terminal where the tasks of a running process wait, \
       and which tasks wake them. It is refreshed each second. The process \
       must have been started with CONCORD_DEBUG=sigusr2, or have called \
       Concord.Tools.Trace.on_signal. While the command runs, the process is \
       traced, so each of its waits costs some microseconds. Waits that began \
       before are not shown.";
    `P
      "The keys $(b,s) and $(b,t) show the structures and the tasks, Enter the \
       details of the selected row, Esc goes back, and $(b,q) quits. The keys \
       in the last line sort the rows.";
    `S "STRUCTURES";
    `P
      "WAITING is the number of tasks that wait now, LONGEST how long one of \
       them has waited, WAKES/S how many were woken per second. WAIT is the \
       mean time of the waits that ended in the last second. HOLD is the mean \
       time from the moment when a task that had waited continued, until it \
       woke another task there. For a lock, so long it was held. Waits in \
       structures without a name are shown by their lines.";
    `S "TASKS";
    `P
      "STATE is $(b,waits), $(b,woken) (but not continued yet) or $(b,runs), \
       and FOR is since when. RESUMED/S is how often the task continued after \
       a wait, WOKE/S how often it woke another one, and WAITED the part of \
       the last second in which it waited. The details of a structure also say \
       who woke its tasks, and those of a task where it has waited.";
  ]

let top_command =
  let pid =
    Arg.(
      required
      & pos 0 (some int) None
      & info [] ~docv:"PID" ~doc:"The running process.")
  in
  Cmd.v
    (Cmd.info "concord-trace top"
       ~doc:"show the waiting tasks of a process live" ~exits:[]
       ~man:top_description)
    Term.(const top $ pid $ signal)

let () =
  exit
    (match Array.to_list Sys.argv with
    | command :: "top" :: rest ->
        Cmd.eval' ~argv:(Array.of_list (command :: rest)) top_command
    | _ -> Cmd.eval' ~argv:(with_dashes Sys.argv) command)
