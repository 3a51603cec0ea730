type form = Text | Json of string

(* A reader of the file never finds a part of a report. *)
let write_file file text =
  let part = file ^ ".part" in
  Out_channel.with_open_bin part (fun channel -> output_string channel text);
  Sys.rename part file

let write_report form report =
  match form with
  | Text -> Debug_helpers.write (Debug_text.of_report report)
  | Json file -> write_file file (Debug_json.of_report report)

let report form =
  match write_report form (Debug_report.now ()) with
  | () -> ()
  | exception e ->
      Debug_helpers.write
        (Printf.sprintf "concord: the report failed: %s\n"
           (Printexc.to_string e))

(* OCaml calls a signal handler in a thread that runs OCaml code. If all tasks wait, there is
   no such thread. So this thread takes the signal itself, and all others have to block it. *)
let rec serve form signal =
  match Thread.wait_signal [ signal ] with
  | (_ : int) ->
      report form;
      serve form signal
  | exception Unix.Unix_error (EINTR, _, _) -> serve form signal
  | exception e ->
      (* This thread must not end, because it is still counted as a helper. *)
      Debug_helpers.write
        (Printf.sprintf
           "concord: no more reports on this signal, because waiting for it \
            failed: %s\n"
           (Printexc.to_string e));
      while true do
        Thread.delay 1e6
      done

(* --- Do the other threads block the signal? --------------------------------------- *)

let blocked_by thread =
  let file = Printf.sprintf "/proc/%s/status" thread in
  let prefix = "SigBlk:" in
  let rec find input =
    match In_channel.input_line input with
    | None -> None
    | Some line when String.starts_with ~prefix line ->
        let n = String.length prefix in
        let mask = String.trim (String.sub line n (String.length line - n)) in
        Int64.of_string_opt ("0x" ^ mask)
    | Some _ -> find input
  in
  (* The thread has ended, or the system is not Linux. *)
  try In_channel.with_open_bin file find with Sys_error _ -> None

let other_blocks_not bit thread =
  match blocked_by ("self/task/" ^ thread) with
  | Some blocked -> Int64.logand blocked bit = 0L
  | None -> false

let threads () =
  try Array.to_list (Sys.readdir "/proc/self/task") with Sys_error _ -> []

(* [f ()] makes the calling thread block one more signal, whose bit in the masks of Linux is
   [bit]. If the thread already blocked that signal, the program has made sure of the rest, so
   the result is [true]. *)
let all_block_what f =
  let before = blocked_by "thread-self" in
  f ();
  match (before, blocked_by "thread-self") with
  | Some before, Some after ->
      let bit = Int64.logand after (Int64.lognot before) in
      bit = 0L || not (List.exists (other_blocks_not bit) (threads ()))
  | None, _ | _, None -> true

(* --- Once for each signal --------------------------------------------------------- *)

(* [signals] are the signals for which this process has a thread, or will have one soon. *)
type served = { process : int; signals : int list }

let served = Atomic.make { process = 0; signals = [] }

let rec begin_to_serve signal =
  let before = Atomic.get served and process = Unix.getpid () in
  let signals = if before.process = process then before.signals else [] in
  (not (List.mem signal signals))
  && (Atomic.compare_and_set served before
        { process; signals = signal :: signals }
     || begin_to_serve signal)

let forget signal =
  Atomically.update served (fun served ->
      let signals = List.filter (fun other -> other <> signal) served.signals in
      { served with signals })

let start form signal =
  let mask = Thread.sigmask SIG_BLOCK [] in
  try
    let block () = ignore (Thread.sigmask SIG_BLOCK [ signal ] : int list) in
    let all_block = all_block_what block in
    let now = Thread.sigmask SIG_BLOCK [] in
    (* [signal] may be the system's number, but [now] contains OCaml's number for it. *)
    if not (List.mem signal now || List.compare_lengths now mask > 0) then
      invalid_arg
        (Printf.sprintf
           "Debug.dump_on_signal: %s is not a signal that can be blocked"
           (Concord_stub.Signal_names.name_and_number signal));
    if not all_block then
      invalid_arg
        "Debug.dump_on_signal: another thread does not block the signal, so \
         call this before you start threads";
    Debug_helpers.start (fun () -> serve form signal)
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    ignore (Thread.sigmask SIG_SETMASK mask : int list);
    forget signal;
    Printexc.raise_with_backtrace e backtrace

let dump_on ?(form = Text) signal =
  if Sys.win32 then
    invalid_arg "Debug.dump_on_signal: this system has no signals";
  Waits.keep ();
  if begin_to_serve signal then start form signal
