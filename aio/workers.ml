module Promise = Concord.Promise

let most = 4
let patience = 0.1
let threads = 64

type kind = Files | Names

(* One thread, while it has a job. *)
type busy = { since : float; of_kind : kind }

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
  files : (unit -> unit) Queue.t;
  names : (unit -> unit) Queue.t;
  mutable busy : busy list;
  mutable running : int;  (** Threads, but for the one that watches. *)
  mutable idle : int;
  mutable watched : bool;  (** A thread looks for those that take long. *)
  uncomputed : int Atomic.t;
}

let create process =
  {
    process;
    mutex = Stdlib.Mutex.create ();
    changed = Stdlib.Condition.create ();
    files = Queue.create ();
    names = Queue.create ();
    busy = [];
    running = 0;
    idle = 0;
    watched = false;
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
    Concord.Structure_kit.update inherited (List.cons t);
    ignore (Atomic.compare_and_set current t (create process) : bool);
    here ()
  end

(* --- Whose turn it is ----------------------------------------------------- *)

let queue t = function Files -> t.files | Names -> t.names

let has_room t kind =
  let limit = Unix.gettimeofday () -. patience in
  let counts { since; of_kind } = of_kind = kind && since > limit in
  List.compare_length_with (List.filter counts t.busy) most < 0

let is_next t kind = (not (Queue.is_empty (queue t kind))) && has_room t kind

let next_kind t =
  if is_next t Files then Some Files
  else if is_next t Names then Some Names
  else None

let waiting t = Queue.length t.files + Queue.length t.names

(* The next job; [None] if the thread is to end: one more than [most] are idle, or in another
   domain than the main one any is, for a thread keeps its domain from ending. *)
let next t =
  Stdlib.Mutex.protect t.mutex @@ fun () ->
  let rec next () =
    match next_kind t with
    | Some of_kind ->
        let busy = { since = Unix.gettimeofday (); of_kind } in
        t.busy <- busy :: t.busy;
        Some (busy, Queue.take (queue t of_kind))
    | None when Domain.is_main_domain () && t.idle < most ->
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
  | Some (busy, job) ->
      job ();
      Stdlib.Mutex.protect t.mutex (fun () ->
          t.busy <- List.filter (( != ) busy) t.busy);
      work t
  | None -> ()

(* As long as a function runs nobody knows when somebody is resumed. A thread that was
   woken, and has not gone on yet, is still among the idle ones; so is what it was woken
   for among the jobs. *)
let helpers () : Concord__Others.helpers =
  let t = Atomic.get current in
  if t.process <> Unix.getpid () || Atomic.get t.uncomputed > 0 then
    { idle = 0; busy = 0 }
  else
    Stdlib.Mutex.protect t.mutex (fun () ->
        let idle = if waiting t = 0 then t.idle else 0 in
        let watching = if t.watched then 1 else 0 in
        { Concord__Others.idle; busy = t.running + watching - idle })

let () = Concord__Others.add_helpers helpers

(* --- Threads -------------------------------------------------------------- *)

(* The program's handlers may raise, which would end the thread. *)
let all_signals = List.init 64 succ

let start f t =
  let signals = Thread.sigmask SIG_BLOCK all_signals in
  let unblock () = ignore (Thread.sigmask SIG_SETMASK signals : int list) in
  Fun.protect ~finally:unblock (fun () -> ignore (Thread.create f t : Thread.t))

let start_worker t =
  start work t;
  t.running <- t.running + 1

(* While jobs wait. *)
let rec watch t =
  Thread.delay (patience /. 2.);
  let go_on =
    Stdlib.Mutex.protect t.mutex @@ fun () ->
    if Option.is_some (next_kind t) then
      if t.idle > 0 then Stdlib.Condition.broadcast t.changed
      else if t.running < threads then start_worker t;
    if waiting t = 0 then t.watched <- false;
    t.watched
  in
  if go_on then watch t

let post kind job =
  let t = here () in
  Stdlib.Mutex.protect t.mutex @@ fun () ->
  let free = has_room t kind in
  if free && t.idle <= waiting t && t.running < threads then start_worker t;
  Atomic.incr t.uncomputed;
  Queue.push (fun () -> job t) (queue t kind);
  if free then Stdlib.Condition.signal t.changed
  else if not t.watched then begin
    start watch t;
    t.watched <- true
  end

(* --- Jobs ----------------------------------------------------------------- *)

(* [begun]: false until the thread begins, or the task that was cancelled revokes the job:
   one of the two sets it. *)
type 'a job = { promise : 'a Promise.t; begun : bool Atomic.t }

let name t =
  Stdlib.Mutex.protect t.mutex @@ fun () ->
  if t.running < threads then "a job of a thread"
  else
    Printf.sprintf
      "a job of a thread, for which %d others wait; all %d threads are busy"
      (waiting t) threads

let start_job kind drop f =
  let promise = Promise.create ~name:(name (here ())) () in
  let begun = Atomic.make false in
  post kind (fun t ->
      if Atomic.exchange begun true then Atomic.decr t.uncomputed
      else
        match f () with
        | v ->
            Atomic.decr t.uncomputed;
            if not (Promise.try_fill promise v) then drop v
        | exception e ->
            let backtrace = Printexc.get_raw_backtrace () in
            Atomic.decr t.uncomputed;
            ignore (Promise.try_fail ~backtrace promise e : bool));
  { promise; begun }

let revoke { begun; _ } = not (Atomic.exchange begun true)

(* Whoever comes first decides: the thread that fills the promise, or the task. *)
let run ?(drop = ignore) kind f =
  let ({ promise; _ } as job) = start_job kind drop f in
  try Promise.await promise
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if (not (revoke job)) && not (Promise.try_fail ~backtrace promise e) then
      begin match Promise.peek promise with
      | Some (Ok v) -> drop v
      | Some (Error _) | None -> ()
      end;
    Printexc.raise_with_backtrace e backtrace

let run_protected kind f =
  let ({ promise; _ } as job) = start_job kind ignore f in
  try Promise.await promise
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if Promise.peek promise = None && revoke job then
      Printexc.raise_with_backtrace e backtrace
    else Concord.Suspend.protect (fun () -> Promise.await promise)
