(* The core of ../service.ml without Concord. It has the same routes, except for /events and the
   page.

   - The main domain, and more domains if asked for, answer HTTP in Eio.
   - A pool of Eio computes.
   - A separate domain runs Lwt's loop, in which caqti accesses the database.

   These domains wait for each other through Eio's stream, semaphore and promises, which work
   across domains, and through the inbox of lwt_domain.ml. *)

open Eio
open Http_message

type outcome = Done of int | Failed of string | Cancelled

(* What the database has of an outcome. *)
type fate = Stored | Lost | Unknown

(* [state], one per job

   State       Left by            To
   Queued      the worker         Taken
               DELETE             Withdrawn
               the end            Withdrawn
   Taken       never
   Withdrawn   never

   The code whose compare-and-set succeeds finishes the job, so each job is finished once. *)
type state = Queued | Taken | Withdrawn

type job = {
  id : int;
  n : int;
  state : state Atomic.t;
  stopped : unit Promise.t;  (** Resolved if its client deletes the job. *)
  stop_it : unit Promise.u;
  ended : outcome option Promise.t;
      (** Resolved after the outcome is in the database. [None] if it may be. *)
  end_it : outcome option Promise.u;
}

(* [jobs] is unbounded, and [room] counts how many more jobs may be added. So a withdrawn job
   makes room at once, but it stays in [jobs] until a worker takes it out. *)
type t = {
  options : Options.t;
  clock : float Time.clock_ty Resource.t;
  pool : Executor_pool.t;
  database : Store.t Lwt_domain.t;
  stop : unit Promise.t;  (** The signal to stop. *)
  room : Semaphore.t;
  jobs : job option Stream.t;  (** [None] ends one worker. *)
  mutex : Stdlib.Mutex.t;
  live : (int, job) Hashtbl.t;
      (** The jobs that are not in the database yet. Protected by the mutex. *)
  next_id : int Atomic.t;
  accepted : int Atomic.t;
  refused : int Atomic.t;
  finished : int Atomic.t;
  failed : int Atomic.t;
  cancelled : int Atomic.t;
  unknown : int Atomic.t;
}

let with_live t f = Stdlib.Mutex.protect t.mutex (fun () -> f t.live)

(* [Time.with_timeout] drops the result of [f] if [f] ends in the same turn in which the time
   is over. Here that result is a job that is already in the queue or in the database. *)
let within t seconds f =
  let combine first second = if Option.is_some first then first else second in
  Fiber.first ~combine
    (fun () -> Some (f ()))
    (fun () ->
      Time.sleep t.clock seconds;
      None)

(* --- The work ------------------------------------------------------------------ *)

exception Stopped

let primes_below stop n =
  let rec has_divisor d k =
    d * d <= k && (k mod d = 0 || has_divisor (d + 1) k)
  in
  let rec count found k =
    if k land 1023 = 0 && Atomic.get stop then raise Stopped;
    if k >= n then found
    else count (if has_divisor 2 k then found else found + 1) (k + 1)
  in
  count 0 2

(* The first of the three events decides the outcome. A cancelled [submit] leaves its function
   running in the pool, so [stop] tells the function to stop. The time that the job waits for a
   domain doesn't count for its limit. *)
let compute t job =
  let stop = Atomic.make false and begun = Atomic.make Float.infinity in
  let limit = t.options.limit in
  let rec sleep seconds =
    Time.sleep t.clock seconds;
    let left = Atomic.get begun +. limit -. Time.now t.clock in
    if left > 0. then sleep (Float.min left limit)
  in
  Fun.protect ~finally:(fun () -> Atomic.set stop true) @@ fun () ->
  Fiber.any
    [
      (fun () ->
        Done
          (Executor_pool.submit_exn t.pool ~weight:1. (fun () ->
               Atomic.set begun (Time.now t.clock);
               primes_below stop job.n)));
      (fun () ->
        Promise.await job.stopped;
        Cancelled);
      (fun () ->
        sleep limit;
        Failed (Printf.sprintf "the job took longer than %g s" limit));
    ]

(* --- The end of a job ------------------------------------------------------------ *)

let text_of = function
  | Done primes -> ("done", string_of_int primes)
  | Failed why -> ("failed", why)
  | Cancelled -> ("cancelled", "")

(* Writes the line in one piece, so that lines of several domains do not mix. *)
let log line =
  output_string stderr (line ^ "\n");
  flush stderr

(* The database may be locked for a while, so this tries again until the time limit. If the
   grace period ends before that, it has [last_chance] seconds more. A statement that has begun is
   always waited for, because a slow disk may complete it. If the job can't be stored, or may not
   be stored, that is reported. *)
let last_chance = 0.5

let store t row =
  let error = ref "the database does not answer" in
  let rec add () =
    try Lwt_domain.call t.database (Store.add row)
    with Caqti.Error.Exn e ->
      error := Caqti.Error.show e;
      Time.sleep t.clock 0.1;
      add ()
  in
  let lost how = log (Printf.sprintf "job %d %s lost: %s" row.id how !error) in
  match
    try within t t.options.limit add
    with Cancel.Cancelled _ ->
      Cancel.protect (fun () -> within t last_chance add)
  with
  | Some () -> Stored
  | None ->
      lost "is";
      Lost
  | exception Store.Unanswered ->
      lost "may be";
      Unknown

(* Once a job is stored, it is also counted and announced, because no later step suspends. *)
let finish t job outcome =
  let status, answer = text_of outcome in
  let outcome =
    match store t { id = job.id; status; answer } with
    | Stored -> Some outcome
    | Lost -> Some (Failed "the database")
    | Unknown -> None
  in
  Atomic.incr
    (match outcome with
    | Some (Done _) -> t.finished
    | Some (Failed _) -> t.failed
    | Some Cancelled -> t.cancelled
    | None -> t.unknown);
  with_live t (fun live -> Hashtbl.remove live job.id);
  Promise.resolve job.end_it outcome

(* If the service has no time left, the job is cancelled, but its outcome is still stored. *)
let perform t job =
  match compute t job with
  | outcome -> finish t job outcome
  | exception e ->
      finish t job Cancelled;
      raise e

let rec work t =
  match Stream.take t.jobs with
  | None -> ()
  | Some job ->
      if Atomic.compare_and_set job.state Queued Taken then begin
        Semaphore.release t.room;
        perform t job
      end;
      work t

let withdraw t job =
  let withdrawn = Atomic.compare_and_set job.state Queued Withdrawn in
  if withdrawn then Semaphore.release t.room;
  withdrawn

(* --- The requests ----------------------------------------------------------------- *)

let stopping t = Promise.is_resolved t.stop

(* Under load it is better to refuse a job at once than to let its client wait. *)
let post t body : Message.answer =
  match Decimal.int (String.trim body) with
  | None -> Message.answer `Bad_request "The body must be a number."
  | Some n -> (
      match within t 0.05 (fun () -> Semaphore.acquire t.room) with
      | Some () when not (stopping t) ->
          let id = 1 + Atomic.fetch_and_add t.next_id 1 in
          let stopped, stop_it = Promise.create ()
          and ended, end_it = Promise.create () in
          let state = Atomic.make Queued in
          let job = { id; n; state; stopped; stop_it; ended; end_it } in
          with_live t (fun live -> Hashtbl.replace live id job);
          Atomic.incr t.accepted;
          Stream.add t.jobs (Some job);
          Message.answer `Accepted (string_of_int id)
      | (Some () | None) as room ->
          Option.iter (fun () -> Semaphore.release t.room) room;
          Atomic.incr t.refused;
          Message.answer `Service_unavailable "Too many jobs. Try again later.")

let find t id = with_live t (fun live -> Hashtbl.find_opt live id)

let stored t id : Message.answer =
  match Lwt_domain.call t.database (Store.find id) with
  | Some { status; answer; _ } -> Message.answer `OK (status ^ " " ^ answer)
  | None -> Message.answer `Not_found "There is no such job."
  | exception Caqti.Error.Exn _ ->
      Message.answer `Service_unavailable
        "The database does not answer. Try again later."

(* This is a long poll. It answers when the job has ended, but no later than after
   [seconds]. *)
let get t id ~seconds : Message.answer =
  match find t id with
  | None -> stored t id
  | Some job -> (
      let ended () = Some (Promise.await job.ended)
      and too_late () =
        Time.sleep t.clock seconds;
        None
      and stopping () =
        Promise.await t.stop;
        None
      in
      match Fiber.any [ ended; too_late; stopping ] with
      | Some (Some outcome) ->
          let status, answer = text_of outcome in
          Message.answer `OK (status ^ " " ^ answer)
      | Some None -> stored t id
      | None -> Message.answer `Accepted "pending")

(* If no worker has taken the job yet, it is withdrawn, and makes room for another one. *)
let delete t id : Message.answer =
  match find t id with
  | None -> stored t id
  | Some job ->
      if withdraw t job then finish t job Cancelled
      else ignore (Promise.try_resolve job.stop_it () : bool);
      get t id ~seconds:t.options.limit

let metrics t =
  let line (name, value) = Printf.sprintf "jobs_%s %d" name value in
  String.concat "\n"
    (List.map line
       [
         ("accepted", Atomic.get t.accepted);
         ("refused", Atomic.get t.refused);
         ("done", Atomic.get t.finished);
         ("failed", Atomic.get t.failed);
         ("cancelled", Atomic.get t.cancelled);
         ("unknown", Atomic.get t.unknown);
         ("queued", t.options.capacity - Semaphore.get_value t.room);
       ])

(* At most 60 seconds. *)
let with_wait target f : Message.answer =
  match Target.parameter target "wait" with
  | None -> f ~seconds:0.
  | Some text -> (
      match Decimal.seconds text with
      | Some seconds -> f ~seconds:(Float.min 60. seconds)
      | None ->
          Message.answer `Bad_request "The time to wait is a number of seconds."
      )

let handle t (request : Http.Request.t) body : Message.answer =
  let target = request.resource in
  match (request.meth, Target.path target) with
  | `POST, [ "jobs" ] -> post t body
  | (`GET | `HEAD), [ "metrics" ] -> Message.answer `OK (metrics t)
  | ((`GET | `HEAD | `DELETE) as meth), [ "jobs"; id ] -> (
      match (meth, Decimal.int id) with
      | _, None -> Message.answer `Bad_request "The name of a job is a number."
      | `DELETE, Some id -> delete t id
      | _, Some id -> with_wait target (get t id))
  | _ ->
      Message.answer `Not_found
        "The routes are POST /jobs, GET and DELETE /jobs/ID, and /metrics."

(* --- The whole ------------------------------------------------------------------- *)

(* The workers end after HTTP has ended, so no job is added behind the [None]s that end
   them. *)
let serve t env socket =
  let domains = t.options.http_domains in
  let limits = Web.affordable t.options.limits socket in
  let limits =
    { limits with max_connections = max 1 (limits.max_connections / domains) }
  in
  (* Each domain closes its own copy of the socket. *)
  let domain socket () =
    Web.serve ~clock:t.clock ~limits ~log ~stop:t.stop socket (handle t)
  in
  let copy _ = Unix.dup ~cloexec:true socket in
  let others = List.init (domains - 1) copy in
  let other socket () = Domain_manager.run env#domain_mgr (domain socket) in
  let http () =
    Fiber.all (domain socket :: List.map other others);
    for _ = 1 to t.options.fibers do
      Stream.add t.jobs None
    done
  and worker _ () = work t in
  Fiber.all (http :: List.init t.options.fibers worker)

(* A signal handler may run in the middle of any code. [Condition.broadcast] is allowed
   there. *)
let on_signal ~sw signals =
  let signalled = Atomic.make false and changed = Condition.create () in
  let note _ =
    Atomic.set signalled true;
    Condition.broadcast changed
  in
  List.iter (fun n -> Sys.set_signal n (Signal_handle note)) signals;
  let stop, set_stop = Promise.create () in
  Fiber.fork ~sw (fun () ->
      Condition.loop_no_mutex changed (fun () ->
          if Atomic.get signalled then Some () else None);
      Promise.resolve set_stop ());
  stop

let rec queued t =
  match Stream.take_nonblocking t.jobs with
  | Some (Some job) when withdraw t job -> job :: queued t
  | Some _ -> queued t
  | None -> []

let run (options : Options.t) =
  let socket = Web.listen ~port:options.port in
  Eio_main.run @@ fun env ->
  Switch.run @@ fun sw ->
  let stop = on_signal ~sw [ Sys.sigterm; Sys.sigint ] in
  let pool =
    Executor_pool.create ~sw env#domain_mgr ~domain_count:options.workers
  in
  Lwt_domain.with_domain ~close:Store.close (fun () ->
      Store.connect options.database)
  @@ fun database ->
  let t =
    {
      options;
      clock = env#clock;
      pool;
      database;
      stop;
      room = Semaphore.make options.capacity;
      jobs = Stream.create max_int;
      mutex = Stdlib.Mutex.create ();
      live = Hashtbl.create 64;
      next_id = Atomic.make (Lwt_domain.call database Store.last);
      accepted = Atomic.make 0;
      refused = Atomic.make 0;
      finished = Atomic.make 0;
      failed = Atomic.make 0;
      cancelled = Atomic.make 0;
      unknown = Atomic.make 0;
    }
  in
  Printf.printf "http://localhost:%d/\n%!" (Web.port socket);
  let ended =
    Fiber.first
      (fun () ->
        serve t env socket;
        "drained")
      (fun () ->
        Promise.await stop;
        Time.sleep t.clock options.grace;
        "cut short")
  in
  (* The jobs that no worker has taken. *)
  let cancel () =
    Fiber.List.iter (fun job -> finish t job Cancelled) (queued t)
  in
  ignore (within t last_chance cancel : unit option);
  print_endline (metrics t);
  print_endline ended

let command =
  let open Cmdliner in
  Cmd.v
    (Cmd.info "plain" ~doc:"count primes for clients, without Concord")
    (Term.map run Options.term)

let () = exit (Cmdliner.Cmd.eval command)
