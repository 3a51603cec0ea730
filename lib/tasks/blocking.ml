(* [begun] of a call

   State  Left by  To    By whom
   false  compute  true  the thread that takes the call
          cancel   true  any thread. The function is never called
   true   never (terminal)

   After that, the thread that has computed the result and the task that is cancelled race for
   the promise. The one that comes second drops the value.

   [uncomputed] of a state is the number of functions that were given to threads, and have not
   ended

   State  To     By whom
   n      n + 1  [post], with the call that it hands over
   n + 1  n      the thread that ran the function, before it resumes a task

   [order] of a worker, guarded by its [mutex]

   State    Left by  To       By whom
   Nothing  give     Run job  the thread that calls, which took the worker out of [idle]
            give     End      the end of the worker's domain, which did the same
   Run, End await    Nothing  the worker

   [mutex] of a state guards its other fields. *)
(* The result of [run] is the function that resumes the caller. *)
type job = {
  run : Signals.mask -> unit -> unit;
  fail : exn -> Printexc.raw_backtrace -> unit;
}

type order = Nothing | Run of job | End

(* [over] becomes [true] when the domain of the thread ends. [mask] is that of the task that
   started the thread. *)
type worker = {
  mutex : Stdlib.Mutex.t;
  given : Stdlib.Condition.t;
  mutable order : order;
  over : bool Atomic.t;
  mask : Signals.mask;
  resumes : bool Atomic.t;  (** [true] until it has resumed its caller. *)
}

type state = {
  mutex : Stdlib.Mutex.t;
  waiting : job Queue.t;
  mutable idle : worker list;  (** The one that became idle last comes first. *)
  mutable threads : int;
  mutable workers : worker list;
      (** Those that have begun. They are here for the child of a fork, see [t].
      *)
  uncomputed : int Atomic.t;
  busy_ns : int Atomic.t;
      (** For how long functions have run, of those that have ended and were
          measured. *)
}

(* [states], with the number of each process. The child of a fork has none of the threads.

   State   Left by  To          By whom
   states  here     a new one,  any thread, if the first state belongs to another process
                    and states

   The states of the parents are kept. The collection of a condition variable on which a thread
   waited when the process was forked would block forever. *)
type t = {
  name : string option;
  most : int;
  states : (int * state) list Atomic.t;
}

let most_idle = 16

let create_state () =
  {
    mutex = Stdlib.Mutex.create ();
    waiting = Queue.create ();
    idle = [];
    threads = 0;
    workers = [];
    uncomputed = Atomic.make 0;
    busy_ns = Atomic.make 0;
  }

let rec here t =
  let process = Unix.getpid () in
  match Atomic.get t.states with
  | (number, state) :: _ when number = process -> state
  | parents ->
      let states = (process, create_state ()) :: parents in
      ignore (Atomic.compare_and_set t.states parents states : bool);
      here t

(* --- Workers ---------------------------------------------------------------- *)

let give (worker : worker) order =
  Stdlib.Mutex.protect worker.mutex (fun () ->
      worker.order <- order;
      Stdlib.Condition.signal worker.given)

let await (worker : worker) =
  Stdlib.Mutex.protect worker.mutex @@ fun () ->
  while worker.order == Nothing do
    Stdlib.Condition.wait worker.given worker.mutex
  done;
  let order = worker.order in
  worker.order <- Nothing;
  order

(* [Nothing] means that the worker is idle now. *)
let next s worker =
  Stdlib.Mutex.protect s.mutex @@ fun () ->
  match Queue.take_opt s.waiting with
  | Some job -> Run job
  | None when Atomic.get worker.over || List.length s.idle >= most_idle -> End
  | None ->
      s.idle <- worker :: s.idle;
      Nothing

let remove s ended =
  s.threads <- s.threads - List.length ended;
  s.workers <- List.filter (fun w -> not (List.memq w ended)) s.workers

(* While the worker was resuming the caller, it still counted. So a call may have been left to
   it. *)
let leave s worker =
  Stdlib.Mutex.protect s.mutex @@ fun () ->
  match Queue.take_opt s.waiting with
  | Some job -> Run job
  | None ->
      remove s [ worker ];
      End

(* The worker is idle before it resumes the caller, so the caller's next call takes it again. *)
let rec serve s worker = function
  | Run job ->
      Atomic.set worker.resumes true;
      let resume = job.run worker.mask in
      let order = next s worker in
      resume ();
      Atomic.set worker.resumes false;
      serve s worker (if order == End then leave s worker else order)
  | Nothing -> serve s worker (await worker)
  | End -> ()

(* --- The end of a domain ------------------------------------------------------ *)

(* A thread keeps its domain from ending. So when the domain ends, its idle threads do. Those of
   the main domain don't keep the program from ending. *)
type domain = { ends : bool Atomic.t; states : state list Atomic.t }

let end_idle ends s =
  let ended =
    Stdlib.Mutex.protect s.mutex @@ fun () ->
    let ended, idle = List.partition (fun w -> w.over == ends) s.idle in
    s.idle <- idle;
    remove s ended;
    ended
  in
  List.iter (fun worker -> give worker End) ended

let create_domain () =
  let ends = Atomic.make false and states = Atomic.make [] in
  if not (Domain.is_main_domain ()) then
    Domain.at_exit (fun () ->
        Atomic.set ends true;
        List.iter (end_idle ends) (Atomic.get states));
  { ends; states }

let domains = Domain.DLS.new_key create_domain

let this_domain s =
  let { ends; states } = Domain.DLS.get domains in
  Atomically.update states (fun states ->
      if List.memq s states then states else s :: states);
  ends

(* --- Calls -------------------------------------------------------------------- *)

(* Signals are blocked, because a handler may raise, which would end the thread. *)
let start_worker s job =
  let over = this_domain s in
  Signals.while_blocked (fun mask ->
      let (worker : worker) =
        {
          mutex = Stdlib.Mutex.create ();
          given = Stdlib.Condition.create ();
          order = Nothing;
          over;
          mask;
          resumes = Atomic.make true;
        }
      in
      Stdlib.Mutex.protect s.mutex (fun () -> s.workers <- worker :: s.workers);
      match Thread.create (serve s worker) (Run job) with
      | (_ : Thread.t) -> ()
      | exception e ->
          Stdlib.Mutex.protect s.mutex (fun () ->
              s.workers <- List.filter (( != ) worker) s.workers);
          raise e)

type found = Idle of worker | Room | Full

let find t s job =
  Stdlib.Mutex.protect s.mutex @@ fun () ->
  ignore (Atomic.fetch_and_add s.uncomputed 1 : int);
  match s.idle with
  | worker :: idle ->
      s.idle <- idle;
      Idle worker
  | [] when s.threads < t.most ->
      s.threads <- s.threads + 1;
      Room
  | [] ->
      Queue.push job s.waiting;
      Full

let no_thread t = function
  | Sys_error reason | Failure reason ->
      Sys_error
        (Printf.sprintf
           "Concord.Blocking: no thread can be started for a call%s (%s). \
            Raise the limit of threads or memory, or create the pool with a \
            smaller ~threads"
           (Option.fold t.name ~none:"" ~some:(Printf.sprintf " of %s"))
           reason)
  | e -> e

(* If no thread can be started, one that runs already takes the call. If there is none, nobody
   would take those that wait either. *)
let leave_to_others t s job e =
  let backtrace = Printexc.get_raw_backtrace () in
  let e = no_thread t e in
  let found, abandoned =
    Stdlib.Mutex.protect s.mutex @@ fun () ->
    s.threads <- s.threads - 1;
    match s.idle with
    | worker :: idle ->
        s.idle <- idle;
        (Idle worker, [])
    | [] when s.threads > 0 ->
        Queue.push job s.waiting;
        (Full, [])
    | [] ->
        let abandoned = List.of_seq (Queue.to_seq s.waiting) in
        Queue.clear s.waiting;
        (Room, abandoned)
  in
  match found with
  | Idle worker -> give worker (Run job)
  | Full -> ()
  | Room ->
      List.iter (fun job -> job.fail e backtrace) abandoned;
      ignore (Atomic.fetch_and_add s.uncomputed (-1) : int);
      Printexc.raise_with_backtrace e backtrace

let post t s job =
  match find t s job with
  | Idle worker -> give worker (Run job)
  | Room -> (
      match start_worker s job with
      | () -> ()
      | exception e -> leave_to_others t s job e)
  | Full -> ()

let promise t =
  if Observer.are_kept () then
    let pool = Option.fold t.name ~none:"" ~some:(Printf.sprintf " of %s") in
    Promise.create ~name:("a blocking call" ^ pool) ()
  else Promise.create ()

let settle promise drop = function
  | Ok v -> if not (Promise.try_fill promise v) then drop v
  | Error (e, backtrace) ->
      ignore (Promise.try_fail ~backtrace promise e : bool)

(* Functions of [Promise.on_resolve], and [drop], may raise. No code waits for that. *)
let quietly f v = try f v with _ -> ()

let measured s compute mask =
  if not (Observer.measures ()) then compute mask
  else
    let begun_ns = Nudge.now_ns () in
    let outcome = compute mask in
    let ns = Nudge.now_ns () - begun_ns in
    ignore (Atomic.fetch_and_add s.busy_ns ns : int);
    outcome

let start t ~signals ~drop f =
  let s = here t and promise = promise t and begun = Atomic.make false in
  let origin = if Observer.are_kept () then Some (Forks.here ()) else None in
  let compute mask =
    Filler.add_thread ?origin ~is_resolved:Promise.is_resolved promise;
    match if signals then Signals.under mask f else f () with
    | v -> Ok v
    | exception e -> Error (e, Printexc.get_raw_backtrace ())
  in
  let run mask =
    if Atomic.exchange begun true then begin
      ignore (Atomic.fetch_and_add s.uncomputed (-1) : int);
      ignore
    end
    else begin
      let outcome = measured s compute mask in
      ignore (Atomic.fetch_and_add s.uncomputed (-1) : int);
      fun () -> quietly (settle promise drop) outcome
    end
  and fail e backtrace =
    ignore (Atomic.fetch_and_add s.uncomputed (-1) : int);
    if not (Atomic.exchange begun true) then
      quietly (settle promise drop) (Error (e, backtrace))
  in
  post t s { run; fail };
  (promise, fun () -> not (Atomic.exchange begun true))

let await_or_drop (promise, cancel) ~drop =
  match Promise.await promise with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if not (cancel () || Promise.try_fail ~backtrace promise e) then
        begin match Promise.peek promise with
        | Some (Ok v) -> drop v
        | Some (Error _) | None -> ()
        end;
      Printexc.raise_with_backtrace e backtrace

(* --- For users ------------------------------------------------------------------ *)

(* While a function runs, it isn't known when a task will be resumed. *)
let helpers t () =
  let s = here t in
  if Atomic.get s.uncomputed > 0 then { Helpers.idle = 0; busy = 0 }
  else
    Stdlib.Mutex.protect s.mutex (fun () ->
        let is_idle worker = not (Atomic.get worker.resumes) in
        let idle = List.length (List.filter is_idle s.idle) in
        { Helpers.idle; busy = s.threads - idle })

let figures t =
  let s = here t in
  let waiting =
    Stdlib.Mutex.protect s.mutex (fun () -> Queue.length s.waiting)
  in
  [
    Observer.Length waiting;
    Used (Int.max 0 (Atomic.get s.uncomputed - waiting));
    Limit t.most;
    Busy_ns (Atomic.get s.busy_ns);
  ]

let create ?name ?(threads = 64) () =
  if threads < 1 then
    invalid_arg
      (Printf.sprintf "Blocking.create: threads must be at least 1, not %d"
         threads);
  let t = { name; most = threads; states = Atomic.make [] } in
  Helpers.add (helpers t);
  Observer.made ~kind:"blocking calls" ?name ~figures t

let default = create ()

let run ?(pool = default) ?(signals = false) ?(drop = ignore) f =
  let f = Locals.carry f in
  await_or_drop (start pool ~signals ~drop f) ~drop

let submit ?(pool = default) ?(signals = false) f =
  let f = Locals.carry f in
  fst (start pool ~signals ~drop:ignore f)

let threads t =
  let s = here t in
  Stdlib.Mutex.protect s.mutex (fun () -> s.threads)

let waiting t =
  let s = here t in
  Stdlib.Mutex.protect s.mutex (fun () -> Queue.length s.waiting)
