module Promise = Concord.Promise

let most = 4
let patience = 0.1
let threads = 64

type kind = Files | Names

(* [uncomputed] is the number of functions that were given to [run] and have not ended

   State    To     By whom
   n        n + 1  [post], with the job that it adds to [jobs]
   n + 1    n      the thread that ran the function, before it resumes a task

   [mutex] guards all other fields. *)
type t = {
  mutex : Stdlib.Mutex.t;
  changed : Stdlib.Condition.t;
  jobs : (unit -> unit) Queue.t;
  mutable busy : float ref list;  (** When each running job began. *)
  mutable running : int;
      (** The number of threads, without the one that watches. *)
  mutable idle : int;
  mutable watched : bool;  (** [true] while a thread watches for long jobs. *)
  uncomputed : int Atomic.t;
}

let create () =
  {
    mutex = Stdlib.Mutex.create ();
    changed = Stdlib.Condition.create ();
    jobs = Queue.create ();
    busy = [];
    running = 0;
    idle = 0;
    watched = false;
    uncomputed = Atomic.make 0;
  }

let files = Per_process.create create
let names = Per_process.create create

let here = function
  | Files -> Per_process.get files
  | Names -> Per_process.get names

(* --- Room for jobs -------------------------------------------------------- *)

let has_room t =
  let limit = Unix.gettimeofday () -. patience in
  let counts since = !since > limit in
  List.compare_length_with (List.filter counts t.busy) most < 0

let waiting t = Queue.length t.jobs
let is_next t = waiting t > 0 && has_room t

(* --- Threads -------------------------------------------------------------- *)

(* Signals are blocked, because a signal handler of the program may raise, which would end the
   thread. *)
let start f t =
  Concord.Private.Signals.while_blocked (fun _ ->
      ignore (Thread.create f t : Thread.t))

(* The next job, or [None] if the thread should end. It ends if [most] threads are idle
   already. In another domain than the main one it ends instead of being idle, because a thread
   keeps its domain from ending. If jobs are left because there is no room, the thread has them
   watched. *)
let rec next t =
  if is_next t then begin
    let since = ref (Unix.gettimeofday ()) in
    t.busy <- since :: t.busy;
    Some (since, Queue.take t.jobs)
  end
  else begin
    if waiting t > 0 then have_watched t;
    if Domain.is_main_domain () && t.idle < most then begin
      t.idle <- t.idle + 1;
      Stdlib.Condition.wait t.changed t.mutex;
      t.idle <- t.idle - 1;
      next t
    end
    else begin
      t.running <- t.running - 1;
      None
    end
  end

and work t =
  match Stdlib.Mutex.protect t.mutex (fun () -> next t) with
  | Some (since, job) ->
      job ();
      Stdlib.Mutex.protect t.mutex (fun () ->
          t.busy <- List.filter (( != ) since) t.busy);
      work t
  | None -> ()

and start_worker t =
  start work t;
  t.running <- t.running + 1

(* Runs in a thread of its own while jobs wait. *)
and watch t =
  Thread.delay (patience /. 2.);
  let go_on =
    Stdlib.Mutex.protect t.mutex @@ fun () ->
    if is_next t then begin
      Stdlib.Condition.broadcast t.changed;
      for _ = t.idle + 1 to Int.min most (waiting t) do
        if t.running < threads then start_worker t
      done
    end;
    t.watched <- waiting t > 0;
    t.watched
  in
  if go_on then watch t

and have_watched t =
  if not t.watched then begin
    start watch t;
    t.watched <- true
  end

(* While a function runs, it isn't known when a task will be resumed. A thread that was woken
   and has not continued yet is still counted in [idle]. But its job is still in [jobs], so
   then no thread counts as idle. *)
let helpers_of kind () : Concord.Private.Others.helpers =
  let t = here kind in
  if Atomic.get t.uncomputed > 0 then { idle = 0; busy = 0 }
  else
    Stdlib.Mutex.protect t.mutex (fun () ->
        let idle = if waiting t = 0 then t.idle else 0 in
        let watching = if t.watched then 1 else 0 in
        { Concord.Private.Others.idle; busy = t.running + watching - idle })

let () =
  Concord.Private.Others.add_helpers (helpers_of Files);
  Concord.Private.Others.add_helpers (helpers_of Names)

let post t job =
  Stdlib.Mutex.protect t.mutex @@ fun () ->
  let free = has_room t in
  if free && t.idle <= waiting t && t.running < threads then start_worker t;
  Atomic.incr t.uncomputed;
  Queue.push job t.jobs;
  if free then Stdlib.Condition.signal t.changed else have_watched t

let running () =
  let t = here Files in
  Stdlib.Mutex.protect t.mutex (fun () -> t.running)

(* --- Jobs ----------------------------------------------------------------- *)

let name t =
  Stdlib.Mutex.protect t.mutex @@ fun () ->
  if t.running < threads then "a job of a thread"
  else Printf.sprintf "a job, while all %d threads are busy" threads

let settle promise drop = function
  | Ok v -> if not (Promise.try_fill promise v) then drop v
  | Error (e, backtrace) ->
      ignore (Promise.try_fail ~backtrace promise e : bool)

(* If the promise of a job has failed before the job begins, the function isn't called. *)
let start_job kind drop f =
  let t = here kind in
  let promise = Promise.create ~name:(name t) () in
  let job () =
    let outcome =
      if Promise.is_resolved promise then None
      else
        match f () with
        | v -> Some (Ok v)
        | exception e -> Some (Error (e, Printexc.get_raw_backtrace ()))
    in
    Atomic.decr t.uncomputed;
    Option.iter (settle promise drop) outcome
  in
  (* If no thread can be started, the job may be left for a thread that runs already. *)
  try
    post t job;
    promise
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    ignore (Promise.try_fail ~backtrace promise e : bool);
    Printexc.raise_with_backtrace e backtrace

(* The thread that fills the promise and the task that is cancelled race for the promise. If the
   thread was first, the task drops the value. *)
let run ?(drop = ignore) kind f =
  let promise = start_job kind drop f in
  try Promise.await promise
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if not (Promise.try_fail ~backtrace promise e) then
      begin match Promise.peek promise with
      | Some (Ok v) -> drop v
      | Some (Error _) | None -> ()
      end;
    Printexc.raise_with_backtrace e backtrace

(* [begun] is set by the thread when it begins, or by the cancelled task when it revokes the
   job. The first of the two decides. *)
let run_protected kind f =
  let begun = Atomic.make false in
  let job () = if Atomic.exchange begun true then raise Exit else f () in
  let promise = start_job kind ignore job in
  try Promise.await promise
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if Atomic.exchange begun true then
      match Uncancelled.await promise with
      | Ok v -> v
      | Error _ -> Promise.await promise
    else Printexc.raise_with_backtrace e backtrace
