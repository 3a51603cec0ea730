(* A service that computes for its clients, and stores the results in a database.

   - The main domain, and more domains if asked for, answer HTTP in Eio.
   - Workers compute, in domains of their own.
   - A separate domain runs Lwt's loop, in which caqti accesses the database.

   These domains wait for each other through Concord: a bounded queue, promises, a broadcast. *)

open Concord
open Http_message

type outcome = Done of int | Failed of string | Cancelled

(* What the database has of an outcome. *)
type fate = Stored | Lost | Unknown

type job = {
  id : int;
  n : int;
  stopped : unit Promise.t;  (** Filled if its client deletes the job. *)
  ended : outcome option Promise.t;
      (** Filled after the outcome is in the database. [None] if it may be. *)
}

type t = {
  options : Options.t;
  pool : Workers.t;
  database : Store.t Concord_lwt.loop;
  stop : int Promise.t;  (** The signal to stop. *)
  jobs : job Work_queue.t;
  live : (int, job * job Work_queue.ticket option) Hashtbl.t Mvar.t;
      (** The jobs that are not in the database yet. *)
  news : job Broadcast.t;
  next_id : int Atomic.t;
  counters : (string * int Atomic.t) list;
}

let counters =
  [ "accepted"; "refused"; "done"; "failed"; "cancelled"; "unknown" ]

let count t name = Atomic.incr (List.assoc name t.counters)
let with_live t f = Mvar.modify t.live (fun table -> (table, f table))

(* --- The work ------------------------------------------------------------------ *)

let primes_below token n =
  let rec has_divisor d k =
    d * d <= k && (k mod d = 0 || has_divisor (d + 1) k)
  in
  let rec count found k =
    if k land 1023 = 0 then Workers.check token;
    if k >= n then found
    else count (if has_divisor 2 k then found else found + 1) (k + 1)
  in
  count 0 2

(* In seconds. Nobody sets this clock. *)
let now () = Int64.to_float (Mtime_clock.elapsed_ns ()) /. 1e9

(* The first of these events decides the outcome. If it isn't the answer, the job is told to
   stop, and the client need not wait until it does.

   There may be more worker fibers than domains, so the job may wait for a domain before it
   begins. That time doesn't count for its limit. *)
let compute t job =
  let begun = Atomic.make Float.infinity in
  let answer, stop =
    Workers.submit_stoppable t.pool (fun token ->
        Atomic.set begun (now ());
        primes_below token job.n)
  in
  Fun.protect ~finally:(fun () -> ignore (stop () : bool)) @@ fun () ->
  let limit = t.options.limit in
  let rec outcome seconds =
    Event.select
      [
        Event.wrap (Promise.await_evt answer) (fun primes -> Done primes);
        Event.wrap (Promise.await_evt job.stopped) (fun () -> Cancelled);
        Event.wrap (Event.timeout seconds) late;
      ]
  and late () =
    let left = Atomic.get begun +. limit -. now () in
    if left > 0. then outcome (Float.min left limit)
    else Failed (Printf.sprintf "the job took longer than %g s" limit)
  in
  outcome limit

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
let last_chance = 1.

let store t row =
  let error = ref "the database does not answer" in
  let rec add () =
    try Concord_lwt.call t.database (Store.add row)
    with Caqti.Error.Exn e ->
      error := Caqti.Error.show e;
      Tasks.sleep 0.1;
      add ()
  in
  let lost how = log (Printf.sprintf "job %d %s lost: %S" row.id how !error) in
  match
    try Tasks.with_timeout t.options.limit add with
    | Store.Unanswered as e -> raise e
    | _ -> Tasks.protect (fun () -> Tasks.with_timeout last_chance add)
  with
  | Some () -> Stored
  | None ->
      lost "is";
      Lost
  | exception Store.Unanswered ->
      lost "may be";
      Unknown

(* Once a job is stored, it is also counted and announced, even if this task is cancelled. *)
let finish t job outcome =
  let status, answer = text_of outcome in
  let outcome =
    match store t { id = job.id; status; answer } with
    | Stored -> Some outcome
    | Lost -> Some (Failed "the database")
    | Unknown -> None
  in
  count t (Option.fold ~none:"unknown" ~some:(fun o -> fst (text_of o)) outcome);
  Tasks.protect (fun () -> with_live t (fun live -> Hashtbl.remove live job.id));
  Promise.fill job.ended outcome;
  Broadcast.send t.news job

(* If the service has no time left, the job is cancelled, but its outcome is still stored. *)
let perform t job =
  match compute t job with
  | outcome -> finish t job outcome
  | exception e ->
      finish t job Cancelled;
      raise e

let work t = Work_queue.iter (perform t) t.jobs

(* --- The requests ----------------------------------------------------------------- *)

(* Under load it is better to refuse a job at once than to let its client wait. *)
let post t body : Message.answer =
  match Decimal.int (String.trim body) with
  | None -> Message.answer `Bad_request "The body must be a number."
  | Some n -> (
      let id = 1 + Atomic.fetch_and_add t.next_id 1 in
      let stopped = Promise.create () and ended = Promise.create () in
      let job = { id; n; stopped; ended } in
      with_live t (fun live -> Hashtbl.replace live id (job, None));
      match Event.sync_before 0.05 (Work_queue.add_evt t.jobs job) with
      | Some ticket ->
          count t "accepted";
          with_live t (fun live ->
              if Hashtbl.mem live id then
                Hashtbl.replace live id (job, Some ticket));
          Message.answer `Accepted (string_of_int id)
      | None | (exception Work_queue.Closed) ->
          count t "refused";
          with_live t (fun live -> Hashtbl.remove live id);
          Message.answer `Service_unavailable "Too many jobs. Try again later.")

let find t id = with_live t (fun live -> Hashtbl.find_opt live id)

let stored t id : Message.answer =
  let find () = Concord_lwt.call t.database (Store.find id) in
  match Tasks.with_timeout t.options.limit find with
  | Some (Some { status; answer; _ }) ->
      Message.answer `OK (status ^ " " ^ answer)
  | Some None -> Message.answer `Not_found "There is no such job."
  | None | (exception Caqti.Error.Exn _) ->
      Message.answer `Service_unavailable
        "The database does not answer. Try again later."

(* This is a long poll. It answers when the job has ended, but no later than after
   [seconds]. *)
let get t ~seconds id : Message.answer =
  match find t id with
  | None -> stored t id
  | Some (job, _) -> (
      let ended = Event.wrap (Promise.await_evt job.ended) Option.some
      and too_late = Event.wrap (Event.timeout seconds) (fun () -> None)
      and stopping = Event.wrap (Promise.await_evt t.stop) (fun _ -> None) in
      match Event.select [ ended; too_late; stopping ] with
      | Some (Some outcome) ->
          let status, answer = text_of outcome in
          Message.answer `OK (status ^ " " ^ answer)
      | Some None -> stored t id
      | None -> Message.answer `Accepted "pending")

(* If no worker has taken the job yet, it is withdrawn, and makes room for another one. *)
let delete t id : Message.answer =
  match find t id with
  | None -> stored t id
  | Some (job, ticket) ->
      if Option.fold ~none:false ~some:Work_queue.withdraw ticket then
        finish t job Cancelled
      else ignore (Promise.try_fill job.stopped () : bool);
      get t ~seconds:t.options.limit id

(* Subscribes before the answer begins. So a client that has received the beginning misses none
   of the jobs that it posts. A client that reads too slowly is told how many events it has
   missed. *)
let events t : Message.answer =
  let news = Broadcast.subscribe t.news in
  let next =
    Event.unless (Promise.await_evt t.stop) (Broadcast.receive_evt news)
  in
  let rec follow send =
    match Event.sync next with
    | Some job ->
        let status, answer =
          Option.fold ~none:("unknown", "") ~some:text_of
            (Promise.await job.ended)
        in
        send (Printf.sprintf "data: job %d %s %s\n\n" job.id status answer);
        follow send
    | None -> ()
    | exception Broadcast.Lagged n ->
        send (Printf.sprintf "event: missed\ndata: %d\n\n" n);
        follow send
  in
  { status = `OK; headers = []; body = Events follow }

let page = { Message.status = `OK; headers = []; body = Html Page.html }

let metrics t =
  let line (name, value) = Printf.sprintf "jobs_%s %d" name value in
  let counted = List.map (fun (name, n) -> (name, Atomic.get n)) t.counters in
  String.concat "\n"
    (List.map line (counted @ [ ("queued", Work_queue.length t.jobs) ]))

(* For Prometheus. Started with CONCORD_DEBUG=metrics, this has also the times of Concord's
   structures. *)
let openmetrics t : Message.answer =
  let text = metrics t ^ "\n" ^ Tools.Metrics.(to_openmetrics (snapshot ())) in
  let content_type = Tools.Metrics.content_type in
  { status = `OK; headers = []; body = Typed { content_type; text } }

let with_id text f : Message.answer =
  match Decimal.int text with
  | Some id -> f id
  | None -> Message.answer `Bad_request "The name of a job is a number."

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
  | (`GET | `HEAD), [ "" ] -> page
  | `POST, [ "jobs" ] -> post t body
  | `GET, [ "events" ] -> events t
  | (`GET | `HEAD), [ "metrics" ] -> openmetrics t
  | (`GET | `HEAD), [ "jobs"; id ] ->
      with_id id (fun id ->
          with_wait target (fun ~seconds -> get t ~seconds id))
  | `DELETE, [ "jobs"; id ] -> with_id id (delete t)
  | _ ->
      Message.answer `Not_found
        "The routes are POST /jobs, GET and DELETE /jobs/ID, /events, and \
         /metrics."

(* --- The whole ------------------------------------------------------------------- *)

let serve t env web =
  let main, others =
    match Web.serve web ~stop:t.stop ~log (handle t) with
    | [] -> assert false (* there is at least one HTTP domain *)
    | main :: others -> (main, others)
  in
  let other f () = Eio.Domain_manager.run env#domain_mgr f
  and workers = List.init t.options.fibers (fun _ () -> work t) in
  Tasks.iter (fun f -> f ()) ((main :: List.map other others) @ workers)

let run (options : Options.t) =
  let stop = Signal.once [ Sys.sigterm; Sys.sigint ] in
  let web =
    Web.listen ~port:options.port ~domains:options.http_domains options.limits
  in
  Workers.with_workers ~name:"primes" ~domains:options.workers @@ fun pool ->
  Concord_lwt.with_domain ~close:Store.close (fun () ->
      Store.connect options.database)
  @@ fun database ->
  let t =
    {
      options;
      pool;
      database;
      stop;
      jobs = Work_queue.create ~name:"jobs" options.capacity;
      live = Mvar.create (Hashtbl.create 64);
      news = Broadcast.create ~name:"news" ~limit:(Drop_oldest 100) ();
      next_id = Atomic.make (Concord_lwt.call database Store.last);
      counters = List.map (fun name -> (name, Atomic.make 0)) counters;
    }
  in
  Eio_main.run @@ fun env ->
  Printf.printf "http://localhost:%d/\n%!" (Web.port web);
  let close = [ (fun () -> Work_queue.close t.jobs) ] in
  let ended =
    Shutdown.run ~close ~stop ~grace:options.grace (fun () -> serve t env web)
  in
  (* The jobs that no worker has taken. *)
  let cancel () =
    Tasks.iter (fun job -> finish t job Cancelled) (Work_queue.drain t.jobs)
  in
  ignore (Tasks.with_timeout last_chance cancel : unit option);
  print_endline (metrics t);
  print_endline (if ended.cut_short then "cut short" else "drained")

let command =
  let open Cmdliner in
  Cmd.v
    (Cmd.info "service" ~doc:"count primes for clients")
    (Term.map run Options.term)

let () = exit (Cmdliner.Cmd.eval command)
