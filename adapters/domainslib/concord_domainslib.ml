module Task = Domainslib.Task
module Promise = Concord.Promise
module Keeper = Concord.Private.Keeper
module Locals = Concord.Private.Locals

exception Cancelled
exception Torn_down = Porter.Torn_down

let () =
  Printexc.register_printer @@ function
  | Torn_down ->
      Some
        "Concord_domainslib.Torn_down: the pool was torn down before the job \
         had ended. Wait for jobs by Concord_domainslib.with_pool, drain or \
         teardown"
  | _ -> None

let attach pool = Attached.attach "attach" pool

(* --- One job -------------------------------------------------------------- *)

let submit_as name pool f =
  let promise = Promise.create () in
  let f = Locals.carry f in
  let f = Attached.known_job pool promise f in
  Attached.post name pool (Porter.job (Porter.work promise f));
  promise

let submit pool f = submit_as "submit" pool f

let run pool f =
  let promise = Promise.create () in
  let f = Locals.carry f in
  let f = Attached.known_job pool promise f in
  let job, cancel = Porter.cancellable ~cancelled:Cancelled promise f in
  Attached.post "run" pool job;
  match Promise.await promise with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (cancel () : bool);
      Printexc.raise_with_backtrace e backtrace

(* --- Jobs that can be told to stop ------------------------------------------- *)

type token = Token.t

let is_stopped = Token.is_stopped
let stopped_evt = Token.stopped_evt
let check token = if Token.is_stopped token then raise Cancelled

let submit_stoppable_as name pool f =
  let promise = Promise.create () in
  let f = Locals.carry f in
  let cancel = ref (fun () -> false) in
  Attached.post_with_token name pool (fun token ->
      let f () =
        check token;
        f token
      in
      let f = Attached.known_job pool promise f in
      let job, withdraw = Porter.cancellable ~cancelled:Cancelled promise f in
      (cancel :=
         fun () ->
           withdraw ()
           || begin
             Token.stop token;
             false
           end);
      job);
  (promise, !cancel)

let submit_stoppable pool f = submit_stoppable_as "submit_stoppable" pool f

let is_answer = function
  | Ok _ -> true
  | Error (Cancelled | Torn_down) -> false
  | Error _ -> true

let run_stoppable pool f =
  let promise, cancel = submit_stoppable_as "run_stoppable" pool f in
  let stop () = ignore (cancel () : bool) in
  Concord.Private.Stopping.await promise ~stop ~is_answer

(* --- Many jobs ------------------------------------------------------------ *)

(* One job makes tasks of its parts inside of the pool. It awaits all of them, so that none is in
   progress when it has ended. After the first exception no other part is started. *)
let with_parts f =
  let failure = Atomic.make None in
  let part f v =
    if Option.is_none (Atomic.get failure) then
      try f v
      with e ->
        let failed = Some (e, Printexc.get_raw_backtrace ()) in
        ignore (Atomic.compare_and_set failure None failed : bool)
  in
  f part;
  match Atomic.get failure with
  | Some (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | None -> ()

let submit_all pool fs =
  submit_as "submit_all" pool @@ fun () ->
  let fs = Array.of_list fs in
  let results = Array.map (fun _ -> None) fs in
  with_parts (fun part ->
      let start i f =
        Task.async pool (fun () -> part (fun i -> results.(i) <- Some (f ())) i)
      in
      let tasks = Array.mapi start fs in
      Array.iter (Task.await pool) tasks);
  List.map Option.get (Array.to_list results)

let parallel_for ?chunk_size pool ~start ~finish body =
  submit_as "parallel_for" pool @@ fun () ->
  with_parts (fun part ->
      Task.parallel_for ?chunk_size pool ~start ~finish ~body:(part body))

(* --- Pools ---------------------------------------------------------------- *)

let drain = Attached.drain
let teardown = Attached.teardown "teardown"

(* Unbroken, because OCaml 5.4.1 may end the program by a segmentation fault if an exception
   comes in [Domain.spawn], or where a domain begins. So the pool is made while all signals are
   blocked. Domains inherit that, so each of them takes one of these tasks, which unblocks its
   signals. No task continues before all have begun, so that no domain takes two. Whether
   backtraces are recorded is not inherited, so the tasks set that too. *)
let set_up_domains pool num_domains ~recording mask =
  let mutex = Stdlib.Mutex.create ()
  and changed = Stdlib.Condition.create ()
  and begun = ref 0 in
  let wait_for_all () =
    while !begun < num_domains do
      Stdlib.Condition.wait changed mutex
    done
  in
  let begin_and_wait () =
    incr begun;
    if !begun = num_domains then Stdlib.Condition.broadcast changed;
    wait_for_all ()
  in
  let task () =
    Stdlib.Mutex.protect mutex begin_and_wait;
    Printexc.record_backtrace recording;
    Concord.Private.Signals.set mask
  in
  for _ = 1 to num_domains do
    ignore (Task.async pool task : unit Task.promise)
  done;
  Stdlib.Mutex.protect mutex wait_for_all

(* This thread makes the pool, and so has the slot in it. Only a domain with a slot can tear
   the pool down, so this thread also does that. *)
let keep_pool name num_domains ~recording ~grace mask (keeper : _ Keeper.t) =
  let pool = Task.setup_pool ?name ~num_domains () in
  set_up_domains pool num_domains ~recording mask;
  Attached.attach ?pool_name:name "attach" pool;
  Promise.fill keeper.ready pool;
  Keeper.wait_to_leave keeper;
  (* Jobs that are left may keep their domains forever, so the caller must not wait for them. *)
  if not (Attached.all_end ~grace pool) then Promise.fill keeper.over ();
  (* The caller may have torn the pool down already. *)
  if Porter.is_alive pool then Task.teardown_pool pool

let with_pool ?name ?(grace = 10.) ~num_domains f =
  if not (grace >= 0.) then
    invalid_arg
      (Printf.sprintf
         "Concord_domainslib.with_pool: grace must be at least 0, but is %g"
         grace);
  if num_domains < 1 then
    invalid_arg
      "Concord_domainslib.with_pool: num_domains must be at least 1, because \
       the calling domain does not work for the pool";
  let recording = Printexc.backtrace_status () in
  Keeper.within (keep_pool name num_domains ~recording ~grace) f

(* --- Promises -------------------------------------------------------------- *)

let of_task pool task = submit pool (fun () -> Task.await pool task)
let to_task pool t = Task.async pool (fun () -> Promise.await t)
