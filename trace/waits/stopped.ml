external seize : int -> int = "concord_trace_seize" [@@noalloc]
external interrupt : int -> int = "concord_trace_interrupt" [@@noalloc]
external stopped : int -> int = "concord_trace_stopped" [@@noalloc]
external release : int -> int -> int = "concord_trace_release" [@@noalloc]

(* The threads that were seized. [signal] is a signal that a thread was about to get, and gets
   when it is released. *)
type state = Running | Stopped of { signal : int } | Ended
type thread = { tid : int; mutable state : state }

let patience = 5.
let now () = Int64.to_float (Mtime_clock.now_ns ()) *. 1e-9

let threads pid =
  match Sys.readdir (Printf.sprintf "/proc/%d/task" pid) with
  | names -> List.filter_map int_of_string_opt (Array.to_list names)
  | exception Sys_error _ -> Refused.refuse "process %d has ended" pid

(* A thread may have ended since its number was read. *)
let take pid known tid =
  if seize tid = 0 then begin
    Hashtbl.replace known tid { tid; state = Running };
    ignore (interrupt tid : int)
  end
  else if Process.has_ended pid ~thread:tid then
    Hashtbl.replace known tid { tid; state = Ended }
  else Process.refuse_access pid

let await pid deadline thread =
  let rec await () =
    match stopped thread.tid with
    | 0 when now () > deadline ->
        Refused.refuse
          "thread %d of process %d doesn't stop, because it is inside the \
           kernel. The process continues. Try again later"
          thread.tid pid
    | 0 ->
        (try Unix.sleepf 0.0002 with Unix.Unix_error (EINTR, _, _) -> ());
        await ()
    | found when found > 0 -> thread.state <- Stopped { signal = found - 1 }
    | _ -> thread.state <- Ended
  in
  if thread.state = Running then await ()

(* Until all threads have stopped, one that runs may start another one. *)
let rec stop pid deadline known =
  let unknown =
    List.filter (fun tid -> not (Hashtbl.mem known tid)) (threads pid)
  in
  if unknown <> [] then begin
    List.iter (take pid known) unknown;
    Hashtbl.iter (fun _ thread -> await pid deadline thread) known;
    stop pid deadline known
  end

(* Only a stopped thread can be released. If one is still running, it stops soon, and is released
   by the kernel at the latest when this process ends. *)
let release_all known =
  Hashtbl.iter
    (fun _ { tid; state } ->
      match state with
      | Stopped { signal } -> ignore (release tid signal : int)
      | Running | Ended -> ())
    known

let within pid f =
  let known = Hashtbl.create 16 in
  Fun.protect
    ~finally:(fun () -> release_all known)
    (fun () ->
      stop pid (now () +. patience) known;
      f ())
