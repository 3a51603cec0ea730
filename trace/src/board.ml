type t = {
  live : Live.t;
  program : string;
  recorder : Recorder.t;
  started_ns : int;
  mutable screen : Screen.t option;
  mutable is_heard : bool;
  mutable shown_ns : int;
  mutable newest_ns : int;
      (** By the clock of the program's runtime, which may differ from ours. *)
  mutable newest_at_ns : int;  (** When [newest_ns] was read, by our clock. *)
}

let seconds_between_tables = 0.5
let seconds_between_lines = 1.
let seconds ns = float_of_int ns *. 1e-9
let amount bytes = Printf.sprintf "%d kB" ((bytes + 999) / 1000)

let create ~table ~program recorder =
  let now = Recorder.now_ns () in
  {
    live = Live.create ();
    program = Filename.basename program;
    recorder;
    started_ns = now;
    screen = (if table then Screen.open_ () else None);
    is_heard = table;
    shown_ns = now;
    newest_ns = 0;
    newest_at_ns = now;
  }

let profile t = Live.profile t.live

let add t (item : Recorder.item) =
  Live.add t.live item;
  if item.time_ns > t.newest_ns then begin
    t.newest_ns <- item.time_ns;
    t.newest_at_ns <- Recorder.now_ns ()
  end

(* Waits become longer even while no events come. So the time since the newest event, by our
   clock, is added to the time of that event. *)
let now_of_events t = t.newest_ns + (Recorder.now_ns () - t.newest_at_ns)

let title t =
  Printf.sprintf "%s: %.1f s, %d events%s" t.program
    (seconds (Recorder.now_ns () - t.started_ns))
    (Live.number t.live)
    (match Recorder.lost t.recorder with
    | 0 -> ""
    | lost -> Printf.sprintf ", %s lost" (amount lost))

(* A shell closes the output on purpose. *)
let is_closed text =
  List.exists (fun e -> text = Unix.error_message e) Unix.[ EPIPE; EBADF ]

(* If the output can't be written, the files are written all the same. Closing the channel drops what
   it contains, which [exit] would write otherwise. *)
let heard t f =
  if t.is_heard then (
    try f ()
    with Sys_error text ->
      t.is_heard <- false;
      close_out_noerr stdout;
      if not (is_closed text) then
        Printf.eprintf "concord-trace: the table can't be written: %s\n%!" text)

let show_now t =
  let now = Recorder.now_ns () and now_ns = now_of_events t in
  let since = seconds (now - t.shown_ns) in
  t.shown_ns <- now;
  match t.screen with
  | Some screen ->
      let at_most = Screen.height screen - 1 in
      Screen.show screen (title t :: Live.table ~at_most t.live ~now_ns ~since)
  | None ->
      Printf.printf "%s: %s\n%!" (title t) (Live.line t.live ~now_ns ~since)

let show t =
  let between =
    if Option.is_some t.screen then seconds_between_tables
    else seconds_between_lines
  in
  if seconds (Recorder.now_ns () - t.shown_ns) >= between then
    heard t (fun () -> show_now t)

let leave t =
  heard t (fun () -> Option.iter Screen.close t.screen);
  t.screen <- None

let show_all t =
  leave t;
  heard t @@ fun () ->
  Live.from_the_start t.live;
  let since = seconds (Recorder.now_ns () - t.started_ns) in
  print_endline (title t);
  List.iter print_endline (Live.table t.live ~now_ns:(now_of_events t) ~since);
  List.iter print_endline (Profile.lines (profile t));
  flush stdout
