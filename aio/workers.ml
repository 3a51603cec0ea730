module Promise = Concord.Promise

let most = 4

(* [uncomputed]: how many functions were given to [run] and have not ended

   Left by  To     By whom
   n        n + 1  [post], with the job that it adds to [jobs]
   n + 1    n      the thread that ran the function, before it resumes anybody

   All else but [process] is guarded by [mutex]. A child process makes its own: no thread of the
   parent's is left in it, but the parent's mutex may be locked, and its condition variable
   remembers threads that wait. *)
type t = {
  process : int;
  mutex : Stdlib.Mutex.t;
  changed : Stdlib.Condition.t;
  jobs : (unit -> unit) Queue.t;
  mutable running : int;
  mutable idle : int;
  uncomputed : int Atomic.t;
}

let create process =
  {
    process;
    mutex = Stdlib.Mutex.create ();
    changed = Stdlib.Condition.create ();
    jobs = Queue.create ();
    running = 0;
    idle = 0;
    uncomputed = Atomic.make 0;
  }

(* [current]

   State  Left by  To                 By whom
   t      here     t of this process  any thread, in a process that is not [t]'s *)
let current = Atomic.make (create (Unix.getpid ()))

(* Those of the parents of this process. A condition variable on which a thread waited when
   the process was forked must not be collected: to destroy it would block for ever. *)
let inherited = Atomic.make []

let rec here () =
  let t = Atomic.get current and process = Unix.getpid () in
  if t.process = process then t
  else begin
    Concord.Private.Atomically.update inherited (List.cons t);
    ignore (Atomic.compare_and_set current t (create process) : bool);
    here ()
  end

(* The next job; in another domain than the main one [None] if there is none, for a
   thread keeps its domain from ending. *)
let next t =
  Stdlib.Mutex.protect t.mutex @@ fun () ->
  let rec next () =
    match Queue.take_opt t.jobs with
    | Some _ as job -> job
    | None when Domain.is_main_domain () ->
        t.idle <- t.idle + 1;
        Stdlib.Condition.wait t.changed t.mutex;
        t.idle <- t.idle - 1;
        next ()
    | None ->
        t.running <- t.running - 1;
        None
  in
  next ()

let rec work t =
  match next t with
  | Some job ->
      job ();
      work t
  | None -> ()

(* As long as a function runs nobody knows when somebody is resumed. A thread that was
   woken, and has not gone on yet, is still among the idle ones; so is what it was woken
   for among the jobs. *)
let helpers () : Concord.Private.Others.helpers =
  let t = Atomic.get current in
  if t.process <> Unix.getpid () || Atomic.get t.uncomputed > 0 then
    { idle = 0; busy = 0 }
  else
    Stdlib.Mutex.protect t.mutex (fun () ->
        let idle = if Queue.is_empty t.jobs then t.idle else 0 in
        { Concord.Private.Others.idle; busy = t.running - idle })

let () = Concord.Private.Others.add_helpers helpers

(* The program's handlers may raise, which would end the thread. *)
let all_signals = List.init 64 succ

let start t =
  let signals = Thread.sigmask SIG_BLOCK all_signals in
  let unblock () = ignore (Thread.sigmask SIG_SETMASK signals : int list) in
  Fun.protect ~finally:unblock (fun () ->
      ignore (Thread.create work t : Thread.t))

let post job =
  let t = here () in
  Stdlib.Mutex.protect t.mutex @@ fun () ->
  if t.idle <= Queue.length t.jobs && t.running < most then begin
    start t;
    t.running <- t.running + 1
  end;
  Atomic.incr t.uncomputed;
  Queue.push (fun () -> job t) t.jobs;
  Stdlib.Condition.signal t.changed

let start_job drop f =
  let promise = Promise.create () in
  post (fun t ->
      match f () with
      | v ->
          Atomic.decr t.uncomputed;
          if not (Promise.try_fill promise v) then drop v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          Atomic.decr t.uncomputed;
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
  Concord.Tools.Suspend.protect (fun () -> Promise.await promise)
