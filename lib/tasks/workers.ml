exception Cancelled = Job.Cancelled
exception Lost = Job.Lost

let () =
  Printexc.register_printer (function
    | Cancelled ->
        Some "Concord.Workers.Cancelled: the job was withdrawn, or told to stop"
    | Lost ->
        Some
          "Concord.Workers.Lost: Workers.with_workers has returned before the \
           job had ended, or before it was submitted"
    | _ -> None)

type t = Job.pool
type token = Job.t

let is_stopped = Job.is_told
let check token = if Job.is_told token then raise Cancelled

(* --- Jobs ------------------------------------------------------------------- *)

let create t f =
  let promise = Promise.create () in
  (promise, Job.create t promise f)

let submit t f =
  let promise, job = create t (fun _ -> f ()) in
  Job.submit job;
  promise

let run t f =
  let promise, job = create t (fun _ -> f ()) in
  Job.submit job;
  match Promise.await promise with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (Job.withdraw job : bool);
      Printexc.raise_with_backtrace e backtrace

let cancel job () =
  Job.withdraw job
  || begin
    Job.tell_to_stop job;
    false
  end

let submit_stoppable t f =
  let promise, job = create t f in
  Job.submit job;
  (promise, cancel job)

let is_answer = function
  | Error (Cancelled | Lost) -> false
  | Ok _ | Error _ -> true

let run_stoppable t f =
  let promise, job = create t f in
  let start () = Job.submit job and stop () = ignore (cancel job () : bool) in
  Stopping.await ~start promise ~stop ~is_answer

(* --- Domains ------------------------------------------------------------------ *)

let work t ~recording worker () =
  Printexc.record_backtrace recording;
  Identity.clear_at_end ();
  Job.serve t worker ~suspend:Park.suspend_thread

(* If a domain can't be started, those that were started end again. *)
let start t ~recording =
  let work = work t ~recording and started = ref [] in
  match
    List.iter
      (fun w -> started := Domain.spawn (work w) :: !started)
      (Job.workers t)
  with
  | () -> !started
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Job.leave t;
      List.iter Domain.join !started;
      Printexc.raise_with_backtrace e backtrace

let all_end t ~grace =
  Option.is_some (Event.sync_before grace (Promise.await_evt (Job.drained t)))

(* A domain doesn't end before all threads that its jobs have started. So after [grace] seconds
   only this thread waits for the domains, and the caller doesn't. A finaliser may raise at the
   end of a domain. *)
let join domains ~grace (keeper : _ Keeper.t) =
  let let_go () = ignore (Promise.try_fill keeper.over () : bool) in
  let forget =
    if grace = Float.infinity then ignore else Timer.after grace let_go
  in
  List.iter (fun domain -> try Domain.join domain with _ -> ()) domains;
  forget ()

(* If jobs are left, their domains may never end, so they are not joined. *)
let finish t domains ~grace keeper =
  Job.leave t;
  if
    all_end t ~grace
    || begin
      Job.tell_all_to_stop t;
      all_end t ~grace
    end
  then join domains ~grace keeper
  else Job.lose_all t

let with_workers ?name ?domains ?(grace = 10.) f =
  let domains =
    match domains with
    | Some domains -> domains
    | None -> Int.max 1 (Domain.recommended_domain_count () - 1)
  in
  Keeper.check_grace "Workers.with_workers" grace;
  if domains < 1 then
    invalid_arg
      (Printf.sprintf "Workers.with_workers: domains must be at least 1, not %d"
         domains);
  let recording = Printexc.backtrace_status () in
  let keep _ (keeper : _ Keeper.t) =
    let t = Job.create_pool ?name ~workers:domains () in
    let domains = start t ~recording in
    Promise.fill keeper.ready t;
    Keeper.wait_to_leave keeper;
    finish t domains ~grace keeper
  in
  Keeper.within keep f
