module Kit = Host_kit

exception Cancelled
exception Lost

(* [state] of a job

   State     Left by    To      By whom
   Queued w  begin_     Begun   the worker that takes the job
             withdraw   Ended   any thread. It then fails the promise with [Cancelled]
             lose       Ended   the end of the pool, the thread that submits the job, or a
                                worker. It then fails the promise with [Lost]
   Begun f   run        Ended   the worker on which the job ends. The promise has its outcome
             lose       Ended   as above. The job continues, but its outcome is dropped
             give_up    Ended   a worker in which a finaliser has raised outside of the job. It
                                then fails the promise with that exception
   Ended     never (terminal)

   [wait] of a job

   State      Left by       To         By whom
   Running    suspend       Waiting c  the job, when [block] has returned, unless it is protected
              tell_to_stop  Told       any thread
   Waiting c  continue      Running    the job, when it continues
              tell_to_stop  Told       any thread. It then calls [c], which decides the wait
   Told       never (terminal)

   [turn] of an item, which is the beginning of a job, or the end of one wait. A job may continue
   when the wait was decided and [block] has returned, in whatever order (H1).

   State    Left by  To     By whom
   Not_yet  meet     Due    the resumer's caller that has decided the wait, or the worker whose
                            [block] has returned. The other one finds [Due]
   Due      take     Taken  a worker, which starts or continues the job, or the end of the pool
   Taken    never (terminal)

   Debt: the thread that submits a job, or that finds [Due], puts the item into [ready]. Unbroken,
   because it may do so twice, but only one worker takes the item.

   [unfinished] of a pool counts the jobs that were submitted, until a worker has run or dropped
   them, and the call of [with_workers]. At 0 the pool has ended.

   State  Left by  To             By whom
   n > 0  submit   n + 1          any thread, which then puts the job into [ready]
          leave    n - 1          a worker that has run or dropped a job, or the end of the pool
   0      never (terminal): the workers end, and no job is accepted

   [phase] of a pool

   State  Left by           To    By whom
   Open   tell_all_to_stop  Told  the end of the pool, which then tells the jobs of [begun]
   Told   lose_all          Left  the end of the pool, which then loses these jobs, and those
                                  in [ready]

   A worker adds a job to [begun] before it reads [phase], and a thread that submits a job reads
   [phase] after it has put the job into [ready]. So either the end of the pool finds the job,
   or the other thread sees the new phase. *)
type phase = Open | Told | Left

type work = { run : t -> unit; fail : exn -> unit }
and state = Queued of work | Begun of (exn -> unit) | Ended
and wait = Running | Waiting of (exn -> bool) | Told_to_stop
and turn = Not_yet | Due | Taken

and t = {
  pool : pool;
  state : state Atomic.t;
  wait : wait Atomic.t;
  (* The task of the job uses these three, and passes them on by [ready]. *)
  mutable worker : worker;
  mutable shields : int;
  mutable left : bool;  (** [true] if [unfinished] no longer counts the job. *)
  number : int;  (** It is 0 if tasks were not observed at first. *)
  origin : Who.origin option;
  known : Who.t option Atomic.t;
}

and item = { job : t; turn : turn Atomic.t; go_on : (unit -> unit) option }
(** [go_on] is [None] if the job has not begun. *)

and worker = {
  host : Kit.t;
  begun : t list Atomic.t;
      (** The jobs that began on this worker, and some of them that have ended.
          Only the worker changes it. *)
  busy : busy Atomic.t;
  mutable room : int;
      (** After so many more jobs, those that have ended are removed. *)
}

and busy = {
  since_ns : int;  (** 0 while it has nothing to do, or isn't measured. *)
  past_ns : int;  (** For how long it has worked before. *)
}

and pool = {
  name : string option;
  workers : worker list;
  nowhere : worker;  (** The worker of jobs that have not begun. *)
  ready : item Ready_queue.t;
  unfinished : int Atomic.t;
  phase : phase Atomic.t;
  drained : unit Promise.t;
}

let create_worker _ =
  {
    host = Kit.create ();
    begun = Atomic.make [];
    busy = Atomic.make { since_ns = 0; past_ns = 0 };
    room = 16;
  }

(* --- Measuring ------------------------------------------------------------------

   Only the worker itself writes its [busy]. *)

let begins_work worker =
  let busy = Atomic.get worker.busy in
  if Observer.measures () && busy.since_ns = 0 then
    Atomic.set worker.busy { busy with since_ns = Nudge.now_ns () }

let ends_work worker =
  let { since_ns; past_ns } = Atomic.get worker.busy in
  if since_ns <> 0 then
    let past_ns = past_ns + Nudge.now_ns () - since_ns in
    Atomic.set worker.busy { since_ns = 0; past_ns }

let figures pool =
  let all = List.map (fun w -> Atomic.get w.busy) pool.workers in
  let now = Nudge.now_ns () and is_busy busy = busy.since_ns <> 0 in
  let ns ({ since_ns; past_ns } as busy) =
    if is_busy busy then past_ns + Int.max 0 (now - since_ns) else past_ns
  in
  [
    Observer.Length (Ready_queue.length pool.ready);
    Used (List.length (List.filter is_busy all));
    Limit (List.length all);
    Busy_ns (List.fold_left (fun sum busy -> sum + ns busy) 0 all);
  ]

let create_pool ?name ~workers () =
  Observer.made ~kind:"workers" ?name ~figures
    {
      name;
      workers = List.init workers create_worker;
      nowhere = create_worker ();
      ready = Ready_queue.create ();
      unfinished = Atomic.make 1;
      phase = Atomic.make Open;
      drained = Promise.create ();
    }

let workers pool = pool.workers
let drained pool = pool.drained
let is_over pool () = Atomic.get pool.unfinished = 0
let is_told job = Atomic.get job.wait == Told_to_stop

let tell_to_stop job =
  match Atomic.exchange job.wait Told_to_stop with
  | Waiting cancel -> ignore (cancel Cancelled : bool)
  | Running | Told_to_stop -> ()

(* If a signal handler or finaliser raises in [f v], which may be done twice, it is done
   again. *)
let rec surely f v =
  match f v with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      surely f v;
      Printexc.raise_with_backtrace e backtrace

let is_last pool = Atomic.fetch_and_add pool.unfinished (-1) = 1

let ended pool =
  ignore (Promise.try_fill pool.drained () : bool);
  Ready_queue.wake_all pool.ready

let leave pool = if is_last pool then surely ended pool

(* Unbroken from the write to [left] to the count. *)
let finish job =
  if not job.left then begin
    job.left <- true;
    if Atomic.fetch_and_add job.pool.unfinished (-1) = 1 then
      surely ended job.pool
  end

let rec lose job =
  match Atomic.get job.state with
  | (Queued { fail; _ } | Begun fail) as before ->
      if Atomic.compare_and_set job.state before Ended then surely fail Lost
      else lose job
  | Ended -> ()

let rec withdraw job =
  match Atomic.get job.state with
  | Queued { fail; _ } as before ->
      if Atomic.compare_and_set job.state before Ended then begin
        surely fail Cancelled;
        true
      end
      else withdraw job
  | Begun _ | Ended -> false

(* --- The identity of a job ---------------------------------------------------- *)

let host = "workers"

let make_who job =
  let number = if job.number > 0 then job.number else Who.new_number () in
  let name = Who.numbered "job" number in
  let name =
    match job.pool.name with
    | Some pool -> Printf.sprintf "%s of %s" name pool
    | None -> name
  in
  Who.make ?origin:job.origin ~host ~name job

let who job =
  match Atomic.get job.known with
  | Some who -> Who.here who
  | None ->
      let who = make_who job in
      Atomic.set job.known (Some who);
      who

let filler job () =
  let who = who job in
  match Atomic.get job.state with
  | Queued _ -> { who with name = who.name ^ ", which has not begun" }
  | Begun _ | Ended -> who

let observed job f () =
  match job.origin with
  | Some origin -> Forks.run origin ~ask:(fun () -> who job) f
  | None -> f ()

(* --- Submitting ------------------------------------------------------------------ *)

let no_backtrace = Printexc.get_callstack 0

let work promise f =
  let fail backtrace e =
    ignore (Promise.try_fail ~backtrace promise e : bool)
  in
  let run job =
    match observed job (fun () -> f job) () with
    | v -> ignore (Promise.try_fill promise v : bool)
    | exception e -> fail (Printexc.get_raw_backtrace ()) e
  in
  { run; fail = fail no_backtrace }

let create pool promise f =
  let f = Locals.carry f in
  let is_observed = Forks.are_observed () in
  let origin = if is_observed then Some (Forks.here ()) else None in
  let job =
    {
      pool;
      state = Atomic.make (Queued (work promise f));
      wait = Atomic.make Running;
      worker = pool.nowhere;
      shields = 0;
      left = false;
      number = (if is_observed then Who.new_number () else 0);
      origin;
      known = Atomic.make None;
    }
  in
  if Observer.are_kept () then
    Filler.add (filler job) ~is_resolved:Promise.is_resolved promise;
  job

let rec enter pool =
  let n = Atomic.get pool.unfinished in
  n > 0 && (Atomic.compare_and_set pool.unfinished n (n + 1) || enter pool)

(* There is no polling point from [enter] to [Ready_queue.put]. So if a signal handler raises,
   the job was submitted, or not counted. *)
let submit job =
  let { pool; _ } = job in
  let item = { job; turn = Atomic.make Due; go_on = None } in
  if enter pool then begin
    Ready_queue.put pool.ready item;
    if Atomic.get pool.phase == Left then lose job
  end
  else lose job

(* --- Effects ----------------------------------------------------------------------- *)

(* There is no polling point from the decision of a wait to [Ready_queue.put]. So a signal
   handler raises before the decision, or after the debt was paid. *)
let meet item =
  if not (Atomic.compare_and_set item.turn Not_yet Due) then
    Ready_queue.put item.job.pool.ready item

let is_running job =
  match Atomic.get job.wait with
  | Waiting _ as before ->
      ignore (Atomic.compare_and_set job.wait before Running : bool)
  | Running | Told_to_stop -> ()

(* A value that [block] returns was taken for the job. So the job can be told to stop only before
   [block] is called, and after it has returned none. *)
let suspend job block k =
  if job.shields = 0 && is_told job then Effect.Deep.discontinue k Cancelled
  else begin
    let decision = Decision.create () in
    let go_on () =
      is_running job;
      match Decision.outcome decision with
      | Ok v -> Effect.Deep.continue k v
      | Error e -> Effect.Deep.discontinue k e
    in
    let item = { job; turn = Atomic.make Not_yet; go_on = Some go_on } in
    let resumer outcome =
      Decision.decide decision outcome
      && begin
        meet item;
        true
      end
    in
    let cancel = Kit.weakly resumer in
    let cancel e = cancel (Error e) in
    match Decision.offer decision resumer block with
    | outcome when Decision.is_undecided outcome ->
        if
          job.shields = 0
          && not (Atomic.compare_and_set job.wait Running (Waiting cancel))
        then ignore (cancel Cancelled : bool);
        meet item
    | Ok v -> Effect.Deep.continue k v
    | Error e ->
        Effect.Deep.discontinue_with_backtrace k e
          (Printexc.get_raw_backtrace ())
  end

let shield job k =
  job.shields <- job.shields + 1;
  Effect.Deep.continue k (fun () -> job.shields <- job.shields - 1)

let handle (type a) job (e : a Effect.t) :
    ((a, unit) Effect.Deep.continuation -> unit) option =
  let natively handled =
    Some
      (fun k ->
        if Kit.is_innermost job.worker.host then handled k
        else Effect.Deep.discontinue k (Effect.Unhandled e))
  in
  match e with
  | Suspend.Suspend block -> natively (suspend job block)
  | Suspend.Protect -> natively (shield job)
  | Suspend.Ask { question; otherwise } ->
      Some
        (fun k ->
          Effect.Deep.continue k
            (if Kit.is_innermost job.worker.host then
               Who.answer question ~otherwise (fun () -> who job)
             else otherwise))
  | _ -> None

(* --- Workers ------------------------------------------------------------------------- *)

let has_not_ended job = Atomic.get job.state != Ended

let note worker job =
  let before = Atomic.get worker.begun in
  if worker.room > 0 then begin
    worker.room <- worker.room - 1;
    Atomic.set worker.begun (job :: before)
  end
  else begin
    let left = List.filter has_not_ended before in
    worker.room <- Int.max 16 (List.length left);
    Atomic.set worker.begun (job :: left)
  end

(* Functions of [Promise.on_resolve] may raise. No code waits for these exceptions, as in
   [Promise.in_domain]. Finalisers may raise too, and before the promise is resolved. *)
let quietly f v = try f v with _ -> ()

let run job { run; fail } =
  (match Atomic.get job.pool.phase with
  | Open -> ( try run job with e -> quietly (surely fail) e)
  | Told -> quietly (surely fail) Cancelled
  | Left -> quietly (surely fail) Lost);
  Atomic.set job.state Ended

(* A finaliser has raised outside of the job, and others may raise here. This allocates nothing
   before the exception handler is there, and its recursive call is not a tail call, so it has no
   polling point that the handler doesn't cover. *)
let rec give_up job e =
  match
    (match Atomic.exchange job.state Ended with
    | Queued { fail; _ } | Begun fail -> surely fail e
    | Ended -> ());
    finish job
  with
  | () -> ()
  | exception _ ->
      give_up job e;
      ()

let begin_ worker job =
  note worker job;
  match Atomic.get job.state with
  | Queued work as before
    when Atomic.compare_and_set job.state before (Begun work.fail) ->
      job.worker <- worker;
      Effect.Deep.match_with (run job) work
        {
          retc = (fun () -> finish job);
          exnc = give_up job;
          effc = (fun (type a) (e : a Effect.t) -> handle job e);
        }
  | Queued _ | Begun _ | Ended -> finish job

let take item = Atomic.compare_and_set item.turn Due Taken

let start_or_continue worker item =
  match item.go_on with
  | None -> begin_ worker item.job
  | Some go_on ->
      item.job.worker <- worker;
      go_on ()

(* If a finaliser raises here, outside of the job, the job may have lost its continuation. *)
let serve_item worker item =
  if take item then
    match start_or_continue worker item with
    | () -> ()
    | exception e -> give_up item.job e

let rec work_off pool worker =
  match Ready_queue.take pool.ready with
  | Some item ->
      serve_item worker item;
      work_off pool worker
  | None -> ()

let serve_once pool worker ~suspend =
  begins_work worker;
  Kit.using worker.host (fun () -> work_off pool worker);
  ends_work worker;
  if not (is_over pool ()) then
    suspend (Ready_queue.block pool.ready ~is_over:(is_over pool))

(* The recursive call is not a tail call. Otherwise the compiler would put a polling point at
   the beginning of the function, where the exception handler doesn't cover it. *)
let rec serve_surely pool worker ~suspend =
  match
    while not (is_over pool ()) do
      serve_once pool worker ~suspend
    done
  with
  | () -> ()
  | exception _ ->
      serve_surely pool worker ~suspend;
      ()

let serve pool worker ~suspend =
  Domains.one_more_worker ();
  serve_surely pool worker ~suspend;
  Domains.one_less_worker ()

(* --- The end of the pool -------------------------------------------------------------- *)

let begun pool = List.concat_map (fun w -> Atomic.get w.begun) pool.workers

let tell_all_to_stop pool =
  Atomic.set pool.phase Told;
  List.iter tell_to_stop (begun pool)

let lose_all pool =
  Atomic.set pool.phase Left;
  List.iter (quietly lose) (begun pool);
  let lose_queued item =
    if Option.is_some item.go_on then Ready_queue.put pool.ready item
    else if take item then begin
      quietly lose item.job;
      finish item.job
    end
  in
  List.iter lose_queued (Ready_queue.take_all pool.ready)
