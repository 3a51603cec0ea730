(* A handler in C counts each signal and writes a byte to a pipe
   ([lib/stub/caught_signals.c]). One thread of the process reads the pipe, and checks the
   counts for all waiters. So no OCaml code runs when a signal comes. *)
module Caught = Concord_stub.Caught_signals

(* [check] finds out whether a signal has come. Only the thread that reads the pipe calls it.
   [fail] is called if that thread can't be started. *)
type waiter = {
  caught : (Caught.number * Caught.since) list;
  every : bool;
  check : unit -> unit;
  fail : exn -> Printexc.raw_backtrace -> unit;
}

(* [this_process] is replaced once in each process, by the first thread that waits for a signal
   there. The descriptors are never closed, because the handler may be about to write to
   them. *)
type process = {
  number : int;
  to_read : Unix.file_descr;
  to_write : Unix.file_descr;
  reading : waiter Reading.t;
}

let this_process = Atomic.make None

let rec current () =
  let before = Atomic.get this_process and number = Unix.getpid () in
  match before with
  | Some process when process.number = number -> process
  | None | Some _ ->
      let to_read, to_write = Unix.pipe ~cloexec:true () in
      Unix.set_nonblock to_write;
      let reading = Reading.create () in
      let after = { number; to_read; to_write; reading } in
      if Atomic.compare_and_set this_process before (Some after) then after
      else begin
        (* another domain was faster *)
        Unix.close to_read;
        Unix.close to_write;
        current ()
      end

(* --- Catching ------------------------------------------------------------- *)

let release ~every (number, since) = Caught.release number since ~every

(* Catches all of the signals, or none. *)
let catch function_ { to_write; _ } ~every numbers =
  let catch_one caught number =
    match Caught.catch to_write number ~every with
    | Some since -> (number, since) :: caught
    | None ->
        List.iter (release ~every) caught;
        failwith
          (Printf.sprintf "%s: the system refuses to catch %s" function_
             (Caught.name (number :> int)))
  in
  List.rev (List.fold_left catch_one [] numbers)

let has_come (number, since) = Caught.come number ~since > 0

(* --- The reader ----------------------------------------------------------- *)

let wake { to_write; _ } =
  try ignore (Unix.write_substring to_write "!" 0 1 : int)
  with Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()

let check_one { check; _ } =
  try check ()
  with e ->
    (* a function of [Promise.on_resolve] raised *)
    let backtrace = Printexc.get_raw_backtrace () in
    Printexc.default_uncaught_exception_handler e backtrace

let rec read process bytes =
  (try ignore (Unix.read process.to_read bytes 0 (Bytes.length bytes) : int)
   with Unix.Unix_error (EINTR, _, _) -> ());
  List.iter check_one (Reading.waiters process.reading);
  if not (Reading.ends process.reading) then read process bytes

(* Outside of the main domain, the reader is a domain of its own, because a thread would keep
   its domain from ending. *)
let start process =
  let run () = read process (Bytes.create 64) in
  try
    if Domain.is_main_domain () then ignore (Thread.create run () : Thread.t)
    else ignore (Domain.spawn run : unit Domain.t)
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    let abandon { caught; every; fail; _ } =
      List.iter (release ~every) caught;
      fail e backtrace
    in
    List.iter abandon (Reading.abandon process.reading);
    Printexc.raise_with_backtrace e backtrace

(* A signal that came before this is not missed, because the reader then checks all waiters. *)
let add process w =
  begin match Reading.add process.reading w with
  | Start -> start process
  | Wake -> ()
  end;
  wake process

(* In the child of a fork, this does nothing. The child shares the pipe with its parent, but
   has none of the parent's waiters. *)
let withdraw process w =
  if process.number = Unix.getpid () then
    match Reading.remove process.reading w with
    | Absent -> ()
    | Others -> List.iter (release ~every:w.every) w.caught
    | Last ->
        List.iter (release ~every:w.every) w.caught;
        wake process

(* Unbroken, because otherwise the signal is caught forever. *)
let rec surely_withdraw process w =
  try Signals.while_blocked (fun _ -> withdraw process w)
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    surely_withdraw process w;
    Printexc.raise_with_backtrace e backtrace

(* --- Waiting -------------------------------------------------------------- *)

let number function_ signal =
  if Sys.win32 then failwith (function_ ^ ": not available on Windows");
  match Caught.number signal with
  | Some number -> number
  | None ->
      invalid_arg
        (Printf.sprintf "%s: a program can't wait for %s" function_
           (Caught.name_and_number signal))

let once signals =
  if List.is_empty signals then
    invalid_arg "Signal.once: the list of signals is empty";
  let numbers = List.map (number "Signal.once") signals in
  let numbers = List.sort_uniq compare numbers in
  let name =
    String.concat " or " (List.map Caught.name (numbers :> int list))
  in
  let promise = Promise.create ~name () in
  let catch () =
    let process = current () in
    let caught = catch "Signal.once" process ~every:false numbers in
    let check () =
      match List.find_opt has_come caught with
      | Some (number, _) ->
          ignore (Promise.try_fill promise (Caught.named number) : bool)
      | None -> ()
    and fail e backtrace =
      ignore (Promise.try_fail ~backtrace promise e : bool)
    in
    let w = { caught; every = false; check; fail } in
    Promise.on_resolve promise (fun _ -> surely_withdraw process w);
    add process w
  in
  match Signals.while_blocked (fun _ -> catch ()) with
  | () -> promise
  | exception e ->
      (* It failed, or was done. No code has the promise. *)
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (Promise.try_fail ~backtrace promise e : bool);
      Printexc.raise_with_backtrace e backtrace

let with_watch signal f =
  let number = number "Signal.with_watch" signal in
  let watch = Watch.create ~name:(Caught.name (number :> int)) 0 in
  let last = ref 0 and added = ref None in
  let catch () =
    let process = current () in
    let caught = catch "Signal.with_watch" process ~every:true [ number ] in
    let _, since = List.hd caught in
    let check () =
      let count = Caught.come number ~since in
      if count > !last then begin
        last := count;
        try Watch.set watch count with Watch.Closed -> ()
      end
    and fail _ _ = Watch.close watch in
    let w = { caught; every = true; check; fail } in
    added := Some (process, w);
    add process w
  in
  (* Unbroken, so it allocates nothing and doesn't end in a call. *)
  let finish () =
    match !added with
    | Some (process, w) ->
        surely_withdraw process w;
        Watch.close watch;
        ()
    | None -> ()
  in
  match
    Signals.while_blocked (fun _ -> catch ());
    f watch
  with
  | v ->
      finish ();
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      finish ();
      Printexc.raise_with_backtrace e backtrace
