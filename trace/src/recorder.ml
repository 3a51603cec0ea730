open Concord.Tools

type pause = Minor | Major_slice | Stop_the_world

type event =
  | Told of Trace.event
  | Lost of { domain : int; since_ns : int; bytes : int }
  | Paused of { domain : int; pause : pause; for_ns : int }

type item = { pid : int; time_ns : int; event : event }

(* A ring of events of a process. The number of a ring isn't the number of its domain, because
   another domain gets the ring when its domain has ended. [lost] counts bytes that aren't
   reported yet, because the loss ends only where the ring's next event is. [depth] counts open
   pauses, each within the one before. *)
type ring = {
  mutable domain : int;
  mutable latest_ns : int;
  mutable lost : int;
  mutable depth : int;
  mutable paused_ns : int;
  mutable pause : pause;
}

(* The file of events of a process. [begun_ns] is when its events began. It identifies the
   program, because a process may execute another program. It is [None] if that event was
   overwritten before it was read. *)
type file = {
  begun_ns : int option;
  cursor : Runtime_events.cursor;
  callbacks : Runtime_events.Callbacks.t;
}

(* One signal asks a running process to begin, and a second one asks it to stop. If the process
   had a file before, the events in it from before [since_ns] don't belong to this trace. *)
type attached = {
  signal : int;
  since_ns : int;
  had_file : bool;
  sign : string;  (** A file that says that somebody reads the events. *)
  mutable signed_at_ns : int;
}

type t = {
  pid : int;
  inner_pid : int;
      (** The process's own number for itself. It differs from [pid] in a
          container. *)
  attached : attached option;
  folder : string;
  files : (int, file) Hashtbl.t;
  names : (int, string) Hashtbl.t;
  mutable has_events : bool;
  mutable has_begun : bool;
  mutable take : item -> unit;
  mutable lost : int;
  mutable status : Unix.process_status option;
}

let pid t = t.pid

(* --- Running ----------------------------------------------------------------- *)

let remove folder =
  Array.iter
    (fun name ->
      try Sys.remove (Filename.concat folder name) with Sys_error _ -> ())
    (try Sys.readdir folder with Sys_error _ -> [||]);
  try Unix.rmdir folder with Unix.Unix_error _ -> ()

let make ?inner_pid pid folder ~attached =
  {
    pid;
    inner_pid = Option.value inner_pid ~default:pid;
    attached;
    folder;
    files = Hashtbl.create 1;
    names = Hashtbl.create 1;
    has_events = false;
    has_begun = false;
    take = ignore;
    lost = 0;
    status = None;
  }

(* The time of a folder in which no file was ever made or removed. *)
let untouched = 1.

(* The events are in a file in this folder, for as long as the program runs. *)
let new_folder () =
  match Filename.temp_dir "concord-trace" "" with
  | folder ->
      Unix.utimes folder untouched untouched;
      folder
  | exception Sys_error text ->
      failwith
        (Printf.sprintf
           "there is no place for the events (%s). Set TMPDIR to a folder that \
            can be written"
           text)

let start program args =
  let path = Program.find program in
  let folder = new_folder () in
  match
    Unix.create_process_env path
      (Array.of_list (program :: args))
      (Program.environment folder)
      Unix.stdin Unix.stdout Unix.stderr
  with
  | pid -> make pid folder ~attached:None
  | exception Unix.Unix_error (error, _, _) ->
      remove folder;
      failwith (program ^ " cannot be run: " ^ Unix.error_message error)

(* --- Attaching, on Linux ------------------------------------------------------- *)

let now_ns () = Int64.to_int (Mtime_clock.now_ns ())

(* The process stops emitting if this file gets old, because then nobody reads any more, for
   example after this command was killed. If the file can't be written, it doesn't stop. *)
let write_sign attached =
  let now = now_ns () in
  if now - attached.signed_at_ns >= 1_000_000_000 then begin
    attached.signed_at_ns <- now;
    try
      Out_channel.with_open_bin attached.sign ignore;
      (* With zeros, the present time is taken. *)
      Unix.utimes attached.sign 0. 0.
    with Sys_error _ | Unix.Unix_error _ -> ()
  end

(* The signal that starts a trace also stops one, so a second reader would end the first one's. *)
let seconds_read = 5.

let is_read sign =
  match Unix.stat sign with
  | { st_mtime; _ } ->
      Float.abs (Unix.gettimeofday () -. st_mtime) < seconds_read
  | exception Unix.Unix_error _ -> false

let remove_sign attached = try Sys.remove attached.sign with Sys_error _ -> ()

(* OCaml's numbers of these signals, those of Linux, which [Other_process.handles] needs, and how a program
   comes to handle them. *)
let signals =
  [
    ( Sys.sigusr1,
      ( 10,
        "has no handler for SIGUSR1. Call Concord.Tools.Trace.on_signal in it"
      ) );
    ( Sys.sigusr2,
      ( 12,
        "has no handler for SIGUSR2. Start it with CONCORD_DEBUG=sigusr2, or \
         call Concord.Tools.Trace.on_signal in it" ) );
  ]

let attach pid ~signal =
  let fail why = failwith (Printf.sprintf "process %d %s" pid why) in
  match Unix.kill pid 0 with
  | exception Unix.Unix_error (error, _, _) ->
      fail ("cannot be traced: " ^ Unix.error_message error)
  | () -> (
      if not (Other_process.is_visible pid) then
        fail "cannot be traced from outside, because that needs Linux's /proc";
      let number, no_handler = List.assoc signal signals in
      if not (Other_process.handles pid ~number) then fail no_handler;
      match
        let folder = Other_process.folder_of pid
        and inner_pid = Other_process.inner_pid pid in
        let file = Filename.concat folder (string_of_int inner_pid) in
        let sign = file ^ ".reader" and signed_at_ns = 0 in
        if is_read sign then
          fail
            "is traced by another concord-trace. If that one was killed, call \
             this command again in 5 seconds";
        let had_file = Sys.file_exists (file ^ ".events")
        and since_ns = now_ns () in
        let attached = { signal; since_ns; had_file; sign; signed_at_ns } in
        write_sign attached;
        Unix.kill pid signal;
        make ~inner_pid pid folder ~attached:(Some attached)
      with
      | t -> t
      | exception Unix.Unix_error (error, _, _) ->
          fail ("cannot be traced: " ^ Unix.error_message error))

let stop t =
  match t.attached with
  | Some { signal; _ } when t.has_begun -> (
      try Unix.kill t.pid signal with Unix.Unix_error _ -> ())
  | Some _ | None -> ()

let has_begun t = t.has_begun

let ended t =
  (if Option.is_none t.status then
     match t.attached with
     | Some _ ->
         if not (Other_process.is_alive t.pid) then t.status <- Some (WEXITED 0)
     | None -> (
         match Unix.waitpid [ WNOHANG ] t.pid with
         | 0, _ -> ()
         | _, status -> t.status <- Some status
         | exception Unix.Unix_error (EINTR, _, _) -> ()));
  t.status

let close t =
  let free _ { cursor; _ } = Runtime_events.free_cursor cursor in
  Hashtbl.iter free t.files;
  Hashtbl.reset t.files;
  match t.attached with
  | None -> remove t.folder
  | Some attached -> remove_sign attached

(* --- Reading ----------------------------------------------------------------- *)

let ns_of time = Int64.to_int (Runtime_events.Timestamp.to_int64 time)

let domain_of : Trace.event -> int option = function
  | Began _ -> None
  | Suspended { domain; _ }
  | Woken { domain; _ }
  | Resumed { domain; _ }
  | Forked { domain; _ }
  | Ended { domain; _ }
  | Queue { domain; _ }
  | Mark { domain; _ } ->
      Some domain

let ring_of rings number =
  match Hashtbl.find_opt rings number with
  | Some ring -> ring
  | None ->
      let ring =
        {
          domain = number;
          latest_ns = 0;
          lost = 0;
          depth = 0;
          paused_ns = 0;
          pause = Stop_the_world;
        }
      in
      Hashtbl.replace rings number ring;
      ring

let give t item =
  let is_of_this_trace =
    match t.attached with
    | Some { since_ns; _ } -> item.time_ns >= since_ns
    | None -> true
  in
  if is_of_this_trace then begin
    (match item.event with
    | Told (Began _) -> t.has_begun <- true
    | Told _ | Lost _ | Paused _ -> ());
    t.take item
  end

(* If the file existed before and no event of the ring was read yet, the overwritten events may
   be older than this trace. So they don't count as lost. *)
let loses_what_is_old t (ring : ring) =
  match t.attached with
  | Some { had_file; _ } -> had_file && ring.latest_ns = 0
  | None -> false

let tell_lost t pid (ring : ring) ~until_ns =
  if loses_what_is_old t ring then ring.lost <- 0;
  if ring.lost > 0 then begin
    t.lost <- t.lost + ring.lost;
    let event =
      Lost
        { domain = ring.domain; since_ns = ring.latest_ns; bytes = ring.lost }
    in
    ring.lost <- 0;
    give t { pid; time_ns = until_ns; event }
  end

let looked_at t pid (ring : ring) time_ns =
  tell_lost t pid ring ~until_ns:time_ns;
  ring.latest_ns <- time_ns

let take t pid rings number time event =
  let time_ns = ns_of time and ring = ring_of rings number in
  looked_at t pid ring time_ns;
  Option.iter (fun domain -> ring.domain <- domain) (domain_of event);
  let time_ns =
    match event with
    | Trace.Began { program } ->
        Hashtbl.replace t.names pid (Filename.basename program);
        time_ns
    | Woken { ago_ns; _ } -> time_ns - ago_ns
    | Suspended _ | Resumed _ | Forked _ | Ended _ | Queue _ | Mark _ -> time_ns
  in
  give t { pid; time_ns; event = Told event }

(* Pauses are nested. For example, a minor collection happens within a stop of all domains. The
   whole pause is named after the first phase in it that says what the stop was for. *)
let pause_of : Runtime_events.runtime_phase -> pause option = function
  | EV_MINOR -> Some Minor
  | EV_MAJOR_SLICE -> Some Major_slice
  | EV_STW_LEADER | EV_STW_HANDLER -> Some Stop_the_world
  | _ -> None

let pause_begins t pid rings number time phase =
  let time_ns = ns_of time and ring = ring_of rings number in
  looked_at t pid ring time_ns;
  match pause_of phase with
  | None -> ()
  | Some pause ->
      if ring.depth = 0 then begin
        ring.paused_ns <- time_ns;
        ring.pause <- pause
      end
      else if ring.pause = Stop_the_world then ring.pause <- pause;
      ring.depth <- ring.depth + 1

let pause_ends t pid rings number time phase =
  let time_ns = ns_of time and ring = ring_of rings number in
  looked_at t pid ring time_ns;
  (* If the beginning of a pause was lost, its end doesn't close another one. *)
  if Option.is_some (pause_of phase) && ring.depth > 0 then begin
    ring.depth <- ring.depth - 1;
    if ring.depth = 0 then
      let { domain; pause; paused_ns; _ } = ring in
      let for_ns = time_ns - paused_ns in
      give t
        { pid; time_ns = paused_ns; event = Paused { domain; pause; for_ns } }
  end

let bytes_of_word = 8

let callbacks t pid =
  let rings = Hashtbl.create 10 in
  let lost_events number words =
    let ring = ring_of rings number and bytes = words * bytes_of_word in
    ring.lost <- ring.lost + bytes;
    ring.depth <- 0
  in
  let runtime_begin number time phase =
    pause_begins t pid rings number time phase
  and runtime_end number time phase =
    pause_ends t pid rings number time phase
  in
  Trace.add_to
    (Runtime_events.Callbacks.create ~lost_events ~runtime_begin ~runtime_end ())
    (take t pid rings)

(* [read_poll] raises [Failure] if the file doesn't have events, or not yet. It also does if the
   events were being overwritten. Then the next poll finds that they were lost. *)
let read cursor callbacks ~at_most =
  try Runtime_events.read_poll cursor callbacks (Some at_most)
  with Failure _ -> 0

let with_cursor t pid f =
  match Runtime_events.create_cursor (Some (t.folder, pid)) with
  | exception Failure _ -> None
  | cursor ->
      Fun.protect
        (fun () -> f cursor)
        ~finally:(fun () -> Runtime_events.free_cursor cursor)

(* A cursor keeps a copy of the file's head from when the cursor was created. The process writes
   its first event after the whole head. So if a cursor finds an event, later cursors have the
   whole head, but this one may not. The very first event says when the program began. *)
let first_event t pid =
  with_cursor t pid @@ fun cursor ->
  let begun_ns = ref None in
  let lifecycle _ring time (kind : Runtime_events.lifecycle) _ =
    if kind = EV_RING_START then begun_ns := Some (ns_of time)
  in
  let callbacks = Runtime_events.Callbacks.create ~lifecycle () in
  if read cursor callbacks ~at_most:1 > 0 then Some !begun_ns else None

let open_ t pid begun_ns =
  match Runtime_events.create_cursor (Some (t.folder, pid)) with
  | cursor ->
      let file = { begun_ns; cursor; callbacks = callbacks t pid } in
      Hashtbl.replace t.files pid file
  | exception Failure _ -> ()

(* If a program executes another one, the new program has the same process, and its events are
   in a file of the same name. The start time shows that the file has begun anew. *)
let look_at t pid =
  t.has_events <- true;
  match (Hashtbl.find_opt t.files pid, first_event t pid) with
  | _, None -> ()
  | None, Some begun_ns -> open_ t pid begun_ns
  | Some file, Some (Some _ as begun_ns) when begun_ns <> file.begun_ns ->
      Runtime_events.free_cursor file.cursor;
      Hashtbl.remove t.files pid;
      open_ t pid begun_ns
  | Some _, Some _ -> ()

let look t =
  Array.iter
    (fun name ->
      match Filename.chop_suffix_opt ~suffix:".events" name with
      | None -> ()
      | Some number -> (
          match (int_of_string_opt number, t.attached) with
          | Some pid, Some _ -> if pid = t.inner_pid then look_at t pid
          | Some pid, None -> look_at t pid
          | None, _ -> ()))
    (try Sys.readdir t.folder with Sys_error _ -> [||])

(* A bound for one poll, so that a program that emits without a break doesn't keep the caller
   here. *)
let at_most = 1_000_000

let poll t f =
  t.take <- f;
  Option.iter write_sign t.attached;
  look t;
  let read_file _ { cursor; callbacks; _ } is_more =
    read cursor callbacks ~at_most >= at_most || is_more
  in
  let is_more = Hashtbl.fold read_file t.files false in
  t.take <- ignore;
  is_more

let names t = List.of_seq (Hashtbl.to_seq t.names)
let has_events t = t.has_events

(* The events of a program may be removed before a poll has seen them. *)
let were_removed t =
  let is_of_events name = Filename.check_suffix name ".events" in
  match ((Unix.stat t.folder).st_mtime, Sys.readdir t.folder) with
  | time, names ->
      t.attached = None && time <> untouched
      && not (Array.exists is_of_events names)
  | exception (Unix.Unix_error _ | Sys_error _) -> true

let lost t = t.lost
