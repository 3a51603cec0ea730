let seconds_between_looks = 0.05
let ns_between_snapshots = 1_000_000_000

(* --- The terminal ------------------------------------------------------------------- *)

let write text =
  print_string text;
  flush stdout

(* On another screen, so that the one before comes back, without a cursor. *)
let enter () =
  let before = Unix.tcgetattr Unix.stdin in
  Unix.tcsetattr Unix.stdin TCSANOW
    { before with c_icanon = false; c_echo = false; c_vmin = 0; c_vtime = 0 };
  write "\027[?1049h\027[?25l";
  before

let leave before =
  (try write "\027[?25h\027[?1049l" with Sys_error _ -> ());
  try Unix.tcsetattr Unix.stdin TCSANOW before with Unix.Unix_error _ -> ()

(* Each frame begins at the first cell, and clears what is left of the one before. *)
let draw lines =
  let clear = "\027[K" in
  write ("\027[H" ^ String.concat (clear ^ "\r\n") lines ^ clear ^ "\027[J")

let pressed () =
  match Unix.select [ Unix.stdin ] [] [] seconds_between_looks with
  | [], _, _ -> Some ""
  | _ -> (
      let bytes = Bytes.create 100 in
      match Unix.read Unix.stdin bytes 0 100 with
      | 0 -> None
      | n -> Some (Bytes.sub_string bytes 0 n)
      | exception Unix.Unix_error ((EINTR | EAGAIN), _, _) -> Some ""
      | exception Unix.Unix_error (EIO, _, _) ->
          (* the terminal was closed *) None)
  | exception Unix.Unix_error (EINTR, _, _) -> Some ""

let size () =
  match Screen.size () with
  | Some (rows, columns) when rows >= 10 && columns >= 40 -> (rows, columns)
  | Some (rows, columns) ->
      failwith
        (Printf.sprintf
           "the terminal has %d rows and %d columns, but top needs 10 and 40"
           rows columns)
  | None -> failwith "the size of the terminal isn't known"

(* --- The loop ------------------------------------------------------------------------- *)

type t = {
  recorder : Recorder.t;
  title : string;
  model : Top_model.t;
  mutable view : Top_view.t;
  mutable snapshot : Top_model.snapshot;
  mutable newest_at_ns : int;
  mutable next_at_ns : int;
  mutable size : int * int;
  mutable is_resized : bool;
  mutable is_suspended : bool;
}

(* By the clock of the events. *)
let now_of_events t =
  Top_model.newest_ns t.model + (Recorder.now_ns () - t.newest_at_ns)

let look t =
  let before = Top_model.newest_ns t.model in
  while Recorder.poll t.recorder (Top_model.add t.model) do
    ()
  done;
  if Top_model.newest_ns t.model > before then
    t.newest_at_ns <- Recorder.now_ns ()

let show t =
  let rows, columns = t.size in
  draw (Top_view.lines t.view t.model t.snapshot ~title:t.title ~rows ~columns)

let refresh t =
  t.snapshot <- Top_model.snapshot t.model ~now_ns:(now_of_events t);
  t.next_at_ns <- Recorder.now_ns () + ns_between_snapshots;
  show t

(* The shell stops this process by SIGTSTP. Meanwhile the terminal is the shell's. *)
let suspend t before =
  t.is_suspended <- false;
  leave before;
  Unix.kill (Unix.getpid ()) Sys.sigstop;
  ignore (enter () : Unix.terminal_io);
  t.is_resized <- true

let press t text =
  List.fold_left
    (fun goes_on key ->
      goes_on
      &&
      match Top_view.press t.view t.snapshot key with
      | None -> false
      | Some view ->
          t.view <- view;
          true)
    true (Top_view.keys text)

let rec loop t before ~stop =
  if not (stop ()) then begin
    if t.is_suspended then suspend t before;
    let has_ended = Option.is_some (Recorder.ended t.recorder) in
    look t;
    if t.is_resized then begin
      t.is_resized <- false;
      t.size <- size ();
      show t
    end;
    if Recorder.now_ns () >= t.next_at_ns then refresh t;
    match pressed () with
    | None -> ()
    | Some text ->
        if press t text then begin
          if text <> "" then show t;
          if not has_ended then loop t before ~stop
        end
  end

let run recorder ~title ~stop =
  if not (Unix.isatty Unix.stdin && Unix.isatty Unix.stdout) then
    failwith "top needs a terminal for its input and output";
  let size = size () and model = Top_model.create () in
  let t =
    {
      recorder;
      title;
      model;
      view = Top_view.start;
      snapshot = { places = []; tasks = []; unsure = 0 };
      newest_at_ns = Recorder.now_ns ();
      next_at_ns = 0;
      size;
      is_resized = false;
      is_suspended = false;
    }
  in
  Sys.set_signal Screen.window_changed
    (Signal_handle (fun _ -> t.is_resized <- true));
  Sys.set_signal Sys.sigtstp (Signal_handle (fun _ -> t.is_suspended <- true));
  let before = enter () in
  Fun.protect ~finally:(fun () -> leave before) (fun () -> loop t before ~stop)
