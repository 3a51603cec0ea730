module Promise = Concord.Promise

let most = 4

(* All of these are guarded by [mutex]. In a child process no thread of the parent's is
   left, which [process] shows. *)
let mutex = Stdlib.Mutex.create ()
let changed = Stdlib.Condition.create ()
let jobs : (unit -> unit) Queue.t = Queue.create ()
let running = ref 0
let idle = ref 0
let process = ref 0

(* The next job; in another domain than the main one [None] if there is none, for a
   thread keeps its domain from ending. *)
let next () =
  Stdlib.Mutex.protect mutex @@ fun () ->
  let rec next () =
    match Queue.take_opt jobs with
    | Some _ as job -> job
    | None when Domain.is_main_domain () ->
        incr idle;
        Stdlib.Condition.wait changed mutex;
        decr idle;
        next ()
    | None ->
        decr running;
        None
  in
  next ()

let rec work () =
  match next () with
  | Some job ->
      job ();
      work ()
  | None -> ()

let all_signals = List.init 64 succ

let start () =
  let signals = Thread.sigmask SIG_BLOCK all_signals in
  let unblock () = ignore (Thread.sigmask SIG_SETMASK signals : int list) in
  Fun.protect ~finally:unblock (fun () ->
      ignore (Thread.create work () : Thread.t))

let post job =
  Stdlib.Mutex.protect mutex @@ fun () ->
  let here = Unix.getpid () in
  if !process <> here then begin
    process := here;
    Queue.clear jobs;
    running := 0;
    idle := 0
  end;
  if !idle <= Queue.length jobs && !running < most then begin
    start ();
    incr running
  end;
  Queue.push job jobs;
  Stdlib.Condition.signal changed

let start_job drop f =
  let promise = Promise.create () in
  post (fun () ->
      match f () with
      | v -> if not (Promise.try_fill promise v) then drop v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          ignore (Promise.try_fail ~backtrace promise e : bool));
  promise

(* Whoever comes first decides: the thread that fills the promise, or the task. *)
let run ?(drop = ignore) f =
  let promise = start_job drop f in
  try Promise.await promise
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if not (Promise.try_fail ~backtrace promise e) then
      begin match Promise.peek promise with
      | Some (Ok v) -> drop v
      | Some (Error _) | None -> ()
      end;
    Printexc.raise_with_backtrace e backtrace

let run_protected f =
  let promise = start_job ignore f in
  Concord.Suspend.protect (fun () -> Promise.await promise)
